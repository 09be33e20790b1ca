"""The same learners by River's conventions."""

from __future__ import annotations

from typing import Any

from hinged.estimators.protocol import RowModel
from hinged.estimators.reader import SettledLike
from hinged.estimators.row_learner import RowLearner

__all__ = ["to_river"]


def to_river(model: RowLearner[RowModel, SettledLike]) -> Any:
    """A River estimator around a model, for its pipelines, metrics, grids of parameters and ensembles.

    The model inside goes on learning; it is the wrapper's ``model``. A `Classifier`, `BinaryClassifier`,
    `OrdinalClassifier` or `TextClassifier` becomes a classifier, a `Ranker` or `TextRanker` a classifier of several
    labels, a `Regressor` a regressor, `Uniclass` an anomaly detector. ``learn_one`` takes a weight ``w``, and data
    frames are learnt by ``learn_many``. ``clone`` makes a fresh model of the same settings, or of others.

    Parameters
    ----------
    model : any learner of rows

    Examples
    --------
    >>> import hinged
    >>> from river import evaluate, metrics, utils
    >>> stream = [({"a": 1.0}, "x"), ({"b": 1.0}, "y")] * 20
    >>> learner = hinged.to_river(hinged.Classifier())
    >>> evaluate.progressive_val_score(stream, learner, metrics.Accuracy()).get() > 0.9
    True
    >>> [one.model.C for one in utils.expand_param_grid(learner, {"C": [0.1, 1.0]})]
    [0.1, 1.0]
    """
    try:
        from hinged.estimators.river_learners import wrapper_of
    except ImportError as problem:
        raise ImportError("to_river needs River: pip install 'hinged[river]'.") from problem
    return wrapper_of(model)
