"""The loop over labelled rows: read, score, count, step, move, note; and the same without learning.

It joins a task (right labels above the others), a rule (scores and pair norms in, one net coefficient per label out)
and a sharing scheme (whose weights move). It never makes memory: where a store is full or a page too narrow it stops
before the round and says so in `cursor`; the caller mends that and calls again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from hinged.geometry.euclidean import moved_sq_norm
from hinged.loops.ledger import (
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
from hinged.loops.rows import count_features, read_row
from hinged.loops.shared import (
    add_shared_scores,
    fill_features,
    measure_from,
    move_shared,
    note_statistics,
    shared_inner,
    shared_sq_distance,
    support,
)
from hinged.rules.codes import MIRA, OPTIMAL, PA, PA1, PA2, PERCEPTRON, SIMPERC
from hinged.rules.optimal import by_sorting, on_gram
from hinged.rules.passive_aggressive import pa, pa1, pa2
from hinged.rules.perceptron import perceptron
from hinged.rules.simultaneous import simultaneous
from hinged.tasks.labels import extremes, rank_of_best, runner_up

__all__ = ["NO_ROW_VECTORS", "PER_LABEL", "PER_SET", "Columns", "Setting", "Targets", "learn", "score"]

NO_ROW_VECTORS, PER_LABEL, PER_SET = 0, 1, 2
DONE, FULL, NARROW = 0, 1, 2
WEIGHTS, VECTORS, COUNTS, FIRSTS, SUMS = range(5)


class Setting(NamedTuple):
    """A rule's numbers, as the loop reads them."""

    code: int
    C: float
    margin: float
    uses_weight: bool


class Targets(NamedTuple):
    """The right labels of each row (-1: a label nobody has met), and the rows' weights (none: all 1)."""

    indptr: np.ndarray  # int64 (rows + 1,)
    labels: np.ndarray  # int64
    weights: np.ndarray  # float64 (rows,) or (0,)


class Columns(NamedTuple):
    """Which columns of the weights make up a label's score."""

    kind: int  # NO_ROW_VECTORS, PER_LABEL, PER_SET
    indptr: np.ndarray  # int64 (labels + 1,) for PER_SET
    indices: np.ndarray  # int64
    n: int  # columns in all, for PER_SET


@njit(cache=True)
def _n_columns(columns: Any, n_labels: int) -> int:
    if columns.kind == PER_LABEL:
        return n_labels
    return columns.n


@njit(cache=True)
def _label_scores(columns: Any, wide: Any, s: Any) -> None:
    """Scores of the labels from those of the columns."""
    if columns.kind == PER_LABEL:
        for r in range(s.shape[0]):
            s[r] = wide[r]
    else:
        for r in range(s.shape[0]):
            s[r] = 0.0
            if columns.kind == PER_SET:
                for c in range(columns.indptr[r], columns.indptr[r + 1]):
                    s[r] += wide[columns.indices[c]]


@njit(cache=True)
def _common_columns(columns: Any, r: int, s: int) -> int:
    """How many columns two labels have in common."""
    if columns.kind == PER_LABEL:
        return 1 if r == s else 0
    common = 0
    if columns.kind == PER_SET:
        for a in range(columns.indptr[r], columns.indptr[r + 1]):
            for b in range(columns.indptr[s], columns.indptr[s + 1]):
                common += columns.indices[a] == columns.indices[b]
    return common


@njit(cache=True)
def _sq_distance(columns: Any, q: float, r: int, s: int) -> float:
    """‖V_r - V_s‖² of the part that multiplies the row itself."""
    if columns.kind == PER_LABEL:
        return 2.0 * q
    alone = _common_columns(columns, r, r) + _common_columns(columns, s, s) - 2 * _common_columns(columns, r, s)
    return q * alone


@njit(cache=True)
def _worst_step(code: int, gap: float, sq_norm: float, margin: float, C: float) -> float:
    """Step along the worst pair alone."""
    if code == PERCEPTRON:
        return perceptron(gap, C)
    loss = margin - gap
    if loss <= 0.0:
        return 0.0
    if code == PA:
        return pa(loss, sq_norm)
    if code == PA1:
        return pa1(loss, sq_norm, C)
    return pa2(loss, sq_norm, C)


