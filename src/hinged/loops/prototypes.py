"""The commonest rounds at full speed: one known right label, a vector per label, at most 64 labels, no average.

`learn` hands such rounds to `fast_forward` and takes back the first that is not of this kind (a new label, a label set,
a store that must grow). The six functions of a round are the same or give the same bits; weights are found once for
scoring and moving, and kept in vector registers. Measured on 50,000 rows of 64 non-zeros and 50 labels: about a quarter
of the general loop's time, half of it spent on fetching weights.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats, Int32s, Ints, Uint32s
from hinged.loops.ledger import LABELS, LEARNT, Book, note_lead, note_middle, note_move, note_round
from hinged.loops.pages import PAGE, PAGE_BITS, SEGMENT, Store, claim
from hinged.loops.round import NEXT, UNTIL
from hinged.loops.rows import Rows, Scaling, Targets, enter_row, read_here
from hinged.loops.steps import Ranking, Setting, by_joint_step, by_share
from hinged.loops.weight_rows import move_pair, move_rows
from hinged.native import borrowed, fetch, rival_of, segment, sum_rows
from hinged.rules.length import alone, softening
from hinged.rules.words import is_joint, is_one

__all__ = [
    "Lane",
    "Pair",
    "Work",
    "can_grow",
    "count_lead",
    "fast_forward",
    "fetch_values",
    "new_lane",
    "new_work",
    "some_are_new",
    "take_step",
    "usual_label",
]


AHEAD = 3072  # bytes of the rows to come that are asked for early: short rows end before a processor sees a pattern
PLACE, WITHIN = np.uint64(PAGE_BITS), np.uint64(PAGE - 1)


class Lane(NamedTuple):
    """How the weights of at most 64 labels lie in memory. With one segment, a slot is its block.

    Numbers alone: a tuple of arrays that is handed to a function in every round costs more than the function.
    """

    k: int  # labels
    padded: int  # columns that are read of each feature: 8, 16, 32 or 64
    uniform: bool  # all pages are equally wide, and wide enough
    shift: int  # then a feature's weights take 2^shift bytes, for each expert
    in_order: bool  # features have blocks 1, 2, 3 ..., one after the other in memory
    itemsize: int
    n_slots: int  # there is room for fewer than these
    n_blocks: int


class Work(NamedTuple):
    """Scratch arrays."""

    f: np.ndarray  # uint32: the row's features ...
    v: np.ndarray  # ... and values
    places: np.ndarray  # int64 (2 for each expert, longest row): where weights of this row and of the next lie, in turn
    s: np.ndarray  # scores, of the weights' type, 64 for each expert, as are ...
    g: np.ndarray  # ... net coefficients
    labels: np.ndarray  # float64 (7, labels): SCORES ...
    is_right: np.ndarray  # bool (labels,); all False between rounds
    y: np.ndarray  # int64 (1,): the right label


SCORES, STEPS, GAPS, MARGINS, NORMS, SPARE, COMMON = range(7)


class Pair(NamedTuple):
    """The right label and its highest rival, with their scores."""

    y: int
    rival: int
    right: float
    best: float


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
def count_lead(pair: Pair, k: int, s: Floats, leads: Floats) -> int:
    """Count the prediction's lead; return the right label's rank."""
    gap, rank = pair.right - pair.best, 1
    if gap > 0.0:
        note_lead(leads, gap, True)
    else:
        right, second = s[pair.y], s[pair.y]
        for r in range(k):  # `rank_of_best` and `runner_up` in one pass: the best label is known already
            rank += s[r] >= right and r != pair.y
            if r != pair.rival:
                second = max(second, s[r])
        note_lead(leads, pair.best - np.float64(second), gap == 0.0 and pair.y < pair.rival)
    return rank


@compiled(inline=True)
def _step(setting: Setting, C: float, q: float, pair: Pair, k: int, work: Work) -> tuple[float, float]:
    """Fill labels[STEPS] with the net coefficients of a rule that moves several pairs.

    Return Σλ, and what the dual subtracts for the steps.
    """
    rule, margin = setting.words, setting.margin
    scores, steps, gaps = work.labels[SCORES, :k], work.labels[STEPS, :k], work.labels[GAPS, :k]
    if is_joint(rule):
        for r in range(k):
            scores[r], steps[r] = work.s[r], 0.0
        work.y[0], work.is_right[pair.y] = pair.y, True
        ranking = Ranking(scores, work.y, work.is_right[:k], 0, pair.rival)
        total = by_joint_step(setting, C, ranking, q, work.labels[SPARE, :k], steps)
        work.is_right[pair.y] = False
        return total, 0.0
    margins, norms = work.labels[MARGINS, :k], work.labels[NORMS, :k]
    for r in range(k):
        gaps[r], margins[r], norms[r] = pair.right - np.float64(work.s[r]), margin, 2.0 * q
    return by_share(rule, pair.y, gaps, margins, norms, C, steps)


@compiled(inline=True)
def _measure(q: float, k: int, s: Floats, steps: Floats, g: Floats) -> tuple[float, float]:
    """Round net coefficients to the weights' type, into `g`; return ⟨weights, move⟩ and the move's squared length."""
    inner, sq_move = 0.0, 0.0
    for r in range(k):
        inner += steps[r] * np.float64(s[r])
        g[r] = steps[r]
        sq_move += q * np.float64(g[r]) ** 2
    return inner, sq_move


@compiled(inline=True)
def take_step(
    setting: Setting, C: float, q: float, pair: Pair, k: int, work: Work
) -> tuple[float, float, float, float]:
    """Let the rule choose its step; a rule that moves several pairs fills `work.g`.

    Return Σλ, what the dual subtracts for the steps, ⟨weights, move⟩ and the move's squared length.
    """
    rule, margin, gap, total = setting.words, setting.margin, pair.right - pair.best, 0.0
    penalty, inner, sq_move = 0.0, 0.0, 0.0
    if gap < margin and is_one(rule):
        total = alone(rule.length, gap, 2.0 * q, margin, C)
        penalty = softening(rule.length, total, C)
        inner = total * pair.right - total * pair.best
        sq_move = 2.0 * (q * np.float64(work.s.dtype.type(total)) ** 2)
    elif gap < margin:
        total, penalty = _step(setting, C, q, pair, k, work)
        inner, sq_move = _measure(q, k, work.s, work.labels[STEPS], work.g)
    return total, penalty, inner, sq_move


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


@compiled(inline=True)
def new_work(rows: Rows, store: Store, longest: int) -> Work:
    """Scratch arrays for rows of at most `longest` values."""
    dtype, each = store.like.dtype, store.each
    return Work(
        np.empty(longest + 1, np.uint32),
        np.empty(longest + 1, rows.data.dtype),
        np.empty((2 * each, longest + 1), np.int64),
        np.zeros(each * SEGMENT, dtype),
        np.zeros(each * SEGMENT, dtype),
        np.zeros((7, SEGMENT)),
        np.zeros(SEGMENT, np.bool_),
        np.zeros(1, np.int64),
    )


@compiled(helper=True)
def fast_forward(
    rows: Rows,
    targets: Targets,
    setting: Setting,
    scaling: Scaling,
    store: Store,
    book: Book,
    longest: int,
    cursor: Ints,
) -> None:
    """Learn rows from `cursor[NEXT]` to `cursor[UNTIL]` while they are of the common kind; move `cursor[NEXT]` on."""
    _rounds(rows, targets, setting, scaling, store, book, new_work(rows, store, longest), cursor)


@compiled(helper=True, error_model="numpy")
def _rounds(
    rows: Rows, targets: Targets, setting: Setting, scaling: Scaling, store: Store, book: Book, work: Work, cursor: Ints
) -> None:
    """The loop, on arrays that their owners keep: without reference counts, small functions cost little."""
    rows, targets, scaling, store, book, work = borrowed((rows, targets, scaling, store, book, work))
    ledger, told = book.ledger, book.told
    lane, counts, sums, leads = new_lane(store, ledger.counts[LABELS]), ledger.counts, ledger.sums, ledger.leads
    f, v, s, g, places, rule, margin = work.f, work.v, work.s, work.g, work.places, setting.words, setting.margin
    slots, address, stride, used = store.slots, store.address, store.stride, store.used
    i, until, turn, found = cursor[NEXT], min(rows.indptr.shape[0] - 1, cursor[UNTIL]), 0, False
    while i < until:
        y, weight = usual_label(targets, setting, i, lane.k)
        length = rows.indptr[i + 1] - rows.indptr[i]
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
        best, rival = rival_of(s, lane.padded, lane.k, y)
        pair = Pair(y, min(lane.k - 1, rival), np.float64(s[y]), np.float64(best))  # all may have overflowed
        gap = pair.right - pair.best
        flag = 0 if gap > 0.0 else 1
        told.flags[i], told.ranks[i], told.losses[i] = flag, count_lead(pair, lane.k, s, leads), max(0.0, margin - gap)
        note_middle(sums, 0.5 * (pair.right + pair.best))
        # ---- step
        total, penalty, inner, sq_move = take_step(setting, setting.C * weight, q, pair, lane.k, work)
        found = False
        # ---- move
        if total > 0.0:
            note_move(ledger, total * margin, penalty, inner, sq_move)
            if some_are_new(address, n, at):
                _claim_new(lane, store, f, n, at)
            if lane.uniform and i + 1 < until:  # find the next row's weights already, for the move to ask for
                _find_next(lane, slots, address, rows, i + 1, ahead)
                found = True
            if is_one(rule):
                move_pair(at, v, n, lane.padded, y, pair.rival, s.dtype.type(total), ahead, s)
            else:
                move_rows(at, v, n, lane.padded, g, ahead)
        # ---- note
        note_round(counts, flag, True)
        enter_row(scaling, rows, i)
        i += 1
    cursor[NEXT] = i
