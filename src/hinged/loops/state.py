"""A label learner's memory: stores that grow, counts, and what the loops are given of them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from hinged.compiling.arrays import Ints
from hinged.loops.base import ScaledModel, check_arrays, restored_growth, restored_label_ledger
from hinged.loops.columns import NO_ROW_VECTORS, PER_LABEL, PER_SET, Columns
from hinged.loops.costs import NO_COSTS
from hinged.loops.evidence import Totals, moved_totals, new_totals, totals_for
from hinged.loops.experts import mixture, new_experts
from hinged.loops.labels import COUNTS, FIRSTS, SUMS, VECTORS, WEIGHTS
from hinged.loops.ledger import COST, LABELS, LEARNT, kept_ledger, moved_ledger, new_notes, new_told
from hinged.loops.memory import Paged, longer, restored_stores, values_of
from hinged.loops.pages import Store
from hinged.loops.round import Memory, Problem
from hinged.loops.rows import LEAST_NORM, LEAST_NORM_SINGLE, Scaling
from hinged.loops.shared import Parts
from hinged.loops.steps import Setting
from hinged.sharing.evidence import KINDS, NAMES
from hinged.sharing.features import DISTANCE, FIRST, FREQUENCY, TFIDF
from hinged.sharing.plan import Plan

__all__ = ["LabelMemory"]

KEPT = ("shares", "mistakes", "sums")  # of experts, in a file
LARGEST_DENSE = 20_000_000  # weights shown as a dense array; more are shown as a sparse one
#: Features of one row for which φ was computed by functions of the user's, and that φ (parts, features, labels).
Explicit = tuple[np.ndarray, np.ndarray]
#: The stores at one moment, with the pages that they point to.
Views = list[tuple[Store, tuple[np.ndarray, ...]]]


class LabelMemory(ScaledModel):
    """Weights, statistics and counts of one learner on labels.

    Parameters
    ----------
    dtype : float32 or float64
    plan : Plan
        The sharing scheme.
    setting : Setting
        The rule.
    own : compiled function or None
        A user's rule.
    caps : tuple of float
        C of several learners side by side, in place of the rule's own; one may stand alone beside its mean.
    mean : bool
        Whether the mean weights of the last of them are one more forecaster; not with `average`.
    scaling, unit, bias, average, adaptive, feature_map, half_lives
        What happens to rows before they are scored, whether mean weights are kept, r of a metric that learns, random
        features, and how fast all is forgotten.
    """

    def __init__(
        self,
        dtype: DTypeLike,
        plan: Plan,
        setting: Setting,
        own: Any = None,
        caps: tuple[float, ...] = (),
        mean: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(dtype, **options)
        least = LEAST_NORM if self.dtype.itemsize == 8 else LEAST_NORM_SINGLE
        self.plan, self.setting, self.own = plan, setting._replace(least_norm=least), own
        depth, experts = 2 if self.average else 1, new_experts(caps, mean)
        codes = {part.code for part in plan.parts}
        kinds = [KINDS[NAMES[code]] for code in plan.evidence]
        counts = bool(codes & {FREQUENCY, TFIDF}) or any(kind.counts for kind in kinds)
        sums = DISTANCE in codes or any(kind.sums for kind in kinds)
        self.keeps = np.array([counts, FIRST in codes, sums])
        self.kind = f"{self.dtype.name} {'shared' if plan.parts else 'own'}"
        self.in_use = [WEIGHTS, *([VECTORS] if plan.parts else []), *(COUNTS + np.flatnonzero(self.keeps)).tolist()]
        self.counts_features = self.counts_features or TFIDF in codes
        self.stores = [
            Paged(self.dtype, depth, each=max(1, len(experts.shares))),
            Paged(self.dtype, depth, least=1),
            Paged(np.int32),
            Paged(np.float64),
            Paged(np.float64),
        ]
        self.notes, self.experts = new_notes(), experts
        self.each = max(1, len(self.experts.shares))  # columns of the weights for each label
        self.has_mean = len(self.experts.caps) < len(self.experts.shares)
        self.costs = NO_COSTS
        self.label_rows: Ints = np.zeros(1, np.int64)
        self.first_rounds = np.zeros(1, np.int64)
        self.totals = new_totals(1)
        self.names: dict[Hashable, int] = {}  # features of the user's own label features
        self.functions = plan.functions
        self._fitted_to = (-1, -1)  # features, with those there is room for, and labels
        self.unread = new_told(1)  # the outcome of a round that nobody asks for
        self._columns: tuple[int, Columns] | None = None
        # What the loops were given last: making such tuples anew takes as long as learning a short row.
        self._scaled_by: Scaling | None = None
        self._last: Memory | None = None
        self._asked: Problem | None = None

    def declare(self, n_labels: int) -> None:
        """Make labels known before any of their rows came."""
        with self.lock:
            self._fit_to(n_labels, 0)
            self.counts[LABELS] = n_labels

    def widen(self, n_features: int) -> None:
        """Admit columns up to `n_features`."""
        if n_features > self.n_features:
            self.n_features = n_features

    @property
    def mean_over(self) -> int:
        """Rounds the mean weights are taken over; 0 where no answer needs them."""
        return int(self.counts[LEARNT]) if self.average or self.has_mean else 0

    @property
    def n_learnt(self) -> int:
        """Number of features that have weights."""
        return len(self.stores[WEIGHTS].learnt())

    def coef(self) -> np.ndarray | sparse.csr_array:
        """Weights (labels, features) of the labels' own vectors, or of the sets'; sparse when large."""
        now = self._now()
        coef, left = now._stored_coef(), now._left
        return left * coef if left != 1.0 else coef

    def _stored_coef(self) -> np.ndarray | sparse.csr_array:
        n = self.plan.n_columns(int(self.ledger.counts[LABELS]))
        rounds = self.mean_over
        factors = mixture(self.experts, rounds) if self.each > 1 else (1.0,)
        owners, values = self.stores[WEIGHTS].rows(max(n, 1), rounds, factors)
        columns, values = owners[owners > 0] - 1, values[owners > 0][:, :n]
        if n * self.n_weights > LARGEST_DENSE:
            kept = sparse.coo_array(values)
            return sparse.csr_array((kept.data, (kept.col, columns[kept.row])), shape=(n, self.n_weights))
        coef = np.zeros((n, self.n_weights), self.dtype)
        coef[:, columns] = values.T
        return coef

    def shared_coef(self) -> np.ndarray:
        """The shared vector (features,), or (sets, features) where groups share several.

        Label features of the user's own have a place per name: that number where all names are whole numbers, else in
        order of appearance.
        """
        n, width, names = len(self.plan.parts), self.n_features, list(self.names)
        owners, values = self.stores[VECTORS].rows(n, self.mean_over)
        of_words = owners > len(self.plan.evidence)
        columns, values = owners[of_words] - len(self.plan.evidence) - 1, values[of_words]
        if self.functions:
            places = [name for name in names if isinstance(name, int) and name >= 0]
            if len(places) == len(names):
                columns = np.array(places, np.int64)[columns]
                width = max([width - 1, *places]) + 1
            else:
                width = len(names)
        out = np.zeros((n, width), self.dtype)
        out[:, columns] = values.T
        return out[0] if n == 1 else out

    def evidence(self) -> dict[str, float]:
        """The weight that the shared vector gives to each kind of evidence."""
        places = np.arange(len(self.plan.evidence))
        weights = values_of(self.stores[VECTORS].store, places, 1, self.mean_over, 0, np.float64)[:, 0]
        return {NAMES[code]: float(weight) for code, weight in zip(self.plan.evidence, weights, strict=True)}

    # ------------------------------------------------------------------ labels
    def with_plan(self, plan: Plan) -> Self:
        """A model that shares this memory under another plan; this one stays as it is for its readers."""
        return self._twin(plan=plan)

    def with_labels(self, onto: np.ndarray, n_labels: int) -> Self:
        """A model in which the weights and statistics of label r are added to those of label onto[r]; -1 drops them.

        What does not change is shared, and this model stays as it is: a reader sees all of the old or all of the new.
        """
        with self.lock:
            stores = list(self.stores)
            if self.plan.per_label:
                stores[WEIGHTS] = stores[WEIGHTS].moved(onto, n_labels)
            for which in range(VECTORS + 1, SUMS + 1):
                keep = self._earliest(onto, n_labels) if which == FIRSTS else onto
                stores[which] = stores[which].moved(keep, n_labels)
            kept, rows = onto >= 0, self.label_rows[: len(onto)]
            label_rows = np.zeros(max(n_labels, 1), np.int64)
            np.add.at(label_rows, onto[kept], rows[kept])
            seen = kept & (rows > 0)  # of the others, no row came first
            first_rounds = np.full(max(n_labels, 1), np.iinfo(np.int64).max)
            np.minimum.at(first_rounds, onto[seen], self.first_rounds[: len(onto)][seen])
            ledger = moved_ledger(self.ledger, onto, n_labels)
            copies = {name: getattr(self.experts, name).copy() for name in ("caps", "round", *KEPT)}
            experts = self.experts._replace(**copies)
            changed = {"label_rows": label_rows, "first_rounds": first_rounds, "ledger": ledger, "experts": experts}
            totals = moved_totals(self.totals, onto, n_labels, stores[SUMS])
            return self._twin(stores=stores, totals=totals, **changed)

    def _earliest(self, onto: np.ndarray, n_labels: int) -> np.ndarray:
        """`onto`, with -1 for labels that join one whose first row came earlier."""
        earliest = np.full(n_labels, -1)
        for r, to in enumerate(onto):
            if to >= 0 and self.label_rows[r] > 0:
                rival = earliest[to]
                if rival < 0 or self.first_rounds[r] < self.first_rounds[rival]:
                    earliest[to] = r
        return np.array([to if to >= 0 and earliest[to] == r else -1 for r, to in enumerate(onto)], np.int64)

    def _multiplied(self, s: float) -> dict[str, Any]:
        return {"stores": [*self.stores[:WEIGHTS], self.stores[WEIGHTS].multiplied(s), *self.stores[WEIGHTS + 1 :]]}

    def _twin(self, **changed: Any) -> Self:
        twin = object.__new__(type(self))
        vars(twin).update(vars(self), _columns=None, _fitted_to=(-1, -1), **changed)
        return twin

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Labels, features and names of the user's own label features, as far as they are known."""
        return int(self.counts[LABELS]), self.n_features, len(self.names)

    def cut(self, n_labels: int, n_features: int, n_names: int) -> None:
        """Forget what came after those `sizes`; nothing may have been learnt of it."""
        self.counts[LABELS], self.n_features = n_labels, n_features
        while len(self.names) > n_names:
            self.names.popitem()

    # ------------------------------------------------------------------ keeping
    def arrays(self) -> dict[str, np.ndarray]:
        """Everything learnt, as plain arrays, without the room for more."""
        n_labels = int(self.counts[LABELS])
        arrays = kept_ledger(self.ledger) | {
            "label_rows": self.label_rows[:n_labels],
            "first_rounds": self.first_rounds[:n_labels],
            "n_features": np.array([self.n_features]),
        }
        if self.plan.evidence:
            arrays |= {f"totals.{name}": array[:n_labels] for name, array in self.totals._asdict().items()}
        arrays |= self._statistics(self.n_features + 1)
        if self.notes[COST] > 0.0:
            arrays["cost"] = self.notes[[COST]]
        if self.each > 1:
            arrays |= {f"experts.{name}": getattr(self.experts, name) for name in KEPT}
            arrays["experts.growth"] = np.array([self.experts.growth])
            arrays["experts.by_best"] = np.array([self.experts.by_best])
        for which, paged in enumerate(self.stores):
            arrays |= {f"store{which}.{name}": array for name, array in paged.arrays().items()}
        return arrays

    def restore(self, arrays: dict[str, np.ndarray], names: Sequence[Hashable], n_labels: int) -> None:
        """Become what `arrays` described, if it makes sense; the arrays are copied.

        The values of a store may be `hinged.loops.blocks.SparseValues`.
        """
        ledger, rows = restored_label_ledger(arrays), arrays["label_rows"]
        if ledger.counts[LABELS] != n_labels or len(rows) < n_labels or (rows < 0).any():
            raise ValueError("its counts do not fit its labels")
        if len(arrays["first_rounds"]) < n_labels or arrays["first_rounds"].dtype != np.int64:
            raise ValueError("its counts are damaged")
        if rows.dtype != np.int64 or len(arrays["n_features"]) != 1:
            raise ValueError("its counts are damaged")
        self.ledger = ledger
        self.label_rows = rows.copy()
        self.first_rounds = arrays["first_rounds"].copy()
        if self.plan.evidence:
            fresh = {f"totals.{name}": array for name, array in new_totals(n_labels)._asdict().items()}
            check_arrays(arrays, {name: (array.shape, array.dtype) for name, array in fresh.items()})
            self.totals = Totals(*(arrays[name].copy() for name in fresh))
        self.n_features = int(arrays["n_features"][0])
        self._restore_statistics(arrays, self.n_features + 1, int(ledger.counts[LEARNT]))
        if "cost" in arrays:
            if arrays["cost"].shape != (1,) or not 0.0 <= float(arrays["cost"][0]) < np.inf:
                raise ValueError("its cost is damaged")
            self.notes[COST] = arrays["cost"][0]
        if self.each > 1:
            shapes = {f"experts.{name}": getattr(self.experts, name).shape for name in KEPT}
            check_arrays(arrays, {name: (shape, np.float64) for name, shape in shapes.items()})
            growth = restored_growth(arrays, "experts.growth")
            by_best = bool(arrays.get("experts.by_best", np.zeros(1, np.bool_)).all())
            kept = {name: arrays[f"experts.{name}"].copy() for name in KEPT}
            self.experts = self.experts._replace(growth=growth, by_best=by_best, **kept)
        self.names = {name: i for i, name in enumerate(names, start=1)}
        self.stores = restored_stores(arrays, self.stores, self._features())
        self._fit_to(int(self.counts[LABELS]), 0)

    def copy(self) -> Self:
        """An independent copy."""
        twin = object.__new__(type(self))
        twin.__setstate__(self.__getstate__())
        return twin

    def __getstate__(self) -> dict[str, Any]:
        with self.lock:
            settings = {name: getattr(self, name) for name in ("dtype", "plan", "setting", "own")}
            settings |= {"caps": tuple(self.experts.caps.tolist()), "mean": self.has_mean}
            return {"settings": settings, "options": self.options, "arrays": self.arrays(), "names": list(self.names)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state["settings"], **state["options"])  # type: ignore[misc]
        arrays = state["arrays"]
        self.restore(arrays, state["names"], int(arrays["ledger.counts"][LABELS]))

    # ------------------------------------------------------------------ what the loops are given
    def _fit_to(self, n_labels: int, n_rows: int) -> None:
        """Make the tables large enough for these labels and the features admitted."""
        self._tabulate(n_rows)
        features = self._features()
        room, labels = self._fitted_to
        if features <= room and n_labels == labels:
            return
        for which in self.in_use:
            self.stores[which].fit_to(features, self._width(which, n_labels))
        self.ledger = self.ledger._replace(records=longer(self.ledger.records, n_labels))
        self.label_rows = longer(self.label_rows, n_labels)
        self.first_rounds = longer(self.first_rounds, n_labels)
        self.totals = totals_for(self.totals, n_labels)
        self._fitted_to = (min(self.stores[which].store.slots.shape[0] for which in self.in_use), n_labels)

    def _features(self) -> int:
        """How many features the tables must have room for."""
        return max(self.n_weights, len(self.names)) + 1 + len(self.plan.evidence)

    def _width(self, which: int, n_labels: int) -> int:
        if which == WEIGHTS:
            return max(1, self.plan.n_columns(n_labels))
        return max(1, len(self.plan.parts)) if which == VECTORS else max(1, n_labels)

    def _scaling(self) -> Scaling:
        now = self._scaled_by
        if now is None or not (
            now.df is self.df
            and now.logs is self.logs
            and now.spreads is self.spreads
            and now.turns is self.turns
            and now.fading is self.metric.fading
        ):
            now = self._scaled_by = super()._scaling()
        return now

    def columns_of(self, labels: Sequence[Hashable]) -> Columns:
        """Which columns of the weights make up the score of each label."""
        cached, n = self._columns, len(labels)
        if cached is None or cached[0] != n:  # other readers may be here too: what is returned is what was made here
            indptr, indices = self.plan.columns(labels)
            kind = PER_LABEL if self.plan.per_label else PER_SET if self.plan.sets else NO_ROW_VECTORS
            each = np.diff(indptr)
            separate = self.plan.per_label or bool((each == 1).all() and len(np.unique(indices)) == len(indices))
            cached = (n, Columns(kind, indptr, indices, len(self.plan.sets), separate, self.each))
            self._columns = cached
        return cached[1]

    def _memory(self, labels: Sequence[Hashable], explicit: Explicit | None, held: Views | None = None) -> Memory:
        """What the loops are given: these labels' columns, and the stores as they are now or as `held` has them."""
        columns, scaling, metric = self.columns_of(labels), self._scaling(), self.metric
        if self.plan.parts:
            stores = [view[0] for view in held or [paged.view for paged in self.stores]]
            parts = self._parts(labels, explicit, stores)
            return Memory(columns, scaling, stores[WEIGHTS], parts, self.experts, metric)
        weights, last = held[WEIGHTS][0] if held else self.stores[WEIGHTS].view[0], self._last
        same = last is not None and last.columns is columns and last.scaling is scaling and last.metric is metric
        if last is None or not same or last.weights is not weights:
            last = self._last = Memory(columns, scaling, weights, None, self.experts, metric)
        return last

    def _problem(self) -> Problem:
        """What every round is asked to achieve."""
        now = self._asked
        if now is None or now.setting is not self.setting or now.costs is not self.costs or now.own is not self.own:
            now = self._asked = Problem(self.setting, self.costs, self.own)
        return now

    def _parts(self, labels: Sequence[Hashable], explicit: Explicit | None, stores: Sequence[Store]) -> Parts:
        parts = self.plan.parts
        ids, phi = explicit or (np.zeros(0, np.int64), np.zeros((len(parts), 0, 0)))
        return Parts(
            np.array(self.plan.evidence, np.int64),
            np.array([part.code for part in parts], np.int64),
            np.array([part.thresholds for part in parts], np.int64),
            np.array([part.factors for part in parts], np.float64),
            self.plan.members(labels),
            self.keeps,
            stores[VECTORS],
            stores[COUNTS],
            stores[FIRSTS],
            stores[SUMS],
            longer(self.label_rows, len(labels)),
            self.first_rounds,
            totals_for(self.totals, len(labels)),
            ids,
            phi,
        )
