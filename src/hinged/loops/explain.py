"""What each feature of a row contributes to a label's score."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats, Ints
from hinged.loops.columns import PER_LABEL, PER_SET, n_columns
from hinged.loops.experts import mixture
from hinged.loops.ledger import LEARNT
from hinged.loops.pages import Store, gather
from hinged.loops.round import FROM_ZERO, NO_MORE, Memory, describe, new_example, read
from hinged.loops.rows import Rows

__all__ = ["Share", "row_contributions", "row_features", "shared_contributions"]


class Share(NamedTuple):
    """What one feature, or one past round, adds to a score."""

    feature: Hashable  # its number, 0 for the bias and c + 1 for column c; where `named`, its name or the round
    value: float
    named: bool = False


@compiled
def row_contributions(
    rows: Rows, memory: Memory, counts: Ints, mean_over: int, n_labels: int, label: int
) -> tuple[Ints, Floats]:
    """Features of the first row, and what each adds to the label's score through the vectors of the row itself."""
    columns, longest = memory.columns, rows.indptr[1] - rows.indptr[0]
    x = new_example(rows, memory, longest, n_labels, NO_MORE)
    row = read(rows, 0, memory, counts[LEARNT], x)
    out, values = np.zeros(row.n), np.zeros(n_columns(columns, n_labels))
    factors = mixture(memory.experts, mean_over) if columns.each > 1 else np.ones(1)
    for j in range(row.n):
        for e in range(columns.each):
            if not _weights(memory.weights, x.f[j], e, mean_over, values):
                continue
            if columns.kind == PER_LABEL:
                out[j] += x.v[j] * factors[e] * values[label]
            elif columns.kind == PER_SET:
                for c in range(columns.indptr[label], columns.indptr[label + 1]):
                    out[j] += x.v[j] * values[columns.indices[c]]
    return x.f[: row.n], out


@compiled
def row_features(rows: Rows, memory: Memory, counts: Ints, n_labels: int) -> tuple[Ints, Floats]:
    """Features of the first row's φ, and φ (parts, features, labels)."""
    x = new_example(rows, memory, rows.indptr[1] - rows.indptr[0], n_labels, NO_MORE)
    row = read(rows, 0, memory, counts[LEARNT], x)
    describe(memory, row, counts[LEARNT], FROM_ZERO, n_labels, x, np.zeros(1, np.int64))
    return x.fs[: row.m], x.phi[:, : row.m]


@compiled
def shared_contributions(
    rows: Rows, memory: Memory, counts: Ints, mean_over: int, n_labels: int, label: int
) -> tuple[Ints, Floats]:
    """Features of the first row's φ, and what each adds to the label's score through the shared vectors."""
    features, phi = row_features(rows, memory, counts, n_labels)
    out, values = np.zeros(features.shape[0]), np.zeros(phi.shape[0])
    for j in range(features.shape[0]):
        # only called with shared vectors, so parts is not None
        if _weights(memory.parts.vectors, features[j], 0, mean_over, values):  # type: ignore[union-attr]
            for p in range(phi.shape[0]):
                out[j] += values[p] * phi[p, j, label]
    return features, out


@compiled(helper=True)
def _weights(store: Store, feature: int, expert: int, mean_over: int, values: Floats) -> bool:
    """A feature's weights by column, or their means; False if it has none."""
    found = gather(store, feature, values.shape[0], expert * store.depth, values)
    if found and mean_over > 0 and store.depth == 2:
        sums = np.empty(values.shape[0])
        gather(store, feature, values.shape[0], expert * store.depth + 1, sums)
        values -= sums / mean_over
    return found
