"""The exact joint step over any constraints, by interior points on a dense system.

    max  m'α - Φ(α)     α >= 0,  Σ ν_j α_j <= C

with Φ convex. It serves raw trials, where constraints have nothing in common that could be taken apart: eq. (2) of the
simultaneous-projections paper, its section 7 for the weights ν and for other geometries. J constraints cost O(J³) an
iteration; labels with vectors of their own have faster ways (`hinged.rules.search`, `hinged.rules.interior_point`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

__all__ = ["joint_step"]

Potential = Callable[[np.ndarray], tuple[float, np.ndarray, np.ndarray]]


class Problem(NamedTuple):
    """What stays the same; `joint_step` explains its parts."""

    potential: Potential
    margins: np.ndarray
    nu: np.ndarray
    C: float


class Point(NamedTuple):
    """α, and what the potential says of it."""

    alpha: np.ndarray
    value: float
    achieved: np.ndarray
    bend: np.ndarray


def joint_step(
    potential: Potential,
    margins: np.ndarray,
    nu: np.ndarray,
    C: float,
    tolerance: float = 1e-15,
    most: int = 100,
) -> tuple[np.ndarray, int, float]:
    """The best α, the iterations it took and the duality gap it was left with, relative to the gain.

    Parameters
    ----------
    potential : function of α
        Returns Φ(α) - Φ(0), its gradient (the margins achieved after the step) and its Hessian.
    margins : array (constraints,)
    nu : array (constraints,)
        Not negative; a constraint with 0 is not capped.
    C : float
        Finite.

    Examples
    --------
    >>> def half_square(a):  # one constraint of squared norm 2, none of it achieved yet
    ...     return float(a @ a), 2.0 * a, 2.0 * np.eye(1)
    >>> alpha, _, gap = joint_step(half_square, np.ones(1), np.ones(1), 10.0)
    >>> float(alpha[0].round(9)), gap < 1e-12
    (0.5, True)
    """
    n = len(margins)
    alpha = np.full(n, C) / (2.0 * n * np.maximum(nu, 1.0))
    problem, at, slack = Problem(potential, margins, nu, C), Point(alpha, *potential(alpha)), C - nu @ alpha
    scale = float(np.abs(margins - at.achieved).max()) + float(np.abs(margins).max())
    lam, price = scale * C / (n * alpha), scale * C / (n * slack)
    best, answer, stalled, iterations = math.inf, alpha, 0, 0
    while True:
        alpha = at.alpha
        gain = float(margins @ alpha) - at.value
        gap = _gap(margins - at.achieved, alpha, nu, C)
        gap = gap / abs(gain) if gain else math.inf
        stalled = stalled + 1 if gap > 0.9 * best and best < 1e-6 else 0
        if gap < best:
            best, answer = gap, alpha
            active, tight = alpha * scale > lam * C, slack * scale < price * C
        if gap <= tolerance or iterations == most or stalled == 4:
            break
        iterations += 1
        t = 0.1 * (float(lam @ alpha) + price * slack) / (n + 1)
        slope = at.achieved - margins - t / alpha + t / slack * nu
        system = at.bend + np.diag(lam / alpha) + price / slack * np.outer(nu, nu)
        move = -np.linalg.lstsq(system, slope, rcond=None)[0]
        d_lam = t / alpha - lam - lam / alpha * move
        d_price = t / slack - price + price / slack * float(nu @ move)
        at, slack = _descend(problem, at, slack, move, float(slope @ move), t)
        dual = min(1.0, 0.995 * _room(np.append(lam, price), np.append(d_lam, d_price)))
        lam = np.clip(lam + dual * d_lam, t / at.alpha / 1e3, t / at.alpha * 1e3)
        price = min(max(price + dual * d_price, t / slack / 1e3), t / slack * 1e3)
    answer, best = _finish(problem, answer, best, active, tight)
    return answer, iterations, best


def _descend(
    problem: Problem, at: Point, slack: float, move: np.ndarray, slope: float, t: float
) -> tuple[Point, float]:
    """Go along `move` as far as the barrier function falls; return where that is, and what is left of the cap.

    `slope` is that of the barrier function along the move, `t` its weight.
    """
    potential, margins, nu, C = problem
    alpha, after, left = at.alpha, at.alpha, slack
    step = min(1.0, 0.995 * _room(np.append(alpha, slack), np.append(move, -nu @ move)))
    before = at.value - float(margins @ alpha) - t * (float(np.log(alpha).sum()) + math.log(slack))
    for _ in range(40):
        after = alpha + step * move
        left = C - float(nu @ after)
        if left > 0.0:
            at = Point(after, *potential(after))
            now = at.value - float(margins @ after) - t * (float(np.log(after).sum()) + math.log(left))
            if now <= before + 0.01 * step * slope + 4e-16 + 1e-12 * abs(before):
                break
        step *= 0.5
    return at._replace(alpha=after), max(left, 1e-300)


def _finish(
    problem: Problem, alpha: np.ndarray, gap: float, active: np.ndarray, tight: bool
) -> tuple[np.ndarray, float]:
    """The last digits: Newton's method on the constraints that turned out active, kept where the gap shrinks."""
    potential, margins, nu, C = problem
    now, cap = np.where(active, alpha, 0.0), nu[active][:, np.newaxis]
    for _ in range(8):
        _, achieved, bend = potential(now)
        system, left = bend[np.ix_(active, active)], (margins - achieved)[active]
        if tight:
            system = np.block([[system, cap], [cap.T, np.zeros((1, 1))]])
            left = np.append(left, C - nu @ now)
        now = now.copy()
        now[active] += np.linalg.lstsq(system, left, rcond=None)[0][: len(cap)]
    if not np.isfinite(now).all() or now.min() < -1e-12 * np.abs(now).max() or nu @ now > C * (1.0 + 1e-12):
        return alpha, gap
    now = np.maximum(now, 0.0)
    value, achieved, _ = potential(now)
    gain = float(margins @ now) - value
    if not gain:
        return alpha, gap
    shrunk = _gap(margins - achieved, now, nu, C) / abs(gain)
    return (now, max(shrunk, 0.0)) if shrunk <= gap else (alpha, gap)


def _gap(short: np.ndarray, alpha: np.ndarray, nu: np.ndarray, C: float) -> float:
    """No feasible point earns more than this beyond α: the objective lies below its tangent (infinite if uncapped)."""
    capped = nu > 0.0
    price = max(0.0, float((short[capped] / nu[capped]).max(initial=0.0)))
    free = float((np.maximum(short, 0.0) * alpha)[~capped].sum()) * 2.0
    return C * price + free - float(short @ alpha)


def _room(at: np.ndarray, move: np.ndarray) -> float:
    """How many times a move can be made before something runs out."""
    falling = move < 0.0
    return float((-at[falling] / move[falling]).min(initial=math.inf))
