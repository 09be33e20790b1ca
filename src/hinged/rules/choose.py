"""Which constraints a rule chooses: the worst, those ranked wrongly, or those that miss the margin."""

from __future__ import annotations

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Bools, Floats
from hinged.rules.words import CONSTANT, MISSING, WORST, Words

__all__ = ["chosen", "is_chosen", "worst"]


@compiled(helper=True)
def is_chosen(choose: int, gap: float, margin: float) -> bool:
    """Return True if a constraint takes part: where it misses the margin, or where it is ranked wrongly.

    A tie is ranked wrongly.

    Examples
    --------
    >>> is_chosen(MISSING, 0.5, 1.0), is_chosen(1, 0.5, 1.0)
    (True, False)
    """
    return gap < margin if choose == MISSING else gap <= 0.0


@compiled(helper=True)
def worst(length: int, gaps: Floats, margins: Floats) -> int:
    """Return the constraint that a rule on one moves along: the largest loss, or the smallest gap if `CONSTANT`."""
    found = 0
    for j in range(1, gaps.shape[0]):
        if length == CONSTANT:
            found = j if gaps[j] < gaps[found] else found
        elif margins[j] - gaps[j] > margins[found] - gaps[found]:
            found = j
    return found


@compiled
def chosen(rule: Words, gaps: Floats, margins: Floats) -> Bools:
    """Return which constraints of a list the rule steps along, as a bool array.

    Examples
    --------
    >>> from hinged.rules.table import RULES
    >>> gaps, margins = np.array([0.5, -0.5, 2.0]), np.ones(3)
    >>> [chosen(RULES[name].words, gaps, margins).tolist() for name in ("pa1", "simproj")]
    [[False, True, False], [True, True, False]]
    """
    found = np.zeros(gaps.shape[0], np.bool_)
    if rule.choose == WORST:
        found[worst(rule.length, gaps, margins)] = True
        return found
    for j in range(gaps.shape[0]):
        found[j] = is_chosen(rule.choose, gaps[j], margins[j])
    return found
