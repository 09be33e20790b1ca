"""Shared weight vectors: label features of a row for every label, their scores, norms and moves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats, Int32s, Ints
from hinged.loops.columns import ROUNDING
from hinged.loops.pages import Store, gather, put
from hinged.sharing.features import DISTANCE, EXPLICIT, FIRST, FREQUENCY, TFIDF, frequency, tfidf

__all__ = [
    "Parts",
    "add_shared_inner",
    "add_shared_scores",
    "fill_features",
    "learnt_among",
    "measure_from",
    "move_shared",
    "note_statistics",
    "shared_room",
    "shared_sq_distance",
    "support",
]

#: Features of a row between two checks for a request to stop.
AT_ONCE = 128


class Parts(NamedTuple):
    """Shared vectors (one column of `vectors` each) and the statistics their label features read."""

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
    ids: np.ndarray  # int64: features of a row whose φ was computed outside
    explicit: np.ndarray  # float64 (parts, features, labels): that φ


@compiled(helper=True)
def shared_room(parts: Parts | None, longest: int, to_come: int) -> tuple[int, int]:
    """How many shared vectors there are, and most features of φ where rows bring up to `to_come` new ones."""
    if parts is None:
        return 0, 0
    room = longest + 1
    if parts.explicit.shape[2] > 0:
        room = parts.ids.shape[0]
    elif parts.keeps[2]:
        room += min(parts.sums.slots.shape[0], parts.sums.used[0] + to_come)
    return parts.kinds.shape[0], room


@compiled(helper=True)
def support(parts: Parts | None, f: Ints, v: Floats, n: int, fs: Ints, vs: Floats) -> int:
    """Features on which some label's φ may differ from 0, with the row's values there; return how many."""
    if parts is None:
        return 0
    if parts.explicit.shape[2] > 0:
        for j in range(parts.ids.shape[0]):
            fs[j], vs[j] = parts.ids[j], 0.0
        return parts.ids.shape[0]
    dense = False
    for p in range(parts.kinds.shape[0]):
        dense = dense or parts.kinds[p] == DISTANCE
    m, known = 0, 0
    if dense:  # |x - p| is not 0 where only the mean is
        known = min(parts.sums.used[0], parts.sums.owners.shape[0] - 1, fs.shape[0] - n)  # a writer may add more
        m = known
        for j in range(m):
            fs[j], vs[j] = np.int64(parts.sums.owners[j + 1]), 0.0
    for j in range(n):
        slot = np.int64(parts.sums.slots[f[j]]) if dense and f[j] < parts.sums.slots.shape[0] else np.int64(0)
        if 0 < slot <= known:
            vs[slot - 1] = v[j]
        else:
            fs[m], vs[m] = f[j], v[j]
            m += 1
    return m


@compiled(helper=True)
def learnt_among(parts: Parts | None, fs: Ints, vs: Floats, m: int) -> int:
    """Keep the features that a shared vector has weights for; return how many. No other adds to a score."""
    if parts is None:
        return 0
    values, kept = np.empty(parts.kinds.shape[0]), 0
    if parts.explicit.shape[2] > 0:  # their φ lies in the order of all
        return m
    for j in range(m):
        if gather(parts.vectors, fs[j], values.shape[0], 0, values):
            fs[kept], vs[kept] = fs[j], vs[j]
            kept += 1
    return kept


@compiled(helper=True)
def fill_features(
    parts: Parts | None, fs: Ints, vs: Floats, m: int, rounds: int, df: Int32s, phi: Floats, stop: Ints
) -> None:
    """φ of every label on the first `m` features into `phi` (parts, features, labels), from earlier rounds alone.

    Once `stop[0]` is set, the answer is of no use.
    """
    if parts is None:
        return
    n_labels = phi.shape[2]
    work = np.empty(n_labels)
    for j in range(m):
        if j % AT_ONCE == AT_ONCE - 1 and stop[0] != 0:
            return
        seen = df[fs[j]] if fs[j] < df.shape[0] else 0
        for p in range(parts.kinds.shape[0]):
            if parts.kinds[p] == EXPLICIT:
                for r in range(n_labels):
                    phi[p, j, r] = parts.explicit[p, j, r]
            else:
                _fill_one(parts, p, fs[j], vs[j], rounds, seen, work, phi[p, j])
            if parts.members.shape[1] > 0:
                for r in range(n_labels):
                    if not parts.members[p, r]:
                        phi[p, j, r] = 0.0


@compiled(helper=True)
def _fill_one(
    parts: Parts, p: int, feature: int, value: float, rounds: int, seen: int, work: Floats, phi: Floats
) -> None:
    """φ of every label by part `p` on one feature, which `seen` of the `rounds` had."""
    n_labels, kind = phi.shape[0], parts.kinds[p]
    if kind == FIRST:
        gather(parts.firsts, feature, n_labels, 0, work)
        for r in range(n_labels):
            phi[r] = value * work[r]
    elif kind == FREQUENCY:
        gather(parts.counts, feature, n_labels, 0, work)
        for r in range(n_labels):
            phi[r] = frequency(value, int(work[r]), parts.label_rows[r], parts.thresholds[p], parts.factors[p])
    elif kind == TFIDF:
        gather(parts.counts, feature, n_labels, 0, work)
        for r in range(n_labels):
            phi[r] = tfidf(value, rounds, seen, int(work[r]))
    else:
        gather(parts.sums, feature, n_labels, 0, work)
        for r in range(n_labels):
            mean = work[r] / parts.label_rows[r] if parts.label_rows[r] > 0 else 0.0
            phi[r] = abs(value - mean)


@compiled(helper=True)
def measure_from(phi: Floats, m: int, pivot: int, origin: Floats) -> None:
    """φ(x, r) - φ(x, pivot) in place of φ(x, r); `origin` (parts, features) gets what was taken off.

    Labels that share weights differ only by their φ, and net coefficients sum to 0, so learning may use differences
    throughout. Taken first they are exact: weights that should cancel do, and a margin once met stays met.
    """
    for p in range(phi.shape[0]):
        for j in range(m):
            origin[p, j] = phi[p, j, pivot]
            for r in range(phi.shape[2]):
                phi[p, j, r] -= origin[p, j]


@compiled(helper=True)
def add_shared_scores(
    parts: Parts | None, fs: Ints, m: int, phi: Floats, origin: Floats, mean_over: int, s: Floats
) -> float:
    """s_r += Σ ⟨w, φ(x, r)⟩ over the parts; return Σ ⟨w, origin⟩. `mean_over` rounds: the mean vectors (0: not)."""
    if parts is None:
        return 0.0
    values = np.empty(parts.kinds.shape[0])
    sums = np.empty(parts.kinds.shape[0])
    base = 0.0
    for j in range(m):
        if gather(parts.vectors, fs[j], values.shape[0], 0, values):
            if mean_over > 0:
                gather(parts.vectors, fs[j], values.shape[0], 1, sums)
                for p in range(values.shape[0]):
                    values[p] -= sums[p] / mean_over
            for p in range(values.shape[0]):
                if values[p] != 0.0:
                    base += values[p] * origin[p, j]
                    for r in range(s.shape[0]):
                        s[r] += values[p] * phi[p, j, r]
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
def add_shared_inner(phi: Floats, gram: Floats, stop: Ints) -> None:
    """Add ⟨φ(x, r), φ(x, s)⟩, summed over the parts, to every gram[r, s] with s ≤ r; give up once `stop[0]` is set.

    A feature at a time, so that memory is read in order; labels whose φ is that of the pivot cost nothing.
    """
    for p in range(phi.shape[0]):
        for j in range(phi.shape[1]):
            if j % AT_ONCE == 0 and stop[0] != 0:
                return
            for r in range(gram.shape[0]):
                own = phi[p, j, r]
                if own != 0.0:
                    for s in range(r + 1):
                        gram[r, s] += own * phi[p, j, s]


@compiled(helper=True)
def move_shared(parts: Parts | None, fs: Ints, m: int, phi: Floats, g: Floats, several: bool, age: float) -> float:
    """w += Σ_r g_r φ(x, r); return the squared length of the move.

    With `several` right labels, what is left of a sum after it has cancelled is rounding (see `column_coefficients`).
    """
    total = 0.0
    if parts is None:
        return total
    for j in range(m):
        for p in range(phi.shape[0]):
            step, size = 0.0, 0.0
            for r in range(g.shape[0]):
                step += g[r] * phi[p, j, r]
            if several:
                for r in range(g.shape[0]):
                    size += abs(g[r] * phi[p, j, r])
            if abs(step) > ROUNDING * size:
                put(parts.vectors, fs[j], p, 0, step)
                if parts.vectors.depth == 2:
                    put(parts.vectors, fs[j], p, 1, age * step)
                total += step * step
    return total


@compiled(helper=True)
def note_statistics(parts: Parts | None, f: Ints, v: Floats, n: int, rounds: int, labels: Ints) -> None:
    """Enter a row into the statistics of its labels."""
    if parts is None:
        return
    for a in range(labels.shape[0]):
        r = labels[a]
        for j in range(n):
            if parts.keeps[0]:
                put(parts.counts, f[j], r, 0, 1)
            if parts.keeps[1] and parts.label_rows[r] == 0:
                put(parts.firsts, f[j], r, 0, v[j])
            if parts.keeps[2]:
                put(parts.sums, f[j], r, 0, v[j])
        if parts.label_rows[r] == 0:
            parts.first_rounds[r] = rounds
        parts.label_rows[r] += 1
