"""Label prediction and ranking: every right label must score above every other one.

For right labels Y and the others N the constraints are the pairs (r, s), r in Y and s in N:
score r minus score s at least the margin. The hardest pair joins the lowest right label to the highest wrong one,
so nothing here lists pairs.
"""

from __future__ import annotations

from typing import Any

from numba import njit

__all__ = ["extremes", "rank_of_best", "runner_up"]


@njit(cache=True)
def extremes(scores: Any, relevant: Any, is_relevant: Any) -> tuple[int, int]:
    """Position in `relevant` of the lowest right label, and the highest wrong label; -1 where there is none.

    Ties go to the lowest label index.
    """
    low = -1
    for a in range(relevant.shape[0]):
        if low >= 0 and scores[relevant[a]] == scores[relevant[low]]:
            low = a if relevant[a] < relevant[low] else low
        elif low < 0 or scores[relevant[a]] < scores[relevant[low]]:
            low = a
    rival = -1
    for s in range(scores.shape[0]):
        if not is_relevant[s] and (rival < 0 or scores[s] > scores[rival]):
            rival = s
    return low, rival


@njit(cache=True)
def rank_of_best(scores: Any, relevant: Any, is_relevant: Any) -> int:
    """Rank, from 1, of the best right label among the wrong ones; a tie counts against it."""
    best = scores[relevant[0]]
    for a in range(1, relevant.shape[0]):
        best = max(best, scores[relevant[a]])
    rank = 1
    for s in range(scores.shape[0]):
        if not is_relevant[s] and scores[s] >= best:
            rank += 1
    return rank


@njit(cache=True)
def runner_up(scores: Any) -> tuple[int, float]:
    """The winner (lowest index on a tie) and its lead over the second label; a lone label leads by 0."""
    first = 0
    for s in range(1, scores.shape[0]):
        if scores[s] > scores[first]:
            first = s
    second = -1
    for s in range(scores.shape[0]):
        if s != first and (second < 0 or scores[s] > scores[second]):
            second = s
    if second < 0:
        return first, 0.0
    return first, scores[first] - scores[second]
