"""The joint step by the label-ranking paper's primal-dual interior point method, O(k) an iteration.

The problem over α_r = |a_r| and a slack α_0 for the cap, with potentials Φ from `hinged.rules.response`:

    min  Σ_Y (Φ_r(α_r) - m α_r) + Σ_N Φ_r(-α_r)     Σ_Y α - Σ_N α = 0,  Σ_Y α + α_0 = C,  α >= 0

It is separable but for two equations, so each Newton step is a 2 x 2 system. Shalev-Shwartz and Singer (2007), section
4, with two slips of the print mended (docs/maths.md, "The joint step by interior points").
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Bools, Floats
from hinged.rules.response import LINEAR, Responses, respond

__all__ = ["MOST_ITERATIONS", "interior_point"]

MOST_ITERATIONS = 100


class Iterate(NamedTuple):
    """Where the method stands, by label and then for the slack: all float64 (labels + 1,)."""

    alpha: Floats
    lam: Floats  # multipliers of α ≥ 0
    slope: Floats  # of each term of the objective at α, and its curvature
    bend: Floats
    d_alpha: Floats  # the step of α, and that of λ
    d_lam: Floats
    before: Floats  # α before the step


@compiled
def interior_point(
    curves: Responses, is_relevant: Bools, margin: float, C: float, tolerance: float, most: int, g: Floats
) -> tuple[float, int, float]:
    r"""Net coefficients of the joint step; return their total, the iterations it took and the relative duality gap.

    Each iteration linearises the optimality conditions with complementarity :math:`\lambda_r\alpha_r` at a tenth of
    its mean, eliminates :math:`\Delta\lambda`, and solves two equations for the two multipliers:
    :math:`h_r \Delta\alpha_r = u_r - A_{1r}\Delta\nu_1 - A_{2r}\Delta\nu_2` with
    :math:`h_r = f''_r + \lambda_r/\alpha_r`. The gap is measured, not estimated: no feasible point can beat the
    current one by more than :math:`C (m - \min_Y s + \max_N s)_+ - (mZ - \sum_r a_r s_r)`, s the scores after the
    step, because the objective is concave.

    Parameters
    ----------
    curves : Responses
        Filled in for every label.
    is_relevant : bool array (labels,)
    margin, C : float
        `C` must be finite.
    tolerance : float
        Relative gap at which to stop.
    most : int
        Iterations at most.
    g : float64 array (labels,)
        Zeros on entry; net coefficients on return.
    """
    k = is_relevant.shape[0]
    work = np.zeros((7, k + 1))
    at = Iterate(work[0], work[1], work[2], work[3], work[4], work[5], work[6])
    gap, value = _begin(curves, is_relevant, margin, C, at)
    nu_1, nu_2 = 0.0, 0.0
    iterations, stalled, best = 0, 0, math.inf
    while True:
        stalled = stalled + 1 if gap > 0.9 * best and best < 1e-6 else 0
        if gap < best:
            best = gap
            for r in range(k):
                g[r] = at.alpha[r] if is_relevant[r] else -at.alpha[r]
        if gap <= tolerance or iterations == most or stalled == 4:
            break
        iterations += 1
        target = 0.0
        for r in range(k + 1):
            target += 0.1 * at.lam[r] * at.alpha[r] / (k + 1)
        d_1, d_2 = _direction(is_relevant, at, nu_1, nu_2, C, target)
        gap, value = _step(curves, is_relevant, margin, C, target, value, at)
        nu_1 += d_1
        nu_2 += d_2
    total = 0.0
    for r in range(k):
        if is_relevant[r]:
            total += g[r]
    return total, iterations, best


@compiled(helper=True)
def _begin(curves: Responses, is_relevant: Bools, margin: float, C: float, at: Iterate) -> tuple[float, float]:
    """Fill in where to begin; return the relative duality gap there, and the objective."""
    k, alpha, slope = is_relevant.shape[0], at.alpha, at.slope
    n_right = 0
    for r in range(k):
        n_right += is_relevant[r]
    Z = 0.5 * C
    if curves.kind == LINEAR:  # not at the far end of a large C; the other kinds are flat there, and left at once
        Z = min(Z, min(n_right, k - n_right) * margin / curves.rate)
    for r in range(k):
        alpha[r] = Z / (n_right if is_relevant[r] else k - n_right)
    alpha[k] = C - Z
    slope[k], at.bend[k] = 0.0, 0.0
    gap, value = _measure(curves, is_relevant, margin, C, at)
    # every λα the same, and λ no smaller than the slopes: a start off the path of centres is caught at the border
    low, high = math.inf, -math.inf
    for r in range(k):
        score = slope[r] + margin if is_relevant[r] else -slope[r]
        low, high = min(low, score), max(high, score)
    for r in range(k + 1):
        at.lam[r] = (margin + high - low) * Z / alpha[r]
    return gap, value


@compiled(helper=True)
def _step(
    curves: Responses, is_relevant: Bools, margin: float, C: float, target: float, value: float, at: Iterate
) -> tuple[float, float]:
    """Go along the direction as far as the barrier function falls; return the gap there, and the objective.

    A descent of the barrier function keeps the iterates from the border, where they would be caught.
    """
    alpha, lam, d_alpha, d_lam, k = at.alpha, at.lam, at.d_alpha, at.d_lam, is_relevant.shape[0]
    step, dual_step, lean, gap = 1.0, 1.0, 0.0, 0.0
    noise = 4e-16 * curves.radius  # of a potential
    for r in range(k + 1):
        at.before[r] = alpha[r]
        lean += (at.slope[r] - target / alpha[r]) * d_alpha[r]
        if d_alpha[r] < 0.0:
            step = min(step, -0.995 * alpha[r] / d_alpha[r])
        if d_lam[r] < 0.0:
            dual_step = min(dual_step, -0.995 * lam[r] / d_lam[r])
    before = value - target * _logs(alpha)
    for _ in range(30):
        for r in range(k + 1):
            alpha[r] = at.before[r] + step * d_alpha[r]
        _restore(is_relevant, C, alpha)
        gap, value = _measure(curves, is_relevant, margin, C, at)
        if value - target * _logs(alpha) <= before + 0.01 * step * lean + noise + 1e-12 * abs(before):
            break
        step *= 0.5
    for r in range(k + 1):
        centre = target / alpha[r]
        lam[r] = min(max(lam[r] + dual_step * d_lam[r], centre / 1e3), centre * 1e3)
    return gap, value


@compiled(helper=True)
def _restore(is_relevant: Bools, C: float, alpha: Floats) -> None:
    """Take off the rounding that a step leaves on the two equations."""
    k = is_relevant.shape[0]
    right, wrong = 0.0, 0.0
    for r in range(k):
        if is_relevant[r]:
            right += alpha[r]
        else:
            wrong += alpha[r]
    Z = C - alpha[k]
    if alpha[k] > 0.5 * C:  # the smaller number keeps its digits
        Z = 0.5 * (right + wrong)
        alpha[k] = C - Z
    for r in range(k):
        alpha[r] *= Z / (right if is_relevant[r] else wrong)


@compiled(helper=True)
def _logs(alpha: Floats) -> float:
    total = 0.0
    for r in range(alpha.shape[0]):
        total += math.log(alpha[r])
    return total


@compiled(helper=True)
def _measure(curves: Responses, is_relevant: Bools, margin: float, C: float, at: Iterate) -> tuple[float, float]:
    """Fill in each term's slope and curvature; return the relative duality gap and the objective."""
    alpha, slope, bend, k = at.alpha, at.slope, at.bend, is_relevant.shape[0]
    low, high, inner, gain = math.inf, -math.inf, 0.0, 0.0
    for r in range(k):
        a = alpha[r] if is_relevant[r] else -alpha[r]
        potential, score, bend[r] = respond(curves, r, a)
        gain -= potential
        if is_relevant[r]:
            slope[r] = score - margin
            gain += margin * a
            low = min(low, score)
        else:
            slope[r] = -score
            high = max(high, score)
        inner += slope[r] * alpha[r]
    gap = C * max(0.0, margin - (low - high)) + inner
    return (gap / abs(gain) if gain != 0.0 else math.inf), -gain


