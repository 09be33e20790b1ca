"""Ranks: one score and k - 1 thresholds; each threshold asks for its own margin.

Threshold i must lie below the score where the rank is beyond it, and above the score elsewhere:
y_i (⟨w, x⟩ - b_i) >= 1. Amit, Shalev-Shwartz and Singer (2006), section 3. Nothing forces the thresholds to stay
sorted; the prediction is defined all the same.
"""

from __future__ import annotations

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats

__all__ = ["rank_of", "side"]


@compiled(helper=True)
def side(threshold: int, rank: int) -> float:
    """On which side of a threshold the score of a rank must lie; both count from 0.

    Examples
    --------
    >>> [side(i, 1) for i in range(3)]
    [1.0, -1.0, -1.0]
    """
    return 1.0 if threshold < rank else -1.0


@compiled
def rank_of(score: float, thresholds: Floats) -> int:
    """The rank, from 0: the first threshold above the score, else the last rank.

    Examples
    --------
    >>> import numpy as np
    >>> b = np.array([-1.0, 0.5])
    >>> [rank_of(p, b) for p in (-2.0, -1.0, 3.0)]
    [0, 1, 2]
    """
    for i in range(thresholds.shape[0]):
        if score < thresholds[i]:
            return i
    return thresholds.shape[0]
