"""Saving and loading estimators."""

from __future__ import annotations

import os
from typing import Any

from hinged.estimators.binary import BinaryClassifier
from hinged.estimators.classifier import Classifier
from hinged.estimators.ordinal import OrdinalClassifier
from hinged.estimators.ranker import Ranker
from hinged.estimators.regressor import Regressor
from hinged.estimators.sequence import SequenceTagger
from hinged.estimators.text import TextClassifier, TextRanker
from hinged.estimators.trials import Trials
from hinged.estimators.uniclass import Uniclass
from hinged.io import from_json, read

__all__ = ["load"]

KINDS = {
    kind.__name__: kind
    for kind in (
        BinaryClassifier,
        Classifier,
        OrdinalClassifier,
        Ranker,
        Regressor,
        SequenceTagger,
        TextClassifier,
        TextRanker,
        Trials,
        Uniclass,
    )
}


def settings_from_before(estimator: str) -> dict[str, Any]:
    """Return what the settings mean that did not exist when a model was stored: it goes on as it began."""
    return dict(KINDS[estimator]._before)


def load(path: str | os.PathLike[str], **given: Any) -> Any:
    """The model in a file, ready to answer and to go on learning.

    Parameters
    ----------
    path : the file
    **given : settings that were functions, by name: ``rule=...``, ``features=...``, or ``sharing=...`` for groups

    Examples
    --------
    >>> import hinged, tempfile, os
    >>> model = hinged.Classifier().fit([[1.0, 0.0], [0.0, 1.0]], ["a", "b"])
    >>> path = os.path.join(tempfile.mkdtemp(), "model.hinged")
    >>> model.save(path)
    >>> hinged.load(path).predict([[0.0, 2.0]]).tolist()
    ['b']
    """
    about, tensors, names = read(path)
    if not isinstance(about, dict) or about.get("estimator") not in KINDS or not isinstance(about.get("params"), dict):
        raise ValueError(f"{path} is not a sound hinged model: it does not say what it holds.")
    saved = about["params"]
    for name in given:
        if name not in saved:
            raise TypeError(f"{name} is not a setting of {about['estimator']}; its settings are {', '.join(saved)}.")
    try:
        params = {name: from_json(name, value, given) for name, value in saved.items()}
    except (AttributeError, IndexError, KeyError, TypeError) as problem:
        raise ValueError(f"{path} is not a sound hinged model: its settings are damaged ({problem!r}).") from problem
    try:
        kind = KINDS[about["estimator"]]
        model = kind(**{**settings_from_before(about["estimator"]), **params})
        model._restore(about, tensors, names)
    except (AttributeError, KeyError, TypeError, ValueError, IndexError, OverflowError) as problem:
        raise ValueError(f"{path} is not a sound hinged model: {problem}.") from problem
    return model
