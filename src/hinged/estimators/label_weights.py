"""The weights of a learner on labels, as arrays, and how far its joint steps were solved."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from hinged.estimators.learnt import Learnt
from hinged.estimators.past_rounds import PastRounds, no_weights
from hinged.loops.entropic import EntropicModel
from hinged.loops.labels import VECTORS, WEIGHTS
from hinged.loops.ledger import GAP, ITERATIONS, LABELS
from hinged.rules.words import INTERIOR

__all__ = ["LabelWeights"]

LARGEST_DENSE = 20_000_000


class LabelWeights(PastRounds, Learnt):
    """Weights by label, shared weights, and the solver's notes."""

    @property
    def coef_(self) -> Any:
        """Weights (labels, features) of the labels' own vectors (of the sets', for `Groups`); sparse when large."""
        model: Any = self._learnt("coef_")
        no_weights("coef_", model)
        n = model.plan.n_columns(int(model.ledger.counts[LABELS]))
        if isinstance(model, EntropicModel):
            return model.coef(n)
        owners, values = model.stores[WEIGHTS].rows(max(n, 1), model.mean_over)
        columns, values = owners[owners > 0] - 1, values[owners > 0][:, :n]
        if n * model.n_features > LARGEST_DENSE:
            kept = sparse.coo_array(values)
            return sparse.csr_array((kept.data, (kept.col, columns[kept.row])), shape=(n, model.n_features))
        coef = np.zeros((n, model.n_features), model.dtype)
        coef[:, columns] = values.T
        return coef

    @property
    def shared_coef_(self) -> np.ndarray:
        """The shared vector of "single" and "hybrid" (features,); (sets, features) where groups share several.

        With label features of your own it has a place per name they return: at that number where names are whole
        numbers, else in order of appearance.
        """
        model = self._learnt("shared_coef_")
        no_weights("shared_coef_", model)
        n = len(model.plan.parts)
        if n == 0:
            raise AttributeError("shared_coef_ exists for sharing='single' and 'hybrid', and groups with features.")
        owners, values = model.stores[VECTORS].rows(n, model.mean_over)
        columns, values = owners[owners > 0] - 1, values[owners > 0]
        width = model.n_features
        if model.functions:  # names of the user's own features: numbers are places, others come as they appeared
            names = list(model.names)
            places = [name for name in names if isinstance(name, int) and name >= 0]
            if len(places) == len(names):
                columns = np.array(places, np.int64)[columns]
                width = max([width - 1, *places]) + 1
            else:
                width = len(names)
        out = np.zeros((n, width), model.dtype)
        out[:, columns] = values.T
        return out[0] if n == 1 else out

    @property
    def solver_iterations_(self) -> int:
        """Most iterations of any joint step by interior points, in this process."""
        return int(self._of_interior_points("solver_iterations_")[ITERATIONS])

    @property
    def solver_gap_(self) -> float:
        """Largest relative duality gap that any joint step by interior points was left with, in this process."""
        return float(self._of_interior_points("solver_gap_")[GAP])

    def _of_interior_points(self, name: str) -> np.ndarray:
        model = self._learnt(name)
        if model.setting.words.combine != INTERIOR:
            raise AttributeError(f"{name} exists for rule=hinged.rules.Optimal(solver='interior-point').")
        return model.notes
