"""Numbers to predict: how close a prediction must come, and targets in units of their deviation so far."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hinged.compiling import compiled
from hinged.loops.rows import CONSTANT, welford

__all__ = ["Numbers", "deviation", "enter_target", "insensitivity", "unit_of"]

MEAN, SPREAD = range(2)


class Numbers(NamedTuple):
    """What a loop has to know about targets that are numbers."""

    epsilon: float  # negative where labels are learnt
    relative: bool  # whether epsilon is in units of the targets' deviation
    known: np.ndarray  # float64 (2,): mean and sum of squared deviations so far; empty where targets are not scaled


@compiled(helper=True)
def deviation(mean: float, spread: float, count: int) -> float:
    """Standard deviation of `count` numbers; 0 where it is no more than rounding.

    Examples
    --------
    >>> deviation(3.0, 8.0, 2), deviation(1e9, 1e-20, 2), deviation(0.0, 0.0, 0)
    (2.0, 0.0, 0.0)
    """
    variance = max(0.0, spread) / count if count > 0 else 0.0  # a reader may meet a mean whose spread is yet to come
    return math.sqrt(variance) if variance > (CONSTANT * mean) ** 2 else 0.0


@compiled(helper=True)
def unit_of(numbers: Numbers, count: int) -> tuple[float, float]:
    """Mean and deviation of the `count` targets so far; 0 and 1 unscaled. A prediction is mean + deviation · score."""
    if numbers.known.shape[0] == 0:
        return 0.0, 1.0
    return numbers.known[MEAN], deviation(numbers.known[MEAN], numbers.known[SPREAD], count)


@compiled(helper=True)
def insensitivity(numbers: Numbers, scale: float) -> float:
    """ε in the unit of the targets, `scale` being their deviation."""
    return numbers.epsilon * scale if numbers.relative else numbers.epsilon


@compiled(helper=True)
def enter_target(numbers: Numbers, target: float, count: int) -> tuple[float, float]:
    """Let a target join `count` others; return it and ε as the learners see them, in units of the deviation.

    Mean and deviation are those of all targets so far, this one included; while all are equal, it counts as 0.
    """
    known = numbers.known
    if known.shape[0] == 0:
        return target, numbers.epsilon
    known[MEAN], known[SPREAD] = welford(known[MEAN], known[SPREAD], count, target)
    scale = deviation(known[MEAN], known[SPREAD], count + 1)
    if scale == 0.0:
        return 0.0, 0.0
    return (target - known[MEAN]) / scale, numbers.epsilon if numbers.relative else numbers.epsilon / scale
