"""The loop over labelled rows where each label's weights live on a simplex: read, score, count, step, move, note.

The same rounds as in `hinged.loops.labels`, with multiplicative moves (docs/maths.md, "Weights on a simplex"). It never
allocates weights and never rescales a column: where it would have to, it stops and says so in `cursor`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Bools, Floats, Ints
from hinged.loops.confidence import learn_lead
from hinged.loops.ledger import (
    GAIN,
    GAP,
    ITERATIONS,
    LABELS,
    LEARNT,
    UNREACHED,
    UPDATES,
    Ledger,
    Told,
    note_middle,
    note_round,
)
from hinged.loops.lessons import Lesson, Targets, right_labels, weight_of
from hinged.loops.round import NEW_LABEL, NO_RIVAL, Verdict, mark
from hinged.loops.rows import Rows, Scaling, enter_row, read_row
from hinged.loops.simplex import (
    TOTAL,
    Row,
    Simplex,
    add_masses,
    claim,
    draw,
    expand,
    mass_inside,
    measure,
    missing,
    outside,
)
from hinged.loops.simplex_mean import COUNTED, add_mean_scores, settle_row, watch_sum
from hinged.loops.simplex_moves import move
from hinged.loops.steps import Setting
from hinged.native import borrowed
from hinged.rules.combine import Labels
from hinged.rules.on_curves import mark_curves, over_curves
from hinged.rules.response import LOGISTIC, TILTED, Responses
from hinged.tasks.labels import find_new, judge, runner_up

__all__ = ["EntropicLearner", "learn_entropic", "score_entropic"]

DONE, FULL, DUE = 0, 1, 2  # all rounds are done · there is no room for the next row · columns must be rescaled
#: The cursor: the next round, why the loop stopped, how many coordinates have no room, the round to stop at.
NEXT, WHY, MISSING, UNTIL = range(4)
CURSOR = 4


class Stream(NamedTuple):
    """Rows, the answers to them, and by how many rounds learning lags behind predicting."""

    rows: Rows
    targets: Targets
    delay: int


class EntropicLearner(NamedTuple):
    """What the loop reads and changes."""

    setting: Setting
    scaling: Scaling
    simplex: Simplex
    ledger: Ledger
    notes: Floats  # as in `new_notes`


class Scratch(NamedTuple):
    """Arrays that rounds work in, made once; k labels, n coordinates."""

    f: np.ndarray  # (n,): coordinates of a row
    v: np.ndarray  # (n,): their values
    scores: np.ndarray  # (k,)
    sums: np.ndarray  # (k,): Σ v mass
    g: np.ndarray  # (k,): net coefficients
    start: np.ndarray  # (k,) and (k, n): the curves of scores as functions of g
    logs: np.ndarray
    rest: np.ndarray  # (k,): mass outside the row, and a bound on its error
    error: np.ndarray
    is_relevant: np.ndarray  # (k,), False between rounds
    drawn: np.ndarray  # (k,), False between rounds: labels whose curves were drawn
    touched: np.ndarray  # (k,): labels that move


@compiled(helper=True)
def _scratch(longest: int, k: int) -> Scratch:
    n = 2 * (longest + 1)
    return Scratch(
        np.empty(n, np.int64),
        np.empty(n),
        np.zeros(k),
        np.zeros(k),
        np.zeros(k),
        np.zeros(k),
        np.empty((k, n)),
        np.zeros(k),
        np.zeros(k),
        np.zeros(k, np.bool_),
        np.zeros(k, np.bool_),
        np.empty(k, np.int64),
    )


@compiled(helper=True)
def _score(simplex: Simplex, f: Ints, v: Floats, k: int, sums: Floats, s: Floats) -> None:
    """Fill `s` with the scores of the first `k` labels, U Σ v mass / Σ mass, and `sums` with the upper sums."""
    add_masses(simplex, f, v, k, sums)
    n = f.shape[0]
    for r in range(k):
        total = simplex.labels[TOTAL, r]  # 0 only while a concurrent writer is about to rescale the column
        s[r] = simplex.radius * (sums[r] / total) if total > 0.0 else 0.0
    if 0 < n == simplex.n:  # a row that is the same everywhere gives all labels the same score, to the last bit
        for j in range(n):
            if v[j] != v[0]:
                return
        s[:k] = simplex.radius * v[0]


@compiled
def score_entropic(
    rows: Rows, scaling: Scaling, simplex: Simplex, counts: Ints, mean_over: int, longest: int, out: Floats
) -> None:
    """Fill `out` (rows, labels) with the scores of every label for every row; nothing is learnt or counted.

    `mean_over` rounds answers with the mean weights, 0 with the current ones.
    """
    f, v = np.empty(2 * (longest + 1), np.int64), np.empty(2 * (longest + 1))
    sums = np.zeros(out.shape[1])
    for i in range(out.shape[0]):
        n, _q = read_row(rows, i, scaling, counts[LEARNT], f, v)
        n = expand(simplex.signed, f, v, n)
        if mean_over > 0:
            s = out[i]
            add_mean_scores(simplex, simplex.labels[TOTAL], f[:n], v[:n], mean_over, s)
            for r in range(out.shape[1]):
                s[r] *= simplex.radius
        else:
            _score(simplex, f[:n], v[:n], out.shape[1], sums, out[i])


@compiled
def learn_entropic(
    rows: Rows,
    targets: Targets,
    delay: int,
    learner: EntropicLearner,
    longest: int,
    n_labels_after: int,
    told: Told,
    cursor: Ints,
) -> None:
    """Learn rows from `cursor[0]` to `cursor[UNTIL]`, in order, changing weights and ledger in place.

    `told` gets each round's flag, rank and loss. With a delay d they are fixed when a row comes, and it is learnt d
    rows later.
    """
    _rounds(Stream(rows, targets, delay), learner, _scratch(longest, n_labels_after), told, cursor)


@compiled(helper=True)
def _rounds(stream: Stream, learner: EntropicLearner, work: Scratch, told: Told, cursor: Ints) -> None:
    """The loop, on arrays that their owners keep: without reference counts, small functions cost little."""
    stream, learner, work, told = borrowed((stream, learner, work, told))
    n_rows, delay = stream.rows.indptr.shape[0] - 1, stream.delay
    cursor[WHY] = DONE
    while cursor[NEXT] < min(n_rows + delay, cursor[UNTIL]):
        t = cursor[NEXT]
        if delay > 0 and t < n_rows:
            _predict(stream, t, learner, work, told)
        if t >= delay:
            _learn_row(stream, t - delay, learner, work, told, cursor)
            if cursor[WHY] == FULL:
                return
        cursor[NEXT] = t + 1
        if cursor[WHY] == DUE:
            return


@compiled(helper=True)
def _read(rows: Rows, i: int, learner: EntropicLearner, work: Scratch) -> int:
    """Copy row `i` into `work`, scaled, by coordinates of the simplex; return how many there are."""
    n, _q = read_row(rows, i, learner.scaling, learner.ledger.counts[LEARNT], work.f, work.v)
    return expand(learner.simplex.signed, work.f, work.v, n)


@compiled(helper=True)
def _judge(margin: float, s: Floats, relevant: Ints, is_relevant: Bools) -> Verdict:
    """Return how the scores compare with the right labels."""
    low, rival, gap, rank = judge(s, relevant, is_relevant)
    return Verdict(low, rival, gap, 1 if gap <= 0.0 else 0, rank, max(0.0, margin - gap), 0.0)


@compiled(helper=True)
def _predict(stream: Stream, t: int, learner: EntropicLearner, work: Scratch, told: Told) -> None:
    """Record the prediction for a row that is learnt later."""
    relevant = right_labels(stream.targets, t)
    k = learner.ledger.counts[LABELS]
    verdict = NEW_LABEL if find_new(relevant, k)[0] else NO_RIVAL
    if verdict.flag == 0 and 0 < relevant.shape[0] < k:
        n = _read(stream.rows, t, learner, work)
        _score(learner.simplex, work.f[:n], work.v[:n], k, work.sums, work.scores[:k])
        mark(work.is_relevant, relevant, True)
        verdict = _judge(learner.setting.margin, work.scores[:k], relevant, work.is_relevant)
        mark(work.is_relevant, relevant, False)
    _tell(told, t, verdict)


@compiled(helper=True)
def _tell(told: Told, i: int, verdict: Verdict) -> None:
    """Report the outcome of round `i`."""
    told.flags[i], told.ranks[i], told.losses[i] = verdict.flag, verdict.rank, verdict.loss


@compiled(helper=True)
def _learn_row(stream: Stream, i: int, learner: EntropicLearner, work: Scratch, told: Told, cursor: Ints) -> None:
    """Learn row `i` whole, or leave it and say in `cursor` that there is no room; or that columns must be rescaled."""
    setting, simplex, counts, targets = learner.setting, learner.simplex, learner.ledger.counts, stream.targets
    relevant, weight = right_labels(targets, i), weight_of(targets, i)
    n = _read(stream.rows, i, learner, work)
    f, v = work.f[:n], work.v[:n]
    is_new, k_after = find_new(relevant, counts[LABELS])
    moves, is_learnt = setting.learns_new or not is_new, weight > 0.0
    if is_learnt and moves:
        new = missing(simplex, f)
        if simplex.used[0] + new >= simplex.theta.shape[0]:
            cursor[WHY], cursor[MISSING] = FULL, new
            return
    verdict = NEW_LABEL if is_new else NO_RIVAL
    if is_new and is_learnt:
        if simplex.means.kept:  # weights of a label count from this round on
            simplex.means.labels[COUNTED, counts[LABELS] : k_after] = counts[LEARNT]
        counts[LABELS] = k_after
    if 0 < relevant.shape[0] < counts[LABELS] and moves and (is_learnt or not is_new):
        found = _learn_ranking(f, v, Lesson(relevant, weight, is_new), learner, work, cursor)
        verdict = verdict if is_new else found
    if stream.delay == 0:
        _tell(told, i, verdict)
    note_round(counts, told.flags[i], is_learnt)
    if is_learnt:
        enter_row(learner.scaling, stream.rows, i, 0)  # on a simplex nothing is forgotten


@compiled(helper=True)
def _learn_ranking(
    f: Ints, v: Floats, lesson: Lesson, learner: EntropicLearner, work: Scratch, cursor: Ints
) -> Verdict:
    """Score, count, step and move for a row with right labels and wrong ones; return its verdict."""
    setting, simplex, ledger, relevant = learner.setting, learner.simplex, learner.ledger, lesson.relevant
    k = ledger.counts[LABELS]
    s = work.scores[:k]
    _score(simplex, f, v, k, work.sums, s)
    mark(work.is_relevant, relevant, True)
    verdict = _judge(setting.margin, s, relevant, work.is_relevant)
    if lesson.weight > 0.0:
        labels = Labels(s, relevant, work.is_relevant[:k], verdict.low, verdict.rival)
        if not lesson.is_new:
            note_middle(ledger.sums, 0.5 * (s[relevant[verdict.low]] + s[verdict.rival]))
            first, lead = runner_up(s)
            learn_lead(ledger.odds, ledger.records, lead, first, work.is_relevant[first])
        C = setting.C * lesson.weight if setting.uses_weight else setting.C
        if _step(setting, simplex, ledger, learner.notes, C, labels, measure(simplex, f, v), work):
            cursor[WHY] = DUE
    mark(work.is_relevant, relevant, False)
    return verdict


@compiled(inline=True)
def _step(
    setting: Setting, simplex: Simplex, ledger: Ledger, notes: Floats, C: float, labels: Labels, row: Row, work: Scratch
) -> bool:
    """Ask the rule for its net coefficients and move by them; return True if columns must be rescaled."""
    s, k, margin, rule = labels.scores, labels.scores.shape[0], setting.margin, setting.words
    g, drawn, still, rest, error = work.g[:k], work.drawn[:k], row.lowest == row.highest, work.rest, work.error
    rate = abs(row.v[0]) if row.flat else 0.0
    curves = Responses(
        LOGISTIC if row.flat else TILTED,
        work.start[:k],
        rate,
        -simplex.radius * rate if row.flat and row.v[0] < 0.0 else 0.0,
        simplex.radius,
        work.logs,
        row.v,
        row.lowest,
        row.highest,
    )
    if s[labels.relevant[labels.low]] - s[labels.rival] < margin and not still:
        if margin >= simplex.radius * (row.highest - row.lowest):
            notes[UNREACHED] += 1.0
        mark_curves(rule, labels, margin, drawn)
        draw(simplex, row, drawn, work.sums, curves, rest, error)
    total, iterations, left = over_curves(rule, labels, curves, still, margin, C, setting.tolerance, g)
    notes[ITERATIONS], notes[GAP] = max(notes[ITERATIONS], iterations), max(notes[GAP], left)
    due = False
    if total > 0.0:
        ledger.counts[UPDATES] += 1
        ledger.sums[GAIN] += total * margin
        if not still:
            due = _move(simplex, row, ledger.counts[LEARNT], g, drawn, work.touched, rest, error)
    drawn[:] = False
    return due


@compiled(inline=True)
def _move(
    simplex: Simplex, row: Row, learnt: int, g: Floats, drawn: Bools, touched: Ints, rest: Floats, error: Floats
) -> bool:
    """Move the weights by `g`, and what the mean needs; return True if columns must be rescaled."""
    n = 0
    for r in range(g.shape[0]):
        if g[r] != 0.0:
            touched[n] = r
            n += 1
            if not drawn[r]:
                rest[r], error[r] = outside(simplex, row.f, r, mass_inside(simplex, row.f, r))
    claim(simplex, row.f)
    moved, totals = touched[:n], simplex.labels[TOTAL]
    if simplex.means.kept:
        settle_row(simplex, totals, row.f, moved, learnt)
    due = move(simplex, row, g, moved, rest, error)
    if simplex.means.kept:
        watch_sum(simplex, totals, moved)
    return due
