"""The rounds of a block one after another, compiled: the same as `LabelRounds.decide` and `Constraints.decide`.

It is imported only where Numba is installed and the rule and the kernel are built in. A step corrects the scores of
the rows that follow it; only rows that make a step are multiplied with them, so most of a block's own Gram matrix is
never computed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats, Int32s, Ints
from hinged.compiling.copying import copy_to
from hinged.compiling.lanes import dot, squared_distance
from hinged.rules.combine import Directions, Labels, over_labels
from hinged.rules.length import alone, softening
from hinged.rules.words import Words
from hinged.tasks.binary import sign
from hinged.tasks.labels import find_new, judge, runner_up
from hinged.tasks.regression import towards

__all__ = ["Block", "Formula", "Noted", "Numbers", "add_lines", "constraint_rounds", "label_rounds", "raise_all"]

KNOWN, NOTED, MOVED, LEARNT = range(4)
GAIN, SQ_NORM, PENALTY = range(3)


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
    learns_new: bool


class Block(NamedTuple):
    """Rows that are learnt one after another."""

    X: np.ndarray  # (rounds, features); K of the rows where the formula says that it is given
    lengths: np.ndarray  # float64 (rounds,): K(x, x)
    scores: np.ndarray  # float64 (labels, rounds): by what was learnt before the block; corrected after each step
    weights: np.ndarray  # float64 (rounds,) or none


class Noted(NamedTuple):
    """What is written down of each round, and of each step."""

    flags: np.ndarray  # int8 (rounds,)
    ranks: np.ndarray  # int32 (rounds,)
    losses: np.ndarray  # float64 (rounds,)
    middles: np.ndarray  # float64 (rounds,): between right and wrong, of the rounds that had both
    leads: np.ndarray  # float64 (rounds,): the winner's lead in them
    firsts: np.ndarray  # int64 (rounds,): the winner
    hits: np.ndarray  # bool (rounds,): and whether it was right
    moved: np.ndarray  # int64 (rounds,): rounds with a step
    coef: np.ndarray  # float64 (rounds, labels): their net coefficients
    counts: np.ndarray  # int64 (4,): KNOWN labels, rounds NOTED, rounds that MOVED, rounds with a weight
    sums: np.ndarray  # float64 (3,): GAIN, SQ_NORM and PENALTY of `hinged.mercer.rounds.Rounds`


@compiled(helper=True)
def _products(X: Floats, i: int, out: Floats) -> None:
    """⟨x_i, x_j⟩ of the rows after i."""
    for j in range(i + 1, X.shape[0]):
        out[j] = dot(X[i], X[j], X.shape[1])


@compiled(helper=True)
def _distances(X: Floats, i: int, out: Floats) -> None:
    """‖x_i - x_j‖² of the rows after i."""
    for j in range(i + 1, X.shape[0]):
        out[j] = squared_distance(X[i], X[j], X.shape[1])


@compiled
def raise_all(values: Floats, a: float, degree: int) -> None:
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


@compiled
def add_lines(indptr: Ints, indices: Int32s, data: Floats, place: Int32s, lines: Floats, out: Floats) -> None:
    """⟨x, z⟩ of sparse rows x with the rows z of a table, whose columns lie in `lines` at `place`; -1 where in none."""
    for i in range(indptr.shape[0] - 1):
        row = out[i]
        for at in range(indptr[i], indptr[i + 1]):
            if indices[at] < place.shape[0] and place[indices[at]] >= 0:
                line, value = lines[place[indices[at]]], data[at]
                for j in range(row.shape[0]):
                    row[j] += value * line[j]


@compiled(helper=True)
def _fill(formula: Formula, X: Floats, i: int, out: Floats) -> None:
    """K(x_i, x_j) of the rows after i."""
    if formula.degree < 0:
        copy_to(out[i + 1 :], X[i, i + 1 :])
        return
    if formula.degree > 0:
        _products(X, i, out)
        raise_all(out[i + 1 :], formula.a, formula.degree)
        return
    a = X.dtype.type(formula.a)
    _distances(X, i, out)
    for j in range(i + 1, X.shape[0]):
        out[j] = math.exp(-a * out[j])


@compiled(helper=True)
def _weigh(rule: Numbers, weights: Floats, i: int) -> tuple[float, bool]:
    """Return the cap on a round's steps, and True if it is learnt at all."""
    if weights.shape[0] == 0:
        return rule.C, True
    return rule.C * weights[i] if rule.uses_weight else rule.C, weights[i] > 0.0


@compiled(helper=True)
def _note_lead(noted: Noted, labels: Labels) -> None:
    """Write down how far the winner leads, and the middle between right and wrong."""
    s, at = labels.scores, noted.counts[NOTED]
    first, lead = runner_up(s)
    noted.middles[at] = 0.5 * (s[labels.relevant[labels.low]] + s[labels.rival])
    noted.leads[at], noted.firsts[at], noted.hits[at] = lead, first, labels.is_relevant[first]
    noted.counts[NOTED] += 1


@compiled(helper=True)
def _note_step(noted: Noted, i: int, gain: float, change: float, penalty: float) -> None:
    """Enter the step of round `i` in the sums."""
    noted.moved[noted.counts[MOVED]] = i
    noted.counts[MOVED] += 1
    noted.sums[GAIN] += gain
    noted.sums[SQ_NORM] += change
    noted.sums[PENALTY] += penalty


