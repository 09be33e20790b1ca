"""Progressive validation: predict, count, then learn, in one compiled pass."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np

from hinged.estimators.options import SampleWeight
from hinged.loops.ledger import Told

__all__ = ["Progress", "counted_rounds", "progressive"]


def counted_rounds(flags: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Which rounds could be predicted rightly or wrongly: those whose label is known and has a rival."""
    return (flags == 1) | ((flags == 0) & (ranks != 0))


@dataclass(frozen=True)
class Progress:
    """The result of progressive validation, round by round.

    Attributes
    ----------
    flags : int8 array
        1 mistake, 0 correct, -1 not counted (a label seen for the first time).
    ranks : int32 array
        Rank, from 1, of the best right label; 0 if a label is new, or there is nothing to rank (`unopposed`).
    updates : int
        Rounds that took a step.
    cost : float
        Total cost; the number of mistakes if no cost is set.
    seconds : float
        Wall time of the pass.
    losses : float64 array or None
        Hinge loss of each round before its update, with the margin and the constraints of the learner's rule: over
        pairs of labels, with their costs if set; over the rivals of a sequence; of the one constraint of a vector. 0
        if a label is new, or there is nothing to rank. `progressive` always sets it.
    """

    flags: np.ndarray
    ranks: np.ndarray
    updates: int
    cost: float
    seconds: float
    losses: np.ndarray | None = None

    @property
    def mistakes(self) -> int:
        """Rounds predicted wrongly."""
        return int((self.flags == 1).sum())

    @property
    def novel(self) -> int:
        """Rounds with a label seen for the first time."""
        return int((self.flags == -1).sum())

    @property
    def rate(self) -> float:
        """Mistakes per counted round; 0 if none was counted."""
        return self.mistakes / max(1, self.counted)

    @property
    def counted(self) -> int:
        """Rounds that could be predicted rightly or wrongly: neither novel nor unopposed."""
        return int(counted_rounds(self.flags, self.ranks).sum())

    @property
    def unopposed(self) -> int:
        """Rounds that cannot be predicted wrongly: no label is right, or all known labels are.

        Examples
        --------
        >>> import hinged
        >>> model = hinged.Ranker()
        >>> p = hinged.evaluate.progressive(model, [{"a": 1}] * 4, [{"x"}, {"y"}, set(), {"x"}])
        >>> p.flags.tolist(), p.unopposed, p.counted
        ([-1, -1, 0, 1], 1, 1)
        """
        return int(((self.flags == 0) & (self.ranks == 0)).sum())

    @property
    def curve(self) -> np.ndarray:
        """Mistakes so far, after each round."""
        return np.cumsum(self.flags == 1)

    def top(self, k: int) -> float:
        """Share of counted rounds whose right label was among the best `k`.

        Examples
        --------
        >>> p = Progress(np.array([-1, 1, 0, 1], np.int8), np.array([0, 2, 1, 9], np.int32), 2, 2.0, 0.0)
        >>> p.mistakes, p.novel, round(p.top(3), 2)
        (2, 1, 0.67)
        """
        counted = counted_rounds(self.flags, self.ranks)
        return float((self.ranks[counted] <= k).mean()) if counted.any() else 0.0

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """Join consecutive parts; with losses if all parts have them."""
        flags, ranks = (np.concatenate([getattr(p, name) for p in parts]) for name in ("flags", "ranks"))
        updates, cost, seconds = (sum(getattr(p, name) for p in parts) for name in ("updates", "cost", "seconds"))
        losses = [p.losses for p in parts if p.losses is not None]
        return cls(flags, ranks, updates, cost, seconds, np.concatenate(losses) if len(losses) == len(parts) else None)

    def __repr__(self) -> str:
        unopposed = f"{self.unopposed} unopposed, " if self.unopposed else ""
        return (
            f"Progress({self.mistakes} mistakes in {self.counted} counted rounds ({100 * self.rate:.1f} %), "
            f"{self.novel} novel, {unopposed}{self.updates} updates, {self.seconds:.3f} s)"
        )


class Learns(Protocol):
    """What is asked of a learner: rounds that are predicted before they are learnt, and how many took a step."""

    @property
    def n_updates_(self) -> int: ...

    @property
    def learn_rounds(self) -> Callable[..., Told]: ...


def progressive(
    model: Learns,
    X: object,
    y: object,
    classes: object = None,
    sample_weight: SampleWeight = None,
    delay: int = 0,
    show: bool | Callable[[int], None] = False,
) -> Progress:
    """Predict each row, count, then learn it; the model ends as after `partial_fit`.

    Parameters
    ----------
    model : any learner of labels, numbers, vectors or sequences
    X, y : rows and right answers, in order
    classes : labels known from the start, optional
        With them every round counts; without, a label's first round does not.
    sample_weight : array (rows,), optional
    delay : int, default 0
        The answer to a row comes this many rows later: its flag, rank and loss are fixed when it is predicted; when
        the answer comes, the row is scored again by the model of that moment, and learnt.
    show : bool or callable, default False
        True draws a progress bar on stderr; a function is called with the number of rounds done since its last call.

    Examples
    --------
    >>> import hinged, numpy as np
    >>> X = np.eye(4)[[0, 1, 0, 1, 2, 2]]
    >>> hinged.evaluate.progressive(hinged.Classifier(), X, ["a", "b", "a", "b", "c", "c"]).flags.tolist()
    [-1, -1, 0, 0, -1, 0]
    """
    if isinstance(delay, bool) or not isinstance(delay, int | np.integer) or delay < 0:
        raise ValueError(f"delay must be a whole number of at least 0; got delay={delay!r}.")
    if show is True:
        with _bar(type(model).__name__, X) as advance:
            return progressive(model, X, y, classes, sample_weight, delay, advance)
    before = getattr(model, "n_updates_", 0)
    paid = getattr(model, "total_cost_", 0.0)
    start = time.perf_counter()
    told = model.learn_rounds(X, y, classes, sample_weight, int(delay), show or None)
    seconds = time.perf_counter() - start
    cost = getattr(model, "total_cost_", None)
    cost = float((told.flags == 1).sum()) if cost is None else cost - paid
    return Progress(told.flags, told.ranks, model.n_updates_ - before, cost, seconds, told.losses)


@contextmanager
def _bar(name: str, X: object) -> Iterator[Callable[[int], None]]:
    """Yield a function that advances a progress bar on stderr by a number of rounds."""
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        total = X.shape[0] if hasattr(X, "shape") else len(X) if hasattr(X, "__len__") else None
        task = bar.add_task(name, total=total)
        yield lambda n: bar.update(task, advance=n)
