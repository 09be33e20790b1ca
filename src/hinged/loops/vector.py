"""Loops over rows for one weight vector: two labels, numbers, and ranks with their thresholds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats, Int8s, Ints
from hinged.geometry.euclidean import moved_sq_norm
from hinged.loops.ledger import GAIN, LEARNT, MISTAKES, PENALTY, ROUNDS, SQ_NORM, UPDATES, Ledger
from hinged.loops.rows import LEAST_NORM, LEAST_NORM_SINGLE, Rows, Scaling, enter_row, read_row
from hinged.loops.steps import Setting
from hinged.rules.combine import Directions, Labels, over_labels
from hinged.rules.length import alone, softening
from hinged.rules.words import Words, is_joint
from hinged.tasks.binary import sign
from hinged.tasks.ordinal import side
from hinged.tasks.regression import towards

__all__ = ["Vector", "VectorLearner", "learn_dense", "learn_one_constraint", "learn_thresholds", "score", "score_dense"]


class Vector(NamedTuple):
    """One weight per feature, thresholds where there are any, and what their means need."""

    w: np.ndarray  # (features + 1,): the bias is feature 0
    late: np.ndarray  # float64 like w, Σ age · move: the mean is w - late / rounds; empty where no mean is kept
    b: np.ndarray  # float64 (thresholds,)
    late_b: np.ndarray  # float64 like b; empty where no mean is kept


class VectorLearner(NamedTuple):
    """What the loops read and change."""

    setting: Setting
    scaling: Scaling
    vector: Vector
    ledger: Ledger


@compiled(helper=True)
def _measure(w: Floats, f: Ints, v: Floats, n: int) -> tuple[float, float]:
    """⟨w, x⟩ and ‖x‖², in four sums by column: a zero that is written out adds to its own sum and changes none.

    A feature without a place has weight 0.
    """
    p, q = np.zeros(4), np.zeros(4)
    for j in range(n):
        lane = (f[j] - 1) & 3
        x = np.float64(v[j])
        if f[j] < w.shape[0]:
            p[lane] += x * np.float64(w[f[j]])
        q[lane] += x * x
    return _joined(p[0], p[1], p[2], p[3]), _norm(_joined(q[0], q[1], q[2], q[3]), v.itemsize)


@compiled(inline=True)
def _joined(a: float, b: float, c: float, d: float) -> float:
    return (a + b) + (c + d)


@compiled(inline=True)
def _norm(q: float, itemsize: int) -> float:
    """A squared norm, 0 where it is next to nothing."""
    return q if q >= (LEAST_NORM if itemsize == 8 else LEAST_NORM_SINGLE) else 0.0


@compiled(inline=True)
def _measure_dense(w: Floats, w0: float, x: Floats, bias: float) -> tuple[float, float]:
    """The same of a dense row, to the last bit: the sums of four columns in turn are what SIMD needs."""
    # w begins at the first column; the bias is column -1, so it belongs to the fourth sum
    by_four = x.shape[0] & ~3
    p0, p1, p2, p3, q0, q1, q2, q3 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(0, by_four, 4):
        x0, x1, x2, x3 = np.float64(x[j]), np.float64(x[j + 1]), np.float64(x[j + 2]), np.float64(x[j + 3])
        p0 += x0 * np.float64(w[j])
        p1 += x1 * np.float64(w[j + 1])
        p2 += x2 * np.float64(w[j + 2])
        p3 += x3 * np.float64(w[j + 3])
        q0 += x0 * x0
        q1 += x1 * x1
        q2 += x2 * x2
        q3 += x3 * x3
    if by_four < x.shape[0]:
        x0 = np.float64(x[by_four])
        p0 += x0 * np.float64(w[by_four])
        q0 += x0 * x0
    if by_four + 1 < x.shape[0]:
        x1 = np.float64(x[by_four + 1])
        p1 += x1 * np.float64(w[by_four + 1])
        q1 += x1 * x1
    if by_four + 2 < x.shape[0]:
        x2 = np.float64(x[by_four + 2])
        p2 += x2 * np.float64(w[by_four + 2])
        q2 += x2 * x2
    if bias != 0.0:
        p3 += bias * np.float64(w0)
        q3 += bias * bias
    return _joined(p0, p1, p2, p3), _norm(_joined(q0, q1, q2, q3), x.itemsize)


@compiled(inline=True)
def _move(vector: Vector, f: Ints, v: Floats, n: int, step: float, age: float) -> None:
    """w += step · x."""
    w, late = vector.w, vector.late
    for j in range(n):
        w[f[j]] += w.dtype.type(step * v[j])
    if late.shape[0] > 0:
        for j in range(n):
            late[f[j]] += age * step * v[j]


@compiled(inline=True)
def _longest(rows: Rows) -> int:
    """The most values of a row."""
    longest = 0
    for i in range(rows.indptr.shape[0] - 1):
        longest = max(longest, rows.indptr[i + 1] - rows.indptr[i])
    return longest


@compiled(error_model="numpy")
def learn_one_constraint(
    rows: Rows,
    targets: Floats | Ints,
    weights: Floats,
    learner: VectorLearner,
    epsilon: float,
    judged: bool,
    flags: Int8s,
    losses: Floats,
) -> None:
    """Learn rows in order: labels 0 and 1 where `epsilon` is negative, else numbers to come within `epsilon` of.

    `flags` gets 1 for a wrong sign, or a positive loss where numbers are learnt; `losses` the hinge of each round.
    Rows that are not `judged` (only one label is known yet) are counted and nothing more.
    """
    # p score · q ‖x‖² · s the side on which the score must lie, by `margin`
    setting, scaling, vector, (counts, sums) = learner.setting, learner.scaling, learner.vector, learner.ledger[:2]
    longest = _longest(rows)
    f, v = np.empty(longest + 1, np.int64), np.empty(longest + 1, rows.data.dtype)
    numbers = epsilon >= 0.0
    for i in range(rows.indptr.shape[0] - 1):
        weight = weights[i] if weights.shape[0] > 0 else 1.0
        n, _ = read_row(rows, i, scaling, counts[LEARNT], f, v)
        p, q = _measure(vector.w, f, v, n)
        s, margin = towards(targets[i], p, epsilon) if numbers else (sign(int(targets[i])), setting.margin)
        gap = s * p
        if judged:
            losses[i] = max(0.0, margin - gap)
            flags[i] = losses[i] > 0.0 if numbers else gap <= 0.0
        counts[MISTAKES] += flags[i]
        counts[ROUNDS] += 1
        if weight <= 0.0:
            continue
        C = setting.C * weight if setting.uses_weight else setting.C
        step = alone(setting.words.length, gap, q, margin, C) if judged else 0.0
        if step > 0.0:
            counts[UPDATES] += 1
            sums[GAIN] += step * margin
            sums[SQ_NORM] = moved_sq_norm(sums[SQ_NORM], step * gap, step * step * q)
            sums[PENALTY] += softening(setting.words.length, step, C)
            _move(vector, f, v, n, s * step, float(counts[LEARNT]))
        counts[LEARNT] += 1
        enter_row(scaling, rows, i)


@compiled(error_model="numpy")
def learn_dense(
    X: Floats,
    targets: Floats | Ints,
    weights: Floats,
    learner: VectorLearner,
    epsilon: float,
    flags: Int8s,
    losses: Floats,
) -> None:
    """`learn_one_constraint` on a dense matrix as it is, rows neither scaled nor copied; the same to the last bit."""
    setting, bias, vector, (counts, sums) = learner.setting, learner.scaling.bias, learner.vector, learner.ledger[:2]
    w, late, numbers = vector.w[1:], vector.late[1:], epsilon >= 0.0
    mistakes, updates, learnt = 0, 0, counts[LEARNT]
    gain, sq_norm, penalty = sums[GAIN], sums[SQ_NORM], sums[PENALTY]
    for i in range(X.shape[0]):
        x = X[i]
        p, q = _measure_dense(w, vector.w[0], x, bias)
        s, margin = sign(int(targets[i])), setting.margin
        if numbers:
            s, margin = towards(targets[i], p, epsilon)
        gap = s * p
        loss = max(0.0, margin - gap)
        losses[i] = loss
        flags[i] = loss > 0.0 if numbers else gap <= 0.0
        mistakes += flags[i]
        C = setting.C
        if weights.shape[0] > 0:
            if weights[i] <= 0.0:
                continue
            if setting.uses_weight:
                C *= weights[i]
        step = alone(setting.words.length, gap, q, margin, C)
        if step > 0.0:
            updates += 1
            gain += step * margin
            sq_norm = moved_sq_norm(sq_norm, step * gap, step * step * q)
            penalty += softening(setting.words.length, step, C)
            move, age = s * step, float(learnt)
            for j in range(X.shape[1]):
                w[j] += w.dtype.type(move * x[j])
            if late.shape[0] > 0:
                for j in range(X.shape[1]):
                    late[j] += age * move * x[j]
            if bias != 0.0:
                vector.w[0] += w.dtype.type(move * w.dtype.type(bias))
                if late.shape[0] > 0:
                    vector.late[0] += age * move * w.dtype.type(bias)
        learnt += 1
        if late.shape[0] > 0:
            counts[LEARNT] = learnt  # as it goes: readers divide by it
    counts[ROUNDS] += X.shape[0]
    counts[MISTAKES] += mistakes
    counts[UPDATES] += updates
    counts[LEARNT] = learnt
    sums[GAIN], sums[SQ_NORM], sums[PENALTY] = gain, sq_norm, penalty


@compiled(error_model="numpy")
def learn_thresholds(
    rows: Rows, targets: Ints, weights: Floats, learner: VectorLearner, judged: bool, flags: Int8s, losses: Floats
) -> None:
    """Learn rows of known ranks, from 0, in order; a round is flagged where the score is on a wrong side of any.

    To the rules the constraints are pairs of labels: number 0 is the right one and scores 0, number i + 1 scores
    y_i (b_i - ⟨w, x⟩), and the pair's direction is that constraint's.
    """
    # p score · q ‖x‖² · a the labels' scores · g their net coefficients, -λ on constraints
    setting, scaling, vector, (counts, sums) = learner.setting, learner.scaling, learner.vector, learner.ledger[:2]
    k, longest, margin = vector.b.shape[0] + 1, _longest(rows), setting.margin
    f, v = np.empty(longest + 1, np.int64), np.empty(longest + 1, rows.data.dtype)
    a, g, sides = np.zeros(k), np.zeros(k), np.zeros(k)
    directions = Directions(np.zeros((1, k)), np.zeros((k, k)), 0.0)
    is_right, right = np.arange(k) == 0, np.zeros(1, np.int64)
    for i in range(rows.indptr.shape[0] - 1):
        weight = weights[i] if weights.shape[0] > 0 else 1.0
        n, _ = read_row(rows, i, scaling, counts[LEARNT], f, v)
        p, q = _measure(vector.w, f, v, n)
        worst = 1
        for j in range(1, k):
            sides[j] = side(j - 1, targets[i])
            a[j] = sides[j] * (vector.b[j - 1] - p)
            worst = j if a[j] > a[worst] else worst
        gap = -a[worst] if k > 1 and judged else np.inf
        losses[i] = max(0.0, margin - gap)
        flags[i] = gap <= 0.0
        counts[MISTAKES] += flags[i]
        counts[ROUNDS] += 1
        if weight <= 0.0:
            continue
        if gap < margin:
            C = setting.C * weight if setting.uses_weight else setting.C
            g[:] = 0.0
            _fill_directions(setting.words, sides, q, directions)
            labels = Labels(a, right, is_right, 0, worst)
            total, softened = over_labels(setting.words, labels, directions, margin, C, g)
            sums[PENALTY] += softened
            if total > 0.0:
                counts[UPDATES] += 1
                age = float(counts[LEARNT])
                step, inner, sq_move = _move_thresholds(vector, sides, a, g, age)
                _move(vector, f, v, n, step, age)
                sums[GAIN] += total * margin
                sums[SQ_NORM] = moved_sq_norm(sums[SQ_NORM], inner, sq_move + step * step * q)
        counts[LEARNT] += 1
        enter_row(scaling, rows, i)


@compiled(helper=True)
def _fill_directions(rule: Words, sides: Floats, q: float, directions: Directions) -> None:
    """Fill in what the rule reads: each constraint's squared norm, and for joint steps all inner products."""
    directions.norms[:] = q + 1.0
    if is_joint(rule):
        for j in range(1, sides.shape[0]):
            for m in range(1, sides.shape[0]):
                directions.gram[j, m] = sides[j] * sides[m] * q + (1.0 if j == m else 0.0)


