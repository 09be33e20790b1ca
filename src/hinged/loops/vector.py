"""Loops over rows for one weight vector: two labels, numbers, and ranks with their thresholds."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from hinged.geometry.euclidean import moved_sq_norm
from hinged.loops.ledger import GAIN, LEARNT, MISTAKES, PENALTY, ROUNDS, SQ_NORM, UPDATES
from hinged.loops.rows import count_features, read_row
from hinged.rules.codes import MIRA, OPTIMAL, PA2, SIMPERC
from hinged.rules.optimal import on_gram
from hinged.rules.simultaneous import simultaneous
from hinged.rules.worst import worst_step
from hinged.tasks.binary import sign
from hinged.tasks.ordinal import side
from hinged.tasks.regression import towards

__all__ = ["Vector", "learn_one_constraint", "learn_thresholds", "score"]


class Vector(NamedTuple):
    """One weight per feature, thresholds where there are any, and what their means need."""

    w: np.ndarray  # (features + 1,): the bias is feature 0
    late: np.ndarray  # float64 like w, Σ age · move: the mean is w - late / rounds; empty where no mean is kept
    b: np.ndarray  # float64 (thresholds,)
    late_b: np.ndarray  # float64 like b; empty where no mean is kept


@njit(cache=True, inline="always")
def _inner(w: Any, f: Any, v: Any, n: int) -> float:
    """⟨w, x⟩ in two sums side by side; a feature without a place has weight 0."""
    a, b = 0.0, 0.0
    size = w.shape[0]
    for j in range(0, n - 1, 2):
        if f[j] < size:
            a += np.float64(v[j]) * np.float64(w[f[j]])
        if f[j + 1] < size:
            b += np.float64(v[j + 1]) * np.float64(w[f[j + 1]])
    if n & 1 and f[n - 1] < size:
        a += np.float64(v[n - 1]) * np.float64(w[f[n - 1]])
    return a + b


@njit(cache=True, inline="always")
def _move(vector: Any, f: Any, v: Any, n: int, step: float, age: float) -> None:
    """w += step · x."""
    w, late = vector.w, vector.late
    for j in range(n):
        w[f[j]] += w.dtype.type(step * v[j])
    if late.shape[0] > 0:
        for j in range(n):
            late[f[j]] += age * step * v[j]


@njit(cache=True, nogil=True, error_model="numpy")
def learn_one_constraint(
    rows: Any,
    targets: Any,
    sample_weights: Any,
    epsilon: float,
    setting: Any,
    scaling: Any,
    vector: Any,
    ledger: Any,
    judged: bool,
    longest: int,
    flags: Any,
    losses: Any,
) -> None:
    """Learn rows in order: labels 0 and 1 where `epsilon` is negative, else numbers to come within `epsilon` of.

    `flags` gets 1 for a wrong sign, or a positive loss where numbers are learnt; `losses` the hinge of each round.
    Rows that are not `judged` (there is nothing to tell their label from) only enter what is counted.
    """
    # p score · q ‖x‖² · s the side on which the score must lie, by `margin`
    counts, sums, w = ledger.counts, ledger.sums, vector.w
    f, v = np.empty(longest + 1, np.int64), np.empty(longest + 1, rows.data.dtype)
    numbers = epsilon >= 0.0
    for i in range(rows.indptr.shape[0] - 1):
        weight = sample_weights[i] if sample_weights.shape[0] > 0 else 1.0
        n, q = read_row(rows, i, scaling, counts[LEARNT], f, v)
        p = _inner(w, f, v, n)
        s, margin = sign(int(targets[i])), setting.margin
        if numbers:
            s, margin = towards(targets[i], p, epsilon)
        gap = s * p
        if judged:
            losses[i] = max(0.0, margin - gap)
            flags[i] = losses[i] > 0.0 if numbers else gap <= 0.0
        counts[MISTAKES] += flags[i]
        counts[ROUNDS] += 1
        if weight <= 0.0:
            continue
        C = setting.C * weight if setting.uses_weight else setting.C
        step = worst_step(setting.code, gap, q, margin, C) if judged else 0.0
        if step > 0.0:
            counts[UPDATES] += 1
            sums[GAIN] += step * margin
            sums[SQ_NORM] = moved_sq_norm(sums[SQ_NORM], step * gap, step * step * q)
            if setting.code == PA2:
                sums[PENALTY] += step * step / (4.0 * C)
            _move(vector, f, v, n, s * step, float(counts[LEARNT]))
        counts[LEARNT] += 1
        if scaling.counts:
            count_features(scaling, f, n)


@njit(cache=True, nogil=True, error_model="numpy")
def learn_thresholds(
    rows: Any,
    targets: Any,
    sample_weights: Any,
    setting: Any,
    scaling: Any,
    vector: Any,
    ledger: Any,
    judged: bool,
    longest: int,
    flags: Any,
    losses: Any,
) -> None:
    """Learn rows of known ranks, from 0, in order; a round is flagged where the score is on a wrong side of any.

    To the rules the constraints are pairs of labels: number 0 is the right one and scores 0, number i + 1 scores
    y_i (b_i - ⟨w, x⟩), and the pair's direction is that constraint's.
    """
    # p score · q ‖x‖² · a the labels' scores · g their net coefficients, -λ on constraints · gram of the directions
    counts, sums, w, b = ledger.counts, ledger.sums, vector.w, vector.b
    k = b.shape[0] + 1
    f, v = np.empty(longest + 1, np.int64), np.empty(longest + 1, rows.data.dtype)
    a, g, norms, gram = np.zeros(k), np.zeros(k), np.zeros((1, k)), np.zeros((k, k))
    sides, is_right, right = np.zeros(k), np.arange(k) == 0, np.zeros(1, np.int64)
    code, margin = setting.code, setting.margin
    for i in range(rows.indptr.shape[0] - 1):
        weight = sample_weights[i] if sample_weights.shape[0] > 0 else 1.0
        n, q = read_row(rows, i, scaling, counts[LEARNT], f, v)
        p = _inner(w, f, v, n)
        worst = 1
        for j in range(1, k):
            sides[j] = side(j - 1, targets[i])
            a[j] = sides[j] * (b[j - 1] - p)
            worst = j if a[j] > a[worst] else worst
        gap = -a[worst] if k > 1 and judged else np.inf
        losses[i] = max(0.0, margin - gap)
        flags[i] = gap <= 0.0
        counts[MISTAKES] += flags[i]
        counts[ROUNDS] += 1
        if weight <= 0.0:
            continue
        C = setting.C * weight if setting.uses_weight else setting.C
        total = 0.0
        if gap < margin:
            g[:] = 0.0
            if code < SIMPERC:
                total = worst_step(code, gap, q + 1.0, margin, C)
                g[worst] = -total
                if code == PA2:
                    sums[PENALTY] += total * total / (4.0 * C)
            elif code in (OPTIMAL, MIRA):
                for j in range(1, k):
                    for m in range(1, k):
                        gram[j, m] = sides[j] * sides[m] * q + (1.0 if j == m else 0.0)
                total = on_gram(a, is_right, gram, margin, C, code == MIRA, g)
            else:
                norms[:] = q + 1.0
                total = simultaneous(code, a, right, is_right, norms, margin, C, g)
        if total > 0.0:
            counts[UPDATES] += 1
            age = float(counts[LEARNT])
            step, inner, sq_move = 0.0, 0.0, 0.0
            for j in range(1, k):
                inner += g[j] * a[j]
                sq_move += g[j] * g[j]
                step -= g[j] * sides[j]
                b[j - 1] += g[j] * sides[j]
                if vector.late_b.shape[0] > 0:
                    vector.late_b[j - 1] += age * g[j] * sides[j]
            _move(vector, f, v, n, step, age)
            sums[GAIN] += total * margin
            sums[SQ_NORM] = moved_sq_norm(sums[SQ_NORM], inner, sq_move + step * step * q)
        counts[LEARNT] += 1
        if scaling.counts:
            count_features(scaling, f, n)


@njit(cache=True, nogil=True)
def score(rows: Any, scaling: Any, w: Any, learnt: int, longest: int, out: Any) -> None:
    """⟨w, x⟩ of every row; nothing is learnt or counted."""
    f, v = np.empty(longest + 1, np.int64), np.empty(longest + 1, rows.data.dtype)
    for i in range(out.shape[0]):
        n, _q = read_row(rows, i, scaling, learnt, f, v)
        out[i] = _inner(w, f, v, n)
