"""The commonest rounds at full speed: one known right label, a vector per label, at most 64 labels, no average.

`learn` hands such rounds to `fast_forward` and takes back the first that is not of this kind (a new label, a label set,
a store that must grow). The six functions of a round are the same or give the same bits; weights are found once for
scoring and moving, and kept in vector registers. Measured on 50,000 rows of 64 non-zeros and 50 labels: about a quarter
of the general loop's time, half of it spent on fetching weights.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hinged.loops.compiling import inlined, internal
from hinged.loops.ledger import LABELS, LEARNT, note_lead, note_middle, note_move, note_round
from hinged.loops.lending import lend_book, lend_rows, lend_scaling, lend_store, lend_targets
from hinged.loops.pages import PAGE, PAGE_BITS, SEGMENT, Store, claim, has_room
from hinged.loops.round import NEXT, UNTIL
from hinged.loops.rows import count_features, read_here
from hinged.loops.steps import Ranking, by_joint_step, by_share
from hinged.loops.weight_rows import move_pair, move_rows
from hinged.native import borrowed, fetch, rival_of, segment, sum_rows
from hinged.rules.length import alone, softening
from hinged.rules.words import JOINT, ONE

__all__ = ["fast_forward"]


AHEAD = 3072  # bytes of the rows to come that are asked for early: short rows end before a processor sees a pattern
PLACE, WITHIN = np.uint64(PAGE_BITS), np.uint64(PAGE - 1)


class Lane(NamedTuple):
    """The weights of at most 64 labels, and how they lie in memory. With one segment, a slot is its block."""

    store: Store
    k: int  # labels
    padded: int  # columns that are read of each feature: 8, 16, 32 or 64
    uniform: bool  # all pages are equally wide, and wide enough
    shift: int  # then a feature's weights take 2^shift bytes
    in_order: bool  # features have blocks 1, 2, 3 ..., one after the other in memory


class Work(NamedTuple):
    """Scratch arrays."""

    f: np.ndarray  # uint32: the row's features ...
    v: np.ndarray  # ... and values
    places: np.ndarray  # int64 (2, longest row): addresses of the weights of this row and of the next, in turn
    s: np.ndarray  # scores, of the weights' type, as are
    g: np.ndarray  # net coefficients
    labels: np.ndarray  # float64 (6, labels): SCORES ...
    is_right: np.ndarray  # bool (labels,); all False between rounds
    y: np.ndarray  # int64 (1,): the right label


SCORES, STEPS, GAPS, MARGINS, NORMS, SPARE = range(6)


class Pair(NamedTuple):
    """The right label and its highest rival, with their scores."""

    y: int
    rival: int
    right: float
    best: float


@inlined()
def _usual(targets: Any, setting: Any, i: int, k: int) -> tuple[int, float]:
    """The right label of row `i` and its cap on steps; -1 where the row is not of the common kind."""
    begin, C = targets.indptr[i], setting.C
    if targets.indptr[i + 1] - begin != 1 or not 0 <= targets.labels[begin] < k:
        return -1, C
    if targets.weights.shape[0] > 0:
        if targets.weights[i] <= 0.0:
            return -1, C
        if setting.uses_weight:
            C *= targets.weights[i]
    return targets.labels[begin], C


@inlined()
def _can_grow(lane: Any, n: int) -> bool:
    """Return True if `n` new features can get weights, in pages that are wide enough."""
    if lane.in_order:
        return True
    stride, first = lane.store.stride, lane.store.used[1]
    if not has_room(lane.store, n, n):
        return False
    return stride[(first + 1) >> PAGE_BITS] >= lane.k and stride[(first + n) >> PAGE_BITS] >= lane.k


@inlined()
def _fetch_values(rows: Any, i: int) -> None:
    """Ask for the values and columns of rows to come."""
    begin, n, data, indices = rows.indptr[i], rows.indptr[i + 1] - rows.indptr[i], rows.data, rows.indices
    fetch(data.ctypes.data + begin * data.itemsize + AHEAD, n * data.itemsize)
    fetch(indices.ctypes.data + begin * indices.itemsize + AHEAD, n * indices.itemsize)


@inlined()
def _address(lane: Any, slot: Any) -> Any:
    """Where the weights of a slot begin."""
    store, page, place = lane.store, slot >> PLACE, np.int64(slot & WITHIN)
    if lane.uniform:
        return store.address[page] + (place << lane.shift)
    return store.address[page] + place * store.stride[page] * store.like.itemsize


@inlined()
def _find(lane: Any, columns: Any, past: int, n: int, at: Any) -> bool:
    """Where the weights of features columns[j] + past lie; False if a page is too narrow for all labels.

    Features without weights are in slot 0, which is reserved and always zero.
    """
    slots, address, stride, narrow = lane.store.slots, lane.store.address, lane.store.stride, False
    if lane.in_order:
        for j in range(n):
            at[j] = address[0] + ((np.int64(columns[j]) + past + 1) << lane.shift)
    elif lane.uniform:
        for j in range(n):
            slot = np.uint64(slots[np.uint32(columns[j] + past)])
            at[j] = address[slot >> PLACE] + (np.int64(slot & WITHIN) << lane.shift)
    else:
        for j in range(n):
            slot = np.uint64(slots[np.uint32(columns[j] + past)])
            narrow = narrow or stride[slot >> PLACE] < lane.k
            at[j] = _address(lane, slot)
    return not narrow


@inlined()
def _find_next(lane: Any, rows: Any, i: int, at: Any) -> None:
    """The same for row `i` before it is read, with the constant feature last."""
    begin, m = rows.indptr[i], rows.indptr[i + 1] - rows.indptr[i]
    columns = segment(rows.indices.ctypes.data + begin * rows.indices.itemsize, m, rows.indices)
    _find(lane, columns, 1, m, at)
    at[m] = _address(lane, np.uint64(lane.store.slots[0]))


@inlined()
def _count(pair: Any, k: int, ledger: Any, work: Any) -> int:
    """Count the prediction's lead; return the right label's rank."""
    gap, rank = pair.right - pair.best, 1
    if gap > 0.0:
        note_lead(ledger.leads, gap, True)
    else:
        s, right, second = work.s, work.s[pair.y], work.s[pair.y]
        for r in range(k):  # `rank_of_best` and `runner_up` in one pass: the best label is known already
            rank += s[r] >= right and r != pair.y
            if r != pair.rival:
                second = max(second, s[r])
        note_lead(ledger.leads, pair.best - np.float64(second), gap == 0.0 and pair.y < pair.rival)
    note_middle(ledger.sums, 0.5 * (pair.right + pair.best))
    return rank


@inlined()
def _step(setting: Any, C: float, q: float, pair: Any, k: int, work: Any) -> tuple[float, float]:
    """Return Σλ and what the dual subtracts; net coefficients go to labels[STEPS] unless the rule moves one pair."""
    rule, margin = setting.words, setting.margin
    if rule.combine == ONE:
        total = alone(rule.length, pair.right - pair.best, 2.0 * q, margin, C)
        return total, softening(rule.length, total, C)
    scores, steps, gaps = work.labels[SCORES, :k], work.labels[STEPS, :k], work.labels[GAPS, :k]
    if rule.combine == JOINT:
        for r in range(k):
            scores[r], steps[r] = work.s[r], 0.0
        ranking = Ranking(scores, work.y, work.is_right[:k], 0, pair.rival)
        return by_joint_step(setting, C, ranking, q, work.labels[SPARE, :k], steps), 0.0
    margins, norms = work.labels[MARGINS, :k], work.labels[NORMS, :k]
    for r in range(k):
        gaps[r], margins[r], norms[r] = pair.right - np.float64(work.s[r]), margin, 2.0 * q
    return by_share(rule, pair.y, gaps, margins, norms, C, steps)


@inlined()
def _measure(rule: Any, total: float, q: float, pair: Any, k: int, work: Any) -> tuple[float, float]:
    """Inner product of the weights and the move, and the move's squared length; net coefficients go to `work.g`."""
    inner, sq_move, g = 0.0, 0.0, work.g
    if rule.combine == ONE:
        inner = total * pair.right - total * pair.best
        sq_move = q * np.float64(g.dtype.type(total)) ** 2
        return inner, sq_move + sq_move
    steps = work.labels[STEPS]
    for r in range(k):
        inner += steps[r] * np.float64(work.s[r])
        g[r] = steps[r]
        sq_move += q * np.float64(g[r]) ** 2
    return inner, sq_move


