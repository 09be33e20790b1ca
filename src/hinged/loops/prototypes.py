"""The commonest rounds at full speed: one known right label, a vector per label, at most 64 labels, no average.

`learn` hands such rounds to `fast_forward` and takes back the first that is not of this kind (a new label, a label set,
a store that must grow). What happens in a round is the same; here it stands in one piece, because every call with
arrays as arguments costs reference counts, and every index that may be negative costs SIMD. Measured on 50,000 rows of
64 non-zeros and 50 labels: about a quarter of the general loop's time, half of it spent on fetching weights.
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
from hinged.loops.pages import PAGE, PAGE_BITS, SEGMENT
from hinged.loops.rows import make_unit, sum_of_squares
from hinged.loops.weight_rows import move_pair, move_rows
from hinged.native import borrowed, fetch, rival_of, segment, sum_rows
from hinged.rules.combine import shares
from hinged.rules.length import alone, softening
from hinged.rules.optimal import by_sorting
from hinged.rules.words import JOINT, ONE

__all__ = ["fast_forward"]


AHEAD = 3072  # bytes of the rows to come that are asked for early: short rows end before a processor sees a pattern
PLACE, WITHIN = np.uint64(PAGE_BITS), np.uint64(PAGE - 1)


@njit(cache=True, inline="always")
def _find(slots: Any, address: Any, shift: int, in_order: bool, columns: Any, past: int, n: int, at: Any) -> None:
    """Where the weights of features columns[j] + past lie; with one segment, a slot is its block.

    Block 0 is nobody's and stays 0. Features in order have blocks 1, 2, 3 ..., one after the other in memory.
    """
    if in_order:
        for j in range(n):
            at[j] = address[0] + ((np.int64(columns[j]) + past + 1) << shift)
    else:
        for j in range(n):
            slot = np.uint64(slots[np.uint32(columns[j] + past)])
            at[j] = address[slot >> PLACE] + (np.int64(slot & WITHIN) << shift)


@njit(cache=True, nogil=True, error_model="numpy")
def fast_forward(
    rows: Any,
    targets: Any,
    setting: Any,
    scaling: Any,
    store: Any,
    ledger: Any,
    longest: int,
    told: Any,
    i: int,
    until: int,
) -> int:
    """Learn rows from `i` to `until` while they are of the common kind; return the first that is not."""
    # s scores · g net coefficients · q ‖x‖² · at: where each feature's weights lie · padded: columns read of each row
    # ahead: `at` of the next row, where `found`
    indptr, indices, data = rows.indptr, rows.indices, rows.data
    y_indptr, labels, sample_weights = targets.indptr, targets.labels, targets.weights
    slots, address = borrowed(store.slots), borrowed(store.address)
    used, strides, like = store.used, store.stride, store.like
    owners, table, n_slots, n_blocks = store.owners, store.table, store.table.shape[0], address.shape[0] << PAGE_BITS
    idf, unit, bias, keeps_df, df, logs = (
        scaling.idf,
        scaling.unit,
        scaling.bias,
        scaling.counts,
        scaling.df,
        scaling.logs,
    )
    rule, margin, weighs = setting.words, setting.margin, sample_weights.shape[0] > 0
    counts, sums, leads = ledger.counts, ledger.sums, borrowed(ledger.leads)
    flags, ranks, losses = told.flags, told.ranks, told.losses
    k, rounds, learnt = counts[LABELS], counts[ROUNDS], counts[LEARNT]
    mistakes, updates = 0, 0
    padded = 8
    while padded < k:
        padded *= 2
    f, v = np.empty(longest + 1, np.uint32), np.empty(longest + 1, data.dtype)
    places, turn, found = np.empty((2, longest + 1), np.int64), 0, False
    s, g = np.zeros(SEGMENT, like.dtype), np.zeros(SEGMENT, like.dtype)
    steps, scores, work, is_right = np.zeros(SEGMENT), np.zeros(SEGMENT), np.zeros(SEGMENT), np.zeros(SEGMENT, np.bool_)
    gaps, margins = np.zeros(SEGMENT), np.full(SEGMENT, margin)
    uniform, shift = used[2] == used[3] and used[2] >= k, 0
    while 1 << shift < used[2] * like.itemsize:
        shift += 1
    in_order = uniform and used[4] > 0
    ranked, threshold = sums[RANKED], sums[THRESHOLD]
    n_rows = min(indptr.shape[0] - 1, until)
    x_at, f_at = data.ctypes.data, indices.ctypes.data
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
        if not in_order:
            if used[0] + room >= n_slots or used[1] + room >= n_blocks:
                break
            if strides[(used[1] + 1) >> PAGE_BITS] < k or strides[(used[1] + room) >> PAGE_BITS] < k:
                break

        # ---- read
        n = end - begin
        x = segment(x_at + begin * data.itemsize, n, data)
        columns = segment(f_at + begin * indices.itemsize, n, indices)
        fetch(x_at + begin * data.itemsize + AHEAD, n * data.itemsize)
        fetch(f_at + begin * indices.itemsize + AHEAD, n * indices.itemsize)
        zeros = 0
        for j in range(n):
            zeros += x[j] == 0
            v[j] = x[j]
            f[j] = np.uint32(columns[j] + 1)
        if zeros > 0:
            n = 0
            for j in range(end - begin):
                if x[j] != 0:
                    f[n], v[n] = np.uint32(columns[j] + 1), x[j]
                    n += 1
        if idf and learnt > 0:
            log_rounds = math.log(learnt + 1.0)
            if learnt < logs.shape[0]:
                for j in range(n):
                    v[j] = v.dtype.type(v[j] * max(0.1, log_rounds - logs[np.uint32(df[f[j]])]))
            else:
                for j in range(n):
                    count = df[f[j]]
                    log_count = logs[count] if count < logs.shape[0] else math.log(count + 0.5)
                    v[j] = v.dtype.type(v[j] * max(0.1, log_rounds - log_count))
        q = make_unit(v, n) if unit else sum_of_squares(v, n)
        if bias != 0.0:
            f[n] = 0
            v[n] = bias
            n += 1
            q += bias * bias

        # ---- find
        found, narrow = found and zeros == 0, False
        turn ^= found
        at = segment(places.ctypes.data + turn * (longest + 1) * places.itemsize, n, places)
        if not found:
            _find(slots, address, shift, in_order, f, 0, n, at)
        found = False
        if not uniform:
            for j in range(n):
                slot = np.uint64(slots[f[j]])
                stride = strides[slot >> PLACE]
                narrow = narrow or stride < k
                at[j] = address[slot >> PLACE] + np.int64(slot & WITHIN) * stride * like.itemsize
        if narrow:
            break

        # ---- score
        sum_rows(at, v, n, padded, s)

        # ---- count
        right = s[y]
        best, rival = rival_of(s, padded, k, y)
        rival = min(k - 1, rival)  # where all overflowed there is none
        gap = np.float64(right) - np.float64(best)
        flags[i], ranks[i], losses[i] = 0, 1, max(0.0, margin - gap)
        if gap > 0.0:
            note_lead(leads, gap, True)
        else:
            mistakes += 1
            rank, second = 1, right
            for r in range(k):
                rank += s[r] >= right and r != y
                if r != rival:
                    second = max(second, s[r])
            flags[i], ranks[i] = 1, rank
            note_lead(leads, np.float64(best) - np.float64(second), gap == 0.0 and y < rival)
        ranked += 1.0
        threshold += (0.5 * (np.float64(right) + np.float64(best)) - threshold) / min(ranked, 200.0)

        # ---- step and move
        total, inner, sq_move = 0.0, 0.0, 0.0
        if gap < margin and rule.combine == ONE:
            total = alone(rule.length, gap, 2.0 * q, margin, C)
            if total > 0.0:
                inner = total * np.float64(right) - total * np.float64(best)
                step = like.dtype.type(total)
                sq_move = q * np.float64(step) ** 2
                sq_move += sq_move
                sums[PENALTY] += softening(rule.length, total, C)
        elif gap < margin:
            if rule.combine == JOINT:
                for r in range(k):
                    scores[r], steps[r] = s[r], 0.0
                is_right[y] = True
                if q > 0.0:
                    total = by_sorting(scores[:k], is_right[:k], q, margin, C, work[:k], steps[:k])
                else:
                    total = alone(rule.length, gap, 0.0, margin, C)
                    steps[y], steps[rival] = total, -total
                is_right[y] = False
            else:
                for r in range(k):
                    gaps[r] = np.float64(right) - np.float64(s[r])
                    steps[r] = alone(rule.length, gaps[r], 2.0 * q, margin, C)
                gaps[y] = math.inf
                total = shares(rule, gaps[:k], margins[:k], steps[:k])
                for r in range(k):
                    sums[PENALTY] += softening(rule.length, steps[r], C)
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
            unknown = 0
            for j in range(n):
                unknown += at[j] == address[0]
            if unknown > 0:
                for j in range(n):
                    if slots[f[j]] == 0:
                        used[0] += 1
                        used[1] += 1
                        slot = np.uint64(used[0])
                        owners[slot], table[slot, 0], slots[f[j]] = f[j], slot, slot
                        row_size = strides[slot >> PLACE] * like.itemsize
                        at[j] = address[slot >> PLACE] + np.int64(slot & WITHIN) * row_size
            ahead = segment(places.ctypes.data + (1 - turn) * (longest + 1) * places.itemsize, longest + 1, places)
            if i + 1 < n_rows:  # find the next row's weights already, for the move to ask for
                found, m = True, indptr[i + 2] - end
                columns = segment(f_at + end * indices.itemsize, m, indices)
                _find(slots, address, shift, in_order, columns, 1, m, ahead)
                slot = np.uint64(slots[0])
                ahead[m] = address[slot >> PLACE] + (np.int64(slot & WITHIN) << shift)
            if rule.combine == ONE:
                move_pair(at, v, n, padded, y, rival, step, ahead, like)
            else:
                move_rows(at, v, n, padded, g, ahead)

        # ---- note
        if keeps_df:
            for j in range(n):
                df[f[j]] += 1
        rounds += 1
        learnt += 1
        i += 1
    counts[ROUNDS], counts[LEARNT] = rounds, learnt
    sums[RANKED], sums[THRESHOLD] = ranked, threshold
    counts[MISTAKES] += mistakes
    counts[UPDATES] += updates
    return i
