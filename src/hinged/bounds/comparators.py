"""Fixed weights u, chosen in any way, even in hindsight; their losses and their objective on a stream."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.special import xlogy

from hinged.bounds.streams import RoundArrays, Stream, as_stream, mark
from hinged.bounds.trials import are_trials
from hinged.compiling import compiled
from hinged.compiling.arrays import Bools, Floats, Ints
from hinged.geometry.choice import metric_of, on_simplex
from hinged.geometry.entropy import curvature as largest_variance
from hinged.loops.columns import PER_LABEL, label_scores

__all__ = ["Comparator", "Sums"]
__all__ += ["as_comparator", "check_cap", "entropy_of", "losses", "objective", "read", "sums_of", "total"]

ROWS_AT_ONCE = 4096


class Comparator(NamedTuple):
    """Fixed weights: `own` multiply the row (labels, features), `shared` the label features; None for none."""

    own: Any
    shared: np.ndarray | None = None

    @property
    def sq_norm(self) -> float:
        """‖u‖² of both together."""
        own = 0.0 if self.own is None else float((self.own.data**2 if sparse.issparse(self.own) else self.own**2).sum())
        return own + (0.0 if self.shared is None else float((self.shared**2).sum()))


class Sums(NamedTuple):
    """What the bounds are made of, after each round: of u its complexity and losses, of the stream its lengths.

    Attributes
    ----------
    complexity : float
        F(u): ½‖u‖², or the entropy of u.
    loss, squared : arrays (rounds,)
        Σ ℓ_t(u) and Σ ℓ_t(u)² so far.
    sq_length, sq_shortest, sq_block : arrays (rounds,)
        The longest and shortest ‖z‖² so far, and the longest ‖φ^τ(x, r)‖².
    curvature : array (rounds,)
        h: half of what the second derivative of the dual along a constraint can reach; ½ max‖z‖² for Euclidean weights.
    n_pairs : array (rounds,)
        Most constraints of a round so far.
    margin : float
    most_vectors : int
        ρ of hypothesis sharing.
    """

    complexity: float
    loss: np.ndarray
    squared: np.ndarray
    sq_length: np.ndarray
    sq_shortest: np.ndarray
    sq_block: np.ndarray
    curvature: np.ndarray
    n_pairs: np.ndarray
    margin: float
    most_vectors: int


def read(stream: object) -> Stream:
    """A stream given as one, as a pair (X, y), or as a list of trials."""
    if isinstance(stream, Stream):
        return stream
    if isinstance(stream, list) and are_trials(stream):
        return as_stream(stream)
    if isinstance(stream, tuple) and len(stream) == 2:
        return as_stream(*stream)
    raise TypeError(
        "a stream is a pair (X, y), a list of trials (X_t, y_t), or what hinged.bounds.as_stream returns; "
        f"got a {type(stream).__name__}."
    )


def as_comparator(stream: Stream, u: object) -> Comparator:
    """Weights as given, checked against the stream and padded to its width.

    A matrix (labels, features) for vectors of the labels' own, a vector (features,) for a shared one (for two labels
    with vectors of their own: the second's less the first's), a pair of both for "hybrid".
    """
    own, shared = _parts(stream, u)
    if stream.n_columns:
        own = _as_matrix(stream, np.zeros((stream.n_columns, stream.X.shape[1])) if own is None else own)
    if stream.n_parts:
        shared = _as_vector(stream, np.zeros(0) if shared is None else shared)
    return Comparator(own if stream.n_columns else None, shared if stream.n_parts else None)


def _parts(stream: Stream, u: object) -> tuple[Any, Any]:
    """What multiplies the row, and what multiplies the label features, as given."""
    if isinstance(u, tuple) and len(u) == 2:  # a Comparator among them
        return u
    if stream.n_columns == 0:
        return None, u
    if stream.n_parts == 0:
        return u, None
    raise ValueError('with sharing="hybrid" u is a pair: a matrix (labels, features) and a vector (features,).')


def _as_matrix(stream: Stream, own: Any) -> Any:
    sparse_one = sparse.issparse(own)
    own = sparse.csr_array(own, dtype=np.float64) if sparse_one else np.asarray(own, np.float64)
    if own.ndim == 1 and not sparse_one and stream.columns.kind == PER_LABEL and len(stream.labels) == 2:
        own = np.stack([-0.5 * own, 0.5 * own])  # ⟨w_1 - w_0, x⟩, by the shortest two vectors
    width = stream.X.shape[1]
    if own.ndim != 2 or own.shape[0] != stream.n_columns or own.shape[1] > width:
        raise ValueError(
            f"u must be a matrix of {stream.n_columns} labels (or sets) × {width} features for this stream; got shape "
            f"{own.shape}. Its rows follow the stream's labels: {stream.labels[:5]!r} ..."
        )
    _check_finite(own.data if sparse_one else own)
    if sparse_one:
        return sparse.csr_array((own.data, own.indices, own.indptr), shape=(own.shape[0], width))
    return _widened(own, width)


def _check_finite(weights: np.ndarray) -> None:
    if not np.isfinite(weights).all():
        raise ValueError("u must be finite; got NaN or infinity.")


def _as_vector(stream: Stream, shared: ArrayLike) -> np.ndarray:
    width = stream.phi_width // stream.n_parts
    vectors = np.atleast_2d(np.asarray(shared, np.float64))
    if vectors.size == 0:
        return np.zeros(stream.phi_width)
    if vectors.shape == (1, stream.phi_width):
        vectors = vectors.reshape(stream.n_parts, width)
    if vectors.ndim != 2 or len(vectors) != stream.n_parts or vectors.shape[1] > width:
        raise ValueError(
            f"the shared part of u must be {stream.n_parts} vector(s) of at most {width} features; got shape "
            f"{np.shape(shared)}."
        )
    _check_finite(vectors)
    return _widened(vectors, width).ravel()


def _widened(weights: np.ndarray, width: int) -> np.ndarray:
    return np.pad(weights, ((0, 0), (0, width - weights.shape[1])))


def losses(stream: object, u: object) -> np.ndarray:
    """The loss of fixed weights in each round: by how much the worst pair of right and wrong label misses the margin.

    Parameters
    ----------
    stream : Stream or (X, y)
    u : array, sparse matrix, or a pair of them
        (labels, features) in the order of the stream's labels, (features,) for one shared vector, both for "hybrid".

    Returns
    -------
    array (rounds,)
        max over right r and wrong s of max(0, m - ⟨u, V_r - V_s⟩); 0 where a round has no constraints.

    Examples
    --------
    >>> losses((np.eye(2), [0, 1]), 0.25 * np.eye(2)).tolist()  # the first label has no rival yet
    [0.0, 0.75]
    >>> stream = as_stream(np.eye(2), [0, 1], classes=[0, 1])
    >>> losses(stream, 0.25 * np.eye(2)).tolist()
    [0.75, 0.75]
    """
    stream = read(stream)
    return _losses(stream, as_comparator(stream, u), np.zeros((0, 0)))


def _losses(stream: Stream, u: Comparator, margins: np.ndarray) -> np.ndarray:
    """Losses of each round; `margins` (labels, labels) where each pair has its own, else (0, 0)."""
    n, out, constraints = len(stream), np.zeros(len(stream)), stream.constraints
    shared = None if u.shared is None else np.asarray(stream.phi @ u.shared, np.float64)
    for first in range(0, n, ROWS_AT_ONCE):
        last = min(n, first + ROWS_AT_ONCE)
        wide = np.zeros((last - first, 1))
        if u.own is not None:
            wide = stream.X[first:last] @ u.own.T
            wide = wide.toarray() if sparse.issparse(wide) else np.asarray(wide)
        by_pair = np.zeros(0) if shared is None else shared
        _fold(first, np.ascontiguousarray(wide), by_pair, constraints, stream.margin, margins, out)
    return out


@compiled
def _fold(
    first: int, wide: Floats, shared: Floats, rounds: RoundArrays, margin: float, margins: Floats, out: Floats
) -> None:
    """From scores of columns (rounds, columns) and of (round, label) pairs to the loss of each round."""
    known, starts = rounds.known, rounds.starts
    is_right = np.zeros(max(1, np.max(known)), np.bool_)
    scores = np.empty(is_right.shape[0])
    for i in range(wide.shape[0]):
        t = first + i
        if starts[t + 1] > starts[t]:
            s = scores[: known[t]]
            label_scores(rounds.columns, wide[i], s)
            if shared.shape[0] > 0:
                s += shared[starts[t] : starts[t + 1]]
            mark(rounds.right, t, is_right, True)
            ours = rounds.right[1][rounds.right[0][t] : rounds.right[0][t + 1]]
            out[t] = _worst_loss(s, ours, is_right, margin, margins)
            mark(rounds.right, t, is_right, False)


@compiled(helper=True)
def _worst_loss(s: Floats, ours: Ints, is_right: Bools, margin: float, margins: Floats) -> float:
    """By how much the worst pair misses its margin, at least 0; `margins` (labels, labels) where each has its own."""
    if margins.shape[0] > 0:
        worst = 0.0
        for y in ours:
            for r in range(s.shape[0]):
                if not is_right[r]:
                    worst = max(worst, margins[y, r] - s[y] + s[r])
        return worst
    low, high = math.inf, -math.inf
    for r in range(s.shape[0]):
        if is_right[r]:
            low = min(low, s[r])
        else:
            high = max(high, s[r])
    return max(0.0, margin - low + high)


def objective(
    stream: object, u: object, C: float = 1.0, *, squared: bool = False, geometry: object = "euclidean"
) -> float:
    """The objective of fixed weights, F(u) + C Σ ℓ_t(u); no dual certificate is above it.

    Parameters
    ----------
    stream : Stream or (X, y)
    u : array, sparse matrix, or a pair of them
    C : float, default 1.0
    squared : bool, default False
        ½‖u‖² + C Σ ℓ_t(u)² instead, the problem of `pa2`.
    geometry : "euclidean" (F = ½‖u‖²), "entropy" or hinged.geometry.Entropy

    Examples
    --------
    >>> stream = as_stream(np.eye(2), [0, 1], classes=[0, 1])
    >>> objective(stream, 0.5 * np.eye(2), C=2.0)
    2.25
    """
    s = sums_of(read(stream), u, geometry)
    lost = total(s.squared if squared else s.loss)
    if len(s.loss):
        C = check_cap(C, endless=True)
    return s.complexity + (C * lost if lost else 0.0)


def total(sums: np.ndarray) -> float:
    """A running sum at the end of the stream."""
    return float(sums[-1]) if len(sums) else 0.0


def sums_of(stream: Stream, u: object, geometry: object = "euclidean", margins: np.ndarray | None = None) -> Sums:
    """Everything the bounds need of a comparator and a stream, after each round."""
    entropy = entropy_of(geometry)
    if entropy is None:
        u = as_comparator(stream, u)
        complexity, curvature = 0.5 * u.sq_norm, 0.5 * np.maximum.accumulate(stream.sq_lengths)
    else:
        radius, signed = entropy
        u, complexity = _on_simplex(stream, u, radius, signed)
        spans = stream.signed_spans if signed else stream.spans
        curvature = np.maximum.accumulate(np.array([largest_variance(0.0, span, radius) for span in spans]))
    each = _losses(stream, u, np.zeros((0, 0)) if margins is None else margins)
    return Sums(
        complexity,
        np.cumsum(each),
        np.cumsum(each * each),
        np.maximum.accumulate(stream.sq_lengths),
        np.minimum.accumulate(stream.sq_shortest),
        np.maximum.accumulate(stream.sq_blocks),
        curvature,
        np.maximum.accumulate(stream.n_pairs),
        stream.margin,
        stream.most_vectors,
    )


def entropy_of(geometry: object) -> tuple[float, bool] | None:
    """Radius and sign of an entropic geometry; None for the Euclidean one."""
    if metric_of(geometry) is not None:
        raise ValueError(
            "the theorems of the papers are for geometry='euclidean' and 'entropy'; for 'adaptive' there is "
            "hinged.bounds.adaptive_bound."
        )
    entropy = on_simplex(geometry)
    return None if entropy is None else (float(entropy.radius), bool(entropy.signed))


def _on_simplex(stream: Stream, u: object, radius: float, signed: bool) -> tuple[Comparator, float]:
    """The comparator as it is scored, and its entropy F(u) = Σ u log(n u / U), summed over the labels' vectors."""
    if stream.columns.kind != PER_LABEL or stream.n_parts:
        raise ValueError(
            "the entropic bound is for vectors of the labels' own, not for shared ones or raw trials; use "
            'sharing="multi".'
        )
    W = as_comparator(stream, u).own
    W = W.toarray() if sparse.issparse(W) else W
    slack = 1e-9 * radius
    mass = np.abs(W).sum(axis=1)
    if signed:
        if (mass > radius + slack).any():
            raise ValueError(
                f"each row of u must have Σ|u| ≤ {radius:g} (the radius); got {mass.max():g}. Scale it down."
            )
        halves = _split(W, radius)
    else:
        if (W + slack < 0).any() or (np.abs(mass - radius) > max(slack, 1e-9)).any():
            raise ValueError(
                f"each row of u must be on the simplex: not negative, with sum {radius:g} (the radius); "
                f"got sums from {W.sum(axis=1).min():g} to {W.sum(axis=1).max():g}."
            )
        halves = np.maximum(W, 0.0)
    return Comparator(W), float(xlogy(halves, halves * halves.shape[1] / radius).sum())


