"""The rounds of a block one after another, compiled: the same as `LabelRounds.decide` and `Constraints.decide`.

It is imported only where Numba is installed and the rule and the kernel are built in. A step corrects the scores of
the rows that follow it; only rows that make a step are multiplied with them, so most of a block's own Gram matrix is
never computed.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from hinged.rules.combine import over_pairs
from hinged.rules.length import alone, softening
from hinged.rules.optimal import by_sorting
from hinged.rules.words import JOINT, ONE, Words

__all__ = ["Formula", "Noted", "Numbers", "Sums", "add_lines", "constraint_rounds", "label_rounds", "raise_all"]


class Formula(NamedTuple):
    """A built-in kernel: exp(-a‖x - z‖²) for degree 0, else (a + ⟨x, z⟩)^degree; below 0, K itself is given."""

    a: float
    degree: int


class Numbers(NamedTuple):
    """A rule, as in `hinged.mercer.steps.Rule`."""

    words: Words
    C: float
    margin: float
    uses_weight: bool
    least_norm: float


class Noted(NamedTuple):
    """What is written down of each round, and of each step."""

    flags: np.ndarray  # int8 (rounds,)
    ranks: np.ndarray  # int32 (rounds,)
    losses: np.ndarray  # float64 (rounds,)
    middles: np.ndarray  # float64 (rounds,): between right and wrong, of the rounds that had both
    leads: np.ndarray  # float64 (rounds,): the winner's lead in them
    hits: np.ndarray  # bool (rounds,): and whether it was right
    moved: np.ndarray  # int64 (rounds,): rounds with a step
    coef: np.ndarray  # float64 (rounds, labels): their net coefficients


class Sums(NamedTuple):
    """What the rounds amounted to, as in `hinged.mercer.rounds.Rounds`."""

    n_known: int
    noted: int
    moved: int
    learnt: int
    gain: float
    sq_norm: float
    penalty: float


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})  # sums of products by SIMD
def _products(X: Any, i: int, out: Any) -> None:
    """⟨x_i, x_j⟩ of the rows after i."""
    x = X[i]
    for j in range(i + 1, X.shape[0]):
        z = X[j]
        total = X.dtype.type(0.0)
        for c in range(X.shape[1]):
            total += x[c] * z[c]
        out[j] = total


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _distances(X: Any, i: int, out: Any) -> None:
    """‖x_i - x_j‖² of the rows after i."""
    x = X[i]
    for j in range(i + 1, X.shape[0]):
        z = X[j]
        total = X.dtype.type(0.0)
        for c in range(X.shape[1]):
            apart = x[c] - z[c]
            total += apart * apart
        out[j] = total


@njit(cache=True, nogil=True)
def raise_all(values: Any, a: float, degree: int) -> None:
    """(a + v)^degree of every value of a vector, in place; the degrees that are common are written out for SIMD."""
    more = values.dtype.type(a)
    if degree == 2:
        for j in range(values.shape[0]):
            values[j] = (values[j] + more) * (values[j] + more)
        return
    if degree == 3:
        for j in range(values.shape[0]):
            base = values[j] + more
            values[j] = base * base * base
        return
    if degree == 5:
        for j in range(values.shape[0]):
            base = values[j] + more
            square = base * base
            values[j] = square * square * base
        return
    top = 0
    while degree >> (top + 1):
        top += 1
    for j in range(values.shape[0]):
        base = values[j] + more
        value = base
        for bit in range(top - 1, -1, -1):
            value *= value
            if (degree >> bit) & 1:
                value *= base
        values[j] = value


@njit(cache=True, nogil=True)
def add_lines(indptr: Any, indices: Any, data: Any, place: Any, lines: Any, out: Any) -> None:
    """⟨x, z⟩ of sparse rows x with the rows z of a table, whose columns lie in `lines` at `place`; -1 where in none."""
    for i in range(indptr.shape[0] - 1):
        row = out[i]
        for at in range(indptr[i], indptr[i + 1]):
            if indices[at] < place.shape[0] and place[indices[at]] >= 0:
                line, value = lines[place[indices[at]]], data[at]
                for j in range(row.shape[0]):
                    row[j] += value * line[j]


@njit(cache=True, nogil=True)
def _fill(formula: Any, X: Any, i: int, out: Any) -> None:
    """K(x_i, x_j) of the rows after i."""
    if formula.degree < 0:
        out[i + 1 :] = X[i, i + 1 :]
        return
    if formula.degree > 0:
        _products(X, i, out)
        raise_all(out[i + 1 :], formula.a, formula.degree)
        return
    a = X.dtype.type(formula.a)
    _distances(X, i, out)
    for j in range(i + 1, X.shape[0]):
        out[j] = math.exp(-a * out[j])


@njit(cache=True, nogil=True)
def _note_lead(noted: Any, at: int, s: Any, is_right: Any, one: bool, low: int, rival: int) -> None:
    """Write down how far the winner leads, and the middle between right and wrong."""
    gap = s[low] - s[rival]
    noted.middles[at] = 0.5 * (s[low] + s[rival])
    if gap > 0.0 and one:
        noted.leads[at], noted.hits[at] = gap, True
        return
    first = 0
    for r in range(1, s.shape[0]):
        if s[r] > s[first]:
            first = r
    second = -math.inf
    for r in range(s.shape[0]):
        if r != first:
            second = max(second, s[r])
    noted.leads[at], noted.hits[at] = s[first] - second, is_right[first]


@njit(cache=True, nogil=True)
def _step(
    rule: Any, C: float, s: Any, right: Any, is_right: Any, low: int, rival: int, size: float, work: Any, g: Any
) -> tuple[float, float]:
    """Fill `g` with the net coefficients of a round; return Σλ and what the dual subtracts. `size` is K(x, x)."""
    g[:] = 0.0
    gap, norm, words = s[low] - s[rival], 2.0 * size if 2.0 * size >= rule.least_norm else 0.0, rule.words
    if words.combine != ONE and words.combine != JOINT:
        return over_pairs(words, s, right, is_right, np.full((right.shape[0], s.shape[0]), norm), rule.margin, C, g)
    if words.combine == JOINT and size >= rule.least_norm:
        return by_sorting(s, is_right, size, rule.margin, C, work, g), 0.0
    total = alone(words.length, gap, norm if words.combine == ONE else 0.0, rule.margin, C)
    g[low], g[rival] = total, -total
    return total, softening(words.length, total, C)


@njit(cache=True, nogil=True, error_model="numpy")
def label_rounds(
    formula: Any,
    rule: Any,
    X: Any,
    lengths: Any,
    scores: Any,
    indptr: Any,
    labels: Any,
    weights: Any,
    n_known: int,
    noted: Any,
) -> Any:
    """Judge and learn rows on labels in order, correcting `scores` (labels, rows) after each step; return the sums.

    `lengths` are K(x, x); `indptr` and `labels` the right labels of each row, `weights` theirs or none.
    """
    # s scores of a round · g net coefficients · column K(x_i, x_j) of a step's row with those after it
    n, most = X.shape[0], scores.shape[0]
    s_room, g_room, work, column = np.zeros(most), np.zeros(most), np.zeros(most), np.zeros(n, X.dtype)
    right_room = np.zeros(most, np.bool_)
    gain, sq_norm, penalty = 0.0, 0.0, 0.0
    told, moved, learnt = 0, 0, 0
    for i in range(n):
        right, k, C = labels[indptr[i] : indptr[i + 1]], n_known, rule.C
        if weights.shape[0] > 0:
            C = rule.C * weights[i] if rule.uses_weight else rule.C
        counts = weights.shape[0] == 0 or weights[i] > 0.0
        learnt += counts
        lowest, highest = most, -1
        for r in right:
            lowest, highest = min(lowest, r), max(highest, r)
        if right.shape[0] > 0 and (lowest < 0 or highest >= k):
            noted.flags[i], noted.ranks[i] = -1, 0
            if counts:
                n_known = max(k, highest + 1)
            continue
        if right.shape[0] == 0 or right.shape[0] >= k:
            continue
        # ---- who wins
        s, g, is_right = s_room[:k], g_room[:k], right_room[:k]
        is_right[:] = False
        for r in right:
            is_right[r] = True
        low, rival, best = -1, -1, -math.inf
        for r in range(k):
            s[r] = scores[r, i]
            if is_right[r]:
                best = max(best, s[r])
                if low < 0 or s[r] < s[low]:
                    low = r
            elif rival < 0 or s[r] > s[rival]:
                rival = r
        gap = s[low] - s[rival]
        noted.losses[i] = max(0.0, rule.margin - gap)
        if gap <= 0.0:
            above = 0
            for r in range(k):
                above += not is_right[r] and s[r] >= best
            noted.flags[i], noted.ranks[i] = 1, 1 + above
        if not counts:
            continue
        _note_lead(noted, told, s, is_right, right.shape[0] == 1, low, rival)
        told += 1
        if gap >= rule.margin:
            continue
        # ---- the step, and what it does to the rows that follow
        total, softened = _step(rule, C, s, right, is_right, low, rival, lengths[i], work, g)
        if total <= 0.0:
            continue
        noted.moved[moved] = i
        inner, square = 0.0, 0.0
        for r in range(k):
            noted.coef[moved, r] = g[r]
            inner += g[r] * s[r]
            square += g[r] * g[r]
        moved += 1
        gain += total * rule.margin
        sq_norm += 2.0 * inner + lengths[i] * square
        penalty += softened
        if i + 1 < n:
            _fill(formula, X, i, column)
            for r in range(k):
                if g[r] != 0.0:
                    row, share = scores[r], g[r]
                    for j in range(i + 1, n):
                        row[j] += share * column[j]
    return Sums(n_known, told, moved, learnt, gain, sq_norm, penalty)


@njit(cache=True, nogil=True, error_model="numpy")
def constraint_rounds(
    formula: Any,
    rule: Any,
    X: Any,
    lengths: Any,
    scores: Any,
    targets: Any,
    weights: Any,
    epsilon: float,
    noted: Any,
) -> Any:
    """The same for one constraint a round: labels 0 and 1, or numbers where `epsilon` is not negative."""
    n = X.shape[0]
    column = np.zeros(n, X.dtype)
    gain, sq_norm, penalty = 0.0, 0.0, 0.0
    moved, learnt = 0, 0
    for i in range(n):
        C, score, target = rule.C, scores[0, i], targets[i]
        if weights.shape[0] > 0:
            C = rule.C * weights[i] if rule.uses_weight else rule.C
        counts = weights.shape[0] == 0 or weights[i] > 0.0
        learnt += counts
        if epsilon < 0.0:
            side, margin = 1.0 if target > 0.0 else -1.0, rule.margin
        else:
            side = 1.0 if target > score else -1.0
            margin = side * target - epsilon
        gap = side * score
        noted.losses[i] = max(0.0, margin - gap)
        noted.flags[i] = gap <= 0.0 if epsilon < 0.0 else noted.losses[i] > 0.0
        if not counts:
            continue
        norm = lengths[i] if lengths[i] >= rule.least_norm else 0.0
        step = alone(rule.words.length, gap, norm, margin, C)
        if step <= 0.0:
            continue
        noted.moved[moved], noted.coef[moved, 0] = i, side * step
        moved += 1
        gain += step * margin
        sq_norm += 2.0 * step * gap + step * step * norm
        penalty += softening(rule.words.length, step, C)
        if i + 1 < n:
            _fill(formula, X, i, column)
            for j in range(i + 1, n):
                scores[0, j] += side * step * column[j]
    return Sums(0, 0, moved, learnt, gain, sq_norm, penalty)
