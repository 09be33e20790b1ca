"""A good comparator in hindsight: fixed weights that nearly minimise F(u) + C Σ ℓ_t(u), and how near."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from hinged.bounds.ascent import AscentProblem, Weights, ascend, nearly_least
from hinged.bounds.comparators import Comparator, check_cap, entropy_of, losses, read
from hinged.bounds.entropy_ascent import entropic_hindsight
from hinged.bounds.streams import Stream
from hinged.estimators.settings import whole
from hinged.loops.columns import PER_LABEL
from hinged.loops.state import LARGEST_DENSE

__all__ = ["Hindsight", "hindsight"]

INNER_PASSES = 6


@dataclass(frozen=True)
class Hindsight:
    """Fixed weights chosen after the fact, and what is known of them.

    Attributes
    ----------
    u : Comparator
        `own` (labels, features) and `shared`; every bound takes it as it is.
    objective : float
        P(u) = F(u) + C Σ ℓ_t(u); with `squared`, of squared losses.
    dual : float
        No fixed weights have a smaller objective.
    gap : float
        objective - dual: the objective is at most this far from the least one.
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
        """How far the objective is from the least one, at most."""
        return self.objective - self.dual

    def __repr__(self) -> str:
        return f"Hindsight(objective={self.objective:.6g}, gap={self.gap:.2g}, C={self.C:g}, epochs={self.epochs})"


def hindsight(
    stream: object,
    C: float = 1.0,
    *,
    squared: bool = False,
    geometry: object = "euclidean",
    tol: float = 1e-3,
    max_epochs: int = 200,
    start: Hindsight | None = None,
) -> Hindsight:
    """Find fixed weights of nearly the least objective on a whole stream, by dual ascent over several epochs.

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
    used = np.unique(stream.X.indices)  # only features of the stream get a place
    place = np.zeros(stream.X.shape[1], np.int64)
    place[used] = np.arange(len(used))
    rounds = stream.constraints
    rounds = rounds._replace(X=(rounds.X[0], place[stream.X.indices], rounds.X[2]))
    W, v = np.zeros((len(used), max(1, stream.n_columns))), np.zeros(stream.phi_width)
    weights = Weights(W, v, np.zeros(int(stream.starts[-1])))
    problem = AscentProblem(stream.margin, C, squared, 1e-10 * stream.margin, 10 + 2 * len(stream.labels))
    if start is not None and len(start.steps):
        _begin_from(stream, start, C, squared, used, weights)
    constrained = np.flatnonzero(stream.constrained)
    rng = np.random.default_rng(0)

    def measure() -> tuple[Comparator, float, float]:
        u = _comparator(stream, used, weights)
        return u, _price(stream, u, C, squared), _dual(stream, weights.g, u, C, squared)

    def improve() -> None:
        ascend(rng.permutation(constrained), rounds, problem, weights)
        active = np.intersect1d(_active(stream, weights.g), constrained)
        for _ in range(INNER_PASSES):  # most rounds no longer change: visit those with coefficients again
            if ascend(rng.permutation(active), rounds, problem, weights) <= 0.1 * tol * stream.margin:
                break

    best_u, best, dual, epochs = nearly_least(measure, improve, tol, max_epochs if len(constrained) else 0)
    if math.isinf(C):
        best_u = _lossless(stream, best_u)
    return Hindsight(best_u, best, dual, epochs, C, squared, weights.g)


def _comparator(stream: Stream, used: np.ndarray, weights: Weights) -> Comparator:
    """The weights as a comparator, at the places that their features have in the stream."""
    shared, shape = weights.v.copy() if stream.phi is not None else None, (stream.n_columns, stream.X.shape[1])
    if not stream.n_columns:
        return Comparator(None, shared)
    if shape[0] * shape[1] > LARGEST_DENSE:
        kept = sparse.csr_array(weights.W.T)
        return Comparator(sparse.csr_array((kept.data, used[kept.indices], kept.indptr), shape=shape), shared)
    own = np.zeros(shape)
    own[:, used] = weights.W.T
    return Comparator(own, shared)


def _begin_from(stream: Stream, start: Hindsight, C: float, squared: bool, used: np.ndarray, weights: Weights) -> None:
    """Take over the coefficients of whole rounds, and the weights they make up."""
    g = weights.g
    ratio = min(1.0, C / start.C) if math.isfinite(start.C) and not squared else 1.0
    n = min(len(g), len(start.steps))
    n = int(stream.starts[np.searchsorted(stream.starts, n, side="right") - 1])
    g[:n] = ratio * start.steps[:n]
    _rebuild(stream, g, used, weights.W, weights.v)


def _active(stream: Stream, g: np.ndarray) -> np.ndarray:
    """Rounds with a coefficient that is not 0."""
    return np.flatnonzero(np.add.reduceat(np.append(np.abs(g), 0.0), np.minimum(stream.starts[:-1], len(g))))


def _price(stream: Stream, u: Comparator, C: float, squared: bool) -> float:
    """The objective of u; with C=inf, ½‖u‖² of the multiple of u without loss, infinity where there is none."""
    each = losses(stream, u)
    if math.isfinite(C) or not each.any():
        lost = float((each * each).sum()) if squared else float(each.sum())
        return 0.5 * u.sq_norm + (0.0 if lost == 0.0 else C * lost)
    least = stream.margin - float(each.max())
    return 0.5 * u.sq_norm * (stream.margin / least) ** 2 if least > 0.0 else math.inf


def _dual(stream: Stream, g: np.ndarray, u: Comparator, C: float, squared: bool) -> float:
    is_right = stream.right_places
    dual = stream.margin * float(g[is_right].sum()) - 0.5 * u.sq_norm
    if squared:
        totals = np.bincount(stream.rounds_of_pairs[is_right], g[is_right], len(stream))
        dual -= float((totals**2).sum()) / (4.0 * C)
    return dual


def _rebuild(stream: Stream, g: np.ndarray, used: np.ndarray, W: np.ndarray, v: np.ndarray) -> None:
    """u = Σ g V, from nothing."""
    of_round = stream.rounds_of_pairs
    label = np.arange(len(g)) - stream.starts[of_round]
    if stream.n_columns:
        columns, k = stream.columns, len(stream.labels)
        if columns.kind == PER_LABEL:
            owned = sparse.eye_array(k, format="csr")
        else:
            owned = sparse.csr_array((np.ones(len(columns.indices)), columns.indices, columns.indptr), (k, columns.n))
        steps = sparse.csr_array((g, (of_round, label)), shape=(len(stream), k)) @ owned
        W[:] = (stream.X.T @ steps).toarray()[used]
    if stream.phi is not None:
        v[:] = stream.phi.T @ g


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
