"""From a round's scores to its net coefficients where weights live on simplices: curves are drawn, rules are asked."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from hinged.loops.ledger import GAP, ITERATIONS
from hinged.loops.simplex import EPS, ERROR, PRECISE, SHIFT, TOTAL, log_outside, mass_inside, outside
from hinged.rules.choose import is_chosen
from hinged.rules.combine import shares
from hinged.rules.interior_point import MOST_ITERATIONS, interior_point
from hinged.rules.length import perceptron
from hinged.rules.response import pair_step, reach
from hinged.rules.search import by_search
from hinged.rules.words import CONSTANT, INTERIOR, JOINT, ONE

__all__ = ["draw", "entropic_coefficients", "measure", "needs_curve"]

TINY = 1e-290  # a mass below this is read from its logarithm


@njit(cache=True)
def measure(n_coordinates: int, v: Any, n: int) -> tuple[bool, float, float]:
    """Whether all values of a row are the same, and the ends of its range over all coordinates, zeros among them."""
    lowest, highest = 0.0, 0.0
    if 0 < n == n_coordinates:
        lowest, highest = v[0], v[0]
    flat = n > 0
    for j in range(n):
        lowest, highest = min(lowest, v[j]), max(highest, v[j])
        flat = flat and v[j] == v[0]
    return flat, lowest, highest


@njit(cache=True)
def needs_curve(rule: Any, r: int, s: Any, is_relevant: Any, right: int, rival: int, margin: float) -> bool:
    """Whether the rule will ask how label `r`'s score moves; `right` is the lowest right one, `rival` the top wrong."""
    if rule.length == CONSTANT:
        return False
    if rule.combine == ONE:
        return r in (right, rival)
    if rule.combine == INTERIOR:
        return True
    # the others move labels that are chosen against the other side's extreme
    return is_chosen(rule.choose, s[r] - s[rival] if is_relevant[r] else s[right] - s[r], margin)


@njit(cache=True)
def draw(
    simplex: Any, f: Any, v: Any, n: int, flat: bool, wanted: Any, sums_v: Any, curves: Any, rest: Any, error: Any
) -> None:
    """Fill in the wanted labels' curves, their masses outside the row and bounds on the errors of those.

    `sums_v` holds Σ v mass of each label.
    """
    # arrays apart from their tuples: handing a tuple to a function counts references, label by label
    labels, start, logs, theta, slots = simplex.labels, curves.start, curves.logs, simplex.theta, simplex.slots
    sign = 1.0 if flat and v[0] > 0.0 else -1.0
    k, n_wanted = wanted.shape[0], 0
    for r in range(k):
        n_wanted += wanted[r]
    together = not flat and 4 * n_wanted > k  # coordinate by coordinate: a label's own column lies far apart
    inside_of = np.zeros(k if together else 0)
    if together:
        for j in range(n):
            masses, thetas = simplex.mass[slots[f[j]]], theta[slots[f[j]]]
            for r in range(k):
                inside_of[r] += masses[r]
            for r in range(k):
                logs[r, j] = thetas[r]
    for r in range(k):
        if not wanted[r]:
            continue
        if flat:
            inside = sums_v[r] / v[0]
        else:
            inside = inside_of[r] if together else mass_inside(simplex, f, n, r)
        rest[r] = labels[TOTAL, r] - inside
        error[r] = labels[ERROR, r] + 4.0 * EPS * labels[TOTAL, r]
        if not error[r] <= PRECISE * rest[r]:
            rest[r], error[r] = outside(simplex, f, n, r, inside)
        if flat and min(inside, rest[r]) > 1e-140 and max(inside, rest[r]) < 1e140:
            # a row of one negative value lifts a label by taking weight off itself
            start[r] = sign * math.log(inside / rest[r])
            continue
        log_rest = math.log(rest[r]) if rest[r] > TINY else log_outside(simplex, f, n, r)
        if flat:
            log_inside = math.log(inside) if inside > TINY else _log_inside(simplex, f, n, r)
            start[r] = sign * (log_inside - log_rest)
        else:
            log_total = math.log(inside + rest[r])
            start[r] = log_rest - log_total
            own, shift = logs[r], labels[SHIFT, r]
            for j in range(n):
                own[j] = (own[j] if together else theta[slots[f[j]], r]) - shift - log_total


@njit(cache=True)
def _log_inside(simplex: Any, f: Any, n: int, r: int) -> float:
    """Log of the mass inside a row, from θ."""
    top = -math.inf
    for j in range(n):
        top = max(top, simplex.theta[simplex.slots[f[j]], r])
    total = 0.0
    for j in range(n):
        total += math.exp(simplex.theta[simplex.slots[f[j]], r] - top)
    return top + math.log(total) - simplex.labels[SHIFT, r]


@njit(cache=True)
def entropic_coefficients(
    setting: Any,
    C: float,
    s: Any,
    relevant: Any,
    is_relevant: Any,
    low: int,
    rival: int,
    still: bool,
    curves: Any,
    notes: Any,
    g: Any,
) -> float:
    """Fill `g` with the rule's net coefficients; return Σλ.

    `low` is the position in `relevant` of the lowest right label, `rival` the highest wrong one. On a `still` row no
    move changes any score: the dual is linear there, so a step counts as `C` (without a cap as 0) and moves no weight.
    """
    margin, rule = setting.margin, setting.words
    g[:] = 0.0
    r = relevant[low]
    gap = s[r] - s[rival]
    if rule.combine not in (ONE, JOINT, INTERIOR):
        return _shared_steps(rule, s, relevant, is_relevant, margin, C, still, curves, g)
    if rule.length == CONSTANT:
        total = perceptron(gap, C)
    elif gap >= margin:
        return 0.0
    elif still:
        total = C if math.inf > C else 0.0
    elif rule.combine == JOINT and math.inf == C and margin >= reach(curves):
        return 0.0  # out of reach on this row: without a cap no step is the best one
    elif rule.combine == JOINT:
        return by_search(curves, s, is_relevant, margin, C, g)
    elif rule.combine == INTERIOR:
        total, iterations, left = interior_point(curves, is_relevant, margin, C, setting.tolerance, MOST_ITERATIONS, g)
        notes[ITERATIONS] = max(notes[ITERATIONS], iterations)
        notes[GAP] = max(notes[GAP], left)
        return total
    else:
        total = pair_step(curves, r, rival, margin, C)
    g[r], g[rival] = total, -total
    return total


@njit(cache=True)
def _shared_steps(
    rule: Any, s: Any, relevant: Any, is_relevant: Any, margin: float, C: float, still: bool, curves: Any, g: Any
) -> float:
    """Fill `g` where a rule takes a share of the step that each chosen pair would take alone; return Σλ."""
    k = s.shape[0]
    n = relevant.shape[0] * k
    gaps, margins, lam = np.empty(n), np.full(n, margin), np.zeros(n)
    for a in range(relevant.shape[0]):
        for b in range(k):
            j = a * k + b
            gaps[j] = math.inf if is_relevant[b] else s[relevant[a]] - s[b]
            if is_chosen(rule.choose, gaps[j], margin):
                if rule.length == CONSTANT:
                    lam[j] = C
                elif still:
                    lam[j] = C if math.inf > C else 0.0
                else:
                    lam[j] = pair_step(curves, relevant[a], b, margin, C)
    total = shares(rule, gaps, margins, lam)
    for a in range(relevant.shape[0]):
        for b in range(k):
            g[relevant[a]] += lam[a * k + b]
            g[b] -= lam[a * k + b]
    return total
