"""The loop over labelled rows: read, score, count, step, move, note; and the same without learning.

It joins a task (right labels above the others), a rule (scores and pair norms in, one net coefficient per label out)
and a sharing scheme (whose weights move). It never makes memory: where a store is full or a page too narrow it stops
before the round and says so in `cursor`; the caller mends that and calls again. Where `cursor` asks it to stop in the
middle of a long row, it leaves that round undone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from hinged.geometry.euclidean import moved_sq_norm
from hinged.loops.columns import (
    NO_ROW_VECTORS,
    PER_LABEL,
    PER_SET,
    column_coefficients,
    label_scores,
    n_columns,
)
from hinged.loops.costs import counted_cost, round_loss
from hinged.loops.ledger import (
    COST,
    GAIN,
    LABELS,
    LEARNT,
    MISTAKES,
    NOVEL,
    PENALTY,
    RANKED,
    ROUNDS,
    SQ_NORM,
    THRESHOLD,
    UPDATES,
    note_lead,
)
from hinged.loops.pages import SEGMENT, add_means, add_scores, add_to, has_room, narrow_page
from hinged.loops.prototypes import fast_forward
from hinged.loops.rows import count_features, read_row
from hinged.loops.shared import (
    AT_ONCE,
    add_shared_scores,
    fill_features,
    measure_from,
    move_shared,
    note_statistics,
    support,
)
from hinged.loops.steps import net_coefficients
from hinged.rules.words import INTERIOR, OWN
from hinged.tasks.labels import extremes, rank_of_best, runner_up

__all__ = ["Targets", "learn"]

DONE, FULL, NARROW, STOPPED = 0, 1, 2, 3
#: The cursor: the next round, what the loop stopped for, three numbers of that; the round to end at; a wish to stop.
UNTIL, STOP, CURSOR = 5, 6, 7
WEIGHTS, VECTORS, COUNTS, FIRSTS, SUMS = range(5)


class Targets(NamedTuple):
    """The right labels of each row (-1: a label nobody has met), and the rows' weights (none: all 1)."""

    indptr: np.ndarray  # int64 (rows + 1,)
    labels: np.ndarray  # int64
    weights: np.ndarray  # float64 (rows,) or (0,)


@njit(cache=True)
def _stalled(store: Any, which: int, f: Any, n: int, blocks: int, columns: int, cursor: Any) -> bool:
    """Whether a store must grow before this row can be written to it; if so, what it lacks is in `cursor`."""
    if not has_room(store, n, blocks):
        cursor[1], cursor[2], cursor[3], cursor[4] = FULL, which, n, blocks
        return True
    page = narrow_page(store, f, n, blocks, columns)
    if page >= 0:
        cursor[1], cursor[2], cursor[3] = NARROW, which, page
        return True
    return False


