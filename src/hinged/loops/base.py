"""What models share: a lock that is not pickled, the certificate, scaled rows, and checks of restored arrays."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from hinged.loops.ledger import GAIN, LEARNT, PENALTY, SQ_NORM, Ledger, new_ledger
from hinged.loops.memory import longer
from hinged.loops.rows import MOMENTS, SCALINGS, Rows, Scaling, longest_row, read_row

__all__ = ["Model", "ScaledModel", "check_arrays", "dual_of", "restored_ledger"]

LONGEST_LOG_TABLE = 1 << 20


def dual_of(sums: np.ndarray) -> float:
    """Return the dual certificate of Euclidean weights, Σ λ m - ½‖ω‖² (less Σ λ²/4C for pa2)."""
    return float(sums[GAIN] - 0.5 * sums[SQ_NORM] - sums[PENALTY])


def check_arrays(arrays: Mapping[str, np.ndarray], expected: Mapping[str, tuple[tuple[int, ...], DTypeLike]]) -> None:
    """Refuse arrays of a file that are not finite or not of the expected shape and type."""
    for name, (shape, dtype) in expected.items():
        kept = arrays[name]
        if kept.shape != shape or kept.dtype != dtype or not np.isfinite(kept).all():
            raise ValueError(f"its {name.rpartition('.')[2]} are damaged")


def restored_ledger(
    arrays: Mapping[str, np.ndarray], parts: Iterable[str] = Ledger._fields, prefix: str = "ledger."
) -> Ledger:
    """Return a ledger with copies of the given parts from a file, or say what is wrong with them."""
    ledger = new_ledger()
    fresh = {name: getattr(ledger, name) for name in parts}
    check_arrays(arrays, {prefix + name: (array.shape, array.dtype) for name, array in fresh.items()})
    if (arrays[f"{prefix}counts"] < 0).any():
        raise ValueError("its counts are damaged")
    return ledger._replace(**{name: arrays[prefix + name].copy() for name in fresh})


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
    """

    n_features = 0

    def __init__(
        self, *, scaling: str | None = None, unit: bool = False, bias: float = 0.0, average: bool = False
    ) -> None:
        super().__init__()
        self.scaling, self.unit, self.bias, self.average = scaling, unit, bias, average
        self.counts_features = scaling is not None
        self.df, self.logs = np.zeros(1, np.int32), np.zeros(0)
        self.means, self.spreads = np.zeros(1), np.zeros(1)

    @property
    def options(self) -> dict[str, Any]:
        """The settings that this class was made with."""
        return {"scaling": self.scaling, "unit": self.unit, "bias": self.bias, "average": self.average}

    def take_numbers(self, n: int) -> None:
        """Read the first `n` columns as numbers where the others are words: before the first round, and under "idf"."""
        if self.scaling == "idf" and not self.ledger.counts[LEARNT]:
            self.means, self.spreads = np.zeros(n + 1), np.zeros(n + 1)

    def _tabulate(self, n_rows: int) -> None:
        """Make room for what is kept of all features, and for the logarithms that so many more rows may need."""
        if self.scaling in MOMENTS:  # before the counts: readers go by these
            self.means = longer(self.means, self.n_features + 1)
            self.spreads = longer(self.spreads, len(self.means))
        if self.counts_features:
            self.df = longer(self.df, self.n_features + 1)
        if self.scaling not in ("idf", "mixed"):
            return
        need = min(int(self.ledger.counts[LEARNT]) + n_rows + 1, LONGEST_LOG_TABLE)
        if need > len(self.logs):
            self.logs = np.log(np.arange(max(need, 2 * len(self.logs))) + 0.5)

    def _scaling(self) -> Scaling:
        df, kind = self.df, SCALINGS[self.scaling]
        return Scaling(kind, self.unit, self.bias, self.counts_features, df, self.logs, self.means, self.spreads)

    def _statistics(self, n: int) -> dict[str, np.ndarray]:
        """What has to be saved of the scaling of `n` features, the constant one among them."""
        n = min(n, len(self.df)) if self.counts_features else 1
        arrays: dict[str, np.ndarray] = {"df": self.df[:n]}
        if self._keeps_means:
            arrays |= {"means": self.means[:n], "spreads": self.spreads[:n]}
        return arrays

    @property
    def _keeps_means(self) -> bool:
        return self.scaling in MOMENTS or len(self.means) > 1

    def _restore_statistics(self, arrays: Mapping[str, np.ndarray], n: int) -> None:
        """Load what `_statistics` had saved after checking it; the arrays are copied."""
        df = arrays["df"]
        if df.dtype != np.int32 or df.ndim != 1 or len(df) > max(1, n) or (df < 0).any():
            raise ValueError("its counts are damaged")
        self.df = df.copy()
        if self.scaling in MOMENTS or "means" in arrays:
            shape = df.shape if self.scaling in MOMENTS else arrays["means"].shape[:1]
            check_arrays(arrays, dict.fromkeys(("means", "spreads"), (shape, np.float64)))
            if not 1 <= shape[0] <= len(df):
                raise ValueError("its means are damaged")
            if (arrays["spreads"] < 0).any():
                raise ValueError("its spreads are damaged")
            self.means, self.spreads = arrays["means"].copy(), arrays["spreads"].copy()

    def read(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Return features and scaled values of one row; feature 0 is the bias, column c is feature c + 1."""
        longest = longest_row(rows)
        f, v = np.empty(longest + 1, np.int64), np.empty(longest + 1, rows.data.dtype)
        n, _q = read_row(rows, 0, self._scaling(), int(self.ledger.counts[LEARNT]), f, v)
        return f[:n], v[:n]
