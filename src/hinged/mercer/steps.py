"""From a round's scores to its net coefficients, by every Euclidean rule; NumPy alone, but for the joint rules."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

__all__ = ["RULES", "Rule", "code_of", "net_coefficients", "one_step"]

RULES = ("perceptron", "pa", "pa1", "pa2", "simperc", "simproj", "conproj", "optimal", "mira")
WORST = RULES[:4]  # rules on the worst pair alone
ON_MISTAKES = ("perceptron", "simperc", "conproj")


class Rule(NamedTuple):
    """A rule and its numbers.

    `name` is one of `RULES`; "uniform" is "simperc" with C = 1. `own` is a function of the user's,
    (scores, right labels, pair norms, margin, C, g), that fills g.
    """

    name: str = "pa1"
    C: float = 1.0
    margin: float = 1.0
    uses_weight: bool = True
    own: Callable[..., Any] | None = None
    least_norm: float = 1e-60  # as in hinged.loops.rows


def code_of(rule: str) -> int:
    """The number by which compiled programs know a rule; refuses a name that none of them runs.

    Examples
    --------
    >>> code_of("pa1")
    2
    """
    if rule not in RULES:
        raise ValueError(f"rule={rule!r} does not run with a kernel; use {', '.join(RULES)}.")
    return RULES.index(rule)


def one_step(rule: str, gap: float, sq_norm: float, margin: float, C: float) -> float:
    """Step along one constraint: the papers' perceptron, PA, PA-I and PA-II.

    Examples
    --------
    >>> one_step("pa1", 0.0, 4.0, 1.0, C=1.0), one_step("pa1", 0.0, 4.0, 1.0, C=0.125)
    (0.25, 0.125)
    """
    if rule not in WORST:
        raise ValueError(f"rule={rule!r} does not act on one constraint; use {', '.join(WORST)}.")
    if rule == "perceptron":
        return C if gap <= 0.0 else 0.0
    loss = margin - gap
    if loss <= 0.0:
        return 0.0
    if rule == "pa2":
        return loss / (sq_norm + 1.0 / (2.0 * C))
    if sq_norm == 0.0:  # the dual is linear there: the step counts, nothing moves
        return 0.0 if rule == "pa" or math.inf == C else C
    return loss / sq_norm if rule == "pa" else min(C, loss / sq_norm)


def pair_norms(measure: Any, r: Any, s: Any, least: float) -> Any:
    """‖V_r - V_s‖², from K(x, x) where labels have vectors of their own, else from the Gram matrix; noise is 0."""
    if isinstance(measure, float):
        return 2.0 * measure if 2.0 * measure >= least else 0.0
    size = measure[r, r] + measure[s, s]
    norm = size - 2.0 * measure[r, s]
    return np.where(norm > max(least, 1e-14) * np.maximum(size, least), norm, 0.0)


def net_coefficients(
    rule: Rule, C: float, s: np.ndarray, right: np.ndarray, low: int, rival: int, measure: Any
) -> tuple[np.ndarray, float, float] | None:
    """Net coefficients g of the labels, Σλ, and Σλ²/4C where the dual subtracts it; None where there is no step.

    `low` is the lowest right label, `rival` the highest wrong one; `measure` as in `pair_norms`.
    """
    if rule.own is None:
        code_of(rule.name)
    gap, k = s[low] - s[rival], len(s)
    if gap >= rule.margin or (gap > 0.0 and rule.own is None and rule.name in ON_MISTAKES):
        return None
    g = np.zeros(k)
    if rule.own is None and rule.name in WORST:
        norm = float(pair_norms(measure, low, rival, rule.least_norm))
        total = one_step(rule.name, gap, norm, rule.margin, C)
        g[low], g[rival] = total, -total
        penalty = total * total / (4.0 * C) if rule.name == "pa2" else 0.0
        return (g, total, penalty) if total > 0.0 else None
    is_right = np.zeros(k, np.bool_)
    is_right[right] = True
    if rule.name in ("optimal", "mira") and rule.own is None:
        total = _joint(rule, C, s, is_right, gap, low, rival, measure, g)
        return (g, total, 0.0) if total > 0.0 else None
    wrong = np.flatnonzero(~is_right)
    norms = np.broadcast_to(pair_norms(measure, right[:, None], wrong, rule.least_norm), (len(right), len(wrong)))
    if rule.own is not None:
        by_label = np.zeros((len(right), k))
        by_label[:, wrong] = norms
        rule.own(s, right, by_label, rule.margin, C, g)
        return (g, float(g[right].sum()), 0.0) if g[right].sum() > 0.0 else None
    gaps = s[right][:, None] - s[wrong]
    chosen = gaps < rule.margin if rule.name == "simproj" else gaps <= 0.0
    if not chosen.any():
        return None
    steps = np.full(gaps.shape, C)
    if rule.name != "simperc":
        some = chosen & (norms > 0.0)
        steps[norms == 0.0] = C if math.inf > C else 0.0
        steps[some] = np.minimum(C, (rule.margin - gaps[some]) / norms[some])
    steps = np.where(chosen, steps, 0.0) / np.count_nonzero(chosen)
    g[right], g[wrong] = steps.sum(axis=1), -steps.sum(axis=0)
    total = float(steps.sum())
    return (g, total, 0.0) if total > 0.0 else None


def _joint(
    rule: Rule, C: float, s: np.ndarray, is_right: np.ndarray, gap: float, low: int, rival: int, measure: Any, g: Any
) -> float:
    """The exact joint step, by the compiled solvers of the linear learners; fill g and return Σλ."""
    from hinged.rules.optimal import by_sorting, on_gram

    s = np.ascontiguousarray(s)
    if not isinstance(measure, float):
        return float(on_gram(s, is_right, np.ascontiguousarray(measure), rule.margin, C, rule.name == "mira", g))
    if measure >= rule.least_norm:
        return float(by_sorting(s, is_right, float(measure), rule.margin, C, np.zeros(len(s)), g))
    total = 0.0 if rule.name == "mira" or not math.isfinite(C) else C
    g[low], g[rival] = total, -total
    return total