@compiled(helper=True)
def _direction(
    is_relevant: Bools, at: Iterate, nu_1: float, nu_2: float, C: float, target: float
) -> tuple[float, float]:
    """Fill in Newton's step; return that of the two multipliers."""
    alpha, lam, slope, bend, d_alpha, d_lam = at.alpha, at.lam, at.slope, at.bend, at.d_alpha, at.d_lam
    k = is_relevant.shape[0]
    # per side and for the slack: Σ 1/h, and Σ of where α would go without the equations
    ease_right, ease_wrong, right, wrong = 0.0, 0.0, 0.0, 0.0
    for r in range(k + 1):
        pull = nu_2 if r == k else nu_1 + nu_2 if is_relevant[r] else -nu_1
        h = max(bend[r] + lam[r] / alpha[r], 1e-300)
        u = target / alpha[r] - slope[r] - pull
        d_alpha[r], d_lam[r] = u, h
        if r < k and is_relevant[r]:
            ease_right += 1.0 / h
            right += alpha[r] + u / h
        elif r < k:
            ease_wrong += 1.0 / h
            wrong += alpha[r] + u / h
    ease_slack = 1.0 / d_lam[k]
    short = C - alpha[k] - d_alpha[k] / d_lam[k]
    # the 2 x 2 system, multiplied out so that nothing cancels in its determinant
    det = ease_right * ease_slack + ease_right * ease_wrong + ease_wrong * ease_slack
    d_1 = (ease_slack * (right - wrong) - ease_right * (wrong - short)) / det
    d_2 = (ease_wrong * (right - short) + ease_right * (wrong - short)) / det
    for r in range(k + 1):
        pull = d_2 if r == k else d_1 + d_2 if is_relevant[r] else -d_1
        d_alpha[r] = (d_alpha[r] - pull) / d_lam[r]
        d_lam[r] = target / alpha[r] - lam[r] - lam[r] / alpha[r] * d_alpha[r]
    return d_1, d_2