@compiled(helper=True)
def _correct(formula: Formula, block: Block, i: int, g: Floats, column: Floats) -> None:
    """Add what the step of round `i` changes to the scores of the rows after it; `column` is scratch."""
    n = block.X.shape[0]
    if i + 1 < n:
        _fill(formula, block.X, i, column)
        for r in range(g.shape[0]):
            if g[r] != 0.0:
                row, share = block.scores[r], g[r]
                for j in range(i + 1, n):
                    row[j] += share * column[j]


@compiled(error_model="numpy")
def label_rounds(formula: Formula, rule: Numbers, block: Block, indptr: Ints, right_labels: Ints, noted: Noted) -> None:
    """Judge and learn rows on labels in order, correcting the block's scores after each step.

    `indptr` and `right_labels` are the right labels of each row; `noted.counts[KNOWN]` labels are known before.
    """
    # s scores of a round · g net coefficients · column K(x_i, x_j) of a step's row with those after it
    n, most = block.X.shape[0], block.scores.shape[0]
    s_room, g_room, column, right_room = (
        np.zeros(most),
        np.zeros(most),
        np.zeros(n, block.X.dtype),
        np.zeros(most, np.bool_),
    )
    for i in range(n):
        right, k = right_labels[indptr[i] : indptr[i + 1]], noted.counts[KNOWN]
        C, is_learnt = _weigh(rule, block.weights, i)
        noted.counts[LEARNT] += is_learnt
        is_new, after = find_new(right, k)
        if is_new:
            noted.flags[i], noted.ranks[i] = -1, 0
            if not is_learnt:
                continue
            noted.counts[KNOWN] = after
            if not rule.learns_new:
                continue
            k = after
        if right.shape[0] == 0 or right.shape[0] >= k:
            continue
        # ---- score and count
        s, is_right = s_room[:k], right_room[:k]
        copy_to(s, block.scores[:, i])
        for r in right:
            is_right[r] = True
        low, rival, gap, rank = judge(s, right, is_right)
        labels = Labels(s, right, is_right, low, rival)
        if not is_new:
            noted.losses[i] = max(0.0, rule.margin - gap)
            if gap <= 0.0:
                noted.flags[i], noted.ranks[i] = 1, rank
        if is_learnt:
            if not is_new:
                _note_lead(noted, labels)
            if gap < rule.margin:
                g, at = g_room[:k], noted.counts[MOVED]
                total, softened = _step(rule, C, labels, block.lengths[i], g)
                if total > 0.0:
                    copy_to(noted.coef[at, :k], g)
                    change = _change(g, s, block.lengths[i])
                    _note_step(noted, i, total * rule.margin, change, softened)
                    _correct(formula, block, i, g, column)
        for r in right:
            is_right[r] = False


@compiled(helper=True)
def _step(rule: Numbers, C: float, labels: Labels, size: float, g: Floats) -> tuple[float, float]:
    """Fill `g` with the net coefficients of a round; return Σλ and what the dual subtracts. `size` is K(x, x)."""
    norm = 2.0 * size if 2.0 * size >= rule.least_norm else 0.0
    norms = np.full((labels.relevant.shape[0], g.shape[0]), norm)
    directions = Directions(norms, np.zeros((0, 0)), size if size >= rule.least_norm else 0.0)
    g[:] = 0.0
    return over_labels(rule.words, labels, directions, rule.margin, C, g)


@compiled(helper=True)
def _change(g: Floats, s: Floats, size: float) -> float:
    """Return by how much a step changes ‖ω‖²."""
    inner, square = 0.0, 0.0
    for r in range(g.shape[0]):
        inner += g[r] * s[r]
        square += g[r] * g[r]
    return 2.0 * inner + size * square


@compiled(error_model="numpy")
def constraint_rounds(
    formula: Formula, rule: Numbers, block: Block, targets: Floats, epsilon: float, noted: Noted
) -> None:
    """The same for one constraint a round: labels 0 and 1, or numbers where `epsilon` is not negative."""
    column, g = np.zeros(block.X.shape[0], block.X.dtype), np.zeros(1)
    for i in range(block.X.shape[0]):
        C, is_learnt = _weigh(rule, block.weights, i)
        noted.counts[LEARNT] += is_learnt
        score, numbers = block.scores[0, i], epsilon >= 0.0
        side, margin = towards(targets[i], score, epsilon) if numbers else (sign(int(targets[i])), rule.margin)
        gap = side * score
        noted.losses[i] = max(0.0, margin - gap)
        noted.flags[i] = noted.losses[i] > 0.0 if numbers else gap <= 0.0
        if not is_learnt:
            continue
        norm = block.lengths[i] if block.lengths[i] >= rule.least_norm else 0.0
        step = alone(rule.words.length, gap, norm, margin, C)
        if step > 0.0:
            g[0] = noted.coef[noted.counts[MOVED], 0] = side * step
            change = 2.0 * step * gap + step * step * norm
            _note_step(noted, i, step * margin, change, softening(rule.words.length, step, C))
            _correct(formula, block, i, g, column)