@inlined()
def _claim_new(lane: Any, f: Any, n: int, at: Any) -> None:
    """Give weights to the features of a row that have none."""
    store, nowhere, unknown = lane.store, lane.store.address[0], 0
    for j in range(n):
        unknown += at[j] == nowhere
    if unknown > 0:
        for j in range(n):
            if store.slots[f[j]] == 0:
                at[j] = _address(lane, np.uint64(claim(store, f[j], 0)))


@inlined()
def _lend_work(work: Any) -> Any:
    return Work(
        borrowed(work.f),
        borrowed(work.v),
        borrowed(work.places),
        borrowed(work.s),
        borrowed(work.g),
        borrowed(work.labels),
        borrowed(work.is_right),
        borrowed(work.y),
    )


@inlined()
def _lane(store: Any, k: int) -> Any:
    """The weights as this loop reads them; arrays lose their reference counts, so their owner must stay."""
    used, padded, shift = store.used, 8, 0
    while padded < k:
        padded *= 2
    while 1 << shift < used[2] * store.like.itemsize:
        shift += 1
    uniform = used[2] == used[3] and used[2] >= k
    return Lane(lend_store(store), k, padded, uniform, shift, uniform and used[4] > 0)


@internal()
def fast_forward(
    rows: Any, targets: Any, setting: Any, scaling: Any, store: Any, book: Any, longest: int, cursor: Any
) -> None:
    """Learn rows from `cursor[NEXT]` to `cursor[UNTIL]` while they are of the common kind; move `cursor[NEXT]` on."""
    dtype = store.like.dtype
    work = Work(
        np.empty(longest + 1, np.uint32),
        np.empty(longest + 1, rows.data.dtype),
        np.empty((2, longest + 1), np.int64),
        np.zeros(SEGMENT, dtype),
        np.zeros(SEGMENT, dtype),
        np.zeros((6, SEGMENT)),
        np.zeros(SEGMENT, np.bool_),
        np.zeros(1, np.int64),
    )
    _rounds(rows, targets, setting, scaling, store, book, work, cursor)


