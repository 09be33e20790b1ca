"""Numbers to predict: how close a prediction must come, and targets in units of their deviation so far."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hinged.compiling import compiled
from hinged.loops.fading import left, weight_of_all
from hinged.loops.moments import CONSTANT, welford

__all__ = ["Numbers", "deviation", "enter_target", "insensitivity", "unit_of"]

MEAN, SPREAD = range(2)


class Numbers(NamedTuple):
    """What a loop has to know about targets that are numbers."""

    epsilon: float  # negative where labels are learnt
    relative: bool  # whether epsilon is in units of the targets' deviation
    known: np.ndarray  # float64 (2,): mean and sum of squared deviations so far; empty where targets are not scaled
    half_life: float = 0.0  # of what is known; 0 where all targets count alike


@compiled(helper=True)
def deviation(mean: float, spread: float, held: float) -> float:
    """Standard deviation of numbers that weigh `held` together; 0 where it is no more than rounding.

    Examples
    --------
    >>> deviation(3.0, 8.0, 2.0), deviation(1e9, 1e-20, 2.0), deviation(0.0, 0.0, 0.0)
    (2.0, 0.0, 0.0)
    """
    variance = max(0.0, spread) / held if held > 0.0 else 0.0  # a reader may meet a mean whose spread is yet to come
    return math.sqrt(variance) if variance > (CONSTANT * mean) ** 2 else 0.0


@compiled(helper=True)
def unit_of(numbers: Numbers, count: int) -> tuple[float, float]:
    """Mean and deviation of the `count` targets so far; 0 and 1 unscaled. A prediction is mean + deviation · score."""
    if numbers.known.shape[0] == 0:
        return 0.0, 1.0
    held = weight_of_all(numbers.half_life, count)
    return numbers.known[MEAN], deviation(numbers.known[MEAN], numbers.known[SPREAD], held)


@compiled(helper=True)
def insensitivity(numbers: Numbers, scale: float) -> float:
    """ε in the unit of the targets, `scale` being their deviation."""
    return numbers.epsilon * scale if numbers.relative else numbers.epsilon


@compiled(helper=True)
def enter_target(numbers: Numbers, target: float, count: int) -> tuple[float, float]:
    """Let a target join `count` others; return it and ε as the learners see them, in units of the deviation.

    Mean and deviation are those of all targets so far, this one included, old ones counting for less where some is
    forgotten; while all are equal, it counts as 0.
    """
    known = numbers.known
    if known.shape[0] == 0:
        return target, numbers.epsilon
    held = weight_of_all(numbers.half_life, count)
    known[MEAN], spread = welford(known[MEAN], known[SPREAD], held, target, 1.0)
    known[SPREAD] = left(numbers.half_life, 1) * spread
    scale = deviation(known[MEAN], spread, held + 1.0)
    if scale == 0.0:
        return 0.0, 0.0
    return (target - known[MEAN]) / scale, numbers.epsilon if numbers.relative else numbers.epsilon / scale
