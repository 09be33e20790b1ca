"""The commonest rounds at full speed: one known right label, a vector per label, at most 64 labels, no average.

`fast_forward` stops at the first row that is not of this kind (a new label, a label set, a store that must grow), and
the general loop goes on. The six functions of a round are the same or give the same bits; weights are found once for
scoring and moving, and kept in vector registers. Measured on 50,000 rows of 64 non-zeros and 50 labels: about a quarter
of the general loop's time, half of it spent on fetching weights.
"""

from __future__ import annotations

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats, Int32s, Ints, Uint32s
from hinged.loops.confidence import learn_lead
from hinged.loops.ledger import LABELS, LEARNT, Book, Ledger, note_middle, note_move, note_round
from hinged.loops.lessons import Targets
from hinged.loops.metric import direction, tighten
from hinged.loops.pages import PAGE, PAGE_BITS, Store, claim
from hinged.loops.quick_steps import Kept, Lane, Pair, Work, find_pair, new_work, take_step
from hinged.loops.round import NEXT, UNTIL
from hinged.loops.rows import Rows, enter_row, keeps_columns, longest_read, read_here
from hinged.loops.steps import Setting
from hinged.loops.weight_rows import move_pair
from hinged.native import add_rows, borrowed, fetch, segment, sum_rows
from hinged.rules.words import is_one

__all__ = ["can_grow", "count_lead", "fast_forward", "fetch_values", "new_lane", "some_are_new", "usual_label"]

AHEAD = 3072  # bytes of the rows to come that are asked for early: short rows end before a processor sees a pattern
PLACE, WITHIN = np.uint64(PAGE_BITS), np.uint64(PAGE - 1)


@compiled(inline=True)
def usual_label(targets: Targets, setting: Setting, i: int, k: int) -> tuple[int, float]:
    """The right label of row `i` and what its cap on steps is multiplied by; -1 if it is not of the common kind."""
    begin, weight = targets.indptr[i], 1.0
    if targets.indptr[i + 1] - begin != 1 or not 0 <= targets.labels[begin] < k:
        return -1, weight
    if targets.weights.shape[0] > 0:
        if targets.weights[i] <= 0.0:
            return -1, weight
        if setting.uses_weight:
            weight = targets.weights[i]
    return targets.labels[begin], weight


@compiled(inline=True)
def can_grow(lane: Lane, used: Ints, stride: Ints, n: int) -> bool:
    """Return True if `n` new features can get weights, in pages that are wide enough."""
    first = used[1]
    return lane.in_order or (
        used[0] + n < lane.n_slots
        and first + n < lane.n_blocks
        and stride[(first + 1) >> PAGE_BITS] >= lane.k
        and stride[(first + n) >> PAGE_BITS] >= lane.k
    )


@compiled(inline=True)
def fetch_values(rows: Rows, i: int) -> None:
    """Ask for the values and columns of rows to come."""
    begin, n, data, indices = rows.indptr[i], rows.indptr[i + 1] - rows.indptr[i], rows.data, rows.indices
    fetch(data.ctypes.data + begin * data.itemsize + AHEAD, n * data.itemsize)
    fetch(indices.ctypes.data + begin * indices.itemsize + AHEAD, n * indices.itemsize)


@compiled(inline=True)
def _address(lane: Lane, address: Ints, stride: Ints, slot: np.uint64) -> int:
    """Where the weights of a slot begin."""
    page, place = slot >> PLACE, np.int64(slot & WITHIN)
    if lane.uniform:
        return address[page] + (place << lane.shift)
    return address[page] + place * stride[page] * lane.itemsize


@compiled(inline=True)
def _find(lane: Lane, slots: Uint32s, address: Ints, columns: Int32s | Uint32s, past: int, n: int, at: Ints) -> None:
    """Where the weights of features columns[j] + past lie, where all pages are equally wide.

    Features without weights are in slot 0, which is reserved and always zero.
    """
    if lane.in_order:
        for j in range(n):
            at[j] = address[0] + ((np.int64(columns[j]) + past + 1) << lane.shift)
    else:
        for j in range(n):
            slot = np.uint64(slots[np.uint32(columns[j] + past)])
            at[j] = address[slot >> PLACE] + (np.int64(slot & WITHIN) << lane.shift)


@compiled(inline=True)
def _find_in_pages(
    lane: Lane, slots: Uint32s, address: Ints, stride: Ints, f: Int32s | Uint32s, n: int, at: Ints
) -> bool:
    """The same where pages differ; False if one is too narrow for all labels."""
    narrow = False
    for j in range(n):
        slot = np.uint64(slots[f[j]])
        narrow = narrow or stride[slot >> PLACE] < lane.k
        at[j] = _address(lane, address, stride, slot)
    return not narrow


@compiled(inline=True)
def _find_next(lane: Lane, slots: Uint32s, address: Ints, rows: Rows, i: int, at: Ints) -> None:
    """The same for row `i` before it is read, with the constant feature last."""
    begin, m = rows.indptr[i], rows.indptr[i + 1] - rows.indptr[i]
    columns = segment(rows.indices.ctypes.data + begin * rows.indices.itemsize, m, rows.indices)
    _find(lane, slots, address, columns, 1, m, at)
    slot = np.uint64(slots[0])
    at[m] = address[slot >> PLACE] + (np.int64(slot & WITHIN) << lane.shift)


