"""The exact joint step of quick rounds, where one label of at most 64 is right: optimal.py's, by instructions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats
from hinged.native import best_of

__all__ = ["OneRight", "by_taking"]


class OneRight(NamedTuple):
    """Scores of at most 64 labels one of which is right."""

    scores: Floats  # float32 or float64 (at least columns,)
    columns: int  # 8, 16, 32 or 64, as `best_of` needs them
    k: int  # labels
    y: int  # the right one
    rival: int  # its highest rival
    others: np.uint64  # a bit for each label but these two


@compiled(helper=True, error_model="numpy")
def by_taking(one: OneRight, q: float, margin: float, C: float, g: Floats) -> float:
    """Do what `by_sorting` does where one label is right, to the same bits.

    The next wrong label is the best of those that are left. Most steps move few labels, so to look for each of them
    takes less time than to put all in order first.

    Parameters
    ----------
    one : OneRight
    q, margin, C : float
        As `by_sorting` has them.
    g : float64 array (labels,)
        Net coefficients on return.
    """
    scores, k, y = one.scores, one.k, one.y
    right, sum_wrong, n = np.float64(scores[y]), np.float64(scores[one.rival]), 1
    lowest = right - margin  # a label that scores no more stays where it is
    if not (right < sum_wrong + margin and lowest < sum_wrong):
        g[:k] = 0.0
        return 0.0
    left = one.others
    while True:
        Z = min((margin - right + sum_wrong / n) / (q * (1.0 + 1.0 / n)), C)
        best, place = best_of(scores, one.columns, left)
        score = np.float64(best)
        if not score > lowest or (sum_wrong - n * score) / q >= Z:
            break
        sum_wrong += score
        n += 1
        left ^= np.uint64(1) << np.uint64(place)
    down = (sum_wrong - q * Z) / n
    for r in range(k):
        g[r] = -max(0.0, (np.float64(scores[r]) - down) / q)
    g[y] = max(0.0, (q * Z + right - right) / q)
    return Z
