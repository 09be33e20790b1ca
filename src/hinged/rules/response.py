"""A label's score as a function of its own coefficient, which is all that a joint rule has to know of a geometry.

Moving a label's accumulated vector by `a` times the row changes its score along a rising curve:

    linear    s + q a                      Euclidean weights, q = ‖x‖²
    logistic  U v σ(L + v a)               weights on a simplex, a row whose values are all v; L the log odds of the row
    tilted    U Σ v w e^(va) / Σ w e^(va)  weights on a simplex, any row

The curve's integral is the potential that the dual subtracts. docs/maths.md, "Weights on a simplex".
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats

__all__ = [
    "LINEAR",
    "LOGISTIC",
    "TILTED",
    "Responses",
    "level_of",
    "linear",
    "lone_step",
    "pair_step",
    "propose",
    "reach",
    "respond",
]

LINEAR, LOGISTIC, TILTED = 0, 1, 2
FINE = 1e-15  # a step this small, relative to where it is taken, is rounding


class Responses(NamedTuple):
    """The curves of one round's labels."""

    kind: int  # LINEAR, LOGISTIC, TILTED
    start: np.ndarray  # (labels,): the score; the log odds; the log of the weight outside the row (of 1 in all)
    rate: float  # q; v > 0; not used
    offset: float  # added to every logistic score
    radius: float
    logs: np.ndarray  # (labels, values): logs of the weights in the row (of 1 in all), tilted only
    values: np.ndarray  # (values,): the row, tilted only
    lowest: float  # the least and the largest value of any coordinate, tilted only
    highest: float


def linear(scores: Floats, q: float) -> Responses:
    """The curves of Euclidean prototypes."""
    return Responses(LINEAR, scores, q, 0.0, 0.0, np.zeros((0, 0)), np.zeros(0), 0.0, 0.0)


@compiled(helper=True)
def _softplus(z: float) -> float:
    """log(1 + e^z)."""
    return max(z, 0.0) + math.log1p(math.exp(-abs(z)))


@compiled(helper=True)
def _sigmoid(z: float) -> float:
    return 1.0 / (1.0 + math.exp(-z)) if z >= 0.0 else math.exp(z) / (1.0 + math.exp(z))


@compiled
def reach(curves: Responses) -> float:
    """By how much the best label can ever beat the worst one on this row."""
    if curves.kind == LINEAR:
        return math.inf
    if curves.kind == LOGISTIC:
        return curves.radius * curves.rate
    return curves.radius * (curves.highest - curves.lowest)


@compiled(helper=True)
def _tilt(curves: Responses, r: int, a: float) -> tuple[float, float, float, float]:
    """Under weights tilted by e^(av): log of their sum, mean of v above the lowest and below the highest, variance."""
    logs, v, rest, lowest, highest = curves.logs, curves.values, curves.start[r], curves.lowest, curves.highest
    top = rest
    for j in range(v.shape[0]):
        top = max(top, logs[r, j] + a * v[j])
    # outside the row v is 0; measured from both ends, so that no digits are lost near either
    total = math.exp(rest - top)
    above, below, inner = -total * lowest, total * highest, -total * lowest * highest
    for j in range(v.shape[0]):
        weight = math.exp(logs[r, j] + a * v[j] - top)
        total += weight
        above += weight * (v[j] - lowest)
        below += weight * (highest - v[j])
        inner += weight * (v[j] - lowest) * (highest - v[j])
    above /= total
    below /= total
    return top + math.log(total), above, below, max(0.0, above * below - inner / total)


@compiled
def respond(curves: Responses, r: int, a: float) -> tuple[float, float, float]:
    """Potential, score and slope of label `r` at coefficient `a`."""
    if curves.kind == LINEAR:
        score = curves.start[r] + curves.rate * a
        return a * (curves.start[r] + 0.5 * curves.rate * a), score, curves.rate
    U = curves.radius
    if curves.kind == LOGISTIC:
        z = curves.start[r] + curves.rate * a
        p = _sigmoid(z)
        potential = U * (_softplus(z) - _softplus(curves.start[r])) + curves.offset * a
        return potential, curves.offset + U * curves.rate * p, U * curves.rate**2 * p * _sigmoid(-z)
    log_sum, above, below, variance = _tilt(curves, r, a)
    mean = curves.lowest + above if above <= below else curves.highest - below
    return U * log_sum, U * mean, U * variance


@compiled
def level_of(curves: Responses, r: int, a: float) -> tuple[float, float]:
    """Where the score stands between the ends of its range, as log odds, and how fast that rises with `a`.

    On a logistic curve this is L + va; on a tilted one nearly a straight line too, which makes it easy to invert.
    """
    if curves.kind == LOGISTIC:
        return curves.start[r] + curves.rate * a, curves.rate
    _, above, below, variance = _tilt(curves, r, a)
    if min(above, below) < 1e-200:  # so far out that the other end can hardly be written down
        return _far_level(curves, r, a)
    return math.log(above / below), variance * (1.0 / above + 1.0 / below)


