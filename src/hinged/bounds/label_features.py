"""The label features φ(x, r) that a learner met in each round, written down."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from hinged.estimators.stream import Reading
from hinged.loops.labels import Targets
from hinged.loops.rows import Rows

__all__ = ["label_features"]


def label_features(read: Reading, known: np.ndarray, starts: np.ndarray) -> sparse.csr_array:
    """φ of every (round, label) with constraints, a row each; the columns of part p begin at p · width.

    Kinds of evidence come after the features, and the constant feature last.

    Statistics come from the rows and their labels alone, so any rule meets the same φ. Round by round, in Python: the
    learner's own memory keeps the statistics.
    """
    memory, rows, right, labels = read.new_model(), read.rows, read.targets, read.labels
    found: list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = []
    for t in range(len(known)):
        one = Rows(rows.indptr[t : t + 2], rows.indices, rows.data)
        k = int(known[t])
        if starts[t + 1] > starts[t]:
            places, phi = memory.label_features(one, labels[:k], read.describe)
            p, j, r = np.nonzero(phi)
            found.append((starts[t] + r, p, places[j], phi[p, j, r]))
        theirs = Targets(right.indptr[t : t + 2], right.labels, right.weights)
        after = max(k, int(right.labels[right.indptr[t] : right.indptr[t + 1]].max(initial=-1)) + 1)
        memory.learn(one, theirs, labels[:after], 0, read.describe)
    n_kinds, n_parts = len(memory.plan.evidence), len(memory.plan.parts)
    width = max(memory.n_features, len(memory.names)) + n_kinds + 1
    if not found:
        return sparse.csr_array((int(starts[-1]), n_parts * width))
    row, part, place, value = (np.concatenate(one) for one in zip(*found, strict=True))
    feature = place - n_kinds
    column = np.where(feature > 0, feature - 1, width - 1 + feature)
    shape = (int(starts[-1]), n_parts * width)
    matrix = sparse.csr_array((value, (row, part * width + column)), shape=shape)
    matrix.sort_indices()
    return matrix
