"""Steps where mistakes have costs: every pair has the margin √ρ(right, other) of its own."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats
from hinged.rules.words import Words, is_constant, is_one, takes_missing

__all__ = [
    "NO_COSTS",
    "Costs",
    "constrained_rival",
    "cost_margins",
    "counted_cost",
    "gain_of",
    "own_margins",
    "round_loss",
]


class Costs(NamedTuple):
    """ρ[right, other], empty where all mistakes are alike, and which constraint the rules on one pair take."""

    rho: np.ndarray  # float64 (labels, labels) or (0, 0)
    predicted: bool  # that of the predicted label, else that of the largest loss


NO_COSTS = Costs(np.zeros((0, 0)), False)


@compiled(helper=True)
def _predicted(s: Floats) -> int:
    """The label with the highest score, the earlier one on a tie."""
    best = 0
    for r in range(1, s.shape[0]):
        if s[r] > s[best]:
            best = r
    return best


@compiled(helper=True)
def counted_cost(costs: Costs, s: Floats, y: int) -> float:
    """ρ(y, ŷ) of the label that these scores predict, the earlier one on a tie."""
    return costs.rho[y, _predicted(s)]


@compiled(helper=True)
def _on_predicted(rule: Words, costs: Costs) -> bool:
    """Return True if the rule looks at the predicted label alone: one step up to the margin, where so asked."""
    return costs.predicted and is_one(rule) and not is_constant(rule)


@compiled(helper=True)
def round_loss(setting: Any, costs: Costs, s: Floats, y: int, gap: float) -> float:
    """Hinge loss of a round: the largest over the constraints that the rule may choose from, at least 0.

    Without costs all pairs have the same margin, and the pair with the smallest lead, `gap`, has the largest loss.
    With costs the pair (y, r) has the margin √ρ(y, r).
    """
    if costs.rho.shape[0] == 0:
        return max(0.0, setting.margin - gap)
    if _on_predicted(setting.words, costs):
        r = _predicted(s)
        return max(0.0, math.sqrt(costs.rho[y, r]) - (s[y] - s[r]))
    loss = 0.0
    for r in range(s.shape[0]):
        if r != y:
            loss = max(loss, math.sqrt(costs.rho[y, r]) - (s[y] - s[r]))
    return loss


@compiled(helper=True)
def own_margins(costs: Costs, s: Floats, y: int, margin: float, shifted: Floats) -> None:
    """Scores for which one margin means what √ρ means for `s`: every other label gains what its own exceeds it by.

    They are measured from the right label's score, so that a label that ties with it and costs nothing has no loss.
    """
    for r in range(s.shape[0]):
        shifted[r] = 0.0 if r == y else (s[r] - s[y]) + (math.sqrt(costs.rho[y, r]) - margin)


@compiled(helper=True)
def constrained_rival(rule: Words, costs: Costs, s: Floats, shifted: Floats, y: int) -> int:
    """The label whose pair a rule on one pair moves, `y` itself where it moves none; else that of the largest loss.

    Only steps up to the margin look at the predicted label: a constant step takes the smallest margin, the other rules
    act on all pairs at once, and for them the largest loss says whether there is anything to do.
    """
    if _on_predicted(rule, costs):
        return _predicted(s)
    by = s if is_one(rule) and is_constant(rule) else shifted
    rival = -1
    for r in range(s.shape[0]):
        if r != y and (rival < 0 or by[r] > by[rival]):
            rival = r
    return rival


@compiled(helper=True)
def cost_margins(setting: Any, costs: Costs, s: Floats, y: int, shifted: Floats, gaps: Floats, margins: Floats) -> None:
    """Gaps and margins of all pairs with the right label, for rules that take a share of each step.

    Whether a pair misses its margin is read from `shifted`, as `own_margins` has it: there a tie at no cost has no
    loss, whatever the rounding of scores.
    """
    for r in range(s.shape[0]):
        gaps[r], margins[r] = s[y] - s[r], math.sqrt(costs.rho[y, r])
        if takes_missing(setting.words):
            gaps[r], margins[r] = -shifted[r], setting.margin


@compiled(helper=True)
def gain_of(costs: Costs, y: int, g: Floats) -> float:
    """Σ λ m of the pairs with the right label, each with its own margin."""
    gain = 0.0
    for r in range(g.shape[0]):
        if r != y:
            gain -= g[r] * math.sqrt(costs.rho[y, r])
    return gain
