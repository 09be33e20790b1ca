"""What a mistake adds at least to the dual, from the words of a rule; the mistake bounds of two papers divide by it."""

from __future__ import annotations

import math

import numpy as np

from hinged.compiling.arrays import Floats
from hinged.rules.words import CONSTANT, MEAN, MISSING, ONE, PA, PA2, Words

__all__ = ["least_gain"]


def least_gain(
    rule: Words, margin: float, curvature: np.ndarray, C: float | Floats, shortest: np.ndarray, n_pairs: np.ndarray
) -> np.ndarray:
    r"""Return what a mistake adds to the dual at least.

    A step α along one mistaken constraint adds at least :math:`m α - h α^2`. The Perceptrons take α = C; the rules that
    maximise take the best α ≤ C, or more; the mean over all that miss the margin may have one mistake among them, and
    the others add next to nothing; PA-II's dual has a further :math:`-α^2 / 4C`, and no cap.

    Parameters
    ----------
    rule : Words
    margin : float
    curvature : array (moments,)
        h, half of what the second derivative of the dual along a constraint can reach.
    C : float or array (moments,)
    shortest : array (moments,)
        The least ‖z‖² of a constraint.
    n_pairs : array (moments,)
        The most constraints of a round.

    Examples
    --------
    >>> from hinged.rules.table import RULES
    >>> one = np.ones(1)
    >>> [float(least_gain(RULES[name].words, 1.0, one, 0.25, one, 3 * one)[0]) for name in ("perceptron", "pa", "pa2")]
    [0.1875, 0.25, 0.125]
    """
    m, h = margin, curvature
    with np.errstate(divide="ignore", invalid="ignore"):
        if rule.length == CONSTANT:
            return m * C - h * C * C
        if rule.length == PA2:
            return m * m / (4.0 * h + 1.0 / C)
        free = np.where(h > 0, m * m / (4.0 * h), math.inf)  # α = m / 2h
        if rule.length == PA:  # no step along a constraint of length 0
            free = np.where(shortest > 0, free, 0.0)
        if rule.length == PA and rule.combine == ONE:
            return free
        capped = 2.0 * h * C < m if np.isfinite(C) else np.zeros(h.shape, np.bool_)
        best = np.where(capped & (free > 0), m * C - h * C * C if np.isfinite(C) else free, free)
        return best / np.maximum(1, n_pairs) if rule.choose == MISSING and rule.combine == MEAN else best
