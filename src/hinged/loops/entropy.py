"""The loop over labelled rows where each label's weights live on a simplex: read, score, count, step, move, note.

The same rounds as in `hinged.loops.labels`, with multiplicative moves (docs/maths.md, "Weights on a simplex"). It never
allocates weights and never rescales a column: where it would have to, it stops and says so in `cursor`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

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
    note_lead,
)
from hinged.loops.rows import count_features, read_row
from hinged.loops.simplex import TOTAL, add_masses, claim, draw, expand, mass_inside, measure, missing, move, outside
from hinged.loops.simplex_mean import COUNTED, add_mean_scores, settle_row, watch_sum
from hinged.rules.combine import Labels
from hinged.rules.on_curves import needs_curve, over_curves
from hinged.rules.response import LOGISTIC, TILTED, Responses
from hinged.tasks.labels import find_new, judge, runner_up

__all__ = ["EntropicLearner", "learn_entropic", "score_entropic"]

DONE, FULL, DUE = 0, 1, 2  # all rounds are done · there is no room for the next row · columns must be rescaled
UNTIL = 3  # place of the cursor: the round to stop at


class EntropicLearner(NamedTuple):
    """What the loop reads and changes."""

    setting: Any  # Setting
    scaling: Any  # Scaling
    simplex: Any  # Simplex
    ledger: Any  # Ledger
    notes: Any  # as in `new_notes`


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


@njit(cache=True)
def _scratch(longest: int, k: int) -> Any:
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


@njit(cache=True)
def _score(simplex: Any, f: Any, v: Any, k: int, sums: Any, s: Any) -> None:
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


@njit(cache=True, nogil=True)
def score_entropic(rows: Any, scaling: Any, simplex: Any, counts: Any, mean_over: int, longest: int, out: Any) -> None:
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


@njit(cache=True, nogil=True)
def learn_entropic(
    rows: Any, targets: Any, delay: int, learner: Any, longest: int, n_labels_after: int, told: Any, cursor: Any
) -> None:
    """Learn rows from `cursor[0]` to `cursor[UNTIL]`, in order, changing weights and ledger in place.

    `told` gets each round's flag, rank and loss. With a delay d they are fixed when a row comes, and it is learnt d
    rows later.
    """
    n_rows = rows.indptr.shape[0] - 1
    work = _scratch(longest, n_labels_after)
    while cursor[0] < min(n_rows + delay, cursor[UNTIL]):
        t = cursor[0]
        if delay > 0 and t < n_rows:
            _predict(rows, targets, t, learner, work, told)
        state = DONE
        if t >= delay:
            state, new = _learn_row(rows, targets, t - delay, delay > 0, learner, work, told)
            if state == FULL:
                cursor[1], cursor[2] = FULL, new
                return
        cursor[0] = t + 1
        if state == DUE:
            cursor[1] = DUE
            return
    cursor[1] = DONE


@njit(cache=True)
def _predict(rows: Any, targets: Any, t: int, learner: Any, work: Any, told: Any) -> None:
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


@njit(cache=True)
def _learn_row(rows: Any, targets: Any, i: int, delayed: bool, learner: Any, work: Any, told: Any) -> tuple[int, int]:
    """Learn one row; return how it ended, and how many coordinates need room where that is FULL.

    A round is done whole or, where there is no room, not begun.
    """
    scaling, simplex, counts = learner.scaling, learner.simplex, learner.ledger.counts
    k = counts[LABELS]
    weight = targets.weights[i] if targets.weights.shape[0] > 0 else 1.0
    relevant = targets.labels[targets.indptr[i] : targets.indptr[i + 1]]
    # ---- read
    n_features, _q = read_row(rows, i, scaling, counts[LEARNT], work.f, work.v)
    seen = work.f[: n_features if scaling.counts else 0].copy()  # features, before they become coordinates
    n = expand(simplex.signed, work.f, work.v, n_features)
    f, v = work.f[:n], work.v[:n]
    is_new, k_after = find_new(relevant, k)
    if weight > 0.0 and not is_new:
        new = missing(simplex, f)
        if simplex.used[0] + new >= simplex.theta.shape[0]:
            return FULL, new

    flag, rank, loss, due = 0, 1, 0.0, False
    if is_new:
        flag, rank = -1, 0
        if weight > 0.0:
            counts[LABELS] = k_after
            if simplex.means.kept:  # weights of a label count from this round on
                simplex.means.labels[COUNTED, k:k_after] = counts[LEARNT]
    elif 0 < relevant.shape[0] < k:
        # ---- score and count
        s = work.scores[:k]
        _score(simplex, f, v, k, work.sums, s)
        for r in relevant:
            work.is_relevant[r] = True
        low, rival, gap, rank = judge(s, relevant, work.is_relevant)
        flag, loss = 1 if gap <= 0.0 else 0, max(0.0, learner.setting.margin - gap)
        if weight > 0.0:
            labels = Labels(s, relevant, work.is_relevant[:k], low, rival)
            _note_score(learner.ledger, labels)
            due = _step_and_move(learner, labels, measure(simplex, f, v), weight, work)
        for r in relevant:
            work.is_relevant[r] = False
    # ---- note
    if not delayed:
        told.flags[i], told.ranks[i], told.losses[i] = flag, rank, loss
    counts[MISTAKES] += told.flags[i] == 1
    counts[NOVEL] += told.flags[i] == -1
    counts[ROUNDS] += 1
    if weight > 0.0:
        counts[LEARNT] += 1
        if scaling.counts:
            count_features(scaling, seen, n_features)
    return DUE if due else DONE, 0


@njit(cache=True)
def _note_score(ledger: Any, labels: Any) -> None:
    """Follow the middle between right and wrong, and the winner's lead."""
    s, sums = labels.scores, ledger.sums
    sums[RANKED] += 1.0
    middle = 0.5 * (s[labels.relevant[labels.low]] + s[labels.rival])
    sums[THRESHOLD] += (middle - sums[THRESHOLD]) / min(sums[RANKED], 200.0)
    first, lead = runner_up(s)
    note_lead(ledger.leads, lead, labels.is_relevant[first])


