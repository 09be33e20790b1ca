"""A round of a label learner in six functions: read, score, count, step, move, note.

Learning, delayed learning, predicting and explaining all go through these functions; `step` is in steps.py. Arrays that
a round needs for itself are in `Work`, made once for each call.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Bools, Floats, Ints
from hinged.loops.columns import PER_LABEL, PER_SET, Columns, column_coefficients, label_scores, n_columns
from hinged.loops.costs import Costs, counted_cost, round_loss
from hinged.loops.evidence import Given
from hinged.loops.experts import Experts, common_scores, move_late
from hinged.loops.ledger import (
    COST,
    LABELS,
    LEARNT,
    ROUNDS,
    Book,
    Ledger,
    note_move,
    note_round,
)
from hinged.loops.metric import Metric, adapts, bends, direction, new_direction, stretch, tighten
from hinged.loops.pages import SEGMENT, Store, add_means, add_scores, add_to, column_of
from hinged.loops.rows import Rows, Scaling, read_row
from hinged.loops.shared import (
    Parts,
    Tally,
    add_shared_scores,
    fill_evidence,
    fill_features,
    learnt_among,
    measure_from,
    move_shared,
    n_evidence,
    new_tally,
    note_statistics,
    shared_room,
    support,
)
from hinged.loops.steps import Setting, Step
from hinged.tasks.labels import judge, runner_up

__all__ = [
    "NEW_LABEL",
    "NO_RIVAL",
    "Example",
    "Memory",
    "Problem",
    "Row",
    "Verdict",
    "Work",
    "bend",
    "count",
    "current",
    "describe",
    "lead_of",
    "mark",
    "move",
    "new_example",
    "new_work",
    "note",
    "only_learnt",
    "read",
    "score",
    "tell",
]

DONE, FULL, NARROW, STOPPED = 0, 1, 2, 3
#: The cursor: the next round, why the loop stopped, three numbers on that, the round to end at, a request to stop, by
#: how many rounds learning lags behind predicting, and how many rows have been predicted so far.
NEXT, REASON, WHICH, SLOTS, BLOCKS, UNTIL, STOP, DELAY, PREDICTED = range(9)
PAGE_TO_WIDEN, CURSOR = SLOTS, 9


#: For `score`: by the current weights. For `describe`: measured from 0. For `new_example`: no features are to come.
CURRENT, FROM_ZERO, NO_MORE = 0, -1, 0


class Memory(NamedTuple):
    """What a label learner has learnt, and how labels and rows map to it."""

    columns: Columns
    scaling: Scaling
    weights: Store
    parts: Parts | None
    experts: Experts
    metric: Metric


class Problem(NamedTuple):
    """What every round is asked to achieve, and by which rule."""

    setting: Setting
    costs: Costs
    own: Any  # a user's compiled rule, or None


class Row(NamedTuple):
    """Sizes of the row that `read` put into `Work`."""

    n: int  # features
    q: float  # ‖x‖²
    m: int  # places at which some label's φ may differ from 0


class Verdict(NamedTuple):
    """How a round's scores compare with its right labels."""

    low: int  # position of the lowest right label among the right ones
    rival: int  # the highest wrong label
    gap: float  # score of the lowest right label minus that of the rival
    flag: int  # 1 a mistake, 0 right, -1 a new label
    rank: int  # from 1, of the best right label
    loss: float
    cost: float


NEW_LABEL = Verdict(-1, -1, 0.0, -1, 0, 0.0, 0.0)
NO_RIVAL = Verdict(-1, -1, 0.0, 0, 1, 0.0, 0.0)


class Example(NamedTuple):
    """Room for one row, as it is read and scored."""

    f: np.ndarray  # int64: the row's features ...
    v: np.ndarray  # ... and values
    d: np.ndarray  # how far weights move for a step of 1: the values, or those in the metric
    fs: np.ndarray  # int64: places of φ (see shared.py) ...
    vs: np.ndarray  # float64: ... and the row's values there
    phi: np.ndarray  # float64 (parts, places of φ, labels), empty without shared vectors
    roots: np.ndarray  # float64 (places of φ,): roots of the variances there; empty where Euclidean
    origin: np.ndarray  # float64 (parts, places of φ): φ of the label that scores are measured from
    tally: Tally
    wide: np.ndarray  # scores by column, padded to whole segments


class Work(NamedTuple):
    """Scratch arrays of one call that learns."""

    x: Example
    wide_g: np.ndarray  # net coefficients by column; zeros between rounds
    touched: np.ndarray  # int64: the columns that move, rising
    set_g: np.ndarray  # float64 (sets,): net coefficients before they are rounded to the weights' type ...
    set_sizes: np.ndarray  # ... and the sizes of the terms they are sums of
    scores: np.ndarray  # float64 (labels,), as are the next six
    g: np.ndarray  # net coefficients
    shifted: np.ndarray  # scores for which one margin stands for every pair's own
    spare: np.ndarray
    gaps: np.ndarray
    norms: np.ndarray
    own_scores: np.ndarray  # of one of several experts
    is_relevant: np.ndarray  # bool (labels,); all False between rounds


