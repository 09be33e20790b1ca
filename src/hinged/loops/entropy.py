"""The loop over labelled rows where each label's weights live on a simplex: read, score, count, step, move, note.

The same rounds as in `hinged.loops.labels`, with multiplicative moves (docs/maths.md, "Weights on a simplex"). It never
allocates weights and never rescales a column: where it would have to, it stops and says so in `cursor`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Bools, Floats, Ints
from hinged.loops.ledger import (
    GAIN,
    GAP,
    ITERATIONS,
    LABELS,
    LEARNT,
    MISTAKES,
    NOVEL,
    RANKED,
    ROUNDS,
    THRESHOLD,
    UNREACHED,
    UPDATES,
    Ledger,
    Told,
    note_lead,
)
from hinged.loops.rows import Rows, Scaling, Targets, enter_row, read_row
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
    move,
    outside,
)
from hinged.loops.simplex_mean import COUNTED, add_mean_scores, settle_row, watch_sum
from hinged.loops.steps import Setting
from hinged.rules.combine import Labels
from hinged.rules.on_curves import mark_curves, over_curves
from hinged.rules.response import LOGISTIC, TILTED, Responses
from hinged.tasks.labels import find_new, judge, runner_up

__all__ = ["EntropicLearner", "learn_entropic", "score_entropic"]

DONE, FULL, DUE = 0, 1, 2  # all rounds are done · there is no room for the next row · columns must be rescaled
UNTIL = 3  # place of the cursor: the round to stop at


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
    # taken out of their tuples once: every tuple that is read or passed on counts references to all its arrays
    setting, scaling, simplex, ledger, notes = learner
    counts, n_rows = ledger.counts, rows.indptr.shape[0] - 1
    work = _scratch(longest, n_labels_after)
    room_f, room_v, all_scores, all_sums, is_relevant = work.f, work.v, work.scores, work.sums, work.is_relevant
    while cursor[0] < min(n_rows + delay, cursor[UNTIL]):
        t = cursor[0]
        i = t - delay
        if delay > 0 and t < n_rows:
            _predict(rows, targets, t, learner, work, told)
        if i < 0:
            cursor[0] = t + 1
            continue
        k, weight = counts[LABELS], targets.weights[i] if targets.weights.shape[0] > 0 else 1.0
        relevant = targets.labels[targets.indptr[i] : targets.indptr[i + 1]]
        # ---- read
        n, _q = read_row(rows, i, scaling, counts[LEARNT], room_f, room_v)
        n = expand(simplex.signed, room_f, room_v, n)
        f, v = room_f[:n], room_v[:n]
        is_new, k_after = find_new(relevant, k)
        if weight > 0.0 and (setting.learns_new or not is_new):  # memory first: a round is done whole or not begun
            new = missing(simplex, f)
            if simplex.used[0] + new >= simplex.theta.shape[0]:
                cursor[1], cursor[2] = FULL, new
                return
        flag, rank, loss, due = 0, 1, 0.0, False
        if is_new:
            flag, rank = -1, 0
            if weight > 0.0:
                counts[LABELS] = k_after
                if simplex.means.kept:  # weights of a label count from this round on
                    simplex.means.labels[COUNTED, k:k_after] = counts[LEARNT]
                if setting.learns_new:
                    k = k_after
        if 0 < relevant.shape[0] < k and (not is_new or (setting.learns_new and weight > 0.0)):
            # ---- score and count
            s = all_scores[:k]
            _score(simplex, f, v, k, all_sums, s)
            for r in relevant:
                is_relevant[r] = True
            low, rival, gap, found_rank = judge(s, relevant, is_relevant)
            if not is_new:
                flag, rank, loss = 1 if gap <= 0.0 else 0, found_rank, max(0.0, setting.margin - gap)
            if weight > 0.0:
                labels = Labels(s, relevant, is_relevant[:k], low, rival)
                if not is_new:
                    _note_score(ledger.sums, ledger.leads, labels)
                C = setting.C * weight if setting.uses_weight else setting.C
                due = _step(setting, simplex, ledger, notes, C, labels, measure(simplex, f, v), work)
            for r in relevant:
                is_relevant[r] = False
        # ---- note
        if delay == 0:
            told.flags[i], told.ranks[i], told.losses[i] = flag, rank, loss
        _note_round(counts, told.flags[i], weight > 0.0)
        if weight > 0.0:
            enter_row(scaling, rows, i)
        cursor[0] = t + 1
        if due:
            cursor[1] = DUE
            return
    cursor[1] = DONE


@compiled(helper=True)
def _predict(rows: Rows, targets: Targets, t: int, learner: EntropicLearner, work: Scratch, told: Told) -> None:
    """Record the prediction for a row that is learnt later."""
    relevant = targets.labels[targets.indptr[t] : targets.indptr[t + 1]]
    counts, k = learner.ledger.counts, learner.ledger.counts[LABELS]
    if find_new(relevant, k)[0]:
        told.flags[t], told.ranks[t] = -1, 0
    elif relevant.shape[0] == 0 or relevant.shape[0] == k:
        told.flags[t], told.ranks[t] = 0, 1
    else:
        f, v, s = work.f, work.v, work.scores[:k]
        n, _q = read_row(rows, t, learner.scaling, counts[LEARNT], f, v)
        n = expand(learner.simplex.signed, f, v, n)
        _score(learner.simplex, f[:n], v[:n], k, work.sums, s)
        for r in relevant:
            work.is_relevant[r] = True
        _low, _rival, gap, told.ranks[t] = judge(s, relevant, work.is_relevant)
        told.flags[t] = 1 if gap <= 0.0 else 0
        told.losses[t] = max(0.0, learner.setting.margin - gap)
        for r in relevant:
            work.is_relevant[r] = False


@compiled(inline=True)
def _note_score(sums: Floats, leads: Floats, labels: Labels) -> None:
    """Follow the middle between right and wrong, and the winner's lead."""
    s = labels.scores
    sums[RANKED] += 1.0
    middle = 0.5 * (s[labels.relevant[labels.low]] + s[labels.rival])
    sums[THRESHOLD] += (middle - sums[THRESHOLD]) / min(sums[RANKED], 200.0)
    first, lead = runner_up(s)
    note_lead(leads, lead, labels.is_relevant[first])


@compiled(inline=True)
def _note_round(counts: Ints, flag: int, is_learnt: bool) -> None:
    """Count a round."""
    counts[MISTAKES] += flag == 1
    counts[NOVEL] += flag == -1
    counts[ROUNDS] += 1
    counts[LEARNT] += is_learnt


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
