"""Loops over rows for one weight vector: two labels, numbers, and ranks with their thresholds."""

from __future__ import annotations

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats, Int8s, Ints
from hinged.geometry.adaptive import variance
from hinged.geometry.euclidean import moved_sq_norm
from hinged.loops.fading import left, multiply
from hinged.loops.ledger import GAIN, LEARNT, MISTAKES, PENALTY, ROUNDS, SQ_NORM, UPDATES
from hinged.loops.metric import Metric, adapts, along, bends, direction, enter
from hinged.loops.rows import Rows, Scaling, enter_row, norm, read_row
from hinged.loops.shares import FORGETTING, mass, share_out
from hinged.loops.steps import Setting, price_of_slack
from hinged.loops.targets import enter_target, insensitivity, unit_of
from hinged.loops.vector_memory import (
    Forecasters,
    Vector,
    VectorLearner,
    Work,
    answer,
    joined,
    measure,
    move,
    room,
)
from hinged.native import borrowed
from hinged.rules.combine import Directions, Labels, over_labels
from hinged.rules.length import alone, softening
from hinged.rules.words import is_joint
from hinged.tasks.binary import sign
from hinged.tasks.ordinal import side
from hinged.tasks.regression import towards

__all__ = ["learn_dense", "learn_one_constraint", "learn_thresholds", "score", "score_dense"]

LARGEST_ERROR = 4.0  # what a forecaster's error counts at most, in units of the target's deviation


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
    return joined(p0, p1, p2, p3), norm(joined(q0, q1, q2, q3), x.itemsize)


@compiled(error_model="numpy")
def learn_one_constraint(
    rows: Rows,
    targets: Floats | Ints,
    weights: Floats,
    learner: VectorLearner,
    judged: bool,
    flags: Int8s,
    losses: Floats,
) -> None:
    """Learn rows in order: labels 0 and 1 where ε is negative, else numbers to come within ε of.

    `flags` gets 1 for a wrong sign, or a positive loss where numbers are learnt; `losses` the hinge of each round, in
    the unit of the targets. Both are those of the common answer. Rows that are not `judged` (only one label is known
    yet) are counted and nothing more.
    """
    learners = learner.vector.w.shape[1]
    means = learner.forecasters.shares.shape[0] - learners
    work = room(rows, learner.scaling, learners, means, bends(learner.metric))
    _rounds(rows, targets, weights, learner, work, judged, flags, losses)


@compiled(helper=True, error_model="numpy")
def _rounds(
    rows: Rows,
    targets: Floats | Ints,
    weights: Floats,
    learner: VectorLearner,
    work: Work,
    judged: bool,
    flags: Int8s,
    losses: Floats,
) -> None:
    """The loop, on arrays that their owners keep: without reference counts, small functions cost little."""
    rows, learner, work = borrowed((rows, learner, work))
    scaling, vector, together, counts = learner.scaling, learner.vector, learner.forecasters, learner.ledger.counts
    learners, metric = vector.w.shape[1], learner.metric
    means = together.shares.shape[0] - learners
    for i in range(rows.indptr.shape[0] - 1):
        weight = weights[i] if weights.shape[0] > 0 else 1.0
        n, _ = read_row(rows, i, scaling, counts[LEARNT], work.f, work.v)
        q = measure(vector, means, n, work)
        said = answer(together, work.s, learners, means, counts[LEARNT])
        if judged:
            losses[i], flags[i] = _told(learner, targets[i], said)
        counts[MISTAKES] += flags[i]
        counts[ROUNDS] += 1
        if weight <= 0.0:
            continue
        q = direction(metric, counts[LEARNT], work.f, work.v, n, q, work.d)
        if judged and _steps(learner, targets[i], weight, q, work):
            counts[UPDATES] += 1
            move(vector, metric, counts[LEARNT], n, work, mass(together.growth, float(counts[LEARNT])))
        enter_row(scaling, rows, i, counts[LEARNT])
        counts[LEARNT] += 1


