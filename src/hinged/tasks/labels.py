"""Label prediction and ranking: every right label must score above every other one.

For right labels Y and the others N the constraints are the pairs (r, s), r in Y and s in N:
score r minus score s at least the margin. The hardest pair joins the lowest right label to the highest wrong one,
so nothing here lists pairs.
"""

from __future__ import annotations

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Bools, Floats, Ints

__all__ = ["check_novel", "extremes", "find_new", "judge", "rank_of_best", "runner_up"]


def check_novel(novel: object) -> bool:
    """Return True if a round that brings a label is learnt, the setting novel="learn"; False for "skip".

    Such a round is never counted. With "learn" its labels become known with weights of zero and it is learnt like any
    other; with "skip" they become known after it, and it is not learnt (Fink et al. 2006, section 2).
    """
    if not isinstance(novel, str) or novel not in ("learn", "skip"):
        raise ValueError(f"novel must be 'learn' or 'skip'; got novel={novel!r}.")
    return novel == "learn"


@compiled(helper=True)
def extremes(scores: Floats, relevant: Ints, is_relevant: Bools) -> tuple[int, int]:
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


@compiled(helper=True)
def judge(scores: Floats, relevant: Ints, is_relevant: Bools) -> tuple[int, int, float, int]:
    """Return what `extremes` finds, by how much the lowest right label wins, and the rank of the best right label.

    The round is a mistake where no right label's lead is positive: a tie has not been won.

    Examples
    --------
    >>> import numpy as np
    >>> low, rival, gap, rank = judge(np.array([1.0, 0.5, 2.0]), np.array([1]), np.array([False, True, False]))
    >>> low, rival, float(gap), int(rank)
    (0, 2, -1.5, 3)
    """
    low, rival = extremes(scores, relevant, is_relevant)
    gap = scores[relevant[low]] - scores[rival]
    return low, rival, gap, 1 if gap > 0.0 else rank_of_best(scores, relevant, is_relevant)


@compiled(helper=True)
def find_new(relevant: Ints, n_known: int) -> tuple[bool, int]:
    """Return True if some label is not among the first `n_known`, and how many labels are known after them.

    Examples
    --------
    >>> import numpy as np
    >>> [tuple(map(int, find_new(np.array(labels), 2))) for labels in ([1, 3], [1, 0])]
    [(1, 4), (0, 2)]
    """
    is_new, after = False, n_known
    for r in relevant:
        is_new = is_new or r < 0 or r >= n_known
        after = max(after, r + 1)
    return is_new, after


@compiled(helper=True)
def rank_of_best(scores: Floats, relevant: Ints, is_relevant: Bools) -> int:
    """Rank, from 1, of the best right label among the wrong ones; a tie counts against it."""
    best = scores[relevant[0]]
    for a in range(1, relevant.shape[0]):
        best = max(best, scores[relevant[a]])
    rank = 1
    for s in range(scores.shape[0]):
        rank += (scores[s] >= best) & (not is_relevant[s])  # without a branch, which would be hard to predict
    return rank


@compiled(helper=True)
def runner_up(scores: Floats) -> tuple[int, float]:
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
    return first, np.float64(scores[first]) - np.float64(scores[second])
