"""Dual ascent in hindsight: rounds are visited again and again, and each visit improves the dual in its own variables.

Round t has one coefficient per label, g ≥ 0 on its right labels and g ≤ 0 on the others, with sum 0; Z is the sum over
the right ones. The weights are u = Σ_t Σ_r g_tr V_tr, and

    D = Σ_t m Z_t - ½‖u‖²,               0 ≤ Z_t ≤ C       for ½‖u‖² + C Σ ℓ_t(u)
    D = Σ_t (m Z_t - Z_t²/4C) - ½‖u‖²,   0 ≤ Z_t           for ½‖u‖² + C Σ ℓ_t(u)²

A move takes δ from label `down` to label `up`, within a side or across; the best of the four kinds is made, by the
exact δ, until none gains: sequential minimal optimisation on the problem of Crammer and Singer (2001), for sets of
right labels and for any sharing scheme.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np

from hinged.bounds.streams import RoundArrays, mark
from hinged.compiling import compiled
from hinged.compiling.arrays import Bools, Floats, Ints
from hinged.loops.columns import NO_ROW_VECTORS, PER_LABEL, Columns, common_columns, label_scores

__all__ = ["NONE", "RAISE", "RETURN", "AscentProblem", "Weights"]
__all__ += ["ascend", "best_move", "mark_right", "nearly_least", "take"]

NONE, RAISE, RETURN, SWAP_RIGHT, SWAP_WRONG = 0, 1, 2, 3, 4
LARGEST_PRICE = 1e300  # an infinite objective is never close to the dual
Found = TypeVar("Found")  # weights, however they are written


class AscentProblem(NamedTuple):
    """What is to be minimised, and when a visit ends: where no move gains faster than `enough`, or after `most`."""

    margin: float
    C: float
    squared: bool
    enough: float
    most: int


class Weights(NamedTuple):
    """The weights, and the coefficients of the vectors they are a sum of; changed in place."""

    W: np.ndarray  # (features, columns), C order
    v: np.ndarray  # (places of the shared vectors,)
    g: np.ndarray  # (pairs of round and label,) as `starts` has them


class Scratch(NamedTuple):
    """Arrays that visits work in; k labels."""

    wide: np.ndarray  # (columns,)
    s: np.ndarray  # (k,): scores
    d: np.ndarray  # (k,): ⟨V_r, V_up - V_down⟩
    moved: np.ndarray  # (k,)
    is_right: np.ndarray  # (k,), False between visits
    line: np.ndarray  # (places of the shared vectors,), zeros between visits


def nearly_least(
    measure: Callable[[], tuple[Found, float, float]], improve: Callable[[], None], tol: float, max_epochs: int
) -> tuple[Found, float, float, int]:
    """Improve weights epoch by epoch until their objective is close to the dual; return the best ones.

    Parameters
    ----------
    measure : function
        Returns the weights, their objective, and the dual.
    improve : function
        Runs an epoch.
    tol : float
        Stop when the objective is at most this share of itself above the dual.
    max_epochs : int

    Returns
    -------
    weights, objective, dual, epochs
    """
    best_u, best, dual = measure()
    epochs = 0
    while best - dual > tol * min(abs(best), LARGEST_PRICE) and epochs < max_epochs:
        improve()
        epochs += 1
        u, price, reached = measure()
        if price < best:
            best_u, best = u, price
        dual = max(dual, reached)
    return best_u, best, dual, epochs


@compiled(helper=True)
def _ends(s: Floats, g: Floats, is_right: Bools) -> tuple[int, int, int, int]:
    """The lowest right label and the highest wrong one; of those with a coefficient, highest right and lowest wrong."""
    lowest, highest, held_right, held_wrong = -1, -1, -1, -1
    for r in range(s.shape[0]):
        if is_right[r]:
            if lowest < 0 or s[r] < s[lowest]:
                lowest = r
            if g[r] > 0.0 and (held_right < 0 or s[r] > s[held_right]):
                held_right = r
        else:
            if highest < 0 or s[r] > s[highest]:
                highest = r
            if g[r] < 0.0 and (held_wrong < 0 or s[r] < s[held_wrong]):
                held_wrong = r
    return lowest, highest, held_right, held_wrong


@compiled(helper=True)
def _faster(
    best: tuple[int, int, int, float, float], move: tuple[int, int, int, float, float]
) -> tuple[int, int, int, float, float]:
    return move if move[3] > best[3] else best


@compiled(helper=True)
def best_move(
    s: Floats, g: Floats, is_right: Bools, Z: float, margin: float, C: float, squared: bool
) -> tuple[int, int, int, float, float]:
    """The move that gains fastest: (kind, up, down, rate, longest δ); kind 0 where none gains."""
    low, high, held_right, held_wrong = _ends(s, g, is_right)
    price = Z / (2.0 * C) if squared else 0.0
    best = (NONE, 0, 0, 0.0, 0.0)
    if squared or Z < C:
        best = _faster(best, (RAISE, low, high, margin - price - s[low] + s[high], math.inf if squared else C - Z))
    if held_right >= 0 and held_wrong >= 0:
        gain, longest = price - margin + s[held_right] - s[held_wrong], min(-g[held_wrong], g[held_right])
        best = _faster(best, (RETURN, held_wrong, held_right, gain, longest))
    if held_right >= 0:
        best = _faster(best, (SWAP_RIGHT, low, held_right, s[held_right] - s[low], g[held_right]))
    if held_wrong >= 0:
        best = _faster(best, (SWAP_WRONG, held_wrong, high, s[high] - s[held_wrong], -g[held_wrong]))
    return best


@compiled(helper=True)
def mark_right(right: tuple[Ints, Ints], t: int, g: Floats, is_right: Bools) -> float:
    """Mark the right labels of round `t`; return Z, the sum of their coefficients."""
    mark(right, t, is_right, True)
    Z = 0.0
    for j in range(right[0][t], right[0][t + 1]):
        Z += g[right[1][j]]
    return Z


@compiled(helper=True)
def take(g: Floats, Z: float, kind: int, up: int, down: int, step: float, longest: float, C: float) -> float:
    """Move `step` from label `down` to label `up`; return Z after it."""
    g[up] += step
    g[down] -= step
    if step == longest and kind != RAISE:  # a label that gives all it has keeps 0, not a rounding error
        if kind != SWAP_RIGHT and g[up] > -1e-15 * step:
            g[up] = 0.0
        if kind != SWAP_WRONG and g[down] < 1e-15 * step:
            g[down] = 0.0
    if kind == RAISE:
        return C if step == longest else Z + step
    return max(0.0, Z - step) if kind == RETURN else Z


@compiled
def ascend(order: Ints, rounds: RoundArrays, problem: AscentProblem, weights: Weights) -> float:
    """Visit rounds in that order, changing the weights in place; return the fastest rate that was met.

    Parameters
    ----------
    order : int array
    rounds : RoundArrays
    problem : AscentProblem
    weights : Weights
    """
    k = max(1, np.max(rounds.known))
    columns, places = weights.W.shape[1], weights.v.shape[0]
    work = Scratch(np.zeros(columns), np.zeros(k), np.zeros(k), np.zeros(k), np.zeros(k, np.bool_), np.zeros(places))
    fastest = 0.0
    for t in order:
        if rounds.starts[t + 1] > rounds.starts[t]:
            fastest = max(fastest, _visit(t, rounds, problem, weights, work))
    return fastest


@compiled(helper=True)
def _visit(t: int, rounds: RoundArrays, problem: AscentProblem, weights: Weights, work: Scratch) -> float:
    """Make the moves of one round that gain; return the rate of the first."""
    k, q, plain = rounds.known[t], rounds.sq_norms[t], rounds.columns.kind == PER_LABEL and not rounds.shared
    s, d, moved, is_right = work.s[:k], work.d[:k], work.moved[:k], work.is_right[:k]
    g = weights.g[rounds.starts[t] : rounds.starts[t + 1]]
    _score(t, rounds, weights, work.wide, s)
    Z = mark_right(rounds.right, t, g, is_right)
    moved[:] = 0.0
    n_moves, fastest = 0, 0.0
    while n_moves < problem.most:
        kind, up, down, rate, longest = best_move(s, g, is_right, Z, problem.margin, problem.C, problem.squared)
        if n_moves == 0:
            fastest = rate
        if kind == NONE or rate <= problem.enough:
            break
        curvature = 2.0 * q
        if not plain:
            _directions(t, up, down, rounds, work.line, d)
            curvature = d[up] - d[down]
        if problem.squared and kind <= RETURN:
            curvature += 1.0 / (2.0 * problem.C)
        step = rate / curvature if curvature * longest > rate else longest  # also where longest is infinite
        if not step < math.inf:  # no curvature and no cap: nothing can meet this constraint
            break
        Z = take(g, Z, kind, up, down, step, longest, problem.C)
        if plain:
            s[up] += step * q
            s[down] -= step * q
        else:
            for r in range(k):
                s[r] += step * d[r]
        moved[up] += step
        moved[down] -= step
        n_moves += 1
    if n_moves > 0:
        _move(t, rounds, moved, work.wide, weights)
    mark(rounds.right, t, is_right, False)
    return fastest


@compiled(helper=True)
def _score(t: int, rounds: RoundArrays, weights: Weights, wide: Floats, s: Floats) -> None:
    """Fill `s` with the scores of a round's labels."""
    X, first = rounds.X, rounds.starts[t]
    wide[:] = 0.0
    for j in range(X[0][t], X[0][t + 1]):
        row, x = weights.W[X[1][j]], X[2][j]
        for c in range(wide.shape[0]):
            wide[c] += x * row[c]
    label_scores(rounds.columns, wide, s)
    if rounds.shared:
        for r in range(s.shape[0]):
            s[r] = _plus_product(rounds.phi, first + r, weights.v, s[r])


