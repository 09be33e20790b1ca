"""Scores without learning."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from hinged.loops.columns import label_scores, n_columns
from hinged.loops.ledger import LEARNT
from hinged.loops.pages import SEGMENT, add_means, add_scores
from hinged.loops.rows import read_row
from hinged.loops.shared import AT_ONCE, add_shared_scores, fill_features, learnt_among, support

__all__ = ["score"]


@njit(cache=True, nogil=True)
def score(
    rows: Any,
    columns: Any,
    scaling: Any,
    weights: Any,
    parts: Any,
    counts: Any,
    mean_over: int,
    longest: int,
    out: Any,
    stop: Any,
) -> None:
    """Scores of every known label for every row, into `out` (rows, labels); nothing is learnt or counted.

    `mean_over` rounds answers with the mean weights, 0 with the current ones. Once `stop[0]` is set, `out`
    is of no use.
    """
    k = out.shape[1]
    n_wide = -(-max(1, n_columns(columns, k)) // SEGMENT) * SEGMENT
    wide, work = np.zeros(n_wide, weights.like.dtype), np.zeros(k)
    f, v = np.empty(longest + 1, np.int64), np.empty(longest + 1, rows.data.dtype)
    if parts is not None:
        room = longest + 1
        if parts.explicit.shape[2] > 0:
            room = parts.ids.shape[0]
        elif parts.keeps[2]:
            room += parts.sums.used[0]
        fs, vs = np.empty(room, np.int64), np.empty(room)
        phi = np.zeros((parts.kinds.shape[0], room, k))[:, :, :k]  # as `learn` has it: one compiled version serves both
        origin = np.zeros((parts.kinds.shape[0], room))
    for i in range(out.shape[0]):
        n, _q = read_row(rows, i, scaling, counts[LEARNT], f, v)
        s = out[i]
        wide[:] = 0
        if mean_over > 0:
            add_means(weights, f, v, n, n_columns(columns, k), mean_over, wide)
        else:
            add_scores(weights, f, v, n, n_columns(columns, k), wide)
        label_scores(columns, wide, s)
        if parts is not None:
            m = learnt_among(parts, fs, vs, support(parts, f, v, n, fs, vs))
            for begin in range(0, m, AT_ONCE):
                end = min(m, begin + AT_ONCE)
                fill_features(parts, fs, vs, begin, end, counts[LEARNT], scaling.df, phi, work)
                if stop[0] != 0:
                    return
            add_shared_scores(parts, fs, m, phi, origin, mean_over, s)