@compiled(helper=True)
def _told(learner: VectorLearner, target: float, said: float) -> tuple[float, bool]:
    """The hinge loss of an answer, and whether it counts as a mistake."""
    numbers = learner.numbers
    if numbers.epsilon < 0.0:
        gap = sign(int(target)) * said
        return max(0.0, learner.setting.margin - gap), gap <= 0.0
    mean, scale = unit_of(numbers, learner.ledger.counts[LEARNT])
    predicted = mean + scale * said
    s, margin = towards(target, predicted, insensitivity(numbers, scale))
    loss = max(0.0, margin - s * predicted)
    return loss, loss > 0.0


@compiled(helper=True, forceinline=True)
def _steps(learner: VectorLearner, target: float, weight: float, q: float, work: Work) -> bool:
    """Choose each learner's move by its own score, and judge all forecasters; return True if any learner moves."""
    setting, (caps, shares, losses, credit, _growth), sums = learner.setting, learner.forecasters, learner.ledger.sums
    s, moves, labels, moved = work.s, work.moves, learner.numbers.epsilon < 0.0, False
    towards_side, margin, epsilon = sign(int(target)) if labels else 0.0, setting.margin, 0.0
    if not labels:
        target, epsilon = enter_target(learner.numbers, target, learner.ledger.counts[LEARNT])
    for e in range(moves.shape[0]):
        if not labels:
            towards_side, margin = towards(target, s[e], epsilon)
        gap, C = towards_side * s[e], caps[e] if caps.shape[0] > 0 else setting.C
        if setting.uses_weight:
            C *= weight
        step = alone(setting.words.length, gap, q, margin, C)
        moves[e] = towards_side * step
        if step > 0.0:
            moved = True
            if moves.shape[0] == 1:  # the certificate is that of one learner
                sums[GAIN] += step * margin
                sums[SQ_NORM] = moved_sq_norm(sums[SQ_NORM], step * gap, step * step * q)
                sums[PENALTY] += softening(setting.words.length, step, C)
    if shares.shape[0] > 1:
        for e in range(shares.shape[0]):
            wrong = 1.0 if towards_side * s[e] <= 0.0 else 0.0
            losses[e] = FORGETTING * losses[e] + (wrong if labels else min(LARGEST_ERROR, abs(s[e] - target)))
        share_out(losses, credit, shares)
    return moved


@compiled(helper=True)
def _direction_dense(metric: Metric, columns: Ints, x: Floats, constant: float, d: Floats) -> tuple[float, np.floating]:
    """`along` a dense row and the constant feature; return ⟨x, Σx⟩ with it, and how far its weight moves."""
    q, at_bias = along(metric, 1.0, 1.0, columns, x, x.shape[0], d), d.dtype.type(0)
    if constant != 0.0:
        at_bias = d.dtype.type(constant * variance(metric.seen[0], metric.r))
        q += np.float64(constant) * np.float64(at_bias)
    return q, at_bias


@compiled(helper=True, forceinline=True)
def _move_dense(vector: Vector, far: float, d: Floats, at_bias: float, age: float) -> None:
    """Add to the weights of one learner a move along the direction of a dense row, and of the constant feature."""
    w, late = vector.w[1:], vector.late[1:]
    for j in range(d.shape[0]):
        w[j] += w.dtype.type(far * d[j])
    if late.shape[0] > 0:
        for j in range(d.shape[0]):
            late[j] += age * far * np.float64(d[j])
    if at_bias != 0.0:
        vector.w[0] += w.dtype.type(far * at_bias)
        if late.shape[0] > 0:
            vector.late[0] += age * far * np.float64(at_bias)


