"""Online classification and label ranking, with the interfaces of scikit-learn and River."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # for type checkers; importing typing takes as long as the start of Python
if TYPE_CHECKING:
    from typing import Any

    from hinged import (
        bounds,
        costs,
        datasets,
        evaluate,
        experiments,
        features,
        geometry,
        journal,
        mail,
        mercer,
        rules,
        scale,
        sharing,
        text,
    )
    from hinged.estimators import Classifier, Ranker
    from hinged.estimators.binary import BinaryClassifier
    from hinged.estimators.files import load
    from hinged.estimators.ordinal import OrdinalClassifier
    from hinged.estimators.regressor import Regressor
    from hinged.estimators.river import to_river
    from hinged.estimators.sequence import SequenceTagger
    from hinged.estimators.text import TextClassifier, TextRanker
    from hinged.estimators.trials import Trials
    from hinged.estimators.uniclass import Uniclass

__version__ = "0.2.0"

__all__ = [
    "BinaryClassifier",
    "Classifier",
    "OrdinalClassifier",
    "Ranker",
    "Regressor",
    "SequenceTagger",
    "TextClassifier",
    "TextRanker",
    "Trials",
    "Uniclass",
    "__version__",
    "bounds",
    "costs",
    "datasets",
    "evaluate",
    "experiments",
    "features",
    "geometry",
    "journal",
    "load",
    "mail",
    "mercer",
    "rules",
    "scale",
    "sharing",
    "text",
    "to_river",
]

#: Where each public name lives; nothing is imported before it is asked for.
_HOMES = {
    "BinaryClassifier": "hinged.estimators.binary",
    "Classifier": "hinged.estimators",
    "OrdinalClassifier": "hinged.estimators.ordinal",
    "Regressor": "hinged.estimators.regressor",
    "Ranker": "hinged.estimators",
    "SequenceTagger": "hinged.estimators.sequence",
    "TextClassifier": "hinged.estimators.text",
    "TextRanker": "hinged.estimators.text",
    "Trials": "hinged.estimators.trials",
    "Uniclass": "hinged.estimators.uniclass",
    "load": "hinged.estimators.files",
    "to_river": "hinged.estimators.river",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in __all__:
        return import_module(f"hinged.{name}")
    raise AttributeError(f"module 'hinged' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
