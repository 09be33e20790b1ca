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
    O(k + n log k) where n labels move, because two heaps give them in order one by one, and most labels stay.

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
    _make_heap(right)
    _make_heap(wrong)

    p, n = 1, 1
    sum_right, sum_wrong = _take_least(right, n_right), -_take_least(wrong, n_wrong)
    while True:
        best = (margin - sum_right / p + sum_wrong / n) / (q * (1.0 / p + 1.0 / n))
        Z = min(best, C)
        next_right = (p * right[0] - sum_right) / q if p < n_right else math.inf
        next_wrong = (sum_wrong + n * wrong[0]) / q if n < n_wrong else math.inf
        if min(next_right, next_wrong) >= Z:
            break
        if next_right <= next_wrong:
            sum_right += _take_least(right, n_right - p)
            p += 1
        else:
            sum_wrong -= _take_least(wrong, n_wrong - n)
            n += 1
    up, down = (q * Z + sum_right) / p, (sum_wrong - q * Z) / n
    for r in range(n_labels):
        if is_relevant[r]:
            g[r] = max(0.0, (up - scores[r]) / q)
        else:
            g[r] = -max(0.0, (scores[r] - down) / q)
    return Z


@compiled(helper=True)
def _sink(heap: Floats, i: int, n: int) -> None:
    """Let heap[i] sink among the first `n` values until both below it are at least as large."""
    value = heap[i]
    below = 2 * i + 1
    while below < n:
        if below + 1 < n and heap[below + 1] < heap[below]:
            below += 1
        if not heap[below] < value:
            break
        heap[i] = heap[below]
        i, below = below, 2 * below + 1
    heap[i] = value


@compiled(helper=True)
def _make_heap(values: Floats) -> None:
    """Arrange values so that each is at most those at twice its place plus one and two."""
    n = values.shape[0]
    for i in range(n // 2 - 1, -1, -1):
        _sink(values, i, n)


@compiled(helper=True)
def _take_least(heap: Floats, n: int) -> float:
    """Take the least of `n` values away; the others are the first n - 1."""
    least = heap[0]
    heap[0] = heap[n - 1]
    _sink(heap, 0, n - 1)
    return least


@compiled(helper=True)
def _gather(scores: Floats, is_relevant: Bools, margin: float, work: Floats) -> tuple[int, int]:
    """Put the scores of the labels that can move into `work`, right ones first, wrong ones negated and last.

    Only labels within the margin of the other side's extreme can move. Return how many there are of either kind.
    """
    n_labels = scores.shape[0]
    lowest, highest = math.inf, -math.inf
    for r in range(n_labels):
        lowest = min(lowest, scores[r] if is_relevant[r] else math.inf)
        highest = max(highest, -math.inf if is_relevant[r] else scores[r])
    n_right, n_wrong, above, below = 0, 0, highest + margin, lowest - margin
    for r in range(n_labels):  # written in any case, and counted or not: branches would be hard to predict
        s, right = scores[r], is_relevant[r]
        work[n_right if right else n_labels - 1 - n_wrong] = s if right else -s
        n_right += right & (s < above)
        n_wrong += (not right) & (s > below)
    return n_right, n_wrong