@compiled(error_model="numpy")
def learn_dense(
    X: Floats, targets: Floats | Ints, weights: Floats, learner: VectorLearner, flags: Int8s, losses: Floats
) -> None:
    """`learn_one_constraint` on a dense matrix as it is, rows neither scaled nor copied; the same to the last bit.

    For one learner, whose weights are given as a vector, and targets in their own unit.
    """
    X, learner = borrowed((X, learner))
    setting, bias, vector, (counts, sums) = learner.setting, learner.scaling.bias, learner.vector, learner.ledger[:2]
    w, late, epsilon, metric = vector.w[1:], vector.late[1:], learner.numbers.epsilon, learner.metric
    numbers, columns, bent = epsilon >= 0.0, np.arange(1, X.shape[1] + 1), np.empty(X.shape[1], X.dtype)
    constant, curved = w.dtype.type(bias), adapts(metric)
    along_bias = constant
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
        d = bent if curved else x
        if curved and loss > 0.0:
            q, along_bias = _direction_dense(metric, columns, x, constant, d)
        step = alone(setting.words.length, gap, q, margin, C)
        if step > 0.0:
            updates += 1
            gain += step * margin
            sq_norm = moved_sq_norm(sq_norm, step * gap, step * step * q)
            penalty += softening(setting.words.length, step, C)
            far, age = s * step, float(learnt)
            _move_dense(vector, far, d, along_bias, age)
            if curved:
                enter(metric, 1.0, 1.0, columns, x, X.shape[1])
                metric.seen[0] += np.float64(constant) ** 2
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
    rows, learner = borrowed((rows, learner))
    setting, scaling, vector, (counts, sums) = learner.setting, learner.scaling, learner.vector, learner.ledger[:2]
    k, margin, metric = vector.b.shape[0] + 1, setting.margin, learner.metric
    kept = left(metric.fading.weights, 1)
    work = room(rows, scaling, 1, 0, bends(metric))
    a, g, sides = np.zeros(k), np.zeros(k), np.zeros(k)
    directions = Directions(np.zeros((1, k)), np.zeros((k, k)), 0.0)
    is_right, right = np.arange(k) == 0, np.zeros(1, np.int64)
    for i in range(rows.indptr.shape[0] - 1):
        weight = weights[i] if weights.shape[0] > 0 else 1.0
        n, _ = read_row(rows, i, scaling, counts[LEARNT], work.f, work.v)
        q = measure(vector, 0, n, work)
        p, worst = work.s[0], 1
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
            q = direction(metric, counts[LEARNT], work.f, work.v, n, q, work.d)
            _fill_directions(setting, sides, q, directions)
            labels = Labels(a, right, is_right, 0, worst)
            total, softened = over_labels(setting.words, labels, directions, margin, C, g)
            sums[PENALTY] += softened + price_of_slack(setting.slack, g[1:])
            if total > 0.0:
                counts[UPDATES] += 1
                age = float(counts[LEARNT])
                step, inner, sq_move = _move_thresholds(vector, sides, a, g, age)
                work.moves[0] = step
                move(vector, metric, counts[LEARNT], n, work, age)
                sums[GAIN] += total * margin
                sums[SQ_NORM] = moved_sq_norm(sums[SQ_NORM], inner, sq_move + step * step * q)
        enter_row(scaling, rows, i, counts[LEARNT])
        multiply(vector.b, vector.b.shape[0], kept)
        counts[LEARNT] += 1


@compiled(helper=True)
def _fill_directions(setting: Setting, sides: Floats, q: float, directions: Directions) -> None:
    """Fill in what the rule reads: each constraint's squared norm, and for joint steps all inner products."""
    directions.norms[:] = q + 1.0
    if is_joint(setting.words):
        for j in range(1, sides.shape[0]):
            for m in range(1, sides.shape[0]):
                directions.gram[j, m] = sides[j] * sides[m] * q + (1.0 + setting.slack if j == m else 0.0)


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
def score(
    rows: Rows,
    scaling: Scaling,
    learnt: int,
    vector: Vector,
    means: int,
    together: Forecasters,
    counts: Ints,
    out: Floats,
) -> None:
    """The common answer to every row; nothing is learnt or counted. Means of the last `means` learners take part.

    Rows are scaled as after `learnt` rounds; means are those of as many as there are by then.
    """
    rows, scaling, vector, together = borrowed((rows, scaling, vector, together))
    learners = vector.w.shape[1]
    work = room(rows, scaling, learners, means, False)
    for i in range(out.shape[0]):
        n, _ = read_row(rows, i, scaling, learnt, work.f, work.v)
        measure(vector, means, n, work)
        out[i] = answer(together, work.s, learners, means, counts[LEARNT])


@compiled
def score_dense(X: Floats, w: Floats, bias: float, out: Floats) -> None:
    """⟨w, x⟩ of every row of a dense matrix."""
    X, w = borrowed((X, w))
    for i in range(out.shape[0]):
        out[i] = _measure_dense(w[1:], w[0], X[i], bias)[0]
