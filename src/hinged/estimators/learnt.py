"""What a learner has learnt: counts, certificate, weights; and all of it as plain arrays."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from hinged.estimators.dicts import FeatureNames
from hinged.estimators.holding import Held, Holds
from hinged.estimators.labels import LabelIndex
from hinged.io import to_json, write
from hinged.loops.ledger import MISTAKES, NOVEL, ROUNDS, UPDATES

__all__ = ["Learnt"]


class Learnt(Holds):
    """Attributes that exist after learning, and the model's whole state."""

    _edited: bool
    _certified: bool
    _keep_up: Any
    _settle: Any
    get_params: Any

    def check_settings(self) -> Any:
        """Check every setting, by name; return what they stand for. A ValueError says what was wrong."""
        return self._settle()

    @property
    def classes_(self) -> np.ndarray:
        """The known labels: sorted after `fit` or where declared, else in order of appearance."""
        labels = self._labels
        if labels is None:
            raise AttributeError("classes_ exists after the first label is known.")
        return labels.array()

    @property
    def n_rounds_(self) -> int:
        """Rounds so far."""
        return int(self._learnt("n_rounds_").ledger.counts[ROUNDS])

    @property
    def n_mistakes_(self) -> int:
        """Rounds that were predicted wrongly; a tie is a mistake."""
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

    def save(self, path: Any) -> None:
        """Write the model to one file, whole or not at all; `hinged.load` reads it."""
        if self._model is None:
            raise ValueError("there is nothing to save yet: call fit, partial_fit or learn_one first.")
        with self._writing():
            about, tensors, names = self._state()
            about["estimator"] = type(self).__name__
            about["params"] = {name: to_json(name, value) for name, value in self.get_params(deep=False).items()}
            write(path, about, tensors, names)

    def _learnt(self, name: str) -> Any:
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
            names = {"labels": list(self.known_labels()), "phi": list(getattr(model, "names", ()))}
            if self._names is not None:
                names["features"] = list(self._names.listed)
            if hasattr(self, "feature_names_in_"):
                names["frame"] = self.feature_names_in_.tolist()
            return about, model.arrays(), names

    def _restore(self, about: dict[str, Any], arrays: dict[str, np.ndarray], names: dict[str, list[Hashable]]) -> None:
        """Become the model of that state."""
        settled = self._settle()
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