def _split(W: np.ndarray, radius: float) -> np.ndarray:
    """Signed weights as differences of two halves (labels, 2 features) of sum `radius`: those of the least entropy.

    There the product of the two halves is one number c² everywhere, and Σ √(w² + 4c²) is the radius.
    """
    low, high = np.zeros(len(W)), np.full(len(W), 0.5 * radius / max(1, W.shape[1]))
    for _ in range(100):
        c = 0.5 * (low + high)
        short = np.sqrt(W * W + 4.0 * (c * c)[:, None]).sum(axis=1) < radius
        low, high = np.where(short, c, low), np.where(short, high, c)
    root = np.sqrt(W * W + 4.0 * (low * low)[:, None])
    small = 2.0 * (low * low)[:, None] / np.maximum(np.abs(W) + root, 1e-300)  # without cancellation
    large = small + np.abs(W)
    return np.concatenate([np.where(W > 0, large, small), np.where(W > 0, small, large)], axis=1)


def check_cap(C: object, endless: bool = False) -> float:
    """A positive C, finite unless `endless`."""
    if isinstance(C, bool) or not isinstance(C, Real) or not float(C) > 0 or (math.isinf(float(C)) and not endless):
        raise ValueError(
            f"C must be a positive{'' if endless else ', finite'} number; got C={C!r}. Give the learner's."
        )
    return float(C)
