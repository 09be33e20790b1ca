"""What a model file holds, as plain data."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from hinged.estimators.auto import settled_as_json
from hinged.estimators.label_learner import LabelLearner
from hinged.files.examples import FileLearner, load_learner, reads_text
from hinged.io.model_file import FORMAT
from hinged.mercer.fourier import feature_map_of

__all__ = ["describe"]


def describe(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What a model file holds: estimator, settings, labels by how often they were learnt, features, counts.

    Examples
    --------
    >>> import hinged, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "model.hinged")
    >>> hinged.TextClassifier().fit(["tax form", "cake"], ["work", "home"]).save(path)
    >>> facts = describe(path)
    >>> facts["estimator"], facts["features"], facts["labels"]
    ('TextClassifier', 3, [{'label': 'home', 'examples': 1}, {'label': 'work', 'examples': 1}])
    """
    model = load_learner(path)
    labels, times = model.known_labels(), _times(model)
    order = sorted(range(len(labels)), key=lambda i: -(times[i] or 0))
    settings = model.get_params(deep=False)
    return {
        "path": os.fspath(path),
        "bytes": os.path.getsize(path),
        "version": _version(path),
        "estimator": type(model).__name__,
        "dtype": model.model_.dtype.name,
        "settings": settings,
        "defaults": type(model)().get_params(deep=False),
        "settled": settled_as_json(model),
        "reads": _reads(model),
        "rounds": model.n_rounds_,
        "mistakes": model.n_mistakes_,
        "updates": model.n_updates_,
        "novel": model.n_novel_,
        "certificate": model.dual_,
        "features": model.n_known_features,
        "feature_kind": _feature_kind(model),
        "rows": _learnt(model),
        "labels": [{"label": labels[i], "examples": times[i]} for i in order],
    }


def _times(model: FileLearner) -> Sequence[int | None]:
    """How often each label was learnt; None where that is not known, as it is counted for label features only."""
    n_labels = len(model.known_labels())
    times = model.model_.label_rows[:n_labels].tolist() if isinstance(model, LabelLearner) else []
    return times if any(times) and len(times) == n_labels else [None] * n_labels


def _learnt(model: FileLearner) -> int:
    """How many features have weights, without the constant one, which is none of the input's."""
    if not isinstance(model, LabelLearner) or feature_map_of(model.kernel) is not None:
        return model.n_known_features  # every column is part of every random feature
    return max(0, model.model_.n_learnt - (bool(model.settled_["bias"]) and model.n_updates_ > 0))


def _reads(model: FileLearner) -> str:
    notes = model.notes
    kinds = {("one column of numbers, ", "columns of numbers "): notes.get("numbers")}
    kinds[("one text, ", "the fields ")] = notes.get("fields")
    read = [
        (one if len(names) == 1 else several) + ", ".join(names) for (one, several), names in kinds.items() if names
    ]
    label = [f"the label is {notes['label']!r}"] if read and notes.get("label") else []
    return "; ".join([*read, *label])


def _feature_kind(model: FileLearner) -> str:
    if model.notes.get("numbers"):
        return "columns and words" if model.notes.get("fields") else "columns"
    if not reads_text(model):
        return "columns" if hasattr(model, "n_features_in_") else "names"
    return "words" if model.bits is None else f"words in {1 << model.bits:,} hashed columns"


def _version(path: str | os.PathLike[str]) -> int:
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        return int(json.loads(file.metadata()[FORMAT])["version"])