@internal(error_model="numpy")
def _rounds(rows: Any, targets: Any, setting: Any, scaling: Any, store: Any, book: Any, work: Any, cursor: Any) -> None:
    """The loop, on arrays that their owners keep: without reference counts, small functions cost nothing."""
    rows, targets, scaling, book = lend_rows(rows), lend_targets(targets), lend_scaling(scaling), lend_book(book)
    work = _lend_work(work)
    lane, counts = _lane(store, book.ledger.counts[LABELS]), book.ledger.counts
    f, v, s = work.f, work.v, work.s
    i, until, turn, found = cursor[NEXT], min(rows.indptr.shape[0] - 1, cursor[UNTIL]), 0, False
    while i < until:
        y, C = _usual(targets, setting, i, lane.k)
        length = rows.indptr[i + 1] - rows.indptr[i]
        if y < 0 or not _can_grow(lane, length + 1):
            break
        # ---- read
        _fetch_values(rows, i)
        n, q = read_here(rows, i, scaling, counts[LEARNT], f, v)
        found = found and n == length + (scaling.bias != 0.0)  # the row before looked for zeros too
        turn ^= found
        at, ahead = work.places[turn], work.places[1 - turn]
        if not found and not _find(lane, f, 0, n, at):
            break
        # ---- score
        sum_rows(at, v, n, lane.padded, s)
        # ---- count
        work.y[0], work.is_right[y] = y, True
        best, rival = rival_of(s, lane.padded, lane.k, y)
        rival = min(lane.k - 1, rival)  # where all overflowed there is none
        pair = Pair(y, rival, np.float64(s[y]), np.float64(best))
        rank = _count(pair, lane.k, book.ledger, work)
        gap = pair.right - pair.best
        flag = 0 if gap > 0.0 else 1
        book.told.flags[i], book.told.ranks[i], book.told.losses[i] = flag, rank, max(0.0, setting.margin - gap)
        # ---- step
        found = False
        if gap < setting.margin:
            total, penalty = _step(setting, C, q, pair, lane.k, work)
            if total > 0.0:
                # ---- move
                inner, sq_move = _measure(setting.words, total, q, pair, lane.k, work)
                note_move(book.ledger, total * setting.margin, penalty, inner, sq_move)
                _claim_new(lane, f, n, at)
                if lane.uniform and i + 1 < until:  # find the next row's weights already, for the move to ask for
                    _find_next(lane, rows, i + 1, ahead)
                    found = True
                if setting.words.combine == ONE:
                    move_pair(at, v, n, lane.padded, y, rival, s.dtype.type(total), ahead, s)
                else:
                    move_rows(at, v, n, lane.padded, work.g, ahead)
        # ---- note
        work.is_right[y] = False
        note_round(counts, flag, True)
        if scaling.counts:
            count_features(scaling, f, n)
        i += 1
    cursor[NEXT] = i