@compiled(inline=True)
def count_lead(pair: Pair, k: int, s: Floats, ledger: Ledger) -> int:
    """Learn from the prediction's lead; return the right label's rank."""
    lead, first, rank = pair.right - pair.best, pair.y, 1
    if not lead > 0.0:
        right, second = s[pair.y], s[pair.y]
        for r in range(k):  # `rank_of_best` and `runner_up` in one pass: the best label is known already
            rank += s[r] >= right and r != pair.y
            if r != pair.rival:
                second = max(second, s[r])
        first = pair.y if lead == 0.0 and pair.y < pair.rival else pair.rival
        lead = pair.best - np.float64(second)
    learn_lead(ledger.odds, ledger.records, lead, first, first == pair.y)
    return rank


@compiled(inline=True)
def some_are_new(address: Ints, n: int, at: Ints) -> bool:
    """Return True if some features of a row have no weights."""
    new = 0
    for j in range(n):
        new += at[j] == address[0]
    return new > 0


@compiled(inline=True)
def _claim_new(lane: Lane, store: Store, f: Uint32s, n: int, at: Ints) -> None:
    """Give weights to the features of a row that have none."""
    slots, address, stride = store.slots, store.address, store.stride
    for j in range(n):
        if slots[f[j]] == 0:
            at[j] = _address(lane, address, stride, np.uint64(claim(store, f[j], 0)))


@compiled(inline=True)
def new_lane(store: Store, k: int) -> Lane:
    """How this store's weights lie in memory."""
    used, padded, shift, itemsize = store.used, 8, 0, store.like.itemsize
    while padded < k:
        padded *= 2
    while 1 << shift < used[2] * itemsize:
        shift += 1
    uniform = used[2] == used[3] and used[2] >= k
    n_slots, n_blocks = store.table.shape[0], store.address.shape[0] << PAGE_BITS
    return Lane(k, padded, uniform, shift, uniform and used[4] > 0, itemsize, n_slots, n_blocks)


@compiled
def fast_forward(
    rows: Rows,
    targets: Targets,
    setting: Setting,
    memory: Kept,
    book: Book,
    longest: int,
    cursor: Ints,
) -> None:
    """Learn rows from `cursor[NEXT]` to `cursor[UNTIL]` while they are of the common kind; move `cursor[NEXT]` on."""
    _rounds(rows, targets, setting, memory, book, new_work(rows, memory, longest), cursor)


@compiled(helper=True, error_model="numpy")
def _rounds(rows: Rows, targets: Targets, setting: Setting, memory: Kept, book: Book, work: Work, cursor: Ints) -> None:
    """The loop, on arrays that their owners keep: without reference counts, small functions cost little."""
    rows, targets, memory, book, work = borrowed((rows, targets, memory, book, work))
    store, scaling, metric, ledger, told = memory.weights, memory.scaling, memory.metric, book.ledger, book.told
    lane, counts, sums = new_lane(store, ledger.counts[LABELS]), ledger.counts, ledger.sums
    f, v, d, s, g, places = work.f, work.v, work.d, work.s, work.g, work.places
    rule, margin = setting.words, setting.margin
    slots, address, stride, used = store.slots, store.address, store.stride, store.used
    i, until, turn, found = cursor[NEXT], min(rows.indptr.shape[0] - 1, cursor[UNTIL]), 0, False
    plain = keeps_columns(scaling)
    while i < until:
        y, weight = usual_label(targets, setting, i, lane.k)
        length = longest_read(scaling, rows.indptr[i + 1] - rows.indptr[i])
        if y < 0 or not can_grow(lane, used, stride, length + 1):
            break
        # ---- read
        fetch_values(rows, i)
        n, q = read_here(rows, i, scaling, counts[LEARNT], f, v)
        found = found and n == length + (scaling.bias != 0.0)  # the row before looked for zeros too
        turn ^= found
        at, ahead = places[turn], places[1 - turn]
        if lane.uniform and not found:
            _find(lane, slots, address, f, 0, n, at)
        elif not lane.uniform and not _find_in_pages(lane, slots, address, stride, f, n, at):
            break
        # ---- score
        sum_rows(at, v, n, lane.padded, s)
        # ---- count
        pair = find_pair(s, lane, y)
        gap = pair.right - pair.best
        flag = 0 if gap > 0.0 else 1
        told.flags[i], told.ranks[i], told.losses[i] = flag, count_lead(pair, lane.k, s, ledger), max(0.0, margin - gap)
        note_middle(sums, 0.5 * (pair.right + pair.best))
        # ---- step
        if gap < margin:
            q = direction(metric, counts[LEARNT], f, v, n, q, d)
        total, penalty, inner, sq_move = take_step(setting, setting.C * weight, q, pair, lane, work)
        found = False
        # ---- move
        if total > 0.0:
            note_move(ledger, total * margin, penalty, inner, sq_move)
            if some_are_new(address, n, at):
                _claim_new(lane, store, f, n, at)
            if lane.uniform and i + 1 < until and plain:  # find the next row's weights already, for the move to ask for
                _find_next(lane, slots, address, rows, i + 1, ahead)
                found = True
            if is_one(rule):
                move_pair(at, d, n, lane.padded, y, pair.rival, s.dtype.type(total), ahead, s)
            else:
                add_rows(at, d, n, lane.padded, g, ahead)
            tighten(metric, counts[LEARNT], f, v, n)
        # ---- note
        enter_row(scaling, rows, i, counts[LEARNT])
        note_round(counts, flag, True)
        i += 1
    cursor[NEXT] = i
