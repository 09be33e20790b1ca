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
from typing import Any

import numpy as np
from numba import njit

from hinged.loops.columns import NO_ROW_VECTORS, PER_LABEL, common_columns, label_scores

__all__ = ["NONE", "RAISE", "RETURN", "SWAP_RIGHT", "SWAP_WRONG", "ascend", "best_move"]

NONE, RAISE, RETURN, SWAP_RIGHT, SWAP_WRONG = 0, 1, 2, 3, 4


@njit(cache=True)
def best_move(s: Any, g: Any, is_right: Any, Z: float, margin: float, C: float, squared: bool) -> Any:
    """The move that gains fastest: (kind, up, down, rate, longest δ); kind 0 where none gains."""
    k = s.shape[0]
    lowest, highest, held_right, held_wrong = -1, -1, -1, -1
    for r in range(k):
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
    price = Z / (2.0 * C) if squared else 0.0
    kind, up, down, rate, longest = NONE, 0, 0, 0.0, 0.0
    if squared or Z < C:
        gain = margin - price - s[lowest] + s[highest]
        if gain > rate:
            kind, up, down, rate, longest = RAISE, lowest, highest, gain, math.inf if squared else C - Z
    if held_right >= 0 and held_wrong >= 0:
        gain = price - margin + s[held_right] - s[held_wrong]
        if gain > rate:
            kind, up, down, rate, longest = RETURN, held_wrong, held_right, gain, min(-g[held_wrong], g[held_right])
    if held_right >= 0:
        gain = s[held_right] - s[lowest]
        if gain > rate:
            kind, up, down, rate, longest = SWAP_RIGHT, lowest, held_right, gain, g[held_right]
    if held_wrong >= 0:
        gain = s[highest] - s[held_wrong]
        if gain > rate:
            kind, up, down, rate, longest = SWAP_WRONG, held_wrong, highest, gain, -g[held_wrong]
    return kind, up, down, rate, longest


@njit(cache=True, nogil=True)
def ascend(
    order: Any,
    X: Any,
    phi: Any,
    shared: bool,
    sq_norms: Any,
    right: Any,
    known: Any,
    starts: Any,
    columns: Any,
    margin: float,
    C: float,
    squared: bool,
    enough: float,
    most_moves: int,
    W: Any,
    v: Any,
    g: Any,
) -> float:
    """Visit rounds in that order, changing W, v and g in place; return the fastest rate that was met.

    `X`, `phi` are (indptr, indices, data), `right` (indptr, labels). A visit ends where no move gains faster than
    `enough`, or after `most_moves`.
    """
    # W (features, columns), C order · v places of the shared vectors · g as `starts` has it
    # s scores · d ⟨V_r, V_up - V_down⟩ · q ‖x‖²
    n_wide = W.shape[1]
    wide, moved_wide = np.zeros(n_wide), np.zeros(n_wide)
    k_most = max(1, np.max(known))
    all_s, all_d, all_moved = np.zeros(k_most), np.zeros(k_most), np.zeros(k_most)
    is_right = np.zeros(k_most, np.bool_)
    line = np.zeros(v.shape[0])
    plain = columns.kind == PER_LABEL and not shared
    fastest = 0.0
    for t in order:
        if starts[t + 1] == starts[t]:
            continue
        k, q = known[t], sq_norms[t]
        s, d, moved, own_g = all_s[:k], all_d[:k], all_moved[:k], g[starts[t] : starts[t + 1]]
        wide[:] = 0.0
        for j in range(X[0][t], X[0][t + 1]):
            row, x = W[X[1][j]], X[2][j]
            for c in range(n_wide):
                wide[c] += x * row[c]
        label_scores(columns, wide, s)
        if shared:
            for r in range(k):
                for j in range(phi[0][starts[t] + r], phi[0][starts[t] + r + 1]):
                    s[r] += phi[2][j] * v[phi[1][j]]
        Z = 0.0
        for j in range(right[0][t], right[0][t + 1]):
            is_right[right[1][j]] = True
            Z += own_g[right[1][j]]
        moved[:] = 0.0
        n_moves = 0
        while n_moves < most_moves:
            kind, up, down, rate, longest = best_move(s, own_g, is_right[:k], Z, margin, C, squared)
            if n_moves == 0:
                fastest = max(fastest, rate)
            if kind == NONE or rate <= enough:
                break
            if plain:
                curvature = 2.0 * q
            else:
                _directions(t, k, up, down, q, columns, phi, shared, starts, line, d)
                curvature = d[up] - d[down]
            if squared and kind <= RETURN:
                curvature += 1.0 / (2.0 * C)
            step = longest
            if curvature * longest > rate:  # also where longest is infinite
                step = rate / curvature
            if not step < math.inf:  # no curvature and no cap: nothing can meet this constraint
                break
            own_g[up] += step
            own_g[down] -= step
            if step == longest and kind != RAISE:  # whoever gave all has nothing left, not even a rounding
                if kind != SWAP_RIGHT and own_g[up] > -1e-15 * step:
                    own_g[up] = 0.0
                if kind != SWAP_WRONG and own_g[down] < 1e-15 * step:
                    own_g[down] = 0.0
            if kind == RAISE:
                Z = Z + step if step < longest else (Z + step if squared else C)
            elif kind == RETURN:
                Z = max(0.0, Z - step)
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
            _apply(t, k, X, phi, shared, starts, columns, moved, moved_wide, W, v)
        for j in range(right[0][t], right[0][t + 1]):
            is_right[right[1][j]] = False
    return fastest


@njit(cache=True)
def _directions(
    t: int, k: int, up: int, down: int, q: float, columns: Any, phi: Any, shared: bool, starts: Any, line: Any, d: Any
) -> None:
    """⟨V_r, V_up - V_down⟩ of every label; `line` is zeros before and after."""
    for r in range(k):
        d[r] = q * (common_columns(columns, r, up) - common_columns(columns, r, down))
    if not shared:
        return
    first = starts[t]
    for j in range(phi[0][first + up], phi[0][first + up + 1]):
        line[phi[1][j]] += phi[2][j]
    for j in range(phi[0][first + down], phi[0][first + down + 1]):
        line[phi[1][j]] -= phi[2][j]
    for r in range(k):
        for j in range(phi[0][first + r], phi[0][first + r + 1]):
            d[r] += phi[2][j] * line[phi[1][j]]
    for j in range(phi[0][first + up], phi[0][first + up + 1]):
        line[phi[1][j]] = 0.0
    for j in range(phi[0][first + down], phi[0][first + down + 1]):
        line[phi[1][j]] = 0.0


@njit(cache=True)
def _apply(
    t: int, k: int, X: Any, phi: Any, shared: bool, starts: Any, columns: Any, moved: Any, wide: Any, W: Any, v: Any
) -> None:
    """u += Σ_r moved_r V_r."""
    if columns.kind != NO_ROW_VECTORS:
        wide[:] = 0.0
        for r in range(k):
            if moved[r] != 0.0:
                if columns.kind == PER_LABEL:
                    wide[r] += moved[r]
                else:
                    for c in range(columns.indptr[r], columns.indptr[r + 1]):
                        wide[columns.indices[c]] += moved[r]
        for j in range(X[0][t], X[0][t + 1]):
            row, x = W[X[1][j]], X[2][j]
            for c in range(wide.shape[0]):
                row[c] += x * wide[c]
    if shared:
        for r in range(k):
            if moved[r] != 0.0:
                for j in range(phi[0][starts[t] + r], phi[0][starts[t] + r + 1]):
                    v[phi[1][j]] += moved[r] * phi[2][j]
