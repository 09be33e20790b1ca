"""The base of all estimators: scikit-learn's interface, and scikit-learn itself only where it is asked for.

Importing scikit-learn takes as long as everything else that a first answer needs, and learning dicts or text needs
nothing of it. Parameters are read here. For tags, representations and metadata requests there is a *counterpart*
of each class: a subclass of `sklearn.base.BaseEstimator` with the same methods, made when one of these is asked for.
"""

from __future__ import annotations

import inspect
import re
from functools import cache
from typing import Any, ClassVar, Self

__all__ = ["Classifies", "Detects", "Estimator", "Regresses", "not_fitted"]

#: Attributes of `BaseEstimator` that the counterpart answers: displays in notebooks, and metadata routing.
ANSWERED = re.compile(r"set_\w+_request|get_metadata_routing|_(repr|html|doc_link|get|build|validate)_\w+")


class Estimator:
    """Parameters are the arguments of `__init__`, which only stores them.

    Examples
    --------
    >>> class Scale(Estimator):
    ...     def __init__(self, by=2.0):
    ...         self.by = by
    >>> Scale(by=3.0).get_params()
    {'by': 3.0}
    >>> Scale().set_params(by=4.0)
    Scale(by=4.0)
    """

    _kinds: ClassVar[tuple[str, ...]] = ()  # mixins of `sklearn.base` that say what kind of estimator this is

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return list(cls._parameters())

    @classmethod
    @cache
    def _parameters(cls) -> tuple[str, ...]:
        """The arguments, sorted; to look at a signature takes longer than to restore a small model."""
        return tuple(sorted(inspect.signature(cls).parameters))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with `deep`, also those of parameters that have some, as `name__parameter`."""
        found: dict[str, Any] = {}
        for name in self._get_param_names():
            value = found[name] = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                found.update((f"{name}__{inner}", each) for inner, each in value.get_params().items())
        return found

    def set_params(self, **params: Any) -> Self:
        """Change parameters; they are checked when they are used."""
        from sklearn.base import BaseEstimator

        BaseEstimator.set_params(self, **params)
        return self

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        shown = object.__new__(self._counterpart())
        vars(shown).update(self.get_params(deep=False))
        return str(shown.__repr__(N_CHAR_MAX))

    def __sklearn_tags__(self) -> Any:
        return object.__new__(self._counterpart()).__sklearn_tags__()

    @classmethod
    @cache
    def _counterpart(cls) -> Any:
        from sklearn import base

        mixins = [getattr(base, kind) for kind in cls._kinds]
        public = {name: getattr(cls, name) for name in dir(cls) if not name.startswith("_")}
        methods = {name: value for name, value in public.items() if inspect.isfunction(value)}
        return type(cls.__name__, (*mixins, base.BaseEstimator), {"__init__": cls.__init__, **methods})

    def __getattr__(self, name: str) -> Any:
        """Called where there is no such attribute, or a property has raised AttributeError."""
        if ANSWERED.fullmatch(name):
            counterpart = self._counterpart()
            if hasattr(counterpart, name):
                found = inspect.getattr_static(counterpart, name)
                return found.__get__(self, counterpart) if hasattr(found, "__get__") else found
        return object.__getattribute__(self, name)  # raises the error that led here


class Classifies(Estimator):
    """An estimator that predicts labels."""

    _kinds = ("ClassifierMixin",)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of rows that are predicted correctly."""
        from sklearn.base import ClassifierMixin

        return float(ClassifierMixin.score(self, X, y, sample_weight))


class Regresses(Estimator):
    """An estimator that predicts numbers."""

    _kinds = ("RegressorMixin",)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the coefficient of determination, R²."""
        from sklearn.base import RegressorMixin

        return float(RegressorMixin.score(self, X, y, sample_weight))


class Detects(Estimator):
    """An estimator that tells outliers from other rows."""

    _kinds = ("OutlierMixin",)

    def fit_predict(self, X: Any, y: object = None, **params: Any) -> Any:
        """Learn rows from nothing; return 1 for each that lies inside and -1 for outliers."""
        from sklearn.base import OutlierMixin

        return OutlierMixin.fit_predict(self, X, y, **params)


def not_fitted(sentence: str) -> Exception:
    """Return scikit-learn's error for estimators that were asked before they had learnt anything."""
    from sklearn.exceptions import NotFittedError

    return NotFittedError(sentence)
