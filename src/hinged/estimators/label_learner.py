"""What `Classifier` and `Ranker` share: learning labels, and answering by labels and weights of one moment."""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from typing import ClassVar, Self

import numpy as np
from scipy import sparse

from hinged.compiling.arrays import Ints
from hinged.estimators.auto import FirstRow, choices_of_labels
from hinged.estimators.inputs import dense_rows, kept_dense
from hinged.estimators.label_edits import LabelEdits
from hinged.estimators.labels import LabelIndex, to_declare, without_rival
from hinged.estimators.options import (
    BUILT_FOR,
    AsBudget,
    AsHalfLife,
    ClassWeight,
    Cost,
    DType,
    Features,
    Geometry,
    Kernel,
    RandomState,
    Rule,
    Sharing,
)
from hinged.estimators.parts import at_one_moment, runs_functions
from hinged.estimators.protocol import Advance, LabelModelLike
from hinged.estimators.reader import Answers, Batch, Checked, RowReader, one_row_of
from hinged.estimators.scored import Scored
from hinged.estimators.settings import Settled, give_costs, settle, whole
from hinged.geometry.choice import on_simplex
from hinged.loops.entropic import EntropicModel, beyond
from hinged.loops.labels import Targets
from hinged.loops.ledger import GAP, ITERATIONS, LABELS, UNREACHED, Told
from hinged.loops.model import LabelModel
from hinged.loops.rows import Dense, Rows
from hinged.mercer.fourier import remembers_rows
from hinged.rules.words import is_interior

__all__ = ["LabelLearner"]

ONE_EACH, UNWEIGHTED = np.arange(2), np.zeros(0)


