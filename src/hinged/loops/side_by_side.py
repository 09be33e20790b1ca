"""The commonest rounds of several experts at full speed: those that prototypes.py learns for one.

A row is read, scaled and looked up once; scores, steps and moves are those of prototypes.py, for one expert after the
other. Results have the bits of the general loop.
"""

from __future__ import annotations

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Int32s, Ints, Uint32s
from hinged.loops.experts import (
    GAINED,
    INNER,
    MISTAKE,
    SOFTENED,
    SQ_MOVE,
    common_scores,
    move_late,
    note_steps,
)
from hinged.loops.ledger import LABELS, LEARNT, Book, note_middle, note_move, note_round
from hinged.loops.lessons import Targets
from hinged.loops.metric import direction, tighten
from hinged.loops.pages import SEGMENT, Store, claim
from hinged.loops.prototypes import (
    PLACE,
    WITHIN,
    can_grow,
    count_lead,
    fetch_values,
    new_lane,
    some_are_new,
    usual_label,
)
from hinged.loops.quick_steps import COMMON, Kept, Lane, Pair, Work, find_pair, new_work, take_step
from hinged.loops.round import NEXT, UNTIL
from hinged.loops.rows import Rows, enter_row, keeps_columns, longest_read, read_here
from hinged.loops.shares import mass
from hinged.loops.steps import Setting
from hinged.loops.weight_rows import move_pair
from hinged.native import add_rows, borrowed, segment, sum_rows
from hinged.rules.words import is_one

__all__ = ["forward_side_by_side"]


@compiled(inline=True)
def _find(lane: Lane, store: Store, columns: Int32s | Uint32s, past: int, n: int, at: Ints) -> bool:
    """Where the weights of features columns[j] + past lie for each expert; False if a page is too narrow.

    Features without weights are in slot 0, which is reserved and always zero.
    """
    slots, address, stride, each, narrow = store.slots, store.address, store.stride, store.each, False
    if lane.in_order:
        for e in range(each):
            own = at[e]
            for j in range(n):
                own[j] = address[0] + (((np.int64(columns[j]) + past + 1) * each + e) << lane.shift)
    else:
        for j in range(n):
            slot = np.uint64(slots[np.uint32(columns[j] + past)])
            page = slot >> PLACE
            narrow = narrow or stride[page] < lane.k
            size = stride[page] * lane.itemsize
            begin = address[page] + np.int64(slot & WITHIN) * each * size
            for e in range(each):
                at[e, j] = begin + e * size
    return not narrow


@compiled(inline=True)
def _find_next(lane: Lane, store: Store, rows: Rows, i: int, at: Ints) -> None:
    """The same for row `i` before it is read, with the constant feature last."""
    begin, m = rows.indptr[i], rows.indptr[i + 1] - rows.indptr[i]
    columns = segment(rows.indices.ctypes.data + begin * rows.indices.itemsize, m, rows.indices)
    _find(lane, store, columns, 1, m, at)
    slot = np.uint64(store.slots[0])
    first = store.address[slot >> PLACE] + ((np.int64(slot & WITHIN) * store.each) << lane.shift)
    for e in range(store.each):
        at[e, m] = first + (e << lane.shift)


@compiled(inline=True)
def _claim_new(lane: Lane, store: Store, f: Uint32s, n: int, at: Ints) -> None:
    """Give weights to the features of a row that have none."""
    if some_are_new(store.address, n, at[0]):
        for j in range(n):
            if store.slots[f[j]] == 0:
                claim(store, f[j], 0)
        _find(lane, store, f, 0, n, at)


@compiled(inline=True)
def _move(setting: Setting, lane: Lane, pair: Pair, total: float, work: Work, n: int, at: Ints, ahead: Ints) -> None:
    """Move the weights at these addresses: one pair by `total`, or all labels by `work.g`."""
    if is_one(setting.words):
        move_pair(at, work.d, n, lane.padded, pair.y, pair.rival, work.s.dtype.type(total), ahead, work.s)
    else:
        add_rows(at, work.d, n, lane.padded, work.g, ahead)