@compiled(helper=True)
def _directions(t: int, up: int, down: int, rounds: RoundArrays, line: Floats, d: Floats) -> None:
    """Fill `d` with ⟨V_r, V_up - V_down⟩ of every label; `line` is zeros before and after."""
    columns, phi, q, first = rounds.columns, rounds.phi, rounds.sq_norms[t], rounds.starts[t]
    for r in range(d.shape[0]):
        d[r] = q * (common_columns(columns, r, up) - common_columns(columns, r, down))
    if not rounds.shared:
        return
    _add_row(phi, first + up, 1.0, line)
    _add_row(phi, first + down, -1.0, line)
    for r in range(d.shape[0]):
        d[r] = _plus_product(phi, first + r, line, d[r])
    for r in (up, down):
        for j in range(phi[0][first + r], phi[0][first + r + 1]):
            line[phi[1][j]] = 0.0


@compiled(helper=True)
def _move(t: int, rounds: RoundArrays, moved: Floats, wide: Floats, weights: Weights) -> None:
    """u += Σ_r moved_r V_r."""
    X = rounds.X
    if rounds.columns.kind != NO_ROW_VECTORS:
        _by_column(rounds.columns, moved, wide)
        for j in range(X[0][t], X[0][t + 1]):
            row, x = weights.W[X[1][j]], X[2][j]
            for c in range(wide.shape[0]):
                row[c] += x * wide[c]
    if rounds.shared:
        for r in range(moved.shape[0]):
            if moved[r] != 0.0:
                _add_row(rounds.phi, rounds.starts[t] + r, moved[r], weights.v)


@compiled(helper=True)
def _by_column(columns: Columns, moved: Floats, wide: Floats) -> None:
    """Fill `wide` with the coefficient of each column, from those of the labels."""
    wide[:] = 0.0
    for r in range(moved.shape[0]):
        if columns.kind == PER_LABEL:
            wide[r] += moved[r]
        elif moved[r] != 0.0:
            for c in range(columns.indptr[r], columns.indptr[r + 1]):
                wide[columns.indices[c]] += moved[r]


@compiled(helper=True)
def _add_row(matrix: tuple[Ints, Ints, Floats], i: int, factor: float, out: Floats) -> None:
    """Add a multiple of row `i` of a sparse matrix to a vector."""
    for j in range(matrix[0][i], matrix[0][i + 1]):
        out[matrix[1][j]] += factor * matrix[2][j]


@compiled(helper=True)
def _plus_product(matrix: tuple[Ints, Ints, Floats], i: int, vector: Floats, total: float) -> float:
    """A number plus ⟨row i of a sparse matrix, vector⟩."""
    for j in range(matrix[0][i], matrix[0][i + 1]):
        total += matrix[2][j] * vector[matrix[1][j]]
    return total
