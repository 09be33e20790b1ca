"""The loop over labelled rows: read, score, count, step, move, note.

It joins a task (right labels above the others), a rule (scores and pair norms in, one net coefficient per label out)
and a sharing scheme (whose weights move). It never allocates weights: where a store is full or a page too narrow it
stops before the round and says so in `cursor`; the caller makes room and calls again. Where `cursor` asks it to stop in
the middle of a long row, it leaves that round undone.
"""

from __future__ import annotations

from typing import NamedTuple

from hinged.compiling import compiled
from hinged.compiling.arrays import Ints
from hinged.loops.columns import NO_ROW_VECTORS, n_columns
from hinged.loops.confidence import learn_lead
from hinged.loops.experts import choose_steps, note_steps
from hinged.loops.ledger import LABELS, LEARNT, Book, note_middle
from hinged.loops.lessons import Lesson, Targets, right_labels, weight_of
from hinged.loops.pages import SEGMENT, Store, has_room, narrow_page
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
    bend,
    count,
    current,
    describe,
    lead_of,
    mark,
    move,
    new_example,
    new_work,
    note,
    read,
    score,
    tell,
)
from hinged.loops.rows import Rows, enter_row
from hinged.loops.shared import Parts, fetch_ahead
from hinged.loops.steps import Ranking, Vectors
from hinged.native import borrowed
from hinged.tasks.labels import find_new

__all__ = ["Targets", "learn"]

WEIGHTS, VECTORS, COUNTS, FIRSTS, SUMS = range(5)


class Stream(NamedTuple):
    """Rows and the answers to them."""

    rows: Rows
    targets: Targets


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
    rows, targets, problem = borrowed(rows), borrowed(targets), borrowed(problem)
    memory, book, cursor = borrowed(memory), borrowed(book), borrowed(cursor)
    x = new_example(rows, memory, longest, n_labels, rows.indices.shape[0] + rows.indptr.shape[0] - 1)
    work = new_work(x, memory.columns.n, n_labels)
    _rounds(Stream(rows, targets), problem, memory, book, work, cursor)


@compiled(helper=True)
def _rounds(stream: Stream, problem: Problem, memory: Memory, book: Book, work: Work, cursor: Ints) -> None:
    """The loop, on arrays that their owners keep: without reference counts, small functions cost nothing."""
    n_rows, delay = stream.rows.indptr.shape[0] - 1, cursor[DELAY]
    until = min(n_rows + delay, cursor[UNTIL])
    while cursor[NEXT] < until:
        t = cursor[NEXT]
        asked = delay > 0 and cursor[PREDICTED] <= t < n_rows  # not again where the loop stopped after it to make room
        for learns in range(0 if asked else 1, 2 if t >= delay else 1):
            i = t - delay if learns else t
            _learn_row(stream, i, learns > 0, problem, memory, book, work, cursor)
            if cursor[REASON] != DONE:
                return
            cursor[PREDICTED] = max(cursor[PREDICTED], t + 1)
        cursor[NEXT] = t + 1


@compiled(helper=True, forceinline=True)
def _learn_row(
    stream: Stream, i: int, learns: bool, problem: Problem, memory: Memory, book: Book, work: Work, cursor: Ints
) -> None:
    """Learn row `i` whole, or leave it and say in `cursor` why; without `learns`, report its outcome alone."""
    rows, targets, counts = stream.rows, stream.targets, book.ledger.counts
    k = counts[LABELS]
    relevant, weight = right_labels(targets, i), weight_of(targets, i) if learns else 0.0
    fetch_ahead(memory.parts, memory.weights, rows, i + 1)
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
    if not learns or cursor[DELAY] == 0:
        tell(book, i, verdict)
    if weight > 0.0:
        enter_row(memory.scaling, rows, i, counts[LEARNT])
    if learns:
        note(memory, row, relevant, book.told.flags[i], weight, counts, work)


@compiled(helper=True, forceinline=True)
def _learn_ranking(
    row: Row, lesson: Lesson, problem: Problem, memory: Memory, book: Book, work: Work, cursor: Ints
) -> Verdict:
    """Score, count, step and move for a row with right labels and wrong ones; return its verdict."""
    setting, ledger, stop, relevant = problem.setting, book.ledger, cursor[STOP:], lesson.relevant
    k, learnt, is_learnt = ledger.counts[LABELS], ledger.counts[LEARNT], lesson.weight > 0.0
    s, answers, base = work.scores[:k], work.spare[:k], 0.0
    describe(memory, row, learnt, relevant[0], k, work.x, stop)
    by_mean = memory.weights.depth == 2 and learnt > 0 and is_learnt and not lesson.is_new
    for each in range(0 if by_mean else 1, 2):  # the mean's scores, then the current ones: `score` stands here once
        over = current(memory, learnt) if each else learnt
        base = score(memory, row, over, s if each else answers, work.x)
    mark(work.is_relevant, relevant, True)
    verdict = count(setting, problem.costs, s, relevant, work.is_relevant)
    first, lead = lead_of(verdict, answers if by_mean else s, by_mean, relevant)
    if is_learnt:
        row = bend(memory, row, learnt, k, work.x)
        ranking = Ranking(s, relevant, work.is_relevant[:k], verdict.low, verdict.rival)
        vectors = Vectors(memory.columns, row.q, work.x.phi[:, : row.m, :k], setting.least_norm)
        step = choose_steps(problem, memory.experts, lesson.weight, ranking, vectors, work, book.notes, stop)
    if stop[0] != 0:  # what was computed is of no use, and nothing has changed
        cursor[REASON] = STOPPED
    elif is_learnt:
        if not lesson.is_new:
            note_middle(ledger.sums, base + 0.5 * (s[relevant[verdict.low]] + s[verdict.rival]))
            learn_lead(ledger.odds, ledger.records, lead, first, work.is_relevant[first])
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