@compiled
def forward_side_by_side(
    rows: Rows, targets: Targets, setting: Setting, memory: Kept, book: Book, longest: int, cursor: Ints
) -> None:
    """Learn rows from `cursor[NEXT]` to `cursor[UNTIL]` while they are of the common kind; move `cursor[NEXT]` on."""
    _rounds(rows, targets, setting, memory, book, new_work(rows, memory, longest), cursor)


@compiled(helper=True, error_model="numpy")
def _rounds(rows: Rows, targets: Targets, setting: Setting, memory: Kept, book: Book, work: Work, cursor: Ints) -> None:
    """The loop, on arrays that their owners keep: without reference counts, small functions cost little."""
    rows, targets, memory, book, work = borrowed((rows, targets, memory, book, work))
    store, experts, scaling, ledger, told = memory.weights, memory.experts, memory.scaling, book.ledger, book.told
    lane, counts, each = new_lane(store, ledger.counts[LABELS]), ledger.counts, store.each
    f, v, d, common, learners = work.f, work.v, work.d, work.labels[COMMON], experts.caps.shape[0]
    metric = memory.metric
    i, until, turn, found = cursor[NEXT], min(rows.indptr.shape[0] - 1, cursor[UNTIL]), 0, False
    plain = keeps_columns(scaling)
    while i < until:
        y, weight = usual_label(targets, setting, i, lane.k)
        length, age = longest_read(scaling, rows.indptr[i + 1] - rows.indptr[i]), counts[LEARNT]
        if y < 0 or not can_grow(lane, store.used, store.stride, length + 1):
            break
        # ---- read
        fetch_values(rows, i)
        n, q = read_here(rows, i, scaling, age, f, v)
        found = found and n == length + (scaling.bias != 0.0)  # the row before looked for zeros too
        turn ^= found
        at, ahead = work.places[turn * each : turn * each + each], work.places[each - turn * each :]
        if not found and not _find(lane, store, f, 0, n, at):
            break
        # ---- score
        for e in range(each):
            sum_rows(at[e], v, n, lane.padded, work.s[e * SEGMENT :])
        common_scores(experts, age, work.s, common[: lane.k])
        # ---- count
        pair = find_pair(common, lane, y)
        gap = pair.right - pair.best
        flag = 0 if gap > 0.0 else 1
        told.flags[i], told.ranks[i] = flag, count_lead(pair, lane.k, common, ledger)
        told.losses[i] = max(0.0, setting.margin - gap)
        note_middle(ledger.sums, 0.5 * (pair.right + pair.best))
        # ---- step and move, one expert after the other
        moved, found = False, False
        q = direction(metric, age, f, v, n, q, d)
        for e in range(each):
            s, g, now = work.s[e * SEGMENT :], work.g[e * SEGMENT :], experts.round[e]
            own = find_pair(s, lane, y)
            now[MISTAKE] = 0.0 if own.right - own.best > 0.0 else 1.0
            if e == learners:
                break
            alone = Work(f, v, d, at, s, g, work.labels)
            total, penalty, inner, sq_move = take_step(setting, experts.caps[e] * weight, q, own, lane, alone)
            now[GAINED], now[SOFTENED], now[INNER], now[SQ_MOVE] = total * setting.margin, penalty, inner, sq_move
            if total > 0.0:
                if not moved:
                    _claim_new(lane, store, f, n, at)
                    found = lane.uniform and i + 1 < until and plain
                if found and not moved:  # find the next row's weights already, for the moves to ask for
                    _find_next(lane, store, rows, i + 1, ahead)
                _move(setting, lane, own, total, alone, n, at[e], ahead[e])
                if e + 1 == learners < each:
                    move_late(experts, float(age), lane.k, work.g)
                    late = Work(f, v, d, at, s, work.g[learners * SEGMENT :], work.labels)
                    aged = mass(experts.growth, float(age)) * np.float64(s.dtype.type(total))
                    _move(setting, lane, own, aged, late, n, at[learners], ahead[learners])
                moved = True
        if moved:
            tighten(metric, age, f, v, n)
            note_move(ledger, 0.0, 0.0, 0.0, 0.0)  # experts have certificates of their own
        # ---- note
        note_steps(experts, True)
        note_round(counts, flag, True)
        enter_row(scaling, rows, i, age)
        i += 1
    cursor[NEXT] = i
