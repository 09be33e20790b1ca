"""Steps where mistakes have costs: every pair has the margin √ρ(right, other) of its own."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from hinged.rules.codes import CONPROJ, PERCEPTRON, SIMPERC
from hinged.rules.passive_aggressive import pa1

__all__ = ["NO_COSTS", "Costs", "constrained_rival", "counted_cost", "mean_of_mistakes", "own_margins", "round_loss"]


class Costs(NamedTuple):
    """ρ[right, other], empty where all mistakes are alike, and which constraint the rules on one pair take."""

    rho: np.ndarray  # float64 (labels, labels) or (0, 0)
    predicted: bool  # that of the predicted label, else that of the largest loss


NO_COSTS = Costs(np.zeros((0, 0)), False)


@njit(cache=True)
def _predicted(s: Any) -> int:
    """The label with the highest score, the earlier one on a tie."""
    best = 0
    for r in range(1, s.shape[0]):
        if s[r] > s[best]:
            best = r
    return best


@njit(cache=True)
def counted_cost(costs: Any, s: Any, y: int) -> float:
    """ρ(y, ŷ) of the label that these scores predict, the earlier one on a tie."""
    return costs.rho[y, _predicted(s)]


@njit(cache=True)
def _on_predicted(code: int, costs: Any) -> bool:
    """Return True if the rule looks at the predicted label alone: pa, pa1 and pa2 where so asked."""
    return costs.predicted and PERCEPTRON < code < SIMPERC


@njit(cache=True)
def round_loss(setting: Any, costs: Any, s: Any, y: int, gap: float) -> float:
    """Hinge loss of a round: the largest over the constraints that the rule may choose from, at least 0.

    Without costs all pairs have the same margin, and the pair with the smallest lead, `gap`, has the largest loss.
    With costs the pair (y, r) has the margin √ρ(y, r).
    """
    if costs.rho.shape[0] == 0:
        return max(0.0, setting.margin - gap)
    if _on_predicted(setting.code, costs):
        r = _predicted(s)
        return max(0.0, math.sqrt(costs.rho[y, r]) - (s[y] - s[r]))
    loss = 0.0
    for r in range(s.shape[0]):
        if r != y:
            loss = max(loss, math.sqrt(costs.rho[y, r]) - (s[y] - s[r]))
    return loss


@njit(cache=True)
def own_margins(costs: Any, s: Any, y: int, margin: float, shifted: Any) -> None:
    """Scores for which one margin means what √ρ means for `s`: every other label gains what its own exceeds it by.

    They are measured from the right label's score, so that a label that ties with it and costs nothing has no loss.
    """
    for r in range(s.shape[0]):
        shifted[r] = 0.0 if r == y else (s[r] - s[y]) + (math.sqrt(costs.rho[y, r]) - margin)


@njit(cache=True)
def constrained_rival(code: int, costs: Any, s: Any, shifted: Any, y: int) -> int:
    """The label whose pair a rule on one pair moves, `y` itself where it moves none; else that of the largest loss.

    Only pa, pa1 and pa2 look at the predicted label: the Perceptron takes the smallest margin, the other rules act on
    all pairs at once, and for them the largest loss says whether there is anything to do.
    """
    if _on_predicted(code, costs):
        return _predicted(s)
    by = s if code == PERCEPTRON else shifted
    rival = -1
    for r in range(s.shape[0]):
        if r != y and (rival < 0 or by[r] > by[rival]):
            rival = r
    return rival


@njit(cache=True)
def mean_of_mistakes(code: int, costs: Any, s: Any, y: int, norms: Any, C: float, g: Any) -> float:
    """SimPerc and ConProj: the pairs ranked wrongly, whatever their margin; its size enters ConProj's steps."""
    chosen = 0
    for r in range(s.shape[0]):
        chosen += r != y and s[r] >= s[y]
    total = 0.0
    for r in range(s.shape[0]):
        if r != y and s[r] >= s[y]:
            step = C
            if code == CONPROJ:
                loss = math.sqrt(costs.rho[y, r]) - (s[y] - s[r])
                step = pa1(loss, norms[0, r], C) if loss > 0.0 else 0.0
            g[r] = -step / chosen
            total += step / chosen
    g[y] = total
    return total
