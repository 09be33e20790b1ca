"""The exact joint step: the maximiser of the trial's dual over all its constraints.

The problem, for right labels Y, the others N, scores s and the Gram matrix K of the labels' vectors V_r:

    max  m Z - sum_r g_r s_r - 1/2 g'Kg     g >= 0 on Y, g <= 0 on N, sum_Y g = -sum_N g = Z <= C

Update III of the label-ranking paper; eq. (2) of the simultaneous-projections paper.
"""

from __future__ import annotations

import math

from hinged.compiling import compiled
from hinged.compiling.arrays import Bools, Floats
from hinged.rules.active_set import on_gram

__all__ = ["by_sorting", "on_gram"]


@compiled
def by_sorting(scores: Floats, is_relevant: Bools, q: float, margin: float, C: float, work: Floats, g: Floats) -> float:
    r"""Exact joint step where every label has its own prototype (K = ‖x‖² I); return its total Z.

    For a fixed total Z the two sides fall apart into projections onto a simplex:
    :math:`g_r = (\mu - s_r)_+ / q` on Y and :math:`-(s_r - \nu)_+ / q` on N. The objective's slope in Z is
    :math:`m - \mu(Z) + \nu(Z)`, piecewise linear and falling, so one walk over the sorted scores finds its zero:
    O(k log k).

    Parameters
    ----------
    scores : float64 array (labels,)
    is_relevant : bool array (labels,)
    q : float
        ‖x‖², positive.
    margin, C : float
        The margin asked for, and the cap on Z (may be infinite).
    work : float64 array (at least labels,)
        Scratch.
    g : float64 array (labels,)
        Zeros on entry; net coefficients on return.
    """
    n_labels = scores.shape[0]
    n_right, n_wrong = _gather(scores, is_relevant, margin, work)
    if n_right == 0 or n_wrong == 0:
        return 0.0
    right, wrong = work[:n_right], work[n_labels - n_wrong : n_labels]
    right.sort()
    wrong.sort()

    p, n = 1, 1
    sum_right, sum_wrong = right[0], -wrong[0]
    while True:
        best = (margin - sum_right / p + sum_wrong / n) / (q * (1.0 / p + 1.0 / n))
        Z = min(best, C)
        next_right = (p * right[p] - sum_right) / q if p < n_right else math.inf
        next_wrong = (sum_wrong + n * wrong[n]) / q if n < n_wrong else math.inf
        if min(next_right, next_wrong) >= Z:
            break
        if next_right <= next_wrong:
            sum_right += right[p]
            p += 1
        else:
            sum_wrong -= wrong[n]
            n += 1
    up, down = (q * Z + sum_right) / p, (sum_wrong - q * Z) / n
    for r in range(n_labels):
        if is_relevant[r]:
            g[r] = max(0.0, (up - scores[r]) / q)
        else:
            g[r] = -max(0.0, (scores[r] - down) / q)
    return Z


@compiled(helper=True)
def _gather(scores: Floats, is_relevant: Bools, margin: float, work: Floats) -> tuple[int, int]:
    """Put the scores of the labels that can move into `work`, right ones first, wrong ones negated and last.

    Only labels within the margin of the other side's extreme can move. Return how many there are of either kind.
    """
    n_labels = scores.shape[0]
    lowest, highest = math.inf, -math.inf
    for r in range(n_labels):
        if is_relevant[r]:
            lowest = min(lowest, scores[r])
        else:
            highest = max(highest, scores[r])
    n_right, n_wrong = 0, 0
    for r in range(n_labels):
        if is_relevant[r] and scores[r] < highest + margin:
            work[n_right] = scores[r]
            n_right += 1
        elif not is_relevant[r] and scores[r] > lowest - margin:
            n_wrong += 1
            work[n_labels - n_wrong] = -scores[r]
    return n_right, n_wrong