@compiled(helper=True)
def new_example(rows: Rows, memory: Memory, longest: int, n_labels: int, to_come: int) -> Example:
    """Room for rows of at most `longest` values, which may bring `to_come` features not met before."""
    n_parts, room = shared_room(memory.parts, longest, to_come)
    n_wide = -(-max(1, n_columns(memory.columns, n_labels)) // SEGMENT) * SEGMENT * memory.columns.each
    v = np.empty(longest + 1, rows.data.dtype)
    return Example(
        np.empty(longest + 1, np.int64),
        v,
        new_direction(bends(memory.metric), v),
        np.empty(room, np.int64),
        np.empty(room),
        np.zeros((n_parts, room, n_labels)),
        np.empty(room if adapts(memory.metric) else 0),
        np.zeros((n_parts, room)),
        new_tally(n_parts, n_labels),
        np.zeros(n_wide, memory.weights.like.dtype),
    )


@compiled(helper=True)
def new_work(x: Example, n_sets: int, n_labels: int) -> Work:
    """Scratch arrays for learning."""
    by_set, by_label = np.zeros((2, n_sets)), np.zeros((7, n_labels))
    return Work(
        x,
        np.zeros_like(x.wide),
        np.empty(x.wide.shape[0], np.int64),
        by_set[0],
        by_set[1],
        by_label[0],
        by_label[1],
        by_label[2],
        by_label[3],
        by_label[4],
        by_label[5],
        by_label[6],
        np.zeros(n_labels, np.bool_),
    )


@compiled(helper=True, forceinline=True)
def read(rows: Rows, i: int, memory: Memory, rounds: int, x: Example) -> Row:
    """Read row `i`, scaled as `rounds` earlier rounds ask for, and list the places of its φ."""
    n, q = read_row(rows, i, memory.scaling, rounds, x.f, x.v)
    return Row(n, q, support(memory.parts, x.f, x.v, n, x.fs, x.vs))


@compiled(helper=True)
def only_learnt(memory: Memory, row: Row, x: Example) -> Row:
    """The same row, with those places of φ alone that can add to a score."""
    return Row(row.n, row.q, learnt_among(memory.parts, x.fs, x.vs, row.m, x.tally))


@compiled(helper=True, forceinline=True)
def describe(memory: Memory, row: Row, rounds: int, pivot: int, n_labels: int, x: Example, stop: Ints) -> None:
    """Compute φ(x, r) of every label into `x.phi`, measured from that of label `pivot` (from 0 where it is -1).

    Once `stop[0]` is set, the answer is of no use.
    """
    phi = x.phi[:, :, :n_labels]
    fs, vs = x.fs[: row.m], x.vs[: row.m]
    fill_evidence(memory.parts, Given(x.f, x.v, row.n, row.q, rounds), fs, phi, x.tally, stop)
    fill_features(memory.parts, fs, vs, rounds, memory.scaling.df, phi, x.tally, stop)
    if pivot >= 0:
        measure_from(phi, row.m, pivot, x.origin)


@compiled(helper=True)
def current(memory: Memory, learnt: int) -> int:
    """What `score` needs for the answers of this moment after so many rounds."""
    return learnt if memory.columns.each > 1 and memory.weights.depth == 1 else CURRENT


@compiled(helper=True, forceinline=True)
def score(memory: Memory, row: Row, mean_over: int, s: Floats, x: Example) -> float:
    """Fill `s` with ⟨w_r, x⟩ + ⟨w, φ(x, r)⟩ of every label; return the score of φ's origin.

    By the mean weights of `mean_over` rounds; by the current weights where that is 0. `describe` must have been called.
    Where the mean is one of several experts, `mean_over` is the number of rounds learnt.
    """
    columns, wide = n_columns(memory.columns, s.shape[0]), x.wide
    wide[:] = 0
    if mean_over > 0 and memory.weights.depth == 2:
        add_means(memory.weights, x.f, x.v, row.n, columns, mean_over, wide)
    else:
        add_scores(memory.weights, x.f, x.v, row.n, columns, wide)
    if memory.columns.each > 1:
        common_scores(memory.experts, mean_over, wide, s)
    else:
        label_scores(memory.columns, wide, s)
    return add_shared_scores(memory.parts, x.fs, row.m, x.phi, x.origin, mean_over, x.tally, s)


@compiled(helper=True, forceinline=True)
def bend(memory: Memory, row: Row, learnt: int, n_labels: int, x: Example) -> Row:
    """Return the row as rules see it, measured in the metric; `x.d` is the way it moves weights, `x.phi` is √Σ φ."""
    q = direction(memory.metric, learnt, x.f, x.v, row.n, row.q, x.d)
    stretch(memory.metric, n_evidence(memory.parts), x.fs, row.m, x.phi[:, :, :n_labels], x.roots)
    return Row(row.n, q, row.m)


@compiled(helper=True)
def mark(is_relevant: Bools, relevant: Ints, value: bool) -> None:
    """Mark the right labels, or unmark them."""
    for r in relevant:
        is_relevant[r] = value


@compiled(helper=True, forceinline=True)
def count(setting: Setting, costs: Costs, s: Floats, relevant: Ints, is_relevant: Bools) -> Verdict:
    """Return how the scores compare with the right labels."""
    low, rival, gap, rank = judge(s, relevant, is_relevant)
    cost = counted_cost(costs, s, relevant[0]) if costs.rho.shape[0] > 0 else 0.0
    return Verdict(low, rival, gap, 0 if gap > 0.0 else 1, rank, round_loss(setting, costs, s, relevant[0], gap), cost)


@compiled(helper=True)
def tell(book: Book, i: int, verdict: Verdict) -> None:
    """Report the outcome of round `i`."""
    book.told.flags[i], book.told.ranks[i], book.told.losses[i] = verdict.flag, verdict.rank, verdict.loss
    book.notes[COST] += verdict.cost


@compiled(helper=True)
def lead_of(verdict: Verdict, answers: Floats, by_mean: bool, relevant: Ints) -> tuple[int, float]:
    """Return the predicted label, and by how much it leads; `answers` are the scores that predict."""
    if verdict.flag == 0 and relevant.shape[0] == 1 and not by_mean:
        return relevant[0], verdict.gap
    return runner_up(answers)


@compiled(helper=True, forceinline=True)
def _by_column(columns: Columns, g: Floats, relevant: Ints, work: Work) -> int:
    """Net coefficients of the columns into `work.wide_g`; return how many columns move."""
    n, wide_g = 0, work.wide_g
    if columns.separate and columns.each == 1:  # several experts have filled in theirs
        for r in range(g.shape[0]):
            wide_g[r if columns.kind == PER_LABEL else columns.indices[columns.indptr[r]]] = g[r]
    elif columns.kind == PER_SET:
        column_coefficients(columns, g, relevant[0], relevant.shape[0] > 1, work.set_g, work.set_sizes)
        for c in range(columns.n):
            wide_g[c] = work.set_g[c]
    for first in range(0, n_columns(columns, g.shape[0]), SEGMENT):
        for e in range(columns.each):
            begin = column_of(columns.each, first, e)
            for c in range(begin, begin + min(SEGMENT, n_columns(columns, g.shape[0]) - first)):
                if wide_g[c] != 0.0:
                    work.touched[n] = c
                    n += 1
    return n


@compiled(helper=True, forceinline=True)
def move(memory: Memory, row: Row, step: Step, relevant: Ints, ledger: Ledger, work: Work) -> None:
    """Move every label's weights by its net coefficient times the direction of the row, and count the move."""
    k, age = ledger.counts[LABELS], float(ledger.counts[LEARNT])
    g, wide_g, touched = work.g[:k], work.wide_g, work.touched
    inner, sq_move = 0.0, 0.0
    for r in range(k):
        inner += g[r] * work.scores[r]
    if memory.columns.each > 1:
        move_late(memory.experts, age, k, wide_g)
    n_touched = _by_column(memory.columns, g, relevant, work)
    if memory.columns.separate:  # summed in the order of labels, so that sets of one label have the bits of "multi"
        for r in range(k):
            sq_move += row.q * np.float64(wide_g.dtype.type(g[r])) ** 2
    else:
        for a in range(n_touched):
            sq_move += row.q * np.float64(wide_g[touched[a]]) ** 2
    add_to(memory.weights, work.x.f, work.x.d, row.n, wide_g, touched, n_touched, age)
    for a in range(n_touched):
        wide_g[touched[a]] = 0
    sq_move += move_shared(memory.parts, work.x, row.m, g, relevant.shape[0] > 1, age)
    tighten(memory.metric, ledger.counts[LEARNT], work.x.f, work.x.v, row.n)
    note_move(ledger, step.gain, step.penalty, inner, sq_move)


@compiled(helper=True, forceinline=True)
def note(memory: Memory, row: Row, relevant: Ints, flag: int, weight: float, counts: Ints, work: Work) -> None:
    """Count the round, and update what later rounds are described by."""
    note_round(counts, flag, weight > 0.0)
    if weight > 0.0:
        note_statistics(memory.parts, work.x.f, work.x.v, row.n, counts[ROUNDS], counts[LEARNT], relevant)
