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
from hinged.loops.rows import LEAST_NORM, LEAST_NORM_SINGLE, Rows, Scaling
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
    "norm",
    "room",
]


class Vector(NamedTuple):
    """One weight per feature and learner, thresholds where there are any, and what their means need."""

    w: np.ndarray  # (features + 1, learners): the bias is feature 0
    late: np.ndarray  # float64 (features + 1, means), Σ age · move of the last learners: a mean is w - late / rounds
    b: np.ndarray  # float64 (thresholds,)
    late_b: np.ndarray  # float64 like b; empty where no mean is kept


class Forecasters(NamedTuple):
    """Who answers: every learner, and after them the mean weights of the last one, where they do."""

    caps: np.ndarray  # float64 (learners,): C of each; empty where there is one learner, with the rule's C
    shares: np.ndarray  # float64 (forecasters,): p
    losses: np.ndarray  # float64 (forecasters,): L
    credit: np.ndarray  # float64 (forecasters,): scratch


class VectorLearner(NamedTuple):
    """What the loops read and change."""

    setting: Setting
    scaling: Scaling
    vector: Vector
    ledger: Ledger
    forecasters: Forecasters
    numbers: Numbers


class Work(NamedTuple):
    """Room for one row."""

    f: np.ndarray  # int64: features
    v: np.ndarray  # their values
    lanes: np.ndarray  # float64 (4, columns + 1): partial sums of the scores, and of ‖x‖²
    s: np.ndarray  # float64 (columns,): scores of the learners, then of means
    moves: np.ndarray  # float64 (learners,): the signed step of each


def new_forecasters(caps: tuple[float, ...], mean: bool) -> Forecasters:
    """Learners with these C that have learnt nothing, and the mean of the last one; no C for one plain learner."""
    n = max(1, len(caps)) + mean
    return Forecasters(np.array(caps, np.float64), np.full(n, 1.0 / n), np.zeros(n), np.zeros(n))


@compiled(helper=True)
def room(rows: Rows, learners: int, means: int) -> Work:
    """Room for the longest of some rows, for so many learners and means."""
    longest = 0
    for i in range(rows.indptr.shape[0] - 1):
        longest = max(longest, rows.indptr[i + 1] - rows.indptr[i])
    f, v, n = np.empty(longest + 1, np.int64), np.empty(longest + 1, rows.data.dtype), learners + means
    return Work(f, v, np.zeros((4, n + 1)), np.zeros(n), np.zeros(learners))


@compiled(inline=True)
def joined(a: float, b: float, c: float, d: float) -> float:
    """Four partial sums as one."""
    return (a + b) + (c + d)


@compiled(inline=True)
def norm(q: float, itemsize: int) -> float:
    """A squared norm, 0 where it is next to nothing."""
    return q if q >= (LEAST_NORM if itemsize == 8 else LEAST_NORM_SINGLE) else 0.0


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
def answer(shares: Floats, s: Floats, learners: int, means: int, rounds: int) -> float:
    """Replace ⟨late, x⟩ by the scores of mean weights; return the common answer.

    Where there are no more forecasters than learners, means answer in the place of their learners.
    """
    for m in range(means):
        e = learners - means + m
        mean = s[e] - s[learners + m] / rounds if rounds > 0 else s[e]
        s[learners + m if shares.shape[0] > learners else e] = mean
    total = shares[0] * s[0]
    for e in range(1, shares.shape[0]):
        total += shares[e] * s[e]
    return total


@compiled(helper=True)
def move(vector: Vector, n: int, work: Work, age: float) -> None:
    """Add to the weights of every learner its own move times the row."""
    w, late, f, v, moves = vector.w, vector.late, work.f, work.v, work.moves
    first = w.shape[1] - late.shape[1]
    for j in range(n):
        for e in range(w.shape[1]):
            w[f[j], e] += w.dtype.type(moves[e] * v[j])
    if late.shape[1] > 0:
        for j in range(n):
            for m in range(late.shape[1]):
                late[f[j], m] += age * moves[first + m] * v[j]
