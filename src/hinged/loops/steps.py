"""From a round's scores to its net coefficients: the rule is asked, the sharing scheme supplies the norms."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from hinged.loops.columns import common_columns, sq_distance
from hinged.loops.ledger import GAP, ITERATIONS
from hinged.loops.shared import shared_inner, shared_sq_distance
from hinged.rules.codes import INTERIOR, MIRA, OPTIMAL, PA2, SIMPERC
from hinged.rules.interior_point import MOST_ITERATIONS, interior_point
from hinged.rules.optimal import by_sorting, on_gram
from hinged.rules.passive_aggressive import pa1
from hinged.rules.response import LINEAR, Responses
from hinged.rules.simultaneous import simultaneous
from hinged.rules.worst import worst_step

__all__ = ["Setting", "net_coefficients"]


class Setting(NamedTuple):
    """A rule's numbers, as the loop reads them."""

    code: int
    C: float
    margin: float
    uses_weight: bool
    least_norm: float = 1e-290  # a direction with a smaller squared norm counts as none
    tolerance: float = 1e-14  # relative gap at which interior points stop


@njit(cache=True)
def _pair_norm(columns: Any, q: float, phi: Any, r: int, s: int, least: float) -> float:
    """‖V_r - V_s‖²; `phi` is None without shared vectors."""
    norm = sq_distance(columns, q, r, s)
    if phi is not None:
        norm += shared_sq_distance(phi, phi.shape[1], r, s)
    return norm if norm >= least else 0.0


@njit(cache=True)
def _gram(columns: Any, q: float, phi: Any, k: int, least: float) -> Any:
    """⟨V_r, V_s⟩ for all labels; zeros where even the longest V_r counts as none."""
    gram = np.empty((k, k))
    for r in range(k):
        for s in range(r + 1):
            gram[r, s] = q * common_columns(columns, r, s)
            if phi is not None:
                gram[r, s] += shared_inner(phi, phi.shape[1], r, s)
            gram[s, r] = gram[r, s]
    longest = 0.0
    for r in range(k):
        longest = max(longest, gram[r, r])
    if longest < least:
        gram[:, :] = 0.0
    return gram


@njit(cache=True)
def net_coefficients(
    setting: Any,
    own: Any,
    C: float,
    s: Any,
    relevant: Any,
    is_relevant: Any,
    low: int,
    rival: int,
    columns: Any,
    q: float,
    phi: Any,
    work: Any,
    notes: Any,
    g: Any,
) -> tuple[float, float]:
    """Fill `g` with the rule's net coefficients; return Σλ, and Σλ²/4C where the dual subtracts it.

    `low` is the position in `relevant` of the lowest right label, `rival` the highest wrong one.
    """
    margin = setting.margin
    g[:] = 0.0
    k = s.shape[0]
    r = relevant[low]
    gap = s[r] - s[rival]
    if gap >= margin:
        return 0.0, 0.0
    if setting.code < SIMPERC:
        total = worst_step(setting.code, gap, _pair_norm(columns, q, phi, r, rival, setting.least_norm), margin, C)
        g[r] = total
        g[rival] = -total
        return total, total * total / (4.0 * C) if setting.code == PA2 else 0.0
    if setting.code == INTERIOR and q > 0.0:
        curves = Responses(LINEAR, s, q, 0.0, 0.0, np.zeros((0, 0)), np.zeros(0), 0.0, 0.0)
        total, iterations, left = interior_point(curves, is_relevant, margin, C, setting.tolerance, MOST_ITERATIONS, g)
        notes[ITERATIONS], notes[GAP] = max(notes[ITERATIONS], iterations), max(notes[GAP], left)
        return total, 0.0
    if setting.code == OPTIMAL or setting.code == MIRA or setting.code == INTERIOR:
        if phi is not None or not columns.separate:
            return on_gram(
                s, is_relevant, _gram(columns, q, phi, k, setting.least_norm), margin, C, setting.code == MIRA, g
            ), 0.0
        if q > 0.0:
            return by_sorting(s, is_relevant, q, margin, C, work, g), 0.0
        total = 0.0 if setting.code == MIRA else pa1(margin - gap, 0.0, C)
        g[r] = total
        g[rival] = -total
        return total, 0.0
    norms = np.zeros((relevant.shape[0], k))
    for a in range(relevant.shape[0]):
        for b in range(k):
            if not is_relevant[b] and s[relevant[a]] - s[b] < margin:
                norms[a, b] = _pair_norm(columns, q, phi, relevant[a], b, setting.least_norm)
    if own is None:
        return simultaneous(setting.code, s, relevant, is_relevant, norms, margin, C, g), 0.0
    own(s, relevant, norms, margin, C, g)
    total = 0.0
    for a in range(relevant.shape[0]):
        total += g[relevant[a]]
    return total, 0.0
