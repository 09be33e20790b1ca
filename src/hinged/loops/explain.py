"""What each feature of a row contributes to a label's score."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats, Ints
from hinged.loops.columns import NO_ROW_VECTORS, PER_LABEL, n_columns
from hinged.loops.experts import mixture
from hinged.loops.ledger import LEARNT
from hinged.loops.memory import values_of
from hinged.loops.round import FROM_ZERO, NO_MORE, Memory, describe, new_example, read
from hinged.loops.rows import Rows
from hinged.loops.shared import Parts

__all__ = ["Share", "row_contributions", "row_features", "shared_contributions"]


class Share(NamedTuple):
    """What one feature, or one past round, adds to a score."""

    feature: Hashable  # its number, 0 for the bias and c + 1 for column c; where `named`, its name or the round
    value: float
    named: bool = False


def row_contributions(
    memory: Memory, features: Ints, values: Floats, mean_over: int, n_labels: int, label: int
) -> np.ndarray:
    """What each feature of a row adds to the label's score through the vectors of the row itself.

    `values` are the row's, scaled; `mean_over` is as in `score`.
    """
    columns, store, v = memory.columns, memory.weights, values.astype(np.float64)
    factors, out = mixture(memory.experts, mean_over) if columns.each > 1 else np.ones(1), np.zeros(len(features))
    if columns.kind == NO_ROW_VECTORS:
        return out
    own = [label] if columns.kind == PER_LABEL else columns.indices[columns.indptr[label] : columns.indptr[label + 1]]
    for e, factor in enumerate(factors):
        weights = values_of(store, features, n_columns(columns, n_labels), mean_over, e, np.float64)
        for c in own:
            out += v * factor * weights[:, c]
    return out


def shared_contributions(parts: Parts, places: Ints, phi: Floats, mean_over: int, label: int) -> np.ndarray:
    """What each place of a row's φ adds to the label's score through the shared vectors."""
    weights, out = values_of(parts.vectors, places, len(phi), mean_over, 0, np.float64), np.zeros(len(places))
    for p in range(len(phi)):
        out += weights[:, p] * phi[p, :, label]
    return out


@compiled
def row_features(rows: Rows, memory: Memory, counts: Ints, n_labels: int) -> tuple[Ints, Floats]:
    """Places of the first row's φ, and φ (parts, places, labels)."""
    x = new_example(rows, memory, rows.indptr[1] - rows.indptr[0], n_labels, NO_MORE)
    row = read(rows, 0, memory, counts[LEARNT], x)
    describe(memory, row, counts[LEARNT], FROM_ZERO, n_labels, x, np.zeros(1, np.int64))
    return x.fs[: row.m], x.phi[:, : row.m]