@njit(cache=True, nogil=True)
def learn(
    rows: Any,
    targets: Any,
    delay: int,
    setting: Any,
    own: Any,
    costs: Any,
    columns: Any,
    scaling: Any,
    weights: Any,
    parts: Any,
    ledger: Any,
    notes: Any,
    longest: int,
    n_labels_after: int,
    told: Any,
    cursor: Any,
) -> None:
    """Learn rows from `cursor[0]` to `cursor[UNTIL]`, in order, changing the stores and the ledger in place.

    `told` gets each round's flag, rank and loss. With a delay d they are fixed when a row comes, and it is learnt d
    rows later.
    """
    # s scores · g net coefficients · q ‖x‖² · φ label features · wide: by column, padded to whole segments
    n_rows = rows.indptr.shape[0] - 1
    counts, sums = ledger.counts, ledger.sums
    flags, ranks, losses = told.flags, told.ranks, told.losses
    n_wide = -(-max(1, n_columns(columns, n_labels_after)) // SEGMENT) * SEGMENT
    wide, wide_g = np.zeros(n_wide, weights.like.dtype), np.zeros(n_wide, weights.like.dtype)
    touched = np.empty(n_wide, np.int64)
    set_g, set_sizes = np.zeros(columns.n), np.zeros(columns.n)
    all_scores, all_g, work = np.zeros(n_labels_after), np.zeros(n_labels_after), np.zeros(n_labels_after)
    shifted = np.zeros(n_labels_after)
    has_costs = costs.rho.shape[0] > 0
    is_relevant = np.zeros(n_labels_after, np.bool_)
    f, v = np.empty(longest + 1, np.int64), np.empty(longest + 1, rows.data.dtype)
    if parts is not None:
        room = longest + 1
        if parts.explicit.shape[2] > 0:
            room = parts.ids.shape[0]
        elif parts.keeps[2]:
            room += min(weights.slots.shape[0], parts.sums.used[0] + rows.indices.shape[0] + n_rows)
        fs, vs = np.empty(room, np.int64), np.empty(room)
        all_phi = np.zeros((parts.kinds.shape[0], room, n_labels_after))
        origin = np.zeros((parts.kinds.shape[0], room))

    plain = delay == 0 and parts is None and columns.kind == PER_LABEL and weights.depth == 1
    plain = plain and not has_costs and weights.table.shape[1] == 1 and setting.words.combine not in (INTERIOR, OWN)
    until = min(n_rows + delay, cursor[UNTIL])
    while cursor[0] < until:
        if plain and 1 < counts[LABELS] <= SEGMENT:
            cursor[0] = fast_forward(rows, targets, setting, scaling, weights, ledger, longest, told, cursor[0], until)
            if cursor[0] == until:
                break
        t = cursor[0]
        i = t - delay
        k = counts[LABELS]
        weight = 1.0
        if i >= 0 and targets.weights.shape[0] > 0:
            weight = targets.weights[i]

        if delay > 0 and t < n_rows:  # fix the prediction for the row that comes
            relevant = targets.labels[targets.indptr[t] : targets.indptr[t + 1]]
            novel = False
            for a in range(relevant.shape[0]):
                novel = novel or relevant[a] < 0 or relevant[a] >= k
            s = all_scores[:k]
            if novel:
                flags[t], ranks[t] = -1, 0
            elif relevant.shape[0] == 0 or relevant.shape[0] == k:
                flags[t], ranks[t] = 0, 1
            else:
                n, q = read_row(rows, t, scaling, counts[LEARNT], f, v)
                wide[:] = 0
                add_scores(weights, f, v, n, n_columns(columns, k), wide)
                label_scores(columns, wide, s)
                if parts is not None:
                    m = support(parts, f, v, n, fs, vs)
                    phi = all_phi[:, :, :k]
                    fill_features(parts, fs, vs, 0, m, counts[LEARNT], scaling.df, phi, work)
                    measure_from(phi, m, relevant[0], origin)
                    add_shared_scores(parts, fs, m, phi, origin, 0, s)
                for a in range(relevant.shape[0]):
                    is_relevant[relevant[a]] = True
                low, rival = extremes(s, relevant, is_relevant)
                gap = s[relevant[low]] - s[rival]
                flags[t] = 1 if gap <= 0.0 else 0
                ranks[t] = rank_of_best(s, relevant, is_relevant)
                losses[t] = round_loss(setting, costs, s, relevant[0], gap)
                if has_costs:
                    notes[COST] += counted_cost(costs, s, relevant[0])
                for a in range(relevant.shape[0]):
                    is_relevant[relevant[a]] = False
        if i < 0:
            cursor[0] = t + 1
            continue

        relevant = targets.labels[targets.indptr[i] : targets.indptr[i + 1]]
        n, q = read_row(rows, i, scaling, counts[LEARNT], f, v)
        novel = False
        k_after = k
        for a in range(relevant.shape[0]):
            novel = novel or relevant[a] < 0 or relevant[a] >= k
            k_after = max(k_after, relevant[a] + 1)
        m = 0
        if parts is not None:
            m = support(parts, f, v, n, fs, vs)

        if weight > 0.0:  # memory first: a round is done whole or not begun
            n_cols = n_columns(columns, k)
            if not novel and columns.kind != NO_ROW_VECTORS:
                n_segments = -(-n_cols // SEGMENT)
                if _stalled(weights, WEIGHTS, f, n, n * n_segments, n_cols, cursor):
                    return
            if parts is not None:
                if _stalled(
                    parts.vectors, VECTORS, fs, m, m * parts.vectors.table.shape[1], parts.kinds.shape[0], cursor
                ):
                    return
                blocks = n * max(1, relevant.shape[0])
                if parts.keeps[0] and _stalled(parts.counts, COUNTS, f, n, blocks, k_after, cursor):
                    return
                if parts.keeps[1] and _stalled(parts.firsts, FIRSTS, f, n, blocks, k_after, cursor):
                    return
                if parts.keeps[2] and _stalled(parts.sums, SUMS, f, n, blocks, k_after, cursor):
                    return

        flag, rank, loss = 0, 1, 0.0
        if novel:
            flag, rank = -1, 0
            if weight > 0.0:
                counts[LABELS] = k_after
        elif 0 < relevant.shape[0] < k:
            # ---- score
            s = all_scores[:k]
            wide[:] = 0
            add_scores(weights, f, v, n, n_columns(columns, k), wide)
            label_scores(columns, wide, s)
            base = 0.0
            if parts is not None:
                phi = all_phi[:, :, :k]
                for begin in range(0, m, AT_ONCE):
                    end = min(m, begin + AT_ONCE)
                    fill_features(parts, fs, vs, begin, end, counts[LEARNT], scaling.df, phi, work)
                    if cursor[STOP] != 0:
                        cursor[1] = STOPPED
                        return
                measure_from(phi, m, relevant[0], origin)
                base = add_shared_scores(parts, fs, m, phi, origin, 0, s)
            # ---- count
            for a in range(relevant.shape[0]):
                is_relevant[relevant[a]] = True
            low, rival = extremes(s, relevant, is_relevant)
            gap = s[relevant[low]] - s[rival]
            flag = 1 if gap <= 0.0 else 0
            rank = rank_of_best(s, relevant, is_relevant) if flag == 1 else 1
            loss = round_loss(setting, costs, s, relevant[0], gap)
            if weight > 0.0:
                # ---- step
                C = setting.C * weight if setting.uses_weight else setting.C
                g = all_g[:k]
                phi_now = None if parts is None else all_phi[:, :m, :k]
                total, gain, penalty = net_coefficients(
                    setting,
                    own,
                    costs,
                    C,
                    s,
                    relevant,
                    is_relevant[:k],
                    low,
                    rival,
                    columns,
                    q,
                    phi_now,
                    work,
                    shifted[:k],
                    notes,
                    g,
                    cursor[STOP:],
                )
                if cursor[STOP] != 0:
                    cursor[1] = STOPPED
                    return
            # ---- note the lead
            if has_costs and delay == 0:
                notes[COST] += counted_cost(costs, s, relevant[0])
            if weight > 0.0:
                middle = base + 0.5 * (s[relevant[low]] + s[rival])
                sums[RANKED] += 1.0
                sums[THRESHOLD] += (middle - sums[THRESHOLD]) / min(sums[RANKED], 200.0)
                if weights.depth == 2 and counts[LEARNT] > 0:
                    mean = work[:k]
                    wide[:] = 0
                    add_means(weights, f, v, n, n_columns(columns, k), counts[LEARNT], wide)
                    label_scores(columns, wide, mean)
                    if parts is not None:
                        add_shared_scores(parts, fs, m, phi, origin, counts[LEARNT], mean)
                    first, lead = runner_up(mean)
                    note_lead(ledger.leads, lead, is_relevant[first])
                elif flag == 0 and relevant.shape[0] == 1:
                    note_lead(ledger.leads, gap, True)
                else:
                    first, lead = runner_up(s)
                    note_lead(ledger.leads, lead, is_relevant[first])
                # ---- move
                if total > 0.0:
                    counts[UPDATES] += 1
                    age = float(counts[LEARNT])
                    inner, sq_move, n_touched = 0.0, 0.0, 0
                    for r in range(k):
                        inner += g[r] * s[r]
                    if columns.separate:
                        for r in range(k):
                            if g[r] != 0.0:
                                c = r if columns.kind == PER_LABEL else columns.indices[columns.indptr[r]]
                                wide_g[c] = g[r]
                                touched[n_touched] = c
                                n_touched += 1
                    elif columns.kind == PER_SET:
                        column_coefficients(columns, g, relevant[0], relevant.shape[0] > 1, set_g, set_sizes)
                        for c in range(columns.n):
                            if set_g[c] != 0.0:
                                wide_g[c] = set_g[c]
                                touched[n_touched] = c
                                n_touched += 1
                    for a in range(n_touched):
                        sq_move += q * np.float64(wide_g[touched[a]]) ** 2
                    add_to(weights, f, v, n, wide_g, touched, n_touched, age)
                    for a in range(n_touched):
                        wide_g[touched[a]] = 0
                    if parts is not None:
                        sq_move += move_shared(parts, fs, m, phi, g, relevant.shape[0] > 1, age)
                    sums[GAIN] += gain
                    sums[PENALTY] += penalty
                    sums[SQ_NORM] = moved_sq_norm(sums[SQ_NORM], inner, sq_move)
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
                count_features(scaling, f, n)
            if parts is not None:
                note_statistics(parts, f, v, n, counts[ROUNDS], relevant)
        cursor[0] = t + 1
    cursor[1] = DONE
