"""The steps of every rule where scores follow curves, as those of weights on a simplex do (`hinged.rules.response`)."""

from __future__ import annotations

import math

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Bools, Floats
from hinged.rules.choose import is_chosen
from hinged.rules.combine import Labels, shares
from hinged.rules.interior_point import MOST_ITERATIONS, interior_point
from hinged.rules.length import perceptron
from hinged.rules.response import Responses, pair_step, reach
from hinged.rules.search import by_search
from hinged.rules.words import CONSTANT, INTERIOR, ONE, Words, is_joint

__all__ = ["mark_curves", "over_curves"]


@compiled(helper=True)
def mark_curves(rule: Words, labels: Labels, margin: float, wanted: Bools) -> None:
    """Mark in `wanted`, all False on entry, the labels whose scores' curves the rule will read."""
    s, is_relevant, right, rival = labels.scores, labels.is_relevant, labels.relevant[labels.low], labels.rival
    if rule.length == CONSTANT:
        return
    if rule.combine == ONE:
        wanted[right] = wanted[rival] = True
        return
    for r in range(s.shape[0]):  # joint and shared steps move labels that are chosen against the other side's extreme
        gap = s[r] - s[rival] if is_relevant[r] else s[right] - s[r]
        wanted[r] = rule.combine == INTERIOR or is_chosen(rule.choose, gap, margin)


@compiled(helper=True)
def over_curves(
    rule: Words, labels: Labels, curves: Responses, still: bool, margin: float, C: float, tolerance: float, g: Floats
) -> tuple[float, int, float]:
    """Fill `g` with the labels' net coefficients; return Σλ, and iterations and relative gap of interior points.

    On a `still` row no move changes any score: the dual is linear there, so a step counts as `C` (without a cap as 0)
    and moves no weight.

    Parameters
    ----------
    rule : Words
    labels : Labels
    curves : Responses
        Filled in for the labels that `mark_curves` marks.
    still : bool
    margin, C : float
        The margin asked for, and the cap on Σλ.
    tolerance : float
        Relative gap at which interior points stop.
    g : float64 array (labels,)
    """
    s, is_relevant = labels.scores, labels.is_relevant
    r, rival = labels.relevant[labels.low], labels.rival
    gap = s[r] - s[rival]
    g[:] = 0.0
    if not (is_joint(rule) or rule.combine == ONE):
        return _shared_steps(rule, labels, curves, still, margin, C, g), 0, 0.0
    if rule.length == CONSTANT:
        total = perceptron(gap, C)
    elif gap >= margin:
        return 0.0, 0, 0.0
    elif still:
        total = C if math.inf > C else 0.0
    elif rule.combine == INTERIOR:
        return interior_point(curves, is_relevant, margin, C, tolerance, MOST_ITERATIONS, g)
    elif is_joint(rule):
        if math.inf == C and margin >= reach(curves):
            return 0.0, 0, 0.0  # out of reach on this row: without a cap no step is the best one
        return by_search(curves, s, is_relevant, margin, C, g), 0, 0.0
    else:
        total = pair_step(curves, r, rival, margin, C)
    g[r], g[rival] = total, -total
    return total, 0, 0.0


@compiled(helper=True)
def _shared_steps(
    rule: Words, labels: Labels, curves: Responses, still: bool, margin: float, C: float, g: Floats
) -> float:
    """Fill `g` where a rule takes a share of the step that each chosen pair would take alone; return Σλ."""
    s, relevant, is_relevant, k = labels.scores, labels.relevant, labels.is_relevant, labels.scores.shape[0]
    n = relevant.shape[0] * k
    gaps, margins, lam = np.empty(n), np.full(n, margin), np.zeros(n)
    for a in range(relevant.shape[0]):
        for b in range(k):
            j = a * k + b
            gaps[j] = math.inf if is_relevant[b] else s[relevant[a]] - s[b]
            if is_chosen(rule.choose, gaps[j], margin):
                if rule.length == CONSTANT:
                    lam[j] = perceptron(gaps[j], C)
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
