"""From a round's scores to its net coefficients: the rule is asked, the sharing scheme supplies the norms."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from hinged.loops.columns import common_columns, sq_distance
from hinged.loops.costs import constrained_rival, own_margins, shared_steps
from hinged.loops.ledger import GAP, ITERATIONS
from hinged.loops.rows import LEAST_NORM
from hinged.loops.shared import add_shared_inner, shared_sq_distance
from hinged.rules.active_set import maximise
from hinged.rules.combine import over_pairs
from hinged.rules.interior_point import MOST_ITERATIONS, interior_point
from hinged.rules.length import alone, softening
from hinged.rules.optimal import by_sorting
from hinged.rules.response import LINEAR, Responses
from hinged.rules.words import INTERIOR, JOINT, ONE, OWN, PA, Words

__all__ = ["Setting", "net_coefficients"]


class Setting(NamedTuple):
    """A rule's numbers, as the loop reads them."""

    words: Words
    C: float
    margin: float
    uses_weight: bool
    least_norm: float = LEAST_NORM  # a direction with a smaller squared norm counts as none
    tolerance: float = 1e-14  # relative gap at which interior points stop


@njit(cache=True)
def _pair_norm(columns: Any, q: float, phi: Any, r: int, s: int, least: float) -> float:
    """‖V_r - V_s‖²; `phi` is None without shared vectors."""
    norm = sq_distance(columns, q, r, s)
    if phi is not None:
        norm += shared_sq_distance(phi, phi.shape[1], r, s)
    return norm if norm >= least else 0.0


@njit(cache=True)
def _gram(columns: Any, q: float, phi: Any, k: int, least: float, stop: Any) -> Any:
    """⟨V_r, V_s⟩ for all labels; zeros where even the longest V_r counts as none."""
    gram = np.zeros((k, k))
    if phi is not None:
        add_shared_inner(phi, phi.shape[1], gram, stop)
    for r in range(k):
        for s in range(r + 1):
            gram[r, s] += q * common_columns(columns, r, s)
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
    costs: Any,
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
    shifted: Any,
    notes: Any,
    g: Any,
    stop: Any,
) -> tuple[float, float, float]:
    """Fill `g` with the rule's net coefficients; return Σλ, Σλm, and Σλ²/4C where the dual subtracts it.

    `low` is the position in `relevant` of the lowest right label, `rival` the highest wrong one. Once `stop[0]` is
    set, the answer is of no use.
    """
    g[:] = 0.0
    y, rule, penalty, judged = relevant[0], setting.words, 0.0, s
    has_costs = costs.rho.shape[0] > 0
    if has_costs:
        own_margins(costs, s, y, setting.margin, shifted)
        rival, judged = constrained_rival(rule, costs, s, shifted, y), shifted
    if has_costs and rule.combine == ONE:
        total = 0.0
        if rival != y:
            norm = _pair_norm(columns, q, phi, y, rival, setting.least_norm)
            total = alone(rule.length, s[y] - s[rival], norm, math.sqrt(costs.rho[y, rival]), C)
            g[y] = total
            g[rival] = -total
            penalty = softening(rule.length, total, C)
    elif has_costs and rule.combine not in (JOINT, INTERIOR, OWN):
        norms = np.zeros(s.shape[0])
        for r in range(s.shape[0]):
            norms[r] = _pair_norm(columns, q, phi, y, r, setting.least_norm)
        total, penalty = shared_steps(setting, costs, s, shifted, y, norms, C, g)
    elif own is None:  # called here alone: a function with one caller becomes part of it
        total, penalty = _by_rule(
            setting, C, judged, relevant, is_relevant, low, rival, columns, q, phi, work, notes, g, stop
        )
    else:
        total = _by_own(setting, own, C, judged, relevant, is_relevant, low, rival, columns, q, phi, g)
    if not has_costs:
        return total, total * setting.margin, penalty
    gain = 0.0
    for r in range(s.shape[0]):
        if r != y:
            gain -= g[r] * math.sqrt(costs.rho[y, r])
    return total, gain, penalty


@njit(cache=True)
def _by_rule(
    setting: Any,
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
    stop: Any,
) -> tuple[float, float]:
    """Fill `g` where every pair has the same margin; return Σλ, and Σλ²/4C where the dual subtracts it."""
    margin = setting.margin
    k = s.shape[0]
    several = relevant.shape[0] > 1  # then shares along directions of norm 0 would cancel only up to rounding
    r = relevant[low]
    gap = s[r] - s[rival]
    if gap >= margin:
        return 0.0, 0.0
    rule = setting.words
    if rule.combine == ONE:
        total = alone(rule.length, gap, _pair_norm(columns, q, phi, r, rival, setting.least_norm), margin, C)
        g[r] = total
        g[rival] = -total
        return total, softening(rule.length, total, C)
    if rule.combine == INTERIOR and q > 0.0:
        curves = Responses(LINEAR, s, q, 0.0, 0.0, np.zeros((0, 0)), np.zeros(0), 0.0, 0.0)
        total, iterations, left = interior_point(curves, is_relevant, margin, C, setting.tolerance, MOST_ITERATIONS, g)
        notes[ITERATIONS], notes[GAP] = max(notes[ITERATIONS], iterations), max(notes[GAP], left)
        return total, 0.0
    if rule.combine in (JOINT, INTERIOR):
        if phi is not None or not columns.separate:
            gram = _gram(columns, q, phi, k, setting.least_norm, stop)
            if stop[0] != 0:
                return 0.0, 0.0
            return maximise(s, is_relevant, gram, margin, C, rule.length == PA, g, several)[0], 0.0
        if q > 0.0:
            return by_sorting(s, is_relevant, q, margin, C, work, g), 0.0
        total = alone(rule.length, gap, 0.0, margin, C)
        g[r] = total
        g[rival] = -total
        return total, 0.0
    norms = _pair_norms(setting, s, relevant, is_relevant, columns, q, phi)
    return over_pairs(rule, s, relevant, is_relevant, norms, margin, C, g, several)


@njit(cache=True)
def _by_own(
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
    g: Any,
) -> float:
    """The same by the user's own rule; return Σλ. Apart from the others, which are then not compiled anew with it."""
    if s[relevant[low]] - s[rival] >= setting.margin:
        return 0.0
    own(s, relevant, _pair_norms(setting, s, relevant, is_relevant, columns, q, phi), setting.margin, C, g)
    total = 0.0
    for a in range(relevant.shape[0]):
        total += g[relevant[a]]
    return total


@njit(cache=True, inline="always")  # a call costs as much as a short row
def _pair_norms(setting: Any, s: Any, relevant: Any, is_relevant: Any, columns: Any, q: float, phi: Any) -> Any:
    """‖V_r - V_s‖² of every pair that misses the margin, 0 for the others."""
    norms = np.zeros((relevant.shape[0], s.shape[0]))
    for a in range(relevant.shape[0]):
        for b in range(s.shape[0]):
            if not is_relevant[b] and s[relevant[a]] - s[b] < setting.margin:
                norms[a, b] = _pair_norm(columns, q, phi, relevant[a], b, setting.least_norm)
    return norms
