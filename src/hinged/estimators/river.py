"""The same learners by River's conventions."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from hinged.estimators.classifier import Classifier

__all__ = ["to_river"]


def to_river(model: Classifier) -> Any:
    """A River classifier around a `Classifier`, for its pipelines and `river.evaluate.progressive_val_score`.

    The model inside goes on learning; it is the wrapper's ``model``. River's dicts may hold names of any kind.

    Parameters
    ----------
    model : Classifier

    Examples
    --------
    >>> import hinged
    >>> from river import evaluate, metrics
    >>> stream = [({"a": 1.0}, "x"), ({"b": 1.0}, "y")] * 20
    >>> metric = evaluate.progressive_val_score(stream, hinged.to_river(hinged.Classifier()), metrics.Accuracy())
    >>> metric.get() > 0.9
    True
    """
    try:
        from river import base
    except ImportError as problem:
        raise ImportError("to_river needs River: pip install hinged[river].") from problem

    class RiverClassifier(base.Classifier):  # type: ignore[misc]
        """`hinged.Classifier` as River sees it."""

        def __init__(self, model: Classifier) -> None:
            self.model = model

        @property
        def _multiclass(self) -> bool:
            return True

        def learn_one(self, x: dict, y: Hashable) -> None:
            self.model.learn_one(x, y)

        def predict_one(self, x: dict, **kwargs: Any) -> Any:
            return self.model.predict_one(x)

        def predict_proba_one(self, x: dict, **kwargs: Any) -> dict[Any, float]:
            """The winner's confidence; the rest is shared evenly by the others."""
            if self.model.predict_one(x) is None:
                return {}
            labels = self.model.rank_one(x)
            sure = float(self.model.confidence([x])[0]) if len(labels) > 1 else 1.0
            return {labels[0]: sure} | {label: (1.0 - sure) / (len(labels) - 1) for label in labels[1:]}

    return RiverClassifier(model)