@njit(cache=True)
def _step_and_move(learner: Any, labels: Any, row: Any, weight: float, work: Any) -> bool:
    """Ask the rule for its net coefficients and move by them; return True if columns must be rescaled."""
    setting, simplex, counts, sums = learner.setting, learner.simplex, learner.ledger.counts, learner.ledger.sums
    s, k, margin, rule = labels.scores, labels.scores.shape[0], setting.margin, setting.words
    C = setting.C * weight if setting.uses_weight else setting.C
    g, drawn, still = work.g[:k], work.drawn[:k], row.lowest == row.highest
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
            learner.notes[UNREACHED] += 1.0
        for r in range(k):
            drawn[r] = needs_curve(rule, r, labels, margin)
        draw(simplex, row, drawn, work.sums, curves, work.rest, work.error)
    total, iterations, left = over_curves(rule, labels, curves, still, margin, C, setting.tolerance, g)
    learner.notes[ITERATIONS] = max(learner.notes[ITERATIONS], iterations)
    learner.notes[GAP] = max(learner.notes[GAP], left)
    due = False
    if total > 0.0:
        counts[UPDATES] += 1
        sums[GAIN] += total * margin
        if not still:
            due = _move(simplex, row, counts[LEARNT], g, work)
    drawn[:] = False
    return due


@njit(cache=True)
def _move(simplex: Any, row: Any, learnt: int, g: Any, work: Any) -> bool:
    """Move the weights by `g`, and what the mean needs; return True if columns must be rescaled."""
    f, rest, error, totals, n = row.f, work.rest, work.error, simplex.labels[TOTAL], 0
    for r in range(g.shape[0]):
        if g[r] != 0.0:
            work.touched[n] = r
            n += 1
            if not work.drawn[r]:
                rest[r], error[r] = outside(simplex, f, r, mass_inside(simplex, f, r))
    claim(simplex, f)
    moved = work.touched[:n]
    if simplex.means.kept:
        settle_row(simplex, totals, f, moved, learnt)
    due = move(simplex, row, g, moved, rest, error)
    if simplex.means.kept:
        watch_sum(simplex, totals, moved)
    return due
