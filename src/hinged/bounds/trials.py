"""Raw trials as rounds: each instance a right label whose vector is z_j = y_j x_j, beside one wrong label with none.

To beat the vector 0 by the margin is to meet ⟨u, z_j⟩ ≥ m, so every bound reads trials as it reads labels.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from hinged.estimators.trials import Trials
from hinged.loops.labels import Targets

__all__ = ["TrialRounds", "are_trials", "trial_rounds"]


class TrialRounds(NamedTuple):
    """What a stream is made of."""

    labels: list[Hashable]  # the one without a vector, then instances by their place
    phi: sparse.csr_array  # (round, label) by row
    right: Targets
    known: np.ndarray
    starts: np.ndarray


def are_trials(X: object) -> bool:
    """Return True if rounds are trials: a list of pairs of a matrix and signs."""
    first = X[0] if isinstance(X, list) and X else None
    return isinstance(first, tuple) and len(first) == 2 and len(getattr(first[0], "shape", np.shape(first[0]))) == 2


def trial_rounds(X: Iterable[Any], y: Iterable[Any] | None) -> TrialRounds:
    """Trials, given as pairs or as two sequences, as rounds of labels with one shared vector."""
    reader, pairs = Trials(), X if y is None else zip(X, y, strict=True)
    matrices = [reader.constraints(X_t, y_t) for X_t, y_t in pairs]
    width = max((Z.shape[1] for Z in matrices), default=0)
    sizes = np.array([Z.shape[0] for Z in matrices], np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes + 1)]).astype(np.int64)
    parts = []
    for Z in matrices:  # an instance at least each
        parts += [sparse.csr_array((1, width)), sparse.csr_array((Z.data, Z.indices, Z.indptr), (Z.shape[0], width))]
    phi = sparse.csr_array(sparse.vstack(parts) if parts else sparse.csr_array((0, width)), dtype=np.float64)
    phi.sort_indices()
    ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    flat = np.concatenate([np.arange(1, n + 1) for n in sizes]) if len(sizes) else np.zeros(0)
    right = Targets(ends, flat.astype(np.int64), np.zeros(0))
    return TrialRounds(["none", *range(int(sizes.max(initial=0)))], phi, right, sizes + 1, starts)
