"""Ranking metrics of label sets, in one pass; definitions, including ties, are those of scikit-learn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Bools, Floats, Ints

__all__ = ["RankingMetrics", "ranking_metrics"]


class RankingMetrics(NamedTuple):
    """One number per example.

    Attributes
    ----------
    one_error : 1 if the best label is wrong
    coverage : depth of the ranking that contains all right labels; 0 if there are none
    ranking_loss : share of pairs of a right and a wrong label in the wrong order; a tie is wrong
    average_precision : mean, over right labels, of the share of right ones among those ranked at least as high
    """

    one_error: np.ndarray
    coverage: np.ndarray
    ranking_loss: np.ndarray
    average_precision: np.ndarray


def ranking_metrics(scores: np.ndarray, right: np.ndarray, known: np.ndarray | None = None) -> RankingMetrics:
    """Metrics of each row of scores.

    Parameters
    ----------
    scores : (examples, labels)
        -inf for a label not known at the time.
    right : bool (examples, labels)
    known : int (examples,), optional
        How many labels were known at the time; all by default.

    References
    ----------
    Schapire and Singer (2000), section 2; `sklearn.metrics.coverage_error`, `label_ranking_loss`,
    `label_ranking_average_precision_score` are the means of the last three.

    Examples
    --------
    >>> metrics = ranking_metrics(np.array([[0.5, 0.25, 0.125]]), np.array([[False, True, False]]))
    >>> [float(values[0]) for values in metrics]
    [1.0, 2.0, 0.5, 0.5]
    """
    scores, right = np.ascontiguousarray(scores, np.float64), np.ascontiguousarray(right, np.bool_)
    n, k = scores.shape
    out = np.zeros((4, n))
    _measure(scores, right, np.full(n, k) if known is None else np.asarray(known, np.int64), out)
    return RankingMetrics(*out)


@compiled
def _measure(scores: Floats, right: Bools, known: Ints, out: Floats) -> None:
    """Fill `out` (measures, examples) row by row: one sort each, then one walk down the runs of equal scores."""
    n, k = scores.shape
    for i in range(n):
        n_right = 0
        for r in range(k):
            n_right += right[i, r]
        out[3, i] = 1.0
        if n_right == 0:
            continue
        order = np.argsort(-scores[i], kind="mergesort")
        out[0, i] = 0.0 if right[i, order[0]] else 1.0
        first, above, wrong, share = 0, 0, 0, 0.0
        while above < n_right:
            end = first + 1  # down to here all score as the label at `first`
            while end < k and scores[i, order[end]] == scores[i, order[first]]:
                end += 1
            hits = 0
            for j in range(first, end):
                hits += right[i, order[j]]
            above += hits
            share += hits * (above / end)
            wrong += hits * (end - above)
            first = end
        out[1, i] = first
        if n_right < known[i]:
            out[2, i] = wrong / (n_right * (known[i] - n_right))
            out[3, i] = share / n_right