class LabelLearner(LabelEdits):
    """Online learner on labels; see `Classifier` and `Ranker` for the parameters."""

    _stepping = ("rule", "C", "margin", "cost", "constraint", "novel")
    _built_for = ("sharing", "features", "budget", *BUILT_FOR)
    cost: Cost
    constraint: str
    geometry: Geometry
    half_life: AsHalfLife = None  # of a model pickled before the setting existed
    margin: float
    rule: Rule
    scaling: str | None
    normalize: bool | str
    average: bool | str
    bias: float | str
    device: str = "cpu"
    budget: AsBudget = None
    novel: str = "skip"  # of a model pickled before the setting existed
    _before: ClassVar[dict[str, object]] = {"novel": "skip"}

    def __init__(
        self,
        rule: Rule = "auto",
        C: float | str = "auto",
        *,
        sharing: Sharing = "multi",
        features: Features = None,
        geometry: Geometry = "euclidean",
        half_life: AsHalfLife = None,
        margin: float = 1.0,
        cost: Cost = None,
        constraint: str = "max-loss",
        novel: str = "learn",
        kernel: Kernel | None = None,
        scaling: str | None = "auto",
        normalize: bool | str = "auto",
        average: bool | str = "auto",
        bias: float | str = "auto",
        class_weight: ClassWeight = None,
        n_features: int | None = None,
        epochs: int = 1,
        shuffle: bool = False,
        random_state: RandomState = None,
        device: str = "cpu",
        budget: AsBudget = None,
        dtype: DType = None,
    ) -> None:
        self._store(locals())

    # ------------------------------------------------------------------ what subclasses say
    @abstractmethod
    def _flat(self, answers: Answers) -> tuple[Ints, Sequence[Hashable]]:
        """The right labels of all rows, one after the other, and where those of each row begin."""

    @abstractmethod
    def _labels_of(self, answers: Answers) -> list[Hashable]:
        """The labels that `fit` makes known."""

    @abstractmethod
    def _known_answer(self, y: object, labels: LabelIndex) -> Ints | None:
        """Position of a label that is known, as the loop reads it; None for any other answer."""

    @abstractmethod
    def _up_front(self, classes: list[Hashable] | None) -> list[Hashable] | None:
        """Labels to declare before a batch."""

    # ------------------------------------------------------------------ learning
    def learn_one(self, x: object, y: object, sample_weight: float | None = None) -> None:
        """Learn one row: a dict of feature → value, a 1-D array, or a sparse row."""
        if sample_weight is None and type(x) is dict and self.class_weight is None:
            with self._writing():
                if self._learn_dict(x, y):
                    return
        super().learn_one(x, y, sample_weight)

    def _learn_dict(self, x: dict[Hashable, object], y: object) -> bool:
        """Learn a dict of names where nothing but weights changes, the common case of a stream; False elsewhere."""
        labels, model, reader = self._parts
        if labels is None or model is None or not isinstance(reader, RowReader) or reader.names is None:
            return False
        ids = None if runs_functions(model) else self._known_answer(y, labels)
        if ids is None or not self._is_up_to_date():
            return False
        batch, known = reader.read_dicts(self, (x,), True), labels.labels
        give_costs(model, self, known)
        reader.admit(self, batch)
        learn = model.learn_one if isinstance(model, LabelModel) else model.learn
        learn(batch.rows, Targets(ONE_EACH, ids, UNWEIGHTED), known)
        self._warn(model)
        return True

    def _by_current_weights(self, rows: Rows) -> Scored:
        labels, model = self.known_labels(), self._model
        if model is None:
            return Scored.of_nothing()
        return Scored.by(labels, model, model.score(rows, labels, self._describe, current=True))

    def declare(self, labels: Iterable[Hashable]) -> Self:
        """Make labels known before any of their rows came; sorted where they can be compared.

        Examples
        --------
        >>> import hinged
        >>> hinged.Classifier().declare(["spam", "ham"]).classes_.tolist()
        ['ham', 'spam']
        """
        with self._writing():
            settled = self._settled if self._is_up_to_date() else None
            self._declare(to_declare(labels), settled or self.check_settings())
        return self

    def _declare(self, labels: list[Hashable], settled: Settled) -> None:
        known, model, _ = self._parts
        known = LabelIndex() if known is None else known
        new = [label for label in labels if label not in known.position]
        self._check_count(len(known) + len(new), settled)
        if model is not None:
            model.declare(len(known) + len(new))  # first: readers go by the labels
        known.extend(new)
        self._parts = self._parts._replace(labels=known)

    def _expect(self, checked: Checked[Settled]) -> None:
        self._declare(to_declare(self._labels_of(checked.answers)), checked.settled)

    def _expect_classes(self, classes: object, checked: Checked[Settled]) -> None:
        given = self._up_front(None if classes is None else to_declare(classes))
        if given is not None:
            if checked.settled.most_labels < math.inf:
                labels = {*self.known_labels(), *given, *self._flat(checked.answers)[1]}
                self._check_count(len(labels), checked.settled)
            self._declare(to_declare(given), checked.settled)

    def _learn(self, checked: Checked[Settled], delay: int = 0, advance: Advance | None = None) -> Told:
        batch, answers, weights, settled = checked
        known = LabelIndex() if self._labels is None else self._labels
        n_before = len(known)
        indptr, flat = self._flat(answers)
        each = np.repeat(weights, np.diff(indptr)) if len(weights) else None
        ids, new = known.encode(flat, each)
        if new:
            self._check_count(len(known) + len(new), settled)
        if (model := self._model) is None:
            self._parts = self._parts._replace(labels=known)
            model = self._new_model(checked)
            model.declare(len(known))
        with self._between_rounds():
            self._take_in(batch)
            after = [*known.labels, *new] if new else known.labels
            give_costs(model, self, after)
            targets = Targets(indptr, ids, weights)
            try:
                told = model.learn(batch.rows, targets, after, delay, self._describe, advance)
            finally:  # also where the call is interrupted: the labels met so far are known
                known.extend(new[: max(0, int(model.counts[LABELS]) - len(known))])
        self._warn(model)
        if n_before < 2 or (np.diff(indptr) != 1).any():  # elsewhere each round has one right label, and a rival
            told.ranks[without_rival(indptr, ids, n_before, delay)] = 0
        return told

    def _warn(self, model: LabelModelLike) -> None:
        """Warn, once, where no weights can meet the margin."""
        if isinstance(model, EntropicModel) and model.notes[UNREACHED] > 0 and not model.told:
            model.told = True
            warnings.warn(
                f"margin={self.margin!r} is out of reach on some rows: with geometry='entropy' scores of a row differ "
                f"by less than the radius ({model.geometry.radius:g}) times the range of its values. The steps there "
                "are C. Use a smaller margin, or hinged.geometry.Entropy(radius=...) larger than the margin.",
                stacklevel=4,
            )

    # ------------------------------------------------------------------ checks
    def check_settings(self) -> Settled:
        """Check every setting, by name; return what they stand for. A ValueError says what was wrong."""
        return settle(self._plainly())

    def _choices(self, row: FirstRow | None) -> dict[str, object]:
        return choices_of_labels(self, row, sets=self.task == "rank")

    def _check_count(self, n_labels: int, settled: Settled) -> None:
        if n_labels > settled.most_labels:
            raise ValueError(
                f"rule={self._plainly().rule!r} with sharing={self.sharing!r} solves a problem over all pairs of "
                f"labels and takes at most {settled.most_labels}; got {n_labels}. Use sharing='multi' or 'simproj'."
            )

    def _check_rows(self, batch: Batch) -> None:
        """Refuse features beyond those that weights on a simplex are spread over, and too many for random features."""
        super()._check_rows(batch)
        model = self._model
        if not (model.fixed_space if model is not None else on_simplex(self.geometry) is not None):
            return
        fixed = self.n_features if model is None or model.n_features == 0 else model.n_features
        if fixed is None and batch.names is not None:
            raise ValueError(
                "geometry='entropy' spreads weights over a fixed number of features, which dicts do not tell; "
                "give n_features=, as many as may ever come, or learn from a matrix."
            )
        width = batch.width if batch.names is None else len(batch.names) + len(self._parts.reader.names or ())
        if fixed is not None and width > fixed:
            raise ValueError(beyond(fixed, width))

    def _dense(self, X: np.ndarray, dtype: np.dtype) -> Rows:
        return kept_dense(X, dtype) if remembers_rows(self.kernel) else dense_rows(X, dtype)

    # ------------------------------------------------------------------ answers
    def decision_function(self, X: object) -> np.ndarray:
        """Scores of every known label, (rows, labels) in the order of `classes_`."""
        return self._scored(X)[2]

    def rank(self, X: object, top: int | None = None) -> list[list[Hashable]]:
        """The labels of each row from best to worst (the best `top` of them); ties go to the earlier label."""
        top = None if top is None else whole("top", top, 1)
        labels, _, scores = self._scored(X)
        orders = np.argsort(-scores, kind="stable", axis=1)[:, :top]
        return [[labels[r] for r in order] for order in orders.tolist()]

    def rank_one(self, x: object, top: int | None = None) -> list[Hashable]:
        """The labels from best to worst for one row; empty before any is known."""
        return [] if self._model is None else self.rank(self._parts.reader.one(x), top)[0]

    def score_gap(self, X: object) -> np.ndarray:
        """Lead of each row's best label over the runner-up; 0 where there is no runner-up."""
        return self.scored(X).gap

    def confidence(self, X: object) -> np.ndarray:
        """Chance in [0, 1] that each row's best label is right, estimated online from earlier leads and hits."""
        return self.scored(X).confidence

    def scored(self, X: object) -> Scored:
        """Scores of rows, with the labels, the threshold and the confidence of the same moment.

        Examples
        --------
        >>> import hinged
        >>> model = hinged.Classifier("pa1", C=1.0, scaling=None).fit([[1.0, 0.0], [0.0, 1.0]] * 4, ["a", "b"] * 4)
        >>> found = model.scored([[1.0, 0.0]])
        >>> found.labels, found.scores.tolist(), [found.labels[r] for r in found.order(0)]
        (('a', 'b'), [[0.5, -0.5]], ['a', 'b'])
        """
        return Scored.by(*self._scored(X))

    def scored_one(self, x: object) -> Scored:
        """`scored` for one row: its scores are an array (1, labels)."""
        labels, model, scores = self._scored_one(x)
        return Scored.by(labels, model, scores[None, :])

    @at_one_moment
    def read(self, X: object) -> Rows:
        """Rows as the loops read them before scaling: compressed rows of column numbers and values.

        Nothing is learnt of them; a column that the model does not know is beyond its `n_features`.
        """
        rows: Rows | Dense = self._rows(X)
        return dense_rows(rows.values, rows.values.dtype) if isinstance(rows, Dense) else rows

    @at_one_moment
    def explain(self, x: object, label: Hashable, top: int | None = 10) -> list[tuple[Hashable, float]]:
        """The features of a row that carry a label's score, signed, largest first; all of them sum to the score.

        With a kernel, the past rounds that carry it, by their number from 0: the most influential examples.

        Parameters
        ----------
        x : dict, 1-D array or sparse row
        label : a known label
        top : how many, None for all

        Examples
        --------
        >>> import hinged
        >>> model = hinged.Classifier("pa1", C=0.5, scaling=None)
        >>> for x, y in [({"tax": 1, "the": 1}, "work"), ({"cake": 1, "the": 1}, "home"), ({"tax": 1}, "work")]:
        ...     model.learn_one(x, y)
        >>> model.explain({"tax": 2}, "work")
        [('tax', 1.0)]
        """
        top = None if top is None else whole("top", top, 1)
        model, labels = self._fitted(), self._labels
        assert labels is not None
        at = labels.find(label)
        return self._largest(model.explain(self._row(x), labels.labels, at, self._describe), top)

    @at_one_moment
    def _scored(self, X: object) -> tuple[tuple[Hashable, ...], LabelModelLike, np.ndarray]:
        """The labels, the model and its scores (rows, labels): an edit meanwhile replaces the first two, not these."""
        model, known = self._fitted(), self.known_labels()
        return known, model, model.score(self._rows(X), known, self._describe)

    def _scored_one(self, x: object) -> tuple[tuple[Hashable, ...], LabelModelLike, np.ndarray]:
        """The labels of one moment, the model and its scores (labels,) for one row."""
        if type(x) is dict and (quick := self._scored_dict(x)) is not None:
            return quick
        labels, model, scores = self._scored(self._parts.reader.one(x))
        return labels, model, scores[0]

    def _scored_dict(self, x: dict[Hashable, object]) -> tuple[tuple[Hashable, ...], LabelModelLike, np.ndarray] | None:
        """The same for a dict of plain numbers, as streams have them; None where it needs a closer look.

        All that the answer depends on is taken in one step, as by `at_one_moment`, without a copy of the learner.
        """
        labels, model, reader = self._parts
        if labels is None or model is None or reader.names is None or model.functions:
            return None
        known, row = labels.labels, one_row_of(model, x, reader.names, grow=False)
        return None if row is None else (known, model, model.score(row[0], known)[0])

    # ------------------------------------------------------------------ weights
    @property
    def coef_(self) -> np.ndarray | sparse.sparray:
        """Weights (labels, features) of the labels' own vectors (of the sets', for `Groups`); sparse when large."""
        model = self._with_weights("coef_")
        assert isinstance(model, LabelModel | EntropicModel)
        return model.coef()

    @property
    def shared_coef_(self) -> np.ndarray:
        """The shared vector of "single" and "hybrid" (features,); (sets, features) where groups share several.

        Label features of your own have a place for each name: at that number if names are whole numbers, else in order.
        """
        model = self._with_weights("shared_coef_")
        if not isinstance(model, LabelModel) or not model.plan.parts:
            raise AttributeError("shared_coef_ exists for sharing='single' and 'hybrid', and groups with features.")
        return model.shared_coef()

    @property
    def experts_(self) -> dict[float | str, float]:
        """With ``C="auto"``: each C, and "mean", with its share in the answers, which follows mistakes; else empty."""
        experts = getattr(self._learnt("experts_"), "experts", None)
        if experts is None:
            return {}
        names = [*experts.caps.tolist(), "mean"][: len(experts.shares)]
        return dict(zip(names, experts.shares.tolist(), strict=True))

    @property
    def solver_iterations_(self) -> int:
        """Most iterations of any joint step by interior points, in this process."""
        return int(self._of_interior_points("solver_iterations_")[ITERATIONS])

    @property
    def solver_gap_(self) -> float:
        """Largest relative duality gap that any joint step by interior points was left with, in this process."""
        return float(self._of_interior_points("solver_gap_")[GAP])

    def _of_interior_points(self, name: str) -> np.ndarray:
        model = self._learnt(name)
        if not is_interior(model.setting.words):
            raise AttributeError(f"{name} exists for rule=hinged.rules.Optimal(solver='interior-point').")
        return model.notes