@compiled(helper=True)
def _move_thresholds(vector: Vector, sides: Floats, a: Floats, g: Floats, age: float) -> tuple[float, float, float]:
    """Move the thresholds; return how far w moves along the row, ⟨ω, Δ⟩ and the thresholds' part of ‖Δ‖²."""
    step, inner, sq_move = 0.0, 0.0, 0.0
    for j in range(1, g.shape[0]):
        inner += g[j] * a[j]
        sq_move += g[j] * g[j]
        step -= g[j] * sides[j]
        vector.b[j - 1] += g[j] * sides[j]
        if vector.late_b.shape[0] > 0:
            vector.late_b[j - 1] += age * g[j] * sides[j]
    return step, inner, sq_move


@compiled
def score(rows: Rows, scaling: Scaling, w: Floats, learnt: int, out: Floats) -> None:
    """⟨w, x⟩ of every row; nothing is learnt or counted."""
    longest = _longest(rows)
    f, v = np.empty(longest + 1, np.int64), np.empty(longest + 1, rows.data.dtype)
    for i in range(out.shape[0]):
        n, _ = read_row(rows, i, scaling, learnt, f, v)
        out[i] = _measure(w, f, v, n)[0]


@compiled
def score_dense(X: Floats, w: Floats, bias: float, out: Floats) -> None:
    """⟨w, x⟩ of every row of a dense matrix."""
    for i in range(out.shape[0]):
        out[i] = _measure_dense(w[1:], w[0], X[i], bias)[0]
