"""The label features φ(x, r) that a learner met in each round, written down."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from hinged.estimators.reading import Batch
from hinged.estimators.settings import settle
from hinged.loops.labels import SUMS, Targets
from hinged.loops.ledger import LEARNT
from hinged.loops.model import LabelModel
from hinged.loops.rows import Rows
from hinged.loops.shared import fill_features, support

__all__ = ["label_features"]


def label_features(
    model: Any, batch: Batch, right: Targets, labels: Sequence[Hashable], known: np.ndarray, starts: np.ndarray
) -> sparse.csr_array:
    """φ of every (round, label) with constraints, a row each; the places of part p begin at p · width.

    Statistics come from the rows and their labels alone, so any rule meets the same φ. Round by round, in Python: the
    learner's own memory keeps the statistics.
    """
    memory = settle(model, batch.dtype).new_model(model, batch.dtype)
    memory.declare(int(known[0]) if len(known) else 0)
    memory.widen(model._model.n_features)
    found: list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = []
    for t in range(batch.n):
        one = Rows(batch.rows.indptr[t : t + 2], batch.rows.indices, batch.rows.data)
        k = int(known[t])
        if starts[t + 1] > starts[t]:
            features, phi = _now(memory, one, labels[:k], model._describe)
            p, j, r = np.nonzero(phi)
            found.append((starts[t] + r, p, features[j], phi[p, j, r]))
        theirs = Targets(right.indptr[t : t + 2], right.labels, right.weights)
        after = max(k, int(right.labels[right.indptr[t] : right.indptr[t + 1]].max(initial=-1)) + 1)
        memory.learn(one, theirs, labels[:after], 0, model._describe)
    width = max(memory.n_features + 1, len(memory.names) + 1)
    n_parts = len(memory.plan.parts)
    if not found:
        return sparse.csr_array((int(starts[-1]), n_parts * width))
    row, part, feature, value = (np.concatenate(column) for column in zip(*found, strict=True))
    place = np.where(feature > 0, feature - 1, width - 1)  # the constant feature comes last
    shape = (int(starts[-1]), n_parts * width)
    matrix = sparse.csr_array((value, (row, part * width + place)), shape=shape)
    matrix.sort_indices()
    return matrix


def _now(memory: LabelModel, one: Rows, labels: Sequence[Hashable], describe: Any) -> tuple[np.ndarray, np.ndarray]:
    """Features on which some φ of a row differs from 0, and φ (parts, features, labels), before the row is learnt."""
    explicit = memory._explicit(one, labels, describe, grow=True) if memory.functions else None
    memory._fit_to(len(labels), 1)
    f, v = memory.read(one)
    parts = memory._parts(labels, explicit)
    assert parts is not None
    room = len(f) + len(parts.ids) + int(memory.stores[SUMS].store.used[0]) + 1
    fs, vs = np.empty(room, np.int64), np.empty(room)
    m = support(parts, f, v, len(f), fs, vs)
    phi, work = np.zeros((len(parts.kinds), m, len(labels))), np.zeros(len(labels))
    fill_features(parts, fs, vs, 0, m, int(memory.ledger.counts[LEARNT]), memory._scaling().df, phi, work)
    return fs[:m], phi
