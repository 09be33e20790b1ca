"""A good comparator in hindsight: fixed weights that nearly minimise F(u) + C Σ ℓ_t(u), and how near."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from hinged.bounds.ascent import Problem, Weights, ascend
from hinged.bounds.comparators import Comparator, check_cap, entropy_of, losses, read
from hinged.bounds.entropy_ascent import entropic_hindsight
from hinged.bounds.streams import Stream
from hinged.estimators.settings import whole
from hinged.loops.columns import PER_LABEL
from hinged.loops.state import LARGEST_DENSE

__all__ = ["Hindsight", "hindsight"]

INNER_PASSES = 6
LARGEST_PRICE = 1e300  # an infinite one is not near anything


@dataclass(frozen=True)
class Hindsight:
    """Fixed weights chosen after the fact, and what is known of them.

    Attributes
    ----------
    u : Comparator
        `own` (labels, features) and `shared`; every bound takes it as it is.
    objective : float
        What u pays, P(u) = F(u) + C Σ ℓ_t(u) (losses squared where so asked).
    dual : float
        No fixed weights pay less.
    gap : float
        objective - dual: at most so far from the best.
    epochs : int
        Passes over the stream.
    C : float
    """

    u: Comparator
    objective: float
    dual: float
    epochs: int
    C: float
    squared: bool = False
    steps: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)

    @property
    def gap(self) -> float:
        """How far from the best at most."""
        return self.objective - self.dual

    def __repr__(self) -> str:
        return f"Hindsight(objective={self.objective:.6g}, gap={self.gap:.2g}, C={self.C:g}, epochs={self.epochs})"


def hindsight(
    stream: Any,
    C: float = 1.0,
    *,
    squared: bool = False,
    geometry: Any = "euclidean",
    tol: float = 1e-3,
    max_epochs: int = 200,
    start: Hindsight | None = None,
) -> Hindsight:
    """Find fixed weights that pay nearly the least on a whole stream, by dual ascent over several epochs.

    Parameters
    ----------
    stream : Stream or (X, y)
    C : float, default 1.0
        Price of a loss. Infinity looks for the shortest weights without any loss.
    squared : bool, default False
        Minimise ½‖u‖² + C Σ ℓ_t(u)², the problem of `pa2`.
    geometry : "euclidean", "entropy" or hinged.geometry.Entropy
    tol : float, default 1e-3
        Ends where the duality gap is at most `tol` times the objective.
    max_epochs : int, default 200
        Ends after so many passes at the latest; what is returned is a comparator like any other, with its gap.
    start : Hindsight, optional
        Found on the same stream, or on its head, to go on from.

    Returns
    -------
    Hindsight
        The same arguments give the same weights.

    Raises
    ------
    ValueError
        With C=inf, where no weights without loss were found.

    Examples
    --------
    >>> from hinged.bounds import as_stream
    >>> found = hindsight(as_stream(np.eye(2), [0, 1], classes=[0, 1]), C=1.0)
    >>> found.u.own.tolist(), found.objective, found.gap
    ([[0.5, -0.5], [-0.5, 0.5]], 0.5, 0.0)
    """
    stream = read(stream)
    C = check_cap(C, endless=not squared)
    max_epochs = whole("max_epochs", max_epochs, 1)
    entropy = entropy_of(geometry)
    if entropy is not None:
        if squared or math.isinf(C):
            raise ValueError("under the entropic geometry the problem is F(u) + C Σ ℓ_t(u) with a finite C.")
        own, price, dual, epochs = entropic_hindsight(stream, C, *entropy, tol, max_epochs)
        return Hindsight(Comparator(own), price, dual, epochs, C)
    return _euclidean(stream, C, squared, tol, max_epochs, start)


def _euclidean(
    stream: Stream, C: float, squared: bool, tol: float, max_epochs: int, start: Hindsight | None
) -> Hindsight:
    width = stream.X.shape[1]
    used = np.unique(stream.X.indices)  # only features of the stream get a place
    place = np.zeros(width, np.int64)
    place[used] = np.arange(len(used))
    rounds = stream.constraints
    rounds = rounds._replace(X=(rounds.X[0], place[stream.X.indices], rounds.X[2]))
    W, v = np.zeros((len(used), max(1, stream.n_columns))), np.zeros(stream.phi_width)
    g = np.zeros(int(stream.starts[-1]))
    problem = Problem(stream.margin, C, squared, 1e-10 * stream.margin, 10 + 2 * len(stream.labels))
    weights = Weights(W, v, g)

    def comparator() -> Comparator:
        own: Any = None
        if stream.n_columns:
            if stream.n_columns * width > LARGEST_DENSE:
                kept = sparse.csr_array(W.T)
                own = sparse.csr_array((kept.data, used[kept.indices], kept.indptr), shape=(stream.n_columns, width))
            else:
                own = np.zeros((stream.n_columns, width))
                own[:, used] = W.T
        return Comparator(own, v.copy() if rounds.shared else None)

    if start is not None and len(start.steps):
        ratio = min(1.0, C / start.C) if math.isfinite(start.C) and not squared else 1.0
        n = min(len(g), len(start.steps))
        n = int(stream.starts[np.searchsorted(stream.starts, n, side="right") - 1])  # whole rounds
        g[:n] = ratio * start.steps[:n]
        _rebuild(stream, g, used, W, v)
    constrained = np.flatnonzero(np.diff(stream.starts) > 0)
    is_right = _right_places(stream)
    rng = np.random.default_rng(0)
    best, best_u, dual, epochs = math.inf, comparator(), -math.inf, 0
    while True:
        u = comparator()
        each = losses(stream, u)
        lost = float((each * each).sum()) if squared else float(each.sum())
        price = 0.5 * u.sq_norm + (0.0 if lost == 0.0 else C * lost)
        if math.isinf(C):
            price = _scaled_price(stream, u, each)
        if price < best:
            best, best_u = price, u
        dual = max(dual, _dual(stream, g, is_right, u, C, squared))
        if best - dual <= tol * min(abs(best), LARGEST_PRICE) or epochs >= max_epochs or not len(constrained):
            break
        ascend(rng.permutation(constrained), rounds, problem, weights)
        epochs += 1
        active = np.flatnonzero(np.add.reduceat(np.append(np.abs(g), 0.0), np.minimum(stream.starts[:-1], len(g))))
        active = np.intersect1d(active, constrained)
        for _ in range(INNER_PASSES):  # most rounds are settled: those that hold something, again
            if ascend(rng.permutation(active), rounds, problem, weights) <= 0.1 * tol * stream.margin:
                break
    if math.isinf(C):
        best_u = _lossless(stream, best_u)
    return Hindsight(best_u, best, dual, epochs, C, squared, g)


def _right_places(stream: Stream) -> np.ndarray:
    """Where the right labels stand among all (round, label) pairs with constraints."""
    rows = np.repeat(np.arange(len(stream)), np.diff(stream.right.indptr))
    kept = (np.diff(stream.starts) > 0)[rows]
    return stream.starts[rows[kept]] + stream.right.labels[kept]


def _dual(stream: Stream, g: np.ndarray, is_right: np.ndarray, u: Comparator, C: float, squared: bool) -> float:
    dual = stream.margin * float(g[is_right].sum()) - 0.5 * u.sq_norm
    if squared:
        of_round = np.repeat(np.arange(len(stream)), np.diff(stream.starts))
        totals = np.bincount(of_round[is_right], g[is_right], len(stream))
        dual -= float((totals**2).sum()) / (4.0 * C)
    return dual


def _rebuild(stream: Stream, g: np.ndarray, used: np.ndarray, W: np.ndarray, v: np.ndarray) -> None:
    """u = Σ g V, from nothing."""
    of_round = np.repeat(np.arange(len(stream)), np.diff(stream.starts))
    label = np.arange(len(g)) - stream.starts[of_round]
    if stream.n_columns:
        if stream.columns.kind == PER_LABEL:
            owned = sparse.eye_array(len(stream.labels), format="csr")
        else:
            columns = stream.columns
            ones = np.ones(len(columns.indices))
            owned = sparse.csr_array((ones, columns.indices, columns.indptr), shape=(len(stream.labels), columns.n))
        steps = sparse.csr_array((g, (of_round, label)), shape=(len(stream), len(stream.labels))) @ owned
        W[:] = (stream.X.T @ steps).toarray()[used]
    if stream.phi is not None:
        v[:] = stream.phi.T @ g


def _scaled_price(stream: Stream, u: Comparator, each: np.ndarray) -> float:
    """½‖u‖² of the multiple of u without loss; infinity where there is none."""
    least = stream.margin - float(each.max(initial=0.0))
    if not len(each) or each.max() == 0.0:
        return 0.5 * u.sq_norm
    return 0.5 * u.sq_norm * (stream.margin / least) ** 2 if least > 0.0 else math.inf


def _lossless(stream: Stream, u: Comparator) -> Comparator:
    """The multiple of u that has no loss at all, or a sentence."""
    worst = float(losses(stream, u).max(initial=0.0))
    if worst >= stream.margin:
        raise ValueError(
            "no fixed weights without loss were found: the stream may not be separable. Give a finite C, or more "
            "epochs."
        )
    factor = stream.margin / (stream.margin - worst) * (1.0 + 1e-12)
    return Comparator(None if u.own is None else factor * u.own, None if u.shared is None else factor * u.shared)
