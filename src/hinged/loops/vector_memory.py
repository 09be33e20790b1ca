"""Memory of one weight vector for learners side by side: their scores of a row, their common answer, their moves.

Learners differ in C alone: a row is read and scaled once, and the weights of one feature lie together. They answer by
the mean of their scores weighted by shares; docs/maths.md, "Several C on one vector".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats
from hinged.loops.ledger import Ledger
from hinged.loops.metric import Metric, new_direction, tighten
from hinged.loops.products import room_to_cross
from hinged.loops.rows import Rows, Scaling, norm
from hinged.loops.shares import GROWTH, mass
from hinged.loops.steps import Setting
from hinged.loops.targets import Numbers

__all__ = [
    "Forecasters",
    "Vector",
    "VectorLearner",
    "Work",
    "answer",
    "joined",
    "measure",
    "move",
    "new_forecasters",
    "room",
]


class Vector(NamedTuple):
    """One weight per feature and learner, thresholds where there are any, and what their means need."""

    w: np.ndarray  # (features + 1, learners): the bias is feature 0
    late: np.ndarray  # float64 (features + 1, means), Σ mass · move of the last learners: a mean is w - late / mass
    b: np.ndarray  # float64 (thresholds,)
    late_b: np.ndarray  # float64 like b; empty where no mean is kept


class Forecasters(NamedTuple):
    """Who answers: every learner, and after them the mean weights of the last one, where they do."""

    caps: np.ndarray  # float64 (learners,): C of each; empty where there is one learner, with the rule's C
    shares: np.ndarray  # float64 (forecasters,): p
    losses: np.ndarray  # float64 (forecasters,): L
    credit: np.ndarray  # float64 (forecasters,): scratch
    growth: float = 1.0  # by which later rounds count for more in the mean that is one of them: see `mass`


class VectorLearner(NamedTuple):
    """What the loops read and change."""

    setting: Setting
    scaling: Scaling
    vector: Vector
    ledger: Ledger
    forecasters: Forecasters
    numbers: Numbers
    metric: Metric


class Work(NamedTuple):
    """Room for one row."""

    f: np.ndarray  # int64: features
    v: np.ndarray  # their values
    d: np.ndarray  # how far weights move for a step of 1: the values, or those in the metric
    lanes: np.ndarray  # float64 (4, columns + 1): partial sums of the scores, and of ‖x‖²
    s: np.ndarray  # float64 (columns,): scores of the learners, then of means
    moves: np.ndarray  # float64 (learners,): the signed step of each


def new_forecasters(caps: tuple[float, ...], mean: bool) -> Forecasters:
    """Learners with these C that have learnt nothing, and the mean of the last one; no C for one plain learner."""
    n, growth = max(1, len(caps)) + mean, GROWTH if mean else 1.0
    return Forecasters(np.array(caps, np.float64), np.full(n, 1.0 / n), np.zeros(n), np.zeros(n), growth)


@compiled(helper=True)
def room(rows: Rows, scaling: Scaling, learners: int, means: int, bends: bool) -> Work:
    """Room for the longest of some rows, for so many learners and means, and for directions if a metric bends them."""
    longest, m = 0, scaling.turns.shape[1]
    for i in range(rows.indptr.shape[0] - 1):
        longest = max(longest, rows.indptr[i + 1] - rows.indptr[i])
    if scaling.hashing.bits > 0:
        longest = room_to_cross(scaling.hashing, longest)
    longest = max(longest, 2 * m) + m  # as `room_for` has it
    f, v, n = np.empty(longest + 1, np.int64), np.empty(longest + 1, rows.data.dtype), learners + means
    return Work(f, v, new_direction(bends, v), np.zeros((4, n + 1)), np.zeros(n), np.zeros(learners))


@compiled(inline=True)
def joined(a: float, b: float, c: float, d: float) -> float:
    """Four partial sums as one."""
    return (a + b) + (c + d)


@compiled(helper=True)
def measure(vector: Vector, means: int, n: int, work: Work) -> float:
    """Fill in ⟨w, x⟩ of every learner, then ⟨late, x⟩ of the last `means`; return ‖x‖².

    Every sum is made of four by column: a zero that is written out adds to its own sum and changes none. A feature
    without a place has weight 0.
    """
    w, late, lanes, s = vector.w, vector.late, work.lanes, work.s
    learners, first = w.shape[1], late.shape[1] - means
    lanes[:] = 0.0
    for j in range(n):
        f, x = work.f[j], np.float64(work.v[j])
        lane = (f - 1) & 3
        if f < w.shape[0]:
            for m in range(means):  # before the weights: a move that a reader finds in the mean is found there too
                lanes[lane, learners + m] += x * late[f, first + m]
            for e in range(learners):
                lanes[lane, e] += x * np.float64(w[f, e])
        lanes[lane, learners + means] += x * x
    for e in range(learners + means):
        s[e] = joined(lanes[0, e], lanes[1, e], lanes[2, e], lanes[3, e])
    q = lanes[:, learners + means]
    return norm(joined(q[0], q[1], q[2], q[3]), work.v.itemsize)


@compiled(helper=True)
def answer(forecasters: Forecasters, s: Floats, learners: int, means: int, rounds: int) -> float:
    """Replace ⟨late, x⟩ by the scores of mean weights; return the common answer.

    Where there are no more forecasters than learners, means answer in the place of their learners.
    """
    shares, held = forecasters.shares, mass(forecasters.growth, float(rounds))
    for m in range(means):
        e = learners - means + m
        mean = s[e] - s[learners + m] / held if rounds > 0 else s[e]
        s[learners + m if shares.shape[0] > learners else e] = mean
    total = shares[0] * s[0]
    for e in range(1, shares.shape[0]):
        total += shares[e] * s[e]
    return total


@compiled(helper=True)
def move(vector: Vector, metric: Metric, learnt: int, n: int, work: Work, age: float) -> None:
    """Add to the weights of every learner its own move times the direction of the row."""
    w, late, f, d, moves = vector.w, vector.late, work.f, work.d, work.moves
    first = w.shape[1] - late.shape[1]
    for j in range(n):
        for e in range(w.shape[1]):
            w[f[j], e] += w.dtype.type(moves[e] * d[j])
    if late.shape[1] > 0:
        for j in range(n):
            for m in range(late.shape[1]):
                late[f[j], m] += age * moves[first + m] * d[j]
    tighten(metric, learnt, f, work.v, n)
