"""Wrappers with River's methods, a class for each of its kinds of estimator; they can be pickled and cloned."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

from river import base
from sklearn.base import BaseEstimator

from hinged.estimators.binary import BinaryClassifier
from hinged.estimators.classifier import Classifier
from hinged.estimators.ordinal import OrdinalClassifier
from hinged.estimators.ranker import Ranker
from hinged.estimators.regressor import Regressor
from hinged.estimators.uniclass import Uniclass

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["RiverClassifier", "RiverDetector", "RiverRanker", "RiverRegressor", "wrapper_of"]

#: Earlier versions of River have it elsewhere.
AnomalyDetector: Any = (
    base.AnomalyDetector if hasattr(base, "AnomalyDetector") else import_module("river.anomaly.base").AnomalyDetector
)


class _Wrapper:
    """Holds a model; `clone` makes a fresh one of the same class and settings, or of others.

    Parameters
    ----------
    kind : class of the model
    settings : settings of the model, by name
    """

    default: type

    def __init__(self, kind: type | None = None, **settings: Any) -> None:
        self.kind = self.default if kind is None else kind
        self.settings = settings
        self.model = self.kind(**settings)

    def _learn(self, x: object, y: object, w: float | None) -> None:
        self.model.learn_one(x, y, sample_weight=w)

    @property
    def _supervised(self) -> bool:
        return True

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"kind": cls.default}


class RiverClassifier(_Wrapper, base.MiniBatchClassifier):  # type: ignore[misc]
    """A classifier for River around a classifier of hinged."""

    default = Classifier

    @property
    def _multiclass(self) -> bool:
        return not issubclass(self.kind, BinaryClassifier)

    def learn_one(self, x: object, y: Hashable, w: float | None = None) -> None:
        """Learn one row and its label; `w` is its weight."""
        self._learn(x, y, w)

    def predict_one(self, x: object, **kwargs: object) -> Any:
        """The best label; None before any is known."""
        return self.model.predict_one(x)

    def predict_proba_one(self, x: object, **kwargs: object) -> dict[Any, float]:
        """The winner's confidence; the others share the rest evenly."""
        if not hasattr(self.model, "confidence"):
            raise NotImplementedError(f"a {self.kind.__name__} has no confidence; use predict_one.")
        if self.model.predict_one(x) is None:
            return {}
        labels = self.model.rank_one(x)
        sure = float(self.model.confidence([x])[0]) if len(labels) > 1 else 1.0
        return {labels[0]: sure} | {label: (1.0 - sure) / (len(labels) - 1) for label in labels[1:]}

    def learn_many(self, X: pd.DataFrame, y: Iterable[Any], w: Iterable[float] | None = None) -> None:
        """Learn the rows of a data frame in order."""
        self.model.partial_fit(_rows(X), list(y), sample_weight=None if w is None else list(w))

    def predict_many(self, X: pd.DataFrame) -> pd.Series:
        """The best label of each row of a data frame, as a series."""
        import pandas as pd

        return pd.Series([self.predict_one(x) for x in _rows(X)], index=X.index)

    def predict_proba_many(self, X: pd.DataFrame) -> pd.DataFrame:
        """`predict_proba_one` of each row of a data frame, as a data frame."""
        import pandas as pd

        return pd.DataFrame([self.predict_proba_one(x) for x in _rows(X)], index=X.index)


class RiverRegressor(_Wrapper, base.MiniBatchRegressor):  # type: ignore[misc]
    """A regressor for River around `Regressor`."""

    default = Regressor

    def learn_one(self, x: dict[Hashable, float], y: float, w: float | None = None) -> None:
        """Learn one row and its number; `w` is its weight."""
        self._learn(x, y, w)

    def predict_one(self, x: dict[Hashable, float], **kwargs: object) -> float:
        """The number; 0 before anything was learnt."""
        return 0.0 if self.model._model is None else float(self.model.predict_one(x))

    def learn_many(self, X: pd.DataFrame, y: Iterable[Any], w: Iterable[float] | None = None) -> None:
        """Learn the rows of a data frame in order."""
        self.model.partial_fit(_rows(X), list(y), sample_weight=None if w is None else list(w))

    def predict_many(self, X: pd.DataFrame) -> pd.Series:
        """The number of each row of a data frame, as a series."""
        import pandas as pd

        return pd.Series([self.predict_one(x) for x in _rows(X)], index=X.index, dtype=float)


class RiverRanker(_Wrapper, base.MultiLabelClassifier):  # type: ignore[misc]
    """A classifier of several labels for River around `Ranker`: answers are dicts of label → bool."""

    default = Ranker

    def learn_one(self, x: object, y: dict[Hashable, bool], w: float | None = None) -> None:
        """Learn one row and which labels are right; those that are not become known too. `w` is its weight."""
        with self.model._or_undone(several=False):  # a row that is refused leaves no labels behind
            known = self.model._labels.position if self.model._labels is not None else {}
            new = [label for label in y if label not in known]
            if new and w != 0:
                self.model.declare(new)
            self._learn(x, {label for label, right in y.items() if right}, w)

    def predict_one(self, x: object, **kwargs: object) -> dict[Hashable, bool]:
        """For each known label, whether it is right."""
        right = self.model.predict_one(x) if self.model.known_labels() else set()
        return {label: label in right for label in self.model.known_labels()}


class RiverDetector(_Wrapper, AnomalyDetector):  # type: ignore[misc, valid-type]
    """An anomaly detector for River around `Uniclass`."""

    default = Uniclass

    @property
    def _supervised(self) -> bool:
        return False

    def learn_one(self, x: dict[Hashable, float], w: float | None = None) -> None:
        """Learn one row; `w` is its weight."""
        self.model.learn_one(x, sample_weight=w)

    def score_one(self, x: dict[Hashable, float], **kwargs: object) -> float:
        """How far outside of the ball a row lies, negative inside; 0 before anything was learnt."""
        return 0.0 if self.model._model is None else -float(self.model.decision_function([x])[0])


#: The first that a model is an instance of is its wrapper.
WRAPPERS: dict[type, type] = {
    Classifier: RiverClassifier,
    BinaryClassifier: RiverClassifier,
    OrdinalClassifier: RiverClassifier,
    Ranker: RiverRanker,
    Regressor: RiverRegressor,
    Uniclass: RiverDetector,
}


def wrapper_of(model: BaseEstimator) -> _Wrapper:
    """The wrapper for a model, with the model in it."""
    settings = model.get_params(deep=False)
    for kind, wrapper in WRAPPERS.items():
        if isinstance(model, kind):
            wrapped = wrapper(type(model), **settings)
            wrapped.model = model
            return wrapped
    raise TypeError(f"River has no kind of estimator for a {type(model).__name__}; use it as it is.")


def _rows(X: pd.DataFrame) -> list[dict[Hashable, float]]:
    return X.to_dict(orient="records")
