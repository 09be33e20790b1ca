"""What models share: a lock that is not pickled, the certificate, scaled rows, and checks of restored arrays."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike

from hinged.compiling.arrays import Ints
from hinged.loops.confidence import ERRORS, SLOPES, learnt_of_bins
from hinged.loops.fading import FOREVER, Fading, fades, left, origin_of, period, statistics_left, weights_left
from hinged.loops.fourier import frequencies, room_for
from hinged.loops.ledger import GAIN, LABELS, LEARNT, PENALTY, SQ_NORM, Ledger, new_ledger
from hinged.loops.memory import longer
from hinged.loops.metric import EUCLIDEAN, Metric, adaptive_of, adapts, new_metric, widened
from hinged.loops.products import UNHASHED, Hashing, hashing_of, room_to_cross
from hinged.loops.rows import MOMENTS, SCALINGS, Rows, Scaling, SomeRows, longest_row, part_of, read_row
from hinged.loops.shares import GROWTH
from hinged.mercer.fourier import FeatureMap, Fourier
from hinged.mercer.products import Products

__all__ = [
    "Model",
    "ScaledModel",
    "check_arrays",
    "dual_of",
    "restored_growth",
    "restored_label_ledger",
    "restored_ledger",
]

LONGEST_LOG_TABLE = 1 << 20
PER_FEATURE = 16  # operations by which a random feature is worked out of its phase


def dual_of(sums: np.ndarray) -> float:
    """Return the dual certificate of Euclidean weights, Σ λ m - ½‖ω‖² (less Σ λ²/4C for pa2)."""
    return float(sums[GAIN] - 0.5 * sums[SQ_NORM] - sums[PENALTY])


def check_arrays(arrays: Mapping[str, np.ndarray], expected: Mapping[str, tuple[tuple[int, ...], DTypeLike]]) -> None:
    """Refuse arrays of a file that are not finite or not of the expected shape and type."""
    for name, (shape, dtype) in expected.items():
        kept = arrays[name]
        if kept.shape != shape or kept.dtype != dtype or not np.isfinite(kept).all():
            raise ValueError(f"its {name.rpartition('.')[2]} are damaged")


def restored_growth(arrays: Mapping[str, np.ndarray], name: str = "growth") -> float:
    """Return the growth of a mean from a file; 1 for a model stored when every round counted alike."""
    kept = arrays.get(name, np.ones(1))
    if kept.shape != (1,) or kept[0] not in (1.0, GROWTH):
        raise ValueError("its growth is damaged")
    return float(kept[0])


def seen_of(metric: Metric, n: int) -> dict[str, np.ndarray]:
    """What a file keeps of a metric, for `n` features at most."""
    return {"seen": metric.seen[:n]} if adapts(metric) else {}


def restored_metric(metric: Metric, arrays: Mapping[str, np.ndarray], n: int) -> Metric:
    """Return what `seen_of` had saved after checking it, with a copy of the array."""
    if not adapts(metric):
        return metric
    seen = arrays["seen"]
    check_arrays(arrays, {"seen": ((min(len(seen), max(1, n)),), np.float64)})
    if not len(seen) or (seen < 0).any():
        raise ValueError("its metric is damaged")
    return metric._replace(seen=seen.copy())


def restored_ledger(
    arrays: Mapping[str, np.ndarray], parts: Iterable[str] = ("counts", "sums"), prefix: str = ""
) -> Ledger:
    """Return a ledger with copies of the given parts from a file, or say what is wrong with them."""
    ledger = new_ledger()
    fresh = {name: getattr(ledger, name) for name in parts}
    check_arrays(arrays, {prefix + name: (array.shape, array.dtype) for name, array in fresh.items()})
    if (arrays[f"{prefix}counts"] < 0).any():
        raise ValueError("its counts are damaged")
    return ledger._replace(**{name: arrays[prefix + name].copy() for name in fresh})


def restored_label_ledger(arrays: Mapping[str, np.ndarray]) -> Ledger:
    """Return the ledger of a learner on labels from a file, with copies of its arrays, after checking it.

    Files of version 0.1 keep hits by bins of the lead, `ledger.leads`; they have no records of labels.
    """
    ledger = restored_ledger(arrays, prefix="ledger.")
    if "ledger.leads" in arrays:
        leads = arrays["ledger.leads"]
        check_arrays(arrays, {"ledger.leads": ((2, 96), np.float64)})
        if (leads < 0).any() or (leads > 1000).any():  # it halved them at 1,000
            raise ValueError("its leads are damaged")
        return ledger._replace(odds=learnt_of_bins(*leads))
    n_labels = int(ledger.counts[LABELS])
    check_arrays(arrays, {"ledger.odds": (ledger.odds.shape, np.float64), "ledger.records": ((n_labels,), np.float64)})
    odds, records = arrays["ledger.odds"].copy(), arrays["ledger.records"].copy()
    if (odds[SLOPES:] < 0).any() or odds[ERRORS] < 1.0:
        raise ValueError("its odds are damaged")
    return ledger._replace(odds=odds, records=longer(records, 1))


class Model:
    """One learner's memory: counts and sums, and a lock that its one writer holds.

    Copies and pickles get a lock of their own.
    """

    functions: Sequence[Callable[..., Any]] = ()  # label features of the user's own
    own: Any = None  # a rule of the user's own
    all_or_nothing = False  # True if a call that fails must be undone whole, its finished rounds too
    fixed_space = False  # True if features not seen yet have weights already
    unkept: tuple[str, ...] = ("lock",)  # attributes that are not pickled

    def __init__(self) -> None:
        self.ledger, self.lock = new_ledger(), threading.RLock()

    @property
    def counts(self) -> np.ndarray:
        """Rounds, mistakes and the like; see `hinged.loops.ledger`."""
        return self.ledger.counts

    @property
    def dual(self) -> float:
        """The dual certificate."""
        return dual_of(self.ledger.sums)

    def __getstate__(self) -> dict[str, Any]:
        with self.lock:
            return {name: value for name, value in vars(self).items() if name not in self.unkept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, lock=threading.RLock())


class ScaledModel(Model):
    """A model that scales rows before it scores them.

    Parameters
    ----------
    scaling : None, "idf", "standard" or "mixed"
        How values are scaled by what has been seen of their features.
    unit, bias
        Whether rows get length 1, and the constant feature's value.
    average : bool
        Whether mean weights are kept.
    adaptive : float
        r of a metric that learns; 0 for the Euclidean one.
    feature_map : Fourier or Products, optional
        Features that are made of rows once they are scaled.
    half_lives : tuple of float
        Learnt rounds after which half is left of weights, and of statistics; 0 where all is kept.
    """

    n_features = 0
    metric = EUCLIDEAN  # of a model pickled when there was no other
    feature_map: FeatureMap | None = None  # of a model pickled before there were any
    held = np.zeros(1)  # of a model pickled when nothing was forgotten
    unkept = ("lock", "turns")

    def __init__(
        self,
        dtype: DTypeLike,
        *,
        scaling: str | None = None,
        unit: bool = False,
        bias: float = 0.0,
        average: bool = False,
        adaptive: float = 0.0,
        feature_map: FeatureMap | None = None,
        half_lives: tuple[float, float] = FOREVER[:2],
    ) -> None:
        super().__init__()
        self.dtype, self.feature_map = np.dtype(dtype), feature_map
        self.scaling, self.unit, self.bias, self.average = scaling, unit, bias, average
        self.metric = new_metric(adaptive, half_lives)
        self.counts_features = scaling is not None
        self.df, self.logs = np.zeros(1, np.int32), np.zeros(0)
        self.means, self.spreads, self.held = np.zeros(1), np.zeros(1), np.zeros(1)
        self.turns = self._no_turns()

    @property
    def options(self) -> dict[str, Any]:
        """The settings that this class was made with."""
        names = ("scaling", "unit", "bias", "average", "feature_map")
        more = {"adaptive": adaptive_of(self.metric), "half_lives": self.metric.fading[:2]}
        return {name: getattr(self, name) for name in names} | more

    @property
    def n_weights(self) -> int:
        """How many features have weights, without the constant one: the columns met so far, or the random features."""
        return self.n_features if self.feature_map is None else self.feature_map.n

    def longest(self, rows: Rows) -> int:
        """Most values that any of the rows takes up while it is read."""
        longest = longest_row(rows)
        if isinstance(self.feature_map, Products):
            return room_to_cross(self._hashing, longest)
        return room_for(self.feature_map, longest)

    def per_raw_value(self, each: int) -> int:
        """Operations that a value of a row as it comes takes, where one takes `each` once the row is read."""
        if self.feature_map is None:
            return each
        if isinstance(self.feature_map, Products):
            return (1 + self.feature_map.most // 2) * (PER_FEATURE + each)
        return self.feature_map.n // 2 + self.feature_map.n * (PER_FEATURE + each) // max(1, self.n_features)

    def check_explains(self) -> None:
        """Refuse to explain scores that are no sums over columns."""
        if self.feature_map is not None:
            raise ValueError(
                f"explain tells what each column carries, and with kernel={self.feature_map!r} a feature mixes several "
                "columns. Use hinged.mercer.Gaussian, which names the past rounds that carry a score, or no kernel."
            )

    def _no_turns(self) -> np.ndarray:
        return np.zeros((1, self.feature_map.n // 2 if isinstance(self.feature_map, Fourier) else 0), self.dtype)

    @property
    def _hashing(self) -> Hashing:
        return hashing_of(self.feature_map) if isinstance(self.feature_map, Products) else UNHASHED

    def _draw(self) -> None:
        """Draw the frequencies of the columns that have none yet, and of some to come."""
        n = len(self.turns) - 1
        if isinstance(self.feature_map, Fourier) and n < self.n_features:
            more = frequencies(self.feature_map, n, max(self.n_features, n + n // 2), self.dtype)
            self.turns = np.concatenate((self.turns, more))

    def take_numbers(self, n: int) -> None:
        """Read the first `n` columns as numbers where the others are words: before the first round, and under "idf"."""
        if self.scaling == "idf" and not self.ledger.counts[LEARNT]:
            self.means, self.spreads, self.held = np.zeros(n + 1), np.zeros(n + 1), np.zeros(n + 1)

    def _tabulate(self, n_rows: int) -> None:
        """Make room for what is kept of all features, and for the logarithms that so many more rows may need."""
        self._draw()
        if self.scaling in MOMENTS:  # before the counts: readers go by these
            self.means = longer(self.means, self.n_features + 1)
            self.spreads = longer(self.spreads, len(self.means))
            self.held = longer(self.held, len(self.means) if self.metric.fading.statistics else 1)
        if self.counts_features:
            self.df = longer(self.df, self.n_features + 1)
        self.metric = widened(self.metric, self.n_weights + 1)
        if self.scaling not in ("idf", "mixed"):
            return
        need = min(int(self.ledger.counts[LEARNT]) + n_rows + 1, LONGEST_LOG_TABLE)
        if need > len(self.logs):
            self.logs = np.log(np.arange(max(need, 2 * len(self.logs))) + 0.5)

    def _scaling(self) -> Scaling:
        df, kind = self.df, SCALINGS[self.scaling]
        known = df, self.logs, self.means, self.spreads, self.turns, self._hashing, self.metric.fading, self.held
        return Scaling(kind, self.unit, self.bias, self.counts_features, *known)

    def _statistics(self, n: int) -> dict[str, np.ndarray]:
        """What has to be saved of the metric, and of the scaling of `n` features, the constant one among them."""
        arrays = seen_of(self.metric, self.n_weights + 1)
        n = min(n, len(self.df)) if self.counts_features else 1
        arrays |= {"df": self.df[:n]}
        if self._keeps_means:
            arrays |= {name: getattr(self, name)[:n] for name in self._moments}
        return arrays

    @property
    def _keeps_means(self) -> bool:
        return self.scaling in MOMENTS or len(self.means) > 1

    @property
    def _moments(self) -> tuple[str, ...]:
        return ("means", "spreads", "held") if self.metric.fading.statistics else ("means", "spreads")

    def _restore_statistics(self, arrays: Mapping[str, np.ndarray], n: int, learnt: int) -> None:
        """Load what `_statistics` had saved after so many learnt rounds and a check; the arrays are copied."""
        if self.feature_map is not None:
            self.feature_map.check_columns(n - 1)
        df = arrays["df"]
        if df.dtype != np.int32 or df.ndim != 1 or len(df) > max(1, n) or (df < 0).any():
            raise ValueError("its counts are damaged")
        self.df = df.copy()
        if self.scaling in MOMENTS or "means" in arrays:
            shape = df.shape if self.scaling in MOMENTS else arrays["means"].shape[:1]
            check_arrays(arrays, dict.fromkeys(self._moments, (shape, np.float64)))
            if not 1 <= shape[0] <= len(df):
                raise ValueError("its means are damaged")
            for name in self._moments[1:]:
                if (arrays[name] < 0).any():
                    raise ValueError(f"its {name} are damaged")
            vars(self).update({name: arrays[name].copy() for name in self._moments})
        self.metric = restored_metric(self.metric, arrays, self.n_weights + 1)
        fading = self.metric.fading
        fading = fading._replace(origin=origin_of(fading, self.dtype.itemsize, learnt))
        self.metric = self.metric._replace(fading=fading)

    # ------------------------------------------------------------------ forgetting
    @property
    def _left(self) -> float:
        """What weights are to what is stored of them."""
        return weights_left(self.metric.fading, self._learnt_here)

    def _up_to_renewals(self, start: int, stop: int) -> Iterable[int]:
        """Where to stop on the way from round `start` to `stop`; after each, what is stored is renewed if it is time.

        That is always after the same number of learnt rounds, so that one row at a time or many give the same bits.
        """
        return self._renewing(start, stop) if fades(self.metric.fading) else (stop,)

    def _renewing(self, start: int, stop: int) -> Iterator[int]:
        fading, counts, size = self.metric.fading, self.ledger.counts, self.dtype.itemsize
        while start < stop:
            start = min(stop, start + fading.origin + period(fading, size) - int(counts[LEARNT]))
            yield start
            if fading.origin != origin_of(fading, size, int(counts[LEARNT])):
                fading = self._renew(int(counts[LEARNT]))

    def _renew(self, learnt: int) -> Fading:
        """Replace all that is stored by what is left of it, in one step: readers see the old or the new."""
        metric = self.metric
        left = statistics_left(metric.fading, learnt)
        fading = metric.fading._replace(origin=learnt)
        changed = {"metric": metric._replace(seen=left * metric.seen, fading=fading)}
        changed |= {"spreads": left * self.spreads, "held": left * self.held}
        vars(self).update(changed | (self._multiplied(self._left) if fading.weights else {}))
        return fading

    def _multiplied(self, s: float) -> dict[str, Any]:
        """The attributes that hold weights, multiplied by s."""
        raise NotImplementedError

    def _now(self) -> Self:
        """This model at this moment, for reading: what is stored and its origin belong together, whatever comes later.

        Copying a dict is one step to other threads. Where nothing is forgotten, there is nothing to hold together.
        """
        if not fades(self.metric.fading):
            return self
        twin = object.__new__(type(self))
        twin.__dict__ = vars(self).copy()
        return twin

    def _counts_here(self) -> Ints:
        """Counts to read by; where something fades those of this moment, but not from after the next renewal."""
        counts, fading = self.ledger.counts, self.metric.fading
        if fades(fading):
            counts = counts.copy()
            counts[LEARNT] = min(counts[LEARNT], fading.origin + period(fading, self.dtype.itemsize))
        return counts

    @property
    def _learnt_here(self) -> int:
        """How many rounds were learnt, by these counts."""
        return int(self._counts_here()[LEARNT])

    def _steadily(self, ask: Callable[..., np.ndarray], rows: SomeRows, *more: Any) -> np.ndarray:
        """Return ``ask(rows, *more)``, scores of rows, as they are of a moment while a writer learns.

        Weights that fade are stored as what grows: by the time that it is read, later rounds may have added to it, and
        then scores are too large by what these rounds took. That is little for one row, and is taken off.
        """
        if self.metric.fading.weights == 0.0:
            return ask(rows, *more)
        before = self._learnt_here
        out = ask(rows, *more)
        for i in range(len(out) if self._left_since(before) != 1.0 else 0):
            before = self._learnt_here
            score = ask(part_of(rows, slice(i, i + 1)), *more)[0]
            out[i] = score * self._left_since(before)
        return out

    def _left_since(self, learnt: int) -> float:
        """What rounds since then have left of weights; 1 where weights do not fade."""
        return left(self.metric.fading.weights, self._learnt_here - learnt)

    def read(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Return features and scaled values of one row; feature 0 is the bias, column c is feature c + 1."""
        longest = self.longest(rows)
        f, v = np.empty(longest + 1, np.int64), np.empty(longest + 1, rows.data.dtype)
        n, _q = read_row(rows, 0, self._scaling(), self._learnt_here, f, v)
        return f[:n], v[:n]

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.turns = self._no_turns()
        self._draw()
