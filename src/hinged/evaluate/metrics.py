"""How good a ranking of labels is, one number per example: the definitions of scikit-learn, ties and all."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["RankingMetrics", "ranking_metrics"]


class RankingMetrics(NamedTuple):
    """One number per example.

    Attributes
    ----------
    one_error : 1 where the best label is wrong
    coverage : how far down the ranking one must go to have all right labels; 0 where there are none
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
    n, k = scores.shape
    known = np.full(n, k) if known is None else known
    n_right = right.sum(axis=1)
    asks = (n_right > 0) & (n_right < known)
    order = np.argsort(-scores, axis=1, kind="stable")
    s, r = np.take_along_axis(scores, order, axis=1), np.take_along_axis(right, order, axis=1)
    # last place of each run of equal scores, from 1, and the right labels down to there
    ends = np.ones((n, k), bool)
    ends[:, :-1] = s[:, :-1] != s[:, 1:]
    places = np.where(ends, np.arange(1, k + 1), k + 1)
    rank = np.minimum.accumulate(places[:, ::-1], axis=1)[:, ::-1]
    above = np.take_along_axis(np.cumsum(r, axis=1), rank - 1, axis=1)
    share = np.where(r, above / rank, 0.0).sum(axis=1) / np.maximum(n_right, 1)
    wrong_above = np.where(r, rank - above, 0).sum(axis=1)
    pairs = np.maximum(n_right * (known - n_right), 1)
    return RankingMetrics(
        one_error=np.where(n_right > 0, ~r[:, 0], False).astype(np.float64),
        coverage=np.where(r, rank, 0).max(axis=1, initial=0).astype(np.float64),
        ranking_loss=np.where(asks, wrong_above / pairs, 0.0),
        average_precision=np.where(asks, share, 1.0),
    )
