"""Shared weight vectors: label features of a row for every label, their scores, norms and moves.

A feature of φ has a place in the shared vectors: kinds of evidence come first, then the features of rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats, Int32s, Ints
from hinged.loops.columns import ROUNDING
from hinged.loops.evidence import Given, Totals, fill_directions, fill_log_odds, fill_recency, note_totals
from hinged.loops.pages import SEGMENT, Store, fetch_blocks, gather, put
from hinged.loops.rows import Rows
from hinged.rules.gram import AT_ONCE
from hinged.sharing.evidence import BAYES, CENTROID
from hinged.sharing.features import (
    DISTANCE,
    EXPLICIT,
    FIRST,
    FREQUENCY,
    NO_WORDS,
    TFIDF,
    frequency,
    frequency_bars,
    tfidf,
)

if TYPE_CHECKING:
    from hinged.loops.round import Example

__all__ = [
    "Parts",
    "Tally",
    "add_shared_scores",
    "add_shared_squares",
    "fetch_ahead",
    "fill_evidence",
    "fill_features",
    "learnt_among",
    "measure_from",
    "move_shared",
    "n_evidence",
    "new_tally",
    "note_statistics",
    "shared_room",
    "shared_sq_distance",
    "support",
]


class Parts(NamedTuple):
    """Shared vectors (one column of `vectors` each) and the statistics their label features read."""

    evidence: np.ndarray  # int64: codes of the kinds of evidence, for one part alone
    kinds: np.ndarray  # int64 (parts,)
    thresholds: np.ndarray  # int64 (parts, 5)
    factors: np.ndarray  # float64 (parts, 2)
    members: np.ndarray  # bool (parts, labels), or (parts, 0): all
    keeps: np.ndarray  # bool (3,): whether counts, first rows, sums are kept
    vectors: Store
    counts: Store  # rows with both feature and label
    firsts: Store  # each label's first row
    sums: Store  # each label's sum of rows
    label_rows: np.ndarray  # int64 (labels,): rows of each label
    first_rounds: np.ndarray  # int64 (labels,): when each label's first row came
    totals: Totals  # for evidence
    ids: np.ndarray  # int64: features of a row whose φ was computed outside
    explicit: np.ndarray  # float64 (parts, features, labels): that φ


class Tally(NamedTuple):
    """Scratch arrays: what is kept of one feature, and the counts that thresholds of `Frequency` come to."""

    values: np.ndarray  # float64 (labels,): of each label ...
    counts: np.ndarray  # int32 (labels,): ... or its rows that had the feature
    often: np.ndarray  # int32 (parts, labels)
    rare: np.ndarray  # int32 (parts, labels)
    weights: np.ndarray  # float64 (parts,): the feature's weights in the shared vectors ...
    sums: np.ndarray  # float64 (parts,): ... and what their means need
    wide: np.ndarray  # float64 (labels,), padded to whole segments


@compiled(helper=True)
def new_tally(n_parts: int, n_labels: int) -> Tally:
    """Scratch arrays for so many shared vectors and labels."""
    bars, weights = np.empty((2, n_parts, n_labels), np.int32), np.empty((2, n_parts))
    wide = np.empty(-(-n_labels // SEGMENT) * SEGMENT)
    return Tally(np.empty(n_labels), np.empty(n_labels, np.int32), bars[0], bars[1], weights[0], weights[1], wide)


@compiled(helper=True)
def shared_room(parts: Parts | None, longest: int, to_come: int) -> tuple[int, int]:
    """How many shared vectors there are, and most features of φ where rows bring up to `to_come` new ones."""
    if parts is None:
        return 0, 0
    room = parts.evidence.shape[0] + longest + 1
    if parts.explicit.shape[2] > 0:
        room = parts.ids.shape[0]
    elif _is_dense(parts):
        room += min(parts.sums.slots.shape[0], parts.sums.used[0] + to_come)
    return parts.kinds.shape[0], room


@compiled(helper=True, forceinline=True)
def _is_dense(parts: Parts) -> bool:
    """Return True if some φ differs from 0 where the row does not."""
    dense = False
    for p in range(parts.kinds.shape[0]):
        dense = dense or parts.kinds[p] == DISTANCE
    return dense


@compiled(helper=True, forceinline=True)
def n_evidence(parts: Parts | None) -> int:
    """How many kinds of evidence there are; they have the first places of φ."""
    if parts is None:
        return 0
    return parts.evidence.shape[0]


@compiled(helper=True, forceinline=True)
def support(parts: Parts | None, f: Ints, v: Floats, n: int, fs: Ints, vs: Floats) -> int:
    """Places at which some label's φ may differ from 0, rising at first, with the row's values there; return how many.

    Evidence comes first, where there is some.
    """
    if parts is None:
        return 0
    if parts.explicit.shape[2] > 0:
        for j in range(parts.ids.shape[0]):
            fs[j], vs[j] = parts.ids[j], 0.0
        return parts.ids.shape[0]
    first, dense, known = parts.evidence.shape[0], _is_dense(parts), 0
    for e in range(first):
        fs[e], vs[e] = e, 0.0
    if parts.kinds[0] == NO_WORDS:
        return first
    if dense:  # |x - p| is not 0 where only the mean is; a writer may add more than there is room for
        known = min(parts.sums.used[0], parts.sums.owners.shape[0] - 1, fs.shape[0] - n - first)
        for j in range(known):
            fs[first + j], vs[first + j] = first + np.int64(parts.sums.owners[j + 1]), 0.0
    m = first + known
    for j in range(n):
        slot = np.int64(parts.sums.slots[f[j]]) if dense and f[j] < parts.sums.slots.shape[0] else np.int64(0)
        if 0 < slot <= known:
            vs[first + slot - 1] = v[j]
        else:
            fs[m], vs[m] = first + f[j], v[j]
            m += 1
    return m


@compiled(helper=True)
def fetch_ahead(parts: Parts | None, weights: Store, rows: Rows, i: int) -> None:
    """Ask the processor for what is kept of the features of row `i`, if there is one: read singly, each takes long."""
    if parts is None:
        return
    if i + 1 < rows.indptr.shape[0]:
        columns = rows.indices[rows.indptr[i] : rows.indptr[i + 1]]
        fetch_blocks(weights, columns, 1)
        fetch_blocks(parts.vectors, columns, 1 + parts.evidence.shape[0])
        fetch_blocks(parts.counts, columns, 1)
        if parts.keeps[2]:
            fetch_blocks(parts.sums, columns, 1)


@compiled(helper=True)
def learnt_among(parts: Parts | None, fs: Ints, vs: Floats, m: int, work: Tally) -> int:
    """Keep the places that a shared vector has weights for; return how many. No other adds to a score."""
    if parts is None:
        return 0
    if parts.explicit.shape[2] > 0:  # their φ lies in the order of all
        return m
    kept = 0
    for j in range(m):
        if gather(parts.vectors, fs[j], work.weights.shape[0], 0, work.weights):
            fs[kept], vs[kept] = fs[j], vs[j]
            kept += 1
    return kept


@compiled(helper=True, forceinline=True)
def fill_evidence(parts: Parts | None, given: Given, fs: Ints, phi: Floats, work: Tally, stop: Ints) -> None:
    """The evidence among these places for every label into `phi` (parts, places, labels), from earlier rounds alone.

    Once `stop[0]` is set, the answer is of no use.
    """
    if parts is None:
        return
    for j in range(fs.shape[0]):
        if fs[j] >= parts.evidence.shape[0]:
            return
        kind = parts.evidence[fs[j]]
        if kind == CENTROID:
            fill_directions(given, parts.sums, parts.totals.squares, work.wide, phi[0, j])
        elif kind == BAYES:
            fill_log_odds(given, parts.counts, parts.totals.occurrences, work.counts, phi[0, j], stop)
        else:
            fill_recency(given, parts.totals.last, phi[0, j])


@compiled(helper=True, forceinline=True)
def fill_features(
    parts: Parts | None, fs: Ints, vs: Floats, rounds: int, df: Int32s, phi: Floats, work: Tally, stop: Ints
) -> None:
    """φ of every label at these places into `phi` (parts, places, labels), from earlier rounds alone; not evidence.

    Once `stop[0]` is set, the answer is of no use.
    """
    if parts is None:
        return
    first = parts.evidence.shape[0]
    for p in range(parts.kinds.shape[0]):
        if parts.kinds[p] == FREQUENCY:
            for r in range(phi.shape[2]):
                work.often[p, r], work.rare[p, r] = frequency_bars(parts.label_rows[r], parts.thresholds[p])
    for j in range(fs.shape[0]):
        if j % AT_ONCE == AT_ONCE - 1 and stop[0] != 0:
            return
        if fs[j] < first:
            continue
        for p in range(parts.kinds.shape[0]):
            own = phi[p, j]
            if parts.kinds[p] == EXPLICIT:
                for r in range(own.shape[0]):
                    own[r] = parts.explicit[p, j, r]
            else:
                _fill_one(parts, p, fs[j] - first, vs[j], rounds, df, work, own)
            if parts.members.shape[1] > 0:
                for r in range(own.shape[0]):
                    if not parts.members[p, r]:
                        own[r] = 0.0


@compiled(helper=True, forceinline=True)
def _fill_one(
    parts: Parts, p: int, feature: int, value: float, rounds: int, df: Int32s, work: Tally, phi: Floats
) -> None:
    """φ of every label by part `p` on one feature, which df[feature] of the `rounds` had."""
    n_labels, kind, values, counts = phi.shape[0], parts.kinds[p], work.values, work.counts
    if kind == FIRST:
        gather(parts.firsts, feature, n_labels, 0, values)
        for r in range(n_labels):
            phi[r] = value * values[r]
    elif kind == FREQUENCY:
        gather(parts.counts, feature, n_labels, 0, counts)
        often, rare = work.often[p], work.rare[p]
        high, low = parts.factors[p, 0] * value, parts.factors[p, 1] * value
        for r in range(n_labels):
            phi[r] = frequency(counts[r], often[r], rare[r], high, low)
    elif kind == TFIDF:
        gather(parts.counts, feature, n_labels, 0, counts)
        seen = np.int64(df[feature]) if feature < df.shape[0] else np.int64(0)
        for r in range(n_labels):
            phi[r] = tfidf(value, rounds, seen, np.int64(counts[r]))
    else:
        gather(parts.sums, feature, n_labels, 0, values)
        for r in range(n_labels):
            mean = values[r] / parts.label_rows[r] if parts.label_rows[r] > 0 else 0.0
            phi[r] = abs(value - mean)


@compiled(helper=True)
def measure_from(phi: Floats, m: int, pivot: int, origin: Floats) -> None:
    """φ(x, r) - φ(x, pivot) in place of φ(x, r); `origin` (parts, features) gets what was taken off.

    Labels that share weights differ only by their φ, and net coefficients sum to 0, so learning may use differences
    throughout. Taken first they are exact: weights that should cancel do, and a margin once met stays met.
    """
    for p in range(phi.shape[0]):
        for j in range(m):
            own = phi[p, j]
            base = own[pivot]
            origin[p, j] = base
            for r in range(own.shape[0]):
                own[r] -= base


@compiled(helper=True, forceinline=True)
def add_shared_scores(
    parts: Parts | None, fs: Ints, m: int, phi: Floats, origin: Floats, mean_over: int, work: Tally, s: Floats
) -> float:
    """s_r += Σ ⟨w, φ(x, r)⟩ over the parts; return Σ ⟨w, origin⟩. `mean_over` rounds: the mean vectors (0: not)."""
    if parts is None:
        return 0.0
    n_parts, base = parts.kinds.shape[0], 0.0
    for j in range(m):
        if gather(parts.vectors, fs[j], n_parts, 0, work.weights):
            if mean_over > 0:
                gather(parts.vectors, fs[j], n_parts, 1, work.sums)
                for p in range(n_parts):
                    work.weights[p] -= work.sums[p] / mean_over
            for p in range(n_parts):
                weight, own = work.weights[p], phi[p, j]
                if weight != 0.0:
                    base += weight * origin[p, j]
                    for r in range(s.shape[0]):
                        s[r] += weight * own[r]
    return base


@compiled(helper=True)
def shared_sq_distance(phi: Floats, r: int, s: int) -> float:
    """‖φ(x, r) - φ(x, s)‖² summed over the parts; exactly 0 where the two agree."""
    total = 0.0
    for p in range(phi.shape[0]):
        for j in range(phi.shape[1]):
            d = phi[p, j, r] - phi[p, j, s]
            total += d * d
    return total


@compiled(helper=True)
def add_shared_squares(phi: Floats, squares: Floats) -> None:
    """squares_r += ‖φ(x, r)‖², summed over the parts."""
    for p in range(phi.shape[0]):
        for j in range(phi.shape[1]):
            for r in range(squares.shape[0]):
                squares[r] += phi[p, j, r] * phi[p, j, r]


@compiled(helper=True, forceinline=True)
def move_shared(parts: Parts | None, x: Example, m: int, g: Floats, several: bool, age: float) -> float:
    """w += Σ_r g_r φ(x, r), in the metric if there is one; return the squared length of the move.

    In a metric `x.phi` is √Σ φ, and √Σ of that is Σφ. With `several` right labels, what is left of a sum after it has
    cancelled is rounding (see `column_coefficients`).
    """
    total, phi, fs, bends = 0.0, x.phi, x.fs, x.roots.shape[0] > 0
    if parts is None:
        return total
    moving = np.flatnonzero(g)
    for j in range(m):
        root = x.roots[j] if bends else 1.0
        for p in range(phi.shape[0]):
            step, size = 0.0, 0.0
            for r in moving:
                step += g[r] * phi[p, j, r]
            if several:
                for r in moving:
                    size += abs(g[r] * phi[p, j, r])
            if abs(step) > ROUNDING * size:
                put(parts.vectors, fs[j], p, 0, root * step)
                if parts.vectors.depth == 2:
                    put(parts.vectors, fs[j], p, 1, age * (root * step))
                total += step * step
    return total


@compiled(helper=True, forceinline=True)
def note_statistics(parts: Parts | None, f: Ints, v: Floats, n: int, rounds: int, learnt: int, labels: Ints) -> None:
    """Enter a row into the statistics of its labels; it was the last of so many rounds, and of those learnt."""
    if parts is None:
        return
    has_evidence = parts.evidence.shape[0] > 0
    for a in range(labels.shape[0]):
        r = labels[a]
        for j in range(n):
            if parts.keeps[0]:
                put(parts.counts, f[j], r, 0, 1)
            if parts.keeps[1] and parts.label_rows[r] == 0:
                put(parts.firsts, f[j], r, 0, v[j])
            if parts.keeps[2]:
                after = put(parts.sums, f[j], r, 0, v[j])
                if has_evidence:  # the square after less that before
                    parts.totals.squares[r] += v[j] * (2.0 * after - v[j])
        if has_evidence:
            note_totals(parts.totals, r, learnt, n)
        if parts.label_rows[r] == 0:
            parts.first_rounds[r] = rounds
        parts.label_rows[r] += 1
