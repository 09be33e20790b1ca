"""The metric of steps, as the loops use it: which way weights move, how long that is, what a step changes.

A row x is scored as ever, moves weights along d = Σx and has the squared norm ⟨x, Σx⟩. In the Euclidean geometry,
where nothing is forgotten, d is x itself, the same array. Where something is, the row was read as s·x (fading.py), and
Σ has a factor 1/s²: norms are those of x, and steps fit what is stored of the weights.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats, Ints, Uint32s
from hinged.geometry.adaptive import variance
from hinged.loops.fading import FOREVER, Fading, statistics_left, weights_left
from hinged.loops.memory import longer
from hinged.loops.rows import norm

__all__ = [
    "EUCLIDEAN",
    "Metric",
    "adaptive_of",
    "adapts",
    "along",
    "bends",
    "direction",
    "enter",
    "new_direction",
    "new_metric",
    "stretch",
    "tighten",
    "widened",
]


class Metric(NamedTuple):
    """What each feature's variance follows from, and how fast all is forgotten."""

    seen: np.ndarray  # float64 (features + 1,): Σ x² over the rounds that moved a feature; empty where Euclidean
    r: float
    fading: Fading = FOREVER


EUCLIDEAN = Metric(np.zeros(0), 1.0, FOREVER)


@compiled(helper=True)
def adapts(metric: Metric) -> bool:
    """Return True if there is a metric that learns."""
    return metric.seen.shape[0] > 0


@compiled(helper=True)
def bends(metric: Metric) -> bool:
    """Return True if weights move along anything but the row as it was read."""
    return adapts(metric) or metric.fading.weights > 0.0


@compiled(helper=True)
def new_direction(bent: bool, v: Floats) -> Floats:
    """Room for the direction of a row whose values are in `v`; `v` itself unless it is `bent`."""
    return np.empty_like(v) if bent else v


@compiled(helper=True)
def direction(metric: Metric, learnt: int, f: Ints | Uint32s, v: Floats, n: int, q: float, d: Floats) -> float:
    """Fill `d` with Σx after so many learnt rounds; return ⟨x, Σx⟩.

    Without a metric that learns or forgetting, that is the row's own squared norm `q`, and `d` is `v`.
    """
    if not bends(metric):
        return q
    s = weights_left(metric.fading, learnt)
    return along(metric, 1.0 / (s * s), statistics_left(metric.fading, learnt), f, v, n, d)


@compiled(helper=True)
def along(metric: Metric, longer: float, of_seen: float, f: Ints | Uint32s, v: Floats, n: int, d: Floats) -> float:
    """Fill `d` with Σx, each entry `longer` times the variance of what is left of `seen`; return ⟨x, Σx⟩."""
    # ⟨x, Σx⟩ is that of the direction as it is rounded, so that steps meet their margins
    seen, r, q = metric.seen, metric.r / of_seen, 0.0
    for j in range(n):
        own = variance(seen[f[j]], r) if adapts(metric) else 1.0
        d[j] = v[j] * own * longer
        q += np.float64(v[j]) * np.float64(d[j])
    return norm(q, v.itemsize)


@compiled(helper=True)
def stretch(metric: Metric, first: int, fs: Ints, m: int, phi: Floats, roots: Floats) -> None:
    """Replace φ by √Σ φ, whose plain inner products are those of φ in the metric; `roots` gets √σ of its places.

    The `first` places hold evidence, whose variance stays 1; feature i has place first + i.
    """
    for j in range(m if adapts(metric) else 0):
        roots[j] = math.sqrt(variance(metric.seen[fs[j] - first], metric.r)) if fs[j] >= first else 1.0
        for p in range(phi.shape[0]):
            own = phi[p, j]
            for r in range(own.shape[0]):
                own[r] *= roots[j]


@compiled(helper=True)
def tighten(metric: Metric, learnt: int, f: Ints | Uint32s, v: Floats, n: int) -> None:
    """Enter a row that moved weights after so many learnt rounds: its features will move less."""
    if adapts(metric):
        enter(metric, weights_left(metric.fading, learnt), statistics_left(metric.fading, learnt), f, v, n)


@compiled(helper=True)
def enter(metric: Metric, s: float, of_seen: float, f: Ints | Uint32s, v: Floats, n: int) -> None:
    """Add the squares of a row that was read s times as large to what is left of `seen`."""
    seen, each = metric.seen, 1.0 / (s * s * of_seen)
    for j in range(n):
        seen[f[j]] += each * np.float64(v[j]) ** 2


def new_metric(adaptive: float, half_lives: tuple[float, float] = FOREVER[:2]) -> Metric:
    """A metric that has seen nothing, Euclidean where r is 0."""
    metric = Metric(np.zeros(1), adaptive, FOREVER) if adaptive else EUCLIDEAN
    return metric._replace(fading=Fading(*half_lives, 0)) if any(half_lives) else metric


def adaptive_of(metric: Metric) -> float:
    """What `new_metric` was given."""
    return metric.r if adapts(metric) else 0.0


def widened(metric: Metric, n: int) -> Metric:
    """A metric with room for at least `n` features; the same one if it has."""
    if not adapts(metric) or len(metric.seen) >= n:
        return metric
    return metric._replace(seen=longer(metric.seen, n))
