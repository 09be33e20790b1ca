"""The loop over labelled rows: read, score, count, step, move, note.

It joins a task (right labels above the others), a rule (scores and pair norms in, one net coefficient per label out)
and a sharing scheme (whose weights move). It never allocates weights: where a store is full or a page too narrow it
stops before the round and says so in `cursor`; the caller makes room and calls again. Where `cursor` asks it to stop in
the middle of a long row, it leaves that round undone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Ints
from hinged.loops.columns import NO_ROW_VECTORS, PER_LABEL, Columns, n_columns
from hinged.loops.experts import choose_steps, note_steps
from hinged.loops.ledger import LABELS, LEARNT, Book
from hinged.loops.pages import SEGMENT, Store, has_room, narrow_page
from hinged.loops.prototypes import fast_forward
from hinged.loops.round import (
    BLOCKS,
    DELAY,
    DONE,
    FULL,
    NARROW,
    NEW_LABEL,
    NEXT,
    NO_RIVAL,
    PAGE_TO_WIDEN,
    PREDICTED,
    REASON,
    SLOTS,
    STOP,
    STOPPED,
    UNTIL,
    WHICH,
    Memory,
    Problem,
    Row,
    Verdict,
    Work,
    count,
    current,
    describe,
    mark,
    move,
    new_example,
    new_work,
    note,
    note_prediction,
    read,
    score,
    tell,
)
from hinged.loops.rows import Rows, Targets, enter_row
from hinged.loops.shared import Parts
from hinged.loops.side_by_side import forward_side_by_side
from hinged.loops.steps import Ranking, Setting, Vectors
from hinged.native import borrowed
from hinged.rules.words import is_interior, is_own
from hinged.tasks.labels import find_new

__all__ = ["Targets", "learn"]

WEIGHTS, VECTORS, COUNTS, FIRSTS, SUMS = range(5)


class Lesson(NamedTuple):
    """The answer to a row."""

    relevant: Ints  # the right labels
    weight: float
    is_new: bool  # one of them was not known: there was no prediction to note


@compiled
def learn(
    rows: Rows,
    targets: Targets,
    problem: Problem,
    memory: Memory,
    book: Book,
    longest: int,
    n_labels: int,
    cursor: Ints,
) -> None:
    """Learn rows from `cursor[NEXT]` to `cursor[UNTIL]`, in order, changing memory and book in place.

    `longest` is the largest number of values in a row, `n_labels` how many labels are known after all rows. With a
    delay d, the outcome of a row is fixed when it comes, and the row is learnt d rows later.
    """
    n_rows, delay = rows.indptr.shape[0] - 1, cursor[DELAY]
    until = min(n_rows + delay, cursor[UNTIL])
    quick = delay == 0 and memory.parts is None and _is_plain(problem, memory.columns, memory.weights)
    if quick and 1 < book.ledger.counts[LABELS] <= SEGMENT:
        _forward(memory.parts, rows, targets, problem.setting, memory, book, longest, cursor)
    if cursor[NEXT] == until:
        return
    x = new_example(rows, memory, longest, n_labels, rows.indices.shape[0] + n_rows)
    work = new_work(x, memory.columns.n, n_labels)
    _rounds(rows, targets, problem, memory, book, work, quick, cursor)


@compiled(helper=True)
def _rounds(
    rows: Rows, targets: Targets, problem: Problem, memory: Memory, book: Book, work: Work, quick: bool, cursor: Ints
) -> None:
    """The loop, on arrays that their owners keep: without reference counts, small functions cost nothing."""
    longest, n_rows, delay = work.x.f.shape[0] - 1, rows.indptr.shape[0] - 1, cursor[DELAY]
    rows, targets, problem, memory = borrowed((rows, targets, problem, memory))
    book, work, cursor = borrowed((book, work, cursor))
    until = min(n_rows + delay, cursor[UNTIL])
    while cursor[NEXT] < until:
        t = cursor[NEXT]
        if delay > 0 and cursor[PREDICTED] <= t < n_rows:  # not again where the loop stopped after it to make room
            _predict(rows, targets, t, problem, memory, book, work)
            cursor[PREDICTED] = t + 1
        if t >= delay:
            _learn_row(rows, targets, t - delay, problem, memory, book, work, cursor)
            if cursor[REASON] != DONE:
                return
        cursor[NEXT] = t + 1
        if quick and 1 < book.ledger.counts[LABELS] <= SEGMENT:
            _forward(memory.parts, rows, targets, problem.setting, memory, book, longest, cursor)


@compiled(helper=True)
def _forward(
    parts: Parts | None,
    rows: Rows,
    targets: Targets,
    setting: Setting,
    memory: Memory,
    book: Book,
    longest: int,
    cursor: Ints,
) -> None:
    """Learn rows of the common kind by a quick loop; `parts` stands alone, so that no such loop is made for others."""
    if parts is None:
        if memory.columns.each > 1:
            forward_side_by_side(rows, targets, setting, memory, book, longest, cursor)
        else:
            fast_forward(rows, targets, setting, memory.scaling, memory.weights, book, longest, cursor)


@compiled(helper=True)
def _is_plain(problem: Problem, columns: Columns, weights: Store) -> bool:
    """Return True if the quick loop can learn such rounds: a vector per label, no average, no costs."""
    has_segments = weights.table.shape[1] > 1
    rule = problem.setting.words
    special = problem.costs.rho.shape[0] > 0 or is_interior(rule) or is_own(rule)
    return columns.kind == PER_LABEL and weights.depth == 1 and not has_segments and not special


@compiled(helper=True)
def _predict(rows: Rows, targets: Targets, t: int, problem: Problem, memory: Memory, book: Book, work: Work) -> None:
    """Report the outcome of row `t` by the current weights."""
    counts = book.ledger.counts
    k, learnt = counts[LABELS], counts[LEARNT]
    relevant = targets.labels[targets.indptr[t] : targets.indptr[t + 1]]
    if find_new(relevant, k)[0]:
        tell(book, t, NEW_LABEL)
    elif relevant.shape[0] == 0 or relevant.shape[0] == k:
        tell(book, t, NO_RIVAL)
    else:
        s, never = work.scores[:k], np.zeros(1, np.int64)
        row = read(rows, t, memory, learnt, work.x)
        describe(memory, row, learnt, relevant[0], k, work.x, never)
        score(memory, row, current(memory, learnt), s, work.x)
        mark(work.is_relevant, relevant, True)
        tell(book, t, count(problem.setting, problem.costs, s, relevant, work.is_relevant))
        mark(work.is_relevant, relevant, False)


@compiled(helper=True, forceinline=True)
def _learn_row(
    rows: Rows, targets: Targets, i: int, problem: Problem, memory: Memory, book: Book, work: Work, cursor: Ints
) -> None:
    """Learn row `i` whole, or leave it and say in `cursor` why."""
    counts = book.ledger.counts
    k = counts[LABELS]
    weight = targets.weights[i] if targets.weights.shape[0] > 0 else 1.0
    relevant = targets.labels[targets.indptr[i] : targets.indptr[i + 1]]
    row = read(rows, i, memory, counts[LEARNT], work.x)
    is_new, k_after = find_new(relevant, k)
    if weight > 0.0:
        moves = problem.setting.learns_new or not is_new
        _check_weights(memory, row, n_columns(memory.columns, k_after) if moves else 0, work, cursor)
        _check_parts(memory.parts, row, max(1, relevant.shape[0]), k_after, work, cursor)
        if cursor[REASON] != DONE:
            return
    verdict, is_learnt = NEW_LABEL if is_new else NO_RIVAL, weight > 0.0
    if is_new and is_learnt:
        counts[LABELS] = k_after
    ranked = 0 < relevant.shape[0] < counts[LABELS]
    if ranked and (not is_new or (problem.setting.learns_new and is_learnt)):
        found = _learn_ranking(row, Lesson(relevant, weight, is_new), problem, memory, book, work, cursor)
        if cursor[REASON] != DONE:
            counts[LABELS] = k
            return
        verdict = verdict if is_new else found
    if cursor[DELAY] == 0:
        tell(book, i, verdict)
    if weight > 0.0:
        enter_row(memory.scaling, rows, i)
    note(memory, row, relevant, book.told.flags[i], weight, counts, work)


@compiled(helper=True, forceinline=True)
def _learn_ranking(
    row: Row, lesson: Lesson, problem: Problem, memory: Memory, book: Book, work: Work, cursor: Ints
) -> Verdict:
    """Score, count, step and move for a row with right labels and wrong ones; return its verdict."""
    setting, ledger, stop, relevant, weight = (
        problem.setting,
        book.ledger,
        cursor[STOP:],
        lesson.relevant,
        lesson.weight,
    )
    k = ledger.counts[LABELS]
    s = work.scores[:k]
    describe(memory, row, ledger.counts[LEARNT], relevant[0], k, work.x, stop)
    base = score(memory, row, current(memory, ledger.counts[LEARNT]), s, work.x)
    mark(work.is_relevant, relevant, True)
    verdict = count(setting, problem.costs, s, relevant, work.is_relevant)
    if weight > 0.0:
        ranking = Ranking(s, relevant, work.is_relevant[:k], verdict.low, verdict.rival)
        vectors = Vectors(memory.columns, row.q, work.x.phi[:, : row.m, :k], setting.least_norm)
        step = choose_steps(problem, memory.experts, weight, ranking, vectors, work, book.notes, stop)
    if stop[0] != 0:  # what was computed is of no use, and nothing has changed
        cursor[REASON] = STOPPED
    elif weight > 0.0:
        if not lesson.is_new:
            note_prediction(memory, row, verdict, base, relevant, ledger, work)
        if memory.columns.each > 1:
            note_steps(memory.experts, not lesson.is_new)
        if step.total > 0.0:
            move(memory, row, step, relevant, ledger, work)
    mark(work.is_relevant, relevant, False)
    return verdict


@compiled(helper=True, forceinline=True)
def _check_weights(memory: Memory, row: Row, columns: int, work: Work, cursor: Ints) -> None:
    """Stop unless this row can be written to so many columns of the weights."""
    if columns > 0 and memory.columns.kind != NO_ROW_VECTORS:
        blocks = row.n * -(-columns // SEGMENT)
        _check_room(memory.weights, WEIGHTS, work.x.f, row.n, blocks, columns, cursor)


@compiled(helper=True, forceinline=True)
def _check_parts(parts: Parts | None, row: Row, n_relevant: int, n_labels: int, work: Work, cursor: Ints) -> None:
    """Stop unless this row can be written to the shared vectors, and to the statistics of its labels."""
    if parts is not None:
        blocks, keeps = row.n * n_relevant, parts.keeps
        vectors, n_parts = parts.vectors, parts.kinds.shape[0]
        _check_room(vectors, VECTORS, work.x.fs, row.m, row.m * vectors.table.shape[1], n_parts, cursor)
        if keeps[0]:
            _check_room(parts.counts, COUNTS, work.x.f, row.n, blocks, n_labels, cursor)
        if keeps[1]:
            _check_room(parts.firsts, FIRSTS, work.x.f, row.n, blocks, n_labels, cursor)
        if keeps[2]:
            _check_room(parts.sums, SUMS, work.x.f, row.n, blocks, n_labels, cursor)


@compiled(helper=True)
def _check_room(store: Store, which: int, f: Ints, n: int, blocks: int, columns: int, cursor: Ints) -> None:
    """Stop if a store must grow before this row can be written to it, unless the loop is to stop already."""
    if cursor[REASON] != DONE:
        return
    if not has_room(store, n, blocks):
        cursor[REASON], cursor[WHICH], cursor[SLOTS], cursor[BLOCKS] = FULL, which, n, blocks
        return
    page = narrow_page(store, f, n, blocks, columns)
    if page >= 0:
        cursor[REASON], cursor[WHICH], cursor[PAGE_TO_WIDEN] = NARROW, which, page
