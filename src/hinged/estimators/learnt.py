"""What a learner has learnt: counts, certificate, weights; and all of it as plain arrays."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from scipy import sparse

from hinged.estimators.dicts import FeatureNames
from hinged.estimators.holding import Held, Holds
from hinged.estimators.labels import LabelIndex
from hinged.estimators.settings import settle
from hinged.io import to_json, write
from hinged.loops.entropic import EntropicModel
from hinged.loops.labels import VECTORS, WEIGHTS
from hinged.loops.ledger import GAP, ITERATIONS, LABELS, MISTAKES, NOVEL, ROUNDS, UPDATES
from hinged.loops.model import LabelModel
from hinged.rules.codes import INTERIOR

__all__ = ["Learnt"]

LARGEST_DENSE = 20_000_000


class Learnt(Holds):
    """Attributes that exist after learning, and the model's whole state."""

    _edited: bool
    _certified: bool
    _notes: dict[str, Any] | None = None  # what a program wants to find again beside the model, as plain JSON
    _keep_up: Any
    get_params: Any

    @property
    def classes_(self) -> np.ndarray:
        """The known labels: sorted after `fit` or where declared, else in order of appearance."""
        labels = self._labels
        if labels is None:
            raise AttributeError("classes_ exists after the first label is known.")
        return labels.array()

    @property
    def coef_(self) -> Any:
        """Weights (labels, features) of the labels' own vectors (of the sets', for `Groups`); sparse when large."""
        model: Any = self._learnt("coef_")
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
    def n_rounds_(self) -> int:
        """Rounds so far."""
        return int(self._learnt("n_rounds_").ledger.counts[ROUNDS])

    @property
    def n_mistakes_(self) -> int:
        """Rounds whose right labels did not all score above every other one; a tie is a mistake."""
        return int(self._learnt("n_mistakes_").ledger.counts[MISTAKES])

    @property
    def n_updates_(self) -> int:
        """Rounds that took a step."""
        return int(self._learnt("n_updates_").ledger.counts[UPDATES])

    @property
    def n_novel_(self) -> int:
        """Rounds with a label seen for the first time; they are not counted as mistakes."""
        return int(self._learnt("n_novel_").ledger.counts[NOVEL])

    @property
    def dual_(self) -> float | None:
        """The dual certificate: no fixed predictor has a smaller objective. None where the rule has none."""
        model = self._learnt("dual_")
        return model.dual if self._certified and not self._edited else None

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
        if model.setting.code != INTERIOR:
            raise AttributeError(f"{name} exists for rule=hinged.rules.Optimal(solver='interior-point').")
        return model.notes

    def save(self, path: Any) -> None:
        """Write the model to one file, whole or not at all; `hinged.load` reads it."""
        if self._model is None:
            raise ValueError("there is nothing to save yet: call fit, partial_fit or learn_one first.")
        with self._writing():
            about, tensors, names = self._state()
            about["estimator"] = type(self).__name__
            about["params"] = {name: to_json(name, value) for name, value in self.get_params(deep=False).items()}
            write(path, about, tensors, names)

    def _learnt(self, name: str) -> LabelModel:
        if self._model is None:
            raise AttributeError(f"{name} exists after learning: call fit, partial_fit or learn_one first.")
        return self._model

    # ------------------------------------------------------------------ the whole state
    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray], dict[str, list[Hashable]]]:
        """Facts for JSON, arrays, and lists of labels and names."""
        model = self._learnt("state")
        with model.lock:
            about = {
                "edited": self._edited,
                "dtype": model.dtype.name,
                "columns": getattr(self, "n_features_in_", None),
                "notes": self._notes,
            }
            names = {"labels": list(self._known()), "phi": list(model.names)}
            if self._names is not None:
                names["features"] = list(self._names.listed)
            if hasattr(self, "feature_names_in_"):
                names["frame"] = self.feature_names_in_.tolist()
            return about, model.arrays(), names

    def _restore(self, about: dict[str, Any], arrays: dict[str, np.ndarray], names: dict[str, list[Hashable]]) -> None:
        """Become the model of that state."""
        settled = settle(self)
        self._certified, self._edited, self._notes = settled.certified, about["edited"], about.get("notes")
        if "features" in names:
            self._names = FeatureNames(names["features"])
        if about["columns"] is not None:
            self.n_features_in_ = about["columns"]
        if "frame" in names:
            self.feature_names_in_ = np.array(names["frame"], object)
        model = settled.new_model(self, about["dtype"])
        if np.dtype(about["dtype"]) != model.dtype:
            raise ValueError(f"its weights are {about['dtype']}, its settings say {model.dtype}")
        model.restore(arrays, names["phi"], len(names["labels"]))
        self._held = Held(LabelIndex(names["labels"]), model)
        self._keep_up()
