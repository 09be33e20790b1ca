"""The loop over labelled rows where each label's weights live on a simplex: read, score, count, step, move, note.

The same rounds as in `hinged.loops.labels`, with multiplicative moves (docs/maths.md, "Weights on a simplex"). It never
makes memory and never rescales a column: where it would have to, it stops and says so in `cursor`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from hinged.loops.entropy_steps import draw, entropic_coefficients, measure, needs_curve
from hinged.loops.ledger import (
    GAIN,
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
from hinged.loops.simplex import TOTAL, add_masses, claim, expand, mass_inside, missing, move, outside
from hinged.loops.simplex_mean import COUNTED, add_mean_scores, settle_row, watch_sum
from hinged.rules.response import LOGISTIC, TILTED, Responses
from hinged.tasks.labels import extremes, rank_of_best, runner_up

__all__ = ["learn_entropic", "score_entropic"]

DONE, FULL, DUE = 0, 1, 2
UNTIL = 3  # place of the cursor: the round to stop at


@njit(cache=True)
def _scores(simplex: Any, f: Any, v: Any, n: int, k: int, sums: Any, s: Any) -> None:
    """Scores of the first `k` labels, U Σ v mass / Σ mass, and the upper sums on their own."""
    add_masses(simplex, f, v, n, k, sums)
    for r in range(k):
        total = simplex.labels[TOTAL, r]  # 0 only while a writer beside this reader is about to rescale the column
        s[r] = simplex.radius * (sums[r] / total) if total > 0.0 else 0.0
    if 0 < n == simplex.n:  # a row that is the same everywhere gives all labels the same score, to the last bit
        for j in range(n):
            if v[j] != v[0]:
                return
        s[:k] = simplex.radius * v[0]


@njit(cache=True, nogil=True)
def score_entropic(rows: Any, scaling: Any, simplex: Any, counts: Any, mean_over: int, longest: int, out: Any) -> None:
    """Scores of every label for every row, into `out` (rows, labels); nothing is learnt or counted.

    `mean_over` rounds answers with the mean weights, 0 with the current ones.
    """
    f, v = np.empty(2 * (longest + 1), np.int64), np.empty(2 * (longest + 1))
    sums = np.zeros(out.shape[1])
    for i in range(out.shape[0]):
        n, _q = read_row(rows, i, scaling, counts[LEARNT], f, v)
        n = expand(simplex.signed, f, v, n)
        if mean_over > 0:
            s, totals = out[i], simplex.labels[TOTAL]
            add_mean_scores(simplex.means, simplex.mass, totals, simplex.slots, f, v, n, mean_over, s)
            for r in range(out.shape[1]):
                s[r] *= simplex.radius
        else:
            _scores(simplex, f, v, n, out.shape[1], sums, out[i])


@njit(cache=True, nogil=True)
def learn_entropic(
    rows: Any,
    targets: Any,
    delay: int,
    setting: Any,
    scaling: Any,
    simplex: Any,
    ledger: Any,
    notes: Any,
    longest: int,
    n_labels_after: int,
    told: Any,
    cursor: Any,
) -> None:
    """Learn rows from `cursor[0]` to `cursor[UNTIL]`, in order, changing weights and ledger in place.

    `told` gets each round's flag, rank and loss. With a delay d they are fixed when a row comes, and it is learnt d
    rows later.
    """
    # s scores · g net coefficients · curves: scores as functions of g · rest: mass outside the row
    n_rows = rows.indptr.shape[0] - 1
    counts, sums = ledger.counts, ledger.sums
    flags, ranks, losses = told.flags, told.ranks, told.losses
    room = 2 * (longest + 1)
    f, v = np.empty(room, np.int64), np.empty(room)
    all_scores, all_g, sums_v = np.zeros(n_labels_after), np.zeros(n_labels_after), np.zeros(n_labels_after)
    start, rest, error = np.zeros(n_labels_after), np.zeros(n_labels_after), np.zeros(n_labels_after)
    is_relevant, drawn = np.zeros(n_labels_after, np.bool_), np.zeros(n_labels_after, np.bool_)
    touched = np.empty(n_labels_after, np.int64)
    all_logs = np.empty((n_labels_after, room))

    while cursor[0] < min(n_rows + delay, cursor[UNTIL]):
        t = cursor[0]
        i = t - delay
        k = counts[LABELS]
        s, g = all_scores[:k], all_g[:k]
        weight = 1.0
        if i >= 0 and targets.weights.shape[0] > 0:
            weight = targets.weights[i]

        if delay > 0 and t < n_rows:  # fix the prediction for the row that comes
            relevant = targets.labels[targets.indptr[t] : targets.indptr[t + 1]]
            novel = False
            for a in range(relevant.shape[0]):
                novel = novel or relevant[a] < 0 or relevant[a] >= k
            if novel:
                flags[t], ranks[t] = -1, 0
            elif relevant.shape[0] == 0 or relevant.shape[0] == k:
                flags[t], ranks[t] = 0, 1
            else:
                n, _q = read_row(rows, t, scaling, counts[LEARNT], f, v)
                _scores(simplex, f, v, expand(simplex.signed, f, v, n), k, sums_v, s)
                for a in range(relevant.shape[0]):
                    is_relevant[relevant[a]] = True
                low, rival = extremes(s, relevant, is_relevant)
                gap = s[relevant[low]] - s[rival]
                flags[t] = 1 if gap <= 0.0 else 0
                ranks[t] = rank_of_best(s, relevant, is_relevant)
                losses[t] = max(0.0, setting.margin - gap)
                for a in range(relevant.shape[0]):
                    is_relevant[relevant[a]] = False
        if i < 0:
            cursor[0] = t + 1
            continue

        relevant = targets.labels[targets.indptr[i] : targets.indptr[i + 1]]
        n_features, _q = read_row(rows, i, scaling, counts[LEARNT], f, v)
        if scaling.counts:  # features, before they become coordinates
            seen = f[:n_features].copy()
        n = expand(simplex.signed, f, v, n_features)
        novel = False
        k_after = k
        for a in range(relevant.shape[0]):
            novel = novel or relevant[a] < 0 or relevant[a] >= k
            k_after = max(k_after, relevant[a] + 1)
        if weight > 0.0 and not novel:  # memory first: a round is done whole or not begun
            new = missing(simplex, f, n)
            if simplex.used[0] + new >= simplex.theta.shape[0]:
                cursor[1], cursor[2] = FULL, new
                return

        flag, rank, loss, due = 0, 1, 0.0, False
        if novel:
            flag, rank = -1, 0
            if weight > 0.0:
                counts[LABELS] = k_after
                if simplex.means.kept:  # weights of a label count from this round on
                    simplex.means.labels[COUNTED, k:k_after] = counts[LEARNT]
        elif 0 < relevant.shape[0] < k:
            # ---- score
            _scores(simplex, f, v, n, k, sums_v, s)
            # ---- count
            for a in range(relevant.shape[0]):
                is_relevant[relevant[a]] = True
            low, rival = extremes(s, relevant, is_relevant)
            gap = s[relevant[low]] - s[rival]
            flag = 1 if gap <= 0.0 else 0
            rank = rank_of_best(s, relevant, is_relevant) if flag == 1 else 1
            loss = max(0.0, setting.margin - gap)
            if weight > 0.0:
                sums[RANKED] += 1.0
                middle = 0.5 * (s[relevant[low]] + s[rival])
                sums[THRESHOLD] += (middle - sums[THRESHOLD]) / min(sums[RANKED], 200.0)
                first, lead = runner_up(s)
                note_lead(ledger.leads, lead, is_relevant[first])
                # ---- step
                C = setting.C * weight if setting.uses_weight else setting.C
                flat, lowest, highest = measure(simplex.n, v, n)
                still = lowest == highest
                if gap < setting.margin and not still and setting.margin >= simplex.radius * (highest - lowest):
                    notes[UNREACHED] += 1.0
                rate = abs(v[0]) if flat else 0.0
                curves = Responses(
                    LOGISTIC if flat else TILTED,
                    start[:k],
                    rate,
                    -simplex.radius * rate if flat and v[0] < 0.0 else 0.0,
                    simplex.radius,
                    all_logs,
                    v[:n],
                    lowest,
                    highest,
                )
                if gap < setting.margin and not still:
                    for r in range(k):
                        drawn[r] = needs_curve(setting.words, r, s, is_relevant, relevant[low], rival, setting.margin)
                    draw(simplex, f, v, n, flat, drawn[:k], sums_v, curves, rest, error)
                total = entropic_coefficients(
                    setting, C, s, relevant, is_relevant[:k], low, rival, still, curves, notes, g
                )
                # ---- move
                if total > 0.0:
                    counts[UPDATES] += 1
                    sums[GAIN] += total * setting.margin
                    if not still:
                        n_touched = 0
                        for r in range(k):
                            if g[r] != 0.0:
                                touched[n_touched] = r
                                n_touched += 1
                                if not drawn[r]:
                                    rest[r], error[r] = outside(simplex, f, n, r, mass_inside(simplex, f, n, r))
                        claim(simplex, f, n)
                        moved, totals = touched[:n_touched], simplex.labels[TOTAL]
                        if simplex.means.kept:
                            settle_row(simplex.means, simplex.mass, totals, simplex.slots, f, n, moved, counts[LEARNT])
                        due = move(simplex, f, v, n, flat, g, moved, rest, error)
                        if simplex.means.kept:
                            watch_sum(simplex.means, simplex.mass, totals, simplex.used[0], moved)
                drawn[:k] = False
            for a in range(relevant.shape[0]):
                is_relevant[relevant[a]] = False
        # ---- note
        if delay == 0:
            flags[i], ranks[i], losses[i] = flag, rank, loss
        counts[MISTAKES] += flags[i] == 1
        counts[NOVEL] += flags[i] == -1
        counts[ROUNDS] += 1
        if weight > 0.0:
            counts[LEARNT] += 1
            if scaling.counts:
                count_features(scaling, seen, n_features)
        cursor[0] = t + 1
        if due:
            cursor[1] = DUE
            return
    cursor[1] = DONE
