"""The commonest rounds at full speed: one known right label, a vector per label, at most 64 labels, no average.

`learn` hands such rounds to `fast_forward` and takes back the first that is not of this kind (a new label, a label set,
a store that must grow). What happens in a round is the same; here it stands in one piece, because every call with
arrays as arguments costs reference counts, and every index that may be negative costs SIMD. Measured on 50,000 rows of
64 non-zeros and 50 labels: about a third of the general loop's time.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from hinged.geometry.euclidean import moved_sq_norm
from hinged.loops.ledger import (
    GAIN,
    LABELS,
    LEARNT,
    MISTAKES,
    PENALTY,
    RANKED,
    ROUNDS,
    SQ_NORM,
    THRESHOLD,
    UPDATES,
    note_lead,
)
from hinged.loops.pages import PAGE_BITS, SEGMENT, claim, segment
from hinged.loops.rows import sum_of_squares
from hinged.rules.codes import OPTIMAL, PA2, SIMPERC, SIMPROJ
from hinged.rules.optimal import by_sorting
from hinged.rules.passive_aggressive import pa1
from hinged.rules.worst import worst_step

__all__ = ["fast_forward"]


@njit(cache=True, inline="always")
def _add_one(at: int, value: Any, n: int, like: Any, s: Any) -> None:
    row = segment(at, n, like)
    for c in range(n):
        s[c] += value * row[c]


@njit(cache=True, inline="always")
def _add_four(
    at0: int, at1: int, at2: int, at3: int, v0: Any, v1: Any, v2: Any, v3: Any, n: int, like: Any, s: Any
) -> None:
    """Four rows in one pass over the scores, added in the same order as one by one."""
    w0, w1, w2, w3 = segment(at0, n, like), segment(at1, n, like), segment(at2, n, like), segment(at3, n, like)
    for c in range(n):
        s[c] = (((s[c] + v0 * w0[c]) + v1 * w1[c]) + v2 * w2[c]) + v3 * w3[c]


@njit(cache=True, inline="always")
def _add_one_to(at: int, value: Any, n: int, like: Any, g: Any) -> None:
    row = segment(at, n, like)
    for c in range(n):
        row[c] += value * g[c]


@njit(cache=True, nogil=True, error_model="numpy")
def fast_forward(
    rows: Any,
    targets: Any,
    setting: Any,
    scaling: Any,
    store: Any,
    ledger: Any,
    longest: int,
    flags: Any,
    ranks: Any,
    i: int,
) -> int:
    """Learn rows from `i` on while they are of the common kind; return the first that is not."""
    # s scores · g net coefficients · q ‖x‖² · at: where each feature's weights lie · padded: columns read of each row
    indptr, indices, data = rows.indptr, rows.indices, rows.data
    y_indptr, labels, sample_weights = targets.indptr, targets.labels, targets.weights
    slots, table, home, used, strides, like = store.slots, store.table, store.home, store.used, store.stride, store.like
    n_slots, n_blocks = table.shape[0], store.address.shape[0] << PAGE_BITS
    idf, unit, bias, keeps_df, df, logs = (
        scaling.idf,
        scaling.unit,
        scaling.bias,
        scaling.counts,
        scaling.df,
        scaling.logs,
    )
    code, margin, weighs = setting.code, setting.margin, sample_weights.shape[0] > 0
    counts, sums, leads = ledger.counts, ledger.sums, ledger.leads
    k, rounds, learnt = counts[LABELS], counts[ROUNDS], counts[LEARNT]
    mistakes, updates = 0, 0
    padded = 8
    while padded < k:
        padded *= 2
    f, v, at = np.empty(longest + 1, np.uint64), np.empty(longest + 1, data.dtype), np.empty(longest + 1, np.int64)
    s, g = np.zeros(SEGMENT, like.dtype), np.zeros(SEGMENT, like.dtype)
    steps, scores, work, is_right = np.zeros(SEGMENT), np.zeros(SEGMENT), np.zeros(SEGMENT), np.zeros(SEGMENT, np.bool_)
    n_rows = indptr.shape[0] - 1
    nowhere = home[0]
    zero = like.dtype.type(0)
    while i < n_rows:
        # ---- is it of this kind?
        if y_indptr[i + 1] - y_indptr[i] != 1:
            break
        y = labels[y_indptr[i]]
        if y < 0 or y >= k:
            break
        C = setting.C
        if weighs:
            if sample_weights[i] <= 0.0:
                break
            if setting.uses_weight:
                C *= sample_weights[i]
        begin, end = indptr[i], indptr[i + 1]
        room = end - begin + 1
        if used[0] + room >= n_slots or used[1] + room >= n_blocks:
            break
        if strides[(used[1] + 1) >> PAGE_BITS] < k or strides[(used[1] + room) >> PAGE_BITS] < k:
            break

        # ---- read
        n = 0
        log_rounds = math.log(learnt + 1.0) if idf else 0.0
        for j in range(begin, end):
            x = data[j]
            if x != 0:
                feature = np.uint64(indices[j]) + np.uint64(1)  # unsigned: no index from the end, so no test for one
                if idf and learnt > 0:
                    count = df[feature]
                    log_count = logs[count] if count < logs.shape[0] else math.log(count + 0.5)
                    x = v.dtype.type(x * max(0.1, log_rounds - log_count))
                f[n] = feature
                v[n] = x
                at[n] = home[slots[feature]]
                n += 1
        q = sum_of_squares(v, n)
        if unit and q > 0.0:
            norm = math.sqrt(q)
            for j in range(n):
                v[j] = v[j] / norm
            q = sum_of_squares(v, n)
        if bias != 0.0:
            f[n] = 0
            v[n] = bias
            at[n] = home[slots[0]]
            n += 1
            q += bias * bias

        # ---- score
        narrow = False
        if used[2] < k:  # some page is narrower than the labels need; one of these?
            for j in range(n):
                narrow = narrow or (at[j] != nowhere and strides[table[slots[f[j]], 0] >> PAGE_BITS] < k)
        if narrow:
            break
        s[:] = zero
        j = 0
        while j + 4 <= n:
            _add_four(
                at[j],
                at[j + 1],
                at[j + 2],
                at[j + 3],
                v[j],
                v[j + 1],
                v[j + 2],
                v[j + 3],
                padded,
                like,
                s,
            )
            j += 4
        while j < n:
            _add_one(at[j], v[j], padded, like, s)
            j += 1

        # ---- count
        right = s[y]
        s[y] = -np.inf
        best = s[0]
        for r in range(k):
            best = max(best, s[r])
        rival = 0
        while rival < k - 1 and s[rival] != best:  # a score that overflowed equals nothing
            rival += 1
        gap = np.float64(right) - np.float64(best)
        flags[i], ranks[i] = 0, 1
        if gap > 0.0:
            note_lead(leads, gap, True)
        else:
            mistakes += 1
            rank, second = 1, right
            for r in range(k):
                rank += s[r] >= right
                if r != rival:
                    second = max(second, s[r])
            flags[i], ranks[i] = 1, rank
            note_lead(leads, np.float64(best) - np.float64(second), gap == 0.0 and y < rival)
        s[y] = right
        sums[RANKED] += 1.0
        sums[THRESHOLD] += (0.5 * (np.float64(right) + np.float64(best)) - sums[THRESHOLD]) / min(sums[RANKED], 200.0)

        # ---- step and move
        total, inner, sq_move = 0.0, 0.0, 0.0
        if gap < margin and code < SIMPERC:
            total = worst_step(code, gap, 2.0 * q, margin, C)
            if total > 0.0:
                inner = total * np.float64(right) - total * np.float64(best)
                step = like.dtype.type(total)
                sq_move = q * np.float64(step) ** 2
                sq_move += sq_move
                if code == PA2:
                    sums[PENALTY] += total * total / (4.0 * C)
        elif gap < margin and code == OPTIMAL:
            for r in range(k):
                scores[r], steps[r] = s[r], 0.0
            is_right[y] = True
            if q > 0.0:
                total = by_sorting(scores[:k], is_right[:k], q, margin, C, work[:k], steps[:k])
            else:
                total = pa1(margin - gap, 0.0, C)
                steps[y], steps[rival] = total, -total
            is_right[y] = False
            for r in range(k):
                inner += steps[r] * scores[r]
                g[r] = steps[r]
                sq_move += q * np.float64(g[r]) ** 2
        elif gap < margin:
            bar = margin if code == SIMPROJ else np.nextafter(0.0, 1.0)  # gap <= 0 is gap < the least positive number
            chosen = 0
            for r in range(k):
                steps[r] = np.float64(right) - np.float64(s[r])
                chosen += steps[r] < bar
            chosen -= steps[y] < bar
            if chosen > 0:
                for r in range(k):
                    alpha = C if code == SIMPERC else pa1(margin - steps[r], 2.0 * q, C)
                    steps[r] = alpha / chosen if steps[r] < bar else 0.0
                steps[y] = 0.0
                for r in range(k):
                    total += steps[r]
                    steps[r] = -steps[r]
                steps[y] = total
                for r in range(k):
                    inner += steps[r] * np.float64(s[r])
                    g[r] = steps[r]
                    sq_move += q * np.float64(g[r]) ** 2
        if total > 0.0:
            updates += 1
            sums[GAIN] += total * margin
            sums[SQ_NORM] = moved_sq_norm(sums[SQ_NORM], inner, sq_move)
            for j in range(n):
                if at[j] == nowhere:
                    claim(store, f[j], 0)
                    at[j] = home[slots[f[j]]]
                if code < SIMPERC:
                    row = segment(at[j], padded, like)
                    row[y] += v[j] * step
                    row[rival] -= v[j] * step
                else:
                    _add_one_to(at[j], v[j], padded, like, g)

        # ---- note
        if keeps_df:
            for j in range(n):
                df[f[j]] += 1
        rounds += 1
        learnt += 1
        i += 1
    counts[ROUNDS], counts[LEARNT] = rounds, learnt
    counts[MISTAKES] += mistakes
    counts[UPDATES] += updates
    return i
