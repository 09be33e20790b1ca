"""What a learner with a kernel shows in place of weights: the past rounds that made a step."""

from __future__ import annotations

from typing import Any

import numpy as np

from hinged.estimators.kernel_model import KernelModel
from hinged.estimators.learnt import Learnt
from hinged.mercer.sparse import Sparse

__all__ = ["PastRounds", "no_weights"]


class PastRounds(Learnt):
    """Rows that a kernel learner remembers, with their coefficients."""

    @property
    def support_(self) -> np.ndarray:
        """With a kernel: the rounds, from 0, whose rows are remembered; in the order of `support_vectors_`."""
        return self._remembered("support_").rounds.copy()

    @property
    def support_vectors_(self) -> Any:
        """With a kernel: the remembered rows (steps, features), for "single" as seen from their labels' means.

        A sparse array, where rows are remembered so.
        """
        rows = self._remembered("support_vectors_").rows
        if not isinstance(rows, Sparse):
            return rows.copy()
        from scipy.sparse import csr_array

        model: Any = self._learnt("support_vectors_")
        parts = rows.data.copy(), rows.indices.copy(), rows.indptr.copy()
        return csr_array(parts, shape=(len(rows), model.n_features))

    @property
    def dual_coef_(self) -> np.ndarray:
        """With a kernel: coefficients of the remembered rows, (steps, labels), or (steps, 1) for one vector."""
        return self._remembered("dual_coef_").coef.copy()

    def _remembered(self, name: str) -> Any:
        model = self._learnt(name)
        if not isinstance(model, KernelModel):
            raise AttributeError(f"{name} exists for learners with a kernel; this one has coef_.")
        machine: Any = model.machine
        return (machine.shared if machine.own is None else machine.own).filled


def no_weights(name: str, model: Any) -> None:
    """Say where to look instead, where weights live in another space."""
    if isinstance(model, KernelModel):
        raise AttributeError(
            f"{name} does not exist with a kernel: weights live in its space. Use support_, dual_coef_ or explain."
        )