@compiled(helper=True)
def _far_level(curves: Responses, r: int, a: float) -> tuple[float, float]:
    """The same from logarithms: log odds of Σ w (v - lowest) to Σ w (highest - v), and the difference of v's means."""
    logs, v, rest, lowest, highest = curves.logs, curves.values, curves.start[r], curves.lowest, curves.highest
    n = v.shape[0]
    tops = np.array([-math.inf, -math.inf])
    for j in range(n + 1):
        value, log_weight = (v[j], logs[r, j] + a * v[j]) if j < n else (0.0, rest)
        if value > lowest:
            tops[0] = max(tops[0], log_weight + math.log(value - lowest))
        if value < highest:
            tops[1] = max(tops[1], log_weight + math.log(highest - value))
    above, below, mean_above, mean_below = 0.0, 0.0, 0.0, 0.0
    for j in range(n + 1):
        value, log_weight = (v[j], logs[r, j] + a * v[j]) if j < n else (0.0, rest)
        if value > lowest:
            weight = math.exp(log_weight + math.log(value - lowest) - tops[0])
            above += weight
            mean_above += weight * value
        if value < highest:
            weight = math.exp(log_weight + math.log(highest - value) - tops[1])
            below += weight
            mean_below += weight * value
    level = tops[0] - tops[1] + math.log(above / below)
    return level, max(0.0, mean_above / above - mean_below / below)


@compiled
def pair_step(curves: Responses, r: int, s: int, margin: float, C: float) -> float:
    r"""Best step for one pair alone, :math:`\max_{0 \le \tau \le C} \tau m - \Phi_r(\tau) - \Phi_s(-\tau)`.

    Update II of the label-ranking paper. A logistic pair has a closed form: with L the log odds,
    M = (L_r + L_s)/2 and γ = m/(Uv), the step is (L_s - L_r)/2 + x over v, where sinh x = γ (cosh M + cosh x).
    (The paper's quadratic in β = e^τ, read from its middle, where nothing overflows.) Other rows take a safeguarded
    Newton search. A margin out of reach on this row takes all of `C`, or no step without a cap.
    """
    if curves.kind == LINEAR:
        loss = margin - (curves.start[r] - curves.start[s])
        if curves.rate == 0.0:
            return C if loss > 0.0 and math.inf > C else 0.0
        return max(0.0, min(C, loss / (2.0 * curves.rate)))
    if margin >= reach(curves):
        return C if math.inf > C else 0.0
    if curves.kind == LOGISTIC:
        gamma = margin / (curves.radius * curves.rate)
        middle = 0.5 * (curves.start[r] + curves.start[s])
        half = spread_at(middle, gamma)
        return max(0.0, min(C, (0.5 * (curves.start[s] - curves.start[r]) + half) / curves.rate))
    return _newton_step(curves, r, s, margin, C)


@compiled
def lone_step(curves: Responses, r: int, margin: float, C: float) -> float:
    r"""Best step for one score alone, :math:`\max_{0 \le \alpha \le C} \alpha m - \Phi_r(\alpha)`.

    Where the score cannot reach the margin on this row the step takes all of `C`, or nothing without a cap.
    """
    if curves.kind == LINEAR:
        loss = margin - curves.start[r]
        if curves.rate == 0.0:
            return C if loss > 0.0 and math.inf > C else 0.0
        return max(0.0, min(C, loss / curves.rate))
    if curves.kind == LOGISTIC:
        p = (margin - curves.offset) / (curves.radius * curves.rate)
        if p < 1.0:
            return max(0.0, min(C, (math.log(p) - math.log1p(-p) - curves.start[r]) / curves.rate)) if p > 0.0 else 0.0
    elif margin < curves.radius * curves.highest:
        return _newton_step(curves, r, -1, margin, C)
    return C if math.inf > C else 0.0


@compiled(helper=True)
def spread_at(middle: float, gamma: float) -> float:
    """The x with σ(M + x) - σ(M - x) = γ, for 0 < γ < 1."""
    m = abs(middle)
    if m > 300.0:  # γ cosh M swamps the rest
        swamped = m + math.log(gamma) - math.log1p(-gamma)
        if swamped > 40.0 - math.log1p(-gamma):
            return swamped
    c = gamma * math.cosh(min(m, 700.0))
    return math.log(c + math.sqrt(c * c + (1.0 - gamma) * (1.0 + gamma))) - math.log1p(-gamma)


@compiled(helper=True)
def propose(at: float, newton: float, low: float, high: float, older: float) -> float:
    """Where a search for the zero of a rising function goes next: Newton's proposal if it lies within the bracket and
    at least halves the step before the last (`older`), else the middle; outward while one end is open."""
    if low < newton < high and (abs(newton - at) <= 0.5 * older or high - low == math.inf):
        return newton
    if high == math.inf:
        return at + 1.0 + abs(at)
    if low == -math.inf:
        return at - 1.0 - abs(at)
    return 0.5 * (low + high)


@compiled(helper=True)
def _newton_step(curves: Responses, r: int, s: int, margin: float, C: float) -> float:
    """The step at which the gap to `s` (to 0 where that is -1) reaches the margin, by a safeguarded Newton search."""
    down, fall = 0.0, 0.0
    if math.inf > C:
        _, up, _ = respond(curves, r, C)
        if s >= 0:
            _, down, _ = respond(curves, s, -C)
        if margin - (up - down) >= 0.0:
            return C
    low, high, step = 0.0, C, 0.0
    older, last = math.inf, math.inf
    for _ in range(200):
        _, up, rise = respond(curves, r, step)
        if s >= 0:
            _, down, fall = respond(curves, s, -step)
        short = margin - (up - down)
        if short > 0.0:
            low = step
        else:
            high = step
        guess = step + short / (rise + fall) if rise + fall > 0.0 else math.inf
        if abs(guess - step) <= FINE * step or high - low <= FINE * step:
            break
        guess = propose(step, guess, low, high, older)
        older, last = last, abs(guess - step)
        step = guess
    return step