@njit(cache=True)
def _stalled(store: Any, which: int, f: Any, n: int, blocks: int, columns: int, cursor: Any) -> bool:
    """Whether a store must grow before this row can be written to it; if so, what it lacks is in `cursor`."""
    if not has_room(store, n, blocks):
        cursor[1], cursor[2], cursor[3], cursor[4] = FULL, which, n, blocks
        return True
    page = narrow_page(store, f, n, columns)
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
    columns: Any,
    scaling: Any,
    weights: Any,
    parts: Any,
    ledger: Any,
    longest: int,
    n_labels_after: int,
    flags: Any,
    ranks: Any,
    cursor: Any,
) -> None:
    """Learn rows from `cursor[0]` on, in order, changing the stores and the ledger in place.

    `flags` gets 1 for a mistake, 0 for a right prediction, -1 for a round with a new label; `ranks` the rank of the
    best right label. With a delay d both are fixed when a row comes, and it is learnt d rows later.
    """
    # s scores · g net coefficients · q ‖x‖² · φ label features · wide: by column, padded to whole segments
    n_rows = rows.indptr.shape[0] - 1
    counts, sums = ledger.counts, ledger.sums
    n_wide = -(-max(1, _n_columns(columns, n_labels_after)) // SEGMENT) * SEGMENT
    wide, wide_g = np.zeros(n_wide, weights.like.dtype), np.zeros(n_wide, weights.like.dtype)
    touched = np.empty(n_wide, np.int64)
    all_scores, all_g, work = np.zeros(n_labels_after), np.zeros(n_labels_after), np.zeros(n_labels_after)
    is_relevant = np.zeros(n_labels_after, np.bool_)
    norms = np.zeros((1, n_labels_after))
    f, v = np.empty(longest + 1, np.int64), np.empty(longest + 1, rows.data.dtype)
    if parts is not None:
        room = longest + 1
        if parts.explicit.shape[2] > 0:
            room = parts.ids.shape[0]
        elif parts.keeps[2]:
            room = min(weights.slots.shape[0], parts.sums.used[0] + rows.indices.shape[0] + n_rows) + 1
        fs, vs = np.empty(room, np.int64), np.empty(room)
        all_phi = np.zeros((parts.kinds.shape[0], room, n_labels_after))
        origin = np.zeros((parts.kinds.shape[0], room))

    for t in range(cursor[0], n_rows + delay):
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
                add_scores(weights, f, v, n, _n_columns(columns, k), wide)
                _label_scores(columns, wide, s)
                if parts is not None:
                    m = support(parts, f, v, n, fs, vs)
                    phi = all_phi[:, :, :k]
                    fill_features(parts, fs, vs, m, counts[LEARNT], scaling.df, phi, work)
                    measure_from(phi, m, relevant[0], origin)
                    add_shared_scores(parts, fs, m, phi, origin, 0, s)
                for a in range(relevant.shape[0]):
                    is_relevant[relevant[a]] = True
                low, rival = extremes(s, relevant, is_relevant)
                flags[t] = 1 if s[relevant[low]] - s[rival] <= 0.0 else 0
                ranks[t] = rank_of_best(s, relevant, is_relevant)
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
            n_columns = _n_columns(columns, k)
            if not novel and columns.kind != NO_ROW_VECTORS:
                n_segments = -(-n_columns // SEGMENT)
                if _stalled(weights, WEIGHTS, f, n, n * n_segments, n_columns, cursor):
                    return
            if parts is not None:
                if _stalled(parts.vectors, VECTORS, fs, m, m * parts.vectors.table.shape[1], parts.kinds.shape[0], cursor):
                    return
                blocks = n * max(1, relevant.shape[0])
                if parts.keeps[0] and _stalled(parts.counts, COUNTS, f, n, blocks, k_after, cursor):
                    return
                if parts.keeps[1] and _stalled(parts.firsts, FIRSTS, f, n, blocks, k_after, cursor):
                    return
                if parts.keeps[2] and _stalled(parts.sums, SUMS, f, n, blocks, k_after, cursor):
                    return

        flag, rank = 0, 1
        if novel:
            flag, rank = -1, 0
            if weight > 0.0:
                counts[LABELS] = k_after
        elif 0 < relevant.shape[0] < k:
            # ---- score
            s = all_scores[:k]
            wide[:] = 0
            add_scores(weights, f, v, n, _n_columns(columns, k), wide)
            _label_scores(columns, wide, s)
            base = 0.0
            if parts is not None:
                phi = all_phi[:, :, :k]
                fill_features(parts, fs, vs, m, counts[LEARNT], scaling.df, phi, work)
                measure_from(phi, m, relevant[0], origin)
                base = add_shared_scores(parts, fs, m, phi, origin, 0, s)
            # ---- count
            for a in range(relevant.shape[0]):
                is_relevant[relevant[a]] = True
            low, rival = extremes(s, relevant, is_relevant)
            gap = s[relevant[low]] - s[rival]
            flag = 1 if gap <= 0.0 else 0
            rank = rank_of_best(s, relevant, is_relevant) if flag == 1 else 1
            if weight > 0.0:
                middle = base + 0.5 * (s[relevant[low]] + s[rival])
                sums[RANKED] += 1.0
                sums[THRESHOLD] += (middle - sums[THRESHOLD]) / min(sums[RANKED], 200.0)
                if weights.depth == 2 and counts[ROUNDS] > 0:
                    mean = work[:k]
                    wide[:] = 0
                    add_means(weights, f, v, n, _n_columns(columns, k), counts[ROUNDS], wide)
                    _label_scores(columns, wide, mean)
                    if parts is not None:
                        add_shared_scores(parts, fs, m, phi, origin, counts[ROUNDS], mean)
                    first, lead = runner_up(mean)
                    note_lead(ledger.leads, lead, is_relevant[first])
                elif flag == 0 and relevant.shape[0] == 1:
                    note_lead(ledger.leads, gap, True)
                else:
                    first, lead = runner_up(s)
                    note_lead(ledger.leads, lead, is_relevant[first])
                # ---- step
                C = setting.C * weight if setting.uses_weight else setting.C
                margin = setting.margin
                g = all_g[:k]
                g[:] = 0.0
                total, penalty = 0.0, 0.0
                if setting.code < SIMPERC:
                    if gap < margin:
                        r = relevant[low]
                        sq_norm = _sq_distance(columns, q, r, rival)
                        if parts is not None:
                            sq_norm += shared_sq_distance(phi, m, r, rival)
                        total = _worst_step(setting.code, gap, sq_norm, margin, C)
                        g[r] = total
                        g[rival] = -total
                        if setting.code == PA2:
                            penalty = total * total / (4.0 * C)
                elif setting.code == OPTIMAL or setting.code == MIRA:
                    if gap < margin and not (setting.code == MIRA and q == 0.0 and parts is None):
                        if columns.kind == PER_LABEL and parts is None:
                            if q == 0.0:
                                total = pa1(margin - gap, 0.0, C)
                                g[relevant[low]] = total
                                g[rival] = -total
                            else:
                                total = by_sorting(s, is_relevant[:k], q, margin, C, work, g)
                        else:
                            gram = np.empty((k, k))
                            for r in range(k):
                                for r2 in range(r + 1):
                                    gram[r, r2] = q * _common_columns(columns, r, r2)
                                    if parts is not None:
                                        gram[r, r2] += shared_inner(phi, m, r, r2)
                                    gram[r2, r] = gram[r, r2]
                            total = on_gram(s, is_relevant[:k], gram, margin, C, g)
                elif gap < margin:
                    if relevant.shape[0] > norms.shape[0]:
                        norms = np.zeros((relevant.shape[0], n_labels_after))
                    for a in range(relevant.shape[0]):
                        for r2 in range(k):
                            if not is_relevant[r2] and s[relevant[a]] - s[r2] < margin:
                                norms[a, r2] = _sq_distance(columns, q, relevant[a], r2)
                                if parts is not None:
                                    norms[a, r2] += shared_sq_distance(phi, m, relevant[a], r2)
                    if own is None:
                        total = simultaneous(
                            setting.code, s, relevant, is_relevant[:k], norms[: relevant.shape[0], :k], margin, C, g
                        )
                    else:
                        own(s, relevant, norms[: relevant.shape[0], :k], margin, C, g)
                        for a in range(relevant.shape[0]):
                            total += g[relevant[a]]
                # ---- move
                if total > 0.0:
                    counts[UPDATES] += 1
                    age = float(counts[ROUNDS])
                    inner, sq_move, n_touched = 0.0, 0.0, 0
                    for r in range(k):
                        inner += g[r] * s[r]
                    if columns.kind == PER_LABEL:
                        for r in range(k):
                            if g[r] != 0.0:
                                wide_g[r] = g[r]
                                touched[n_touched] = r
                                n_touched += 1
                    elif columns.kind == PER_SET:
                        for r in range(k):
                            if g[r] != 0.0:
                                for c in range(columns.indptr[r], columns.indptr[r + 1]):
                                    wide_g[columns.indices[c]] += g[r]
                        for c in range(columns.n):
                            if wide_g[c] != 0:
                                touched[n_touched] = c
                                n_touched += 1
                    for a in range(n_touched):
                        sq_move += q * float(wide_g[touched[a]]) ** 2
                    add_to(weights, f, v, n, wide_g, touched, n_touched, age)
                    for a in range(n_touched):
                        wide_g[touched[a]] = 0
                    if parts is not None:
                        sq_move += move_shared(parts, fs, m, phi, g, age)
                    sums[GAIN] += total * margin
                    sums[PENALTY] += penalty
                    sums[SQ_NORM] = moved_sq_norm(sums[SQ_NORM], inner, sq_move)
            for a in range(relevant.shape[0]):
                is_relevant[relevant[a]] = False
        # ---- note
        if delay == 0:
            flags[i], ranks[i] = flag, rank
        counts[MISTAKES] += flags[i] == 1
        counts[NOVEL] += flags[i] == -1
        counts[ROUNDS] += 1
        if weight > 0.0:
            counts[LEARNT] += 1
            if scaling.counts:
                count_features(scaling, f, n)
            if parts is not None:
                note_statistics(parts, f, v, n, relevant)
        cursor[0] = t + 1
    cursor[1] = DONE


@njit(cache=True, nogil=True)
def score(
    rows: Any,
    columns: Any,
    scaling: Any,
    weights: Any,
    parts: Any,
    counts: Any,
    longest: int,
    out: Any,
) -> None:
    """Scores of every known label for every row, into `out` (rows, labels); nothing is learnt or counted."""
    k = out.shape[1]
    n_wide = -(-max(1, _n_columns(columns, k)) // SEGMENT) * SEGMENT
    wide, work = np.zeros(n_wide, weights.like.dtype), np.zeros(k)
    f, v = np.empty(longest + 1, np.int64), np.empty(longest + 1, rows.data.dtype)
    mean_over = counts[ROUNDS] if weights.depth == 2 else 0
    if parts is not None:
        room = longest + 1
        if parts.explicit.shape[2] > 0:
            room = parts.ids.shape[0]
        elif parts.keeps[2]:
            room += parts.sums.used[0]
        fs, vs = np.empty(room, np.int64), np.empty(room)
        phi = np.zeros((parts.kinds.shape[0], room, k))[:, :, :k]  # as `learn` has it: one compiled version serves both
        origin = np.zeros((parts.kinds.shape[0], room))
    for i in range(out.shape[0]):
        n, _q = read_row(rows, i, scaling, counts[LEARNT], f, v)
        s = out[i]
        wide[:] = 0
        if mean_over > 0:
            add_means(weights, f, v, n, _n_columns(columns, k), mean_over, wide)
        else:
            add_scores(weights, f, v, n, _n_columns(columns, k), wide)
        _label_scores(columns, wide, s)
        if parts is not None:
            m = support(parts, f, v, n, fs, vs)
            fill_features(parts, fs, vs, m, counts[LEARNT], scaling.df, phi, work)
            add_shared_scores(parts, fs, m, phi, origin, mean_over, s)
