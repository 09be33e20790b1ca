"""From the winner's lead over the runner-up to the chance that it is right, learnt from the stream itself."""

from __future__ import annotations

import numpy as np

__all__ = ["confidence_by_bin"]

PRIOR_ROUNDS = 2.0


def confidence_by_bin(rounds: np.ndarray, hits: np.ndarray) -> np.ndarray:
    """Share of hits by bin of the lead, made to rise with it (pool adjacent violators).

    Each bin starts from two rounds at the overall share of hits, so a bin that was never seen says nothing new.

    Examples
    --------
    >>> confidence_by_bin(np.array([10.0, 10.0, 10.0]), np.array([6.0, 4.0, 10.0])).round(2).tolist()
    [0.53, 0.53, 0.94]
    """
    hits, rounds = hits.copy(), rounds.copy()
    hits = np.minimum(hits, rounds)  # a writer beside us may have counted a hit and not yet its round
    overall = (hits.sum() + 1.0) / (rounds.sum() + 2.0)
    weights = rounds + PRIOR_ROUNDS
    pooled: list[list[float]] = []  # [share, weight, bins]
    for share, weight in zip((hits + PRIOR_ROUNDS * overall) / weights, weights, strict=True):
        pooled.append([share, weight, 1])
        while len(pooled) > 1 and pooled[-2][0] > pooled[-1][0]:
            share_b, weight_b, bins_b = pooled.pop()
            share_a, weight_a, bins_a = pooled.pop()
            weight = weight_a + weight_b
            pooled.append([(share_a * weight_a + share_b * weight_b) / weight, weight, bins_a + bins_b])
    return np.repeat([share for share, _, _ in pooled], [int(bins) for _, _, bins in pooled])
