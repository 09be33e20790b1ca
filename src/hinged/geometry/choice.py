"""What a geometry's name stands for."""

from __future__ import annotations

import math
from numbers import Real

import numpy as np

from hinged.geometry.adaptive import Adaptive
from hinged.geometry.entropy import Entropy

__all__ = ["metric_of", "on_simplex", "resolve"]

NAMED = {"euclidean": None, "entropy": Entropy(), "adaptive": Adaptive()}


def resolve(geometry: object) -> Entropy | Adaptive | None:
    """The settings of a geometry, None for the Euclidean one, which has none.

    Examples
    --------
    >>> resolve("euclidean"), resolve("entropy"), resolve("adaptive")
    (None, Entropy(radius=1.0, signed=False), Adaptive(r=1.0))
    """
    if isinstance(geometry, str) and geometry in NAMED:
        return NAMED[geometry]
    if isinstance(geometry, Adaptive):
        _check_positive("r", geometry.r, "1.0, or 10 for a metric that learns slowly")
        return geometry
    if not isinstance(geometry, Entropy):
        raise ValueError(
            "geometry must be 'euclidean', 'entropy', 'adaptive', hinged.geometry.Entropy(...) or "
            f"hinged.geometry.Adaptive(...); got geometry={geometry!r}."
        )
    _check_positive("radius", geometry.radius, "1, or 10 for a margin of 1")
    if not isinstance(geometry.signed, bool | np.bool_):
        raise ValueError(f"signed must be True or False; got signed={geometry.signed!r}.")
    return geometry


def on_simplex(geometry: object) -> Entropy | None:
    """The settings of weights on a simplex; None for weights that moves are added to.

    Examples
    --------
    >>> on_simplex("entropy"), on_simplex("adaptive")
    (Entropy(radius=1.0, signed=False), None)
    """
    chosen = resolve(geometry)
    return chosen if isinstance(chosen, Entropy) else None


def metric_of(geometry: object) -> Adaptive | None:
    """The settings of a metric that learns; None where there is none.

    Examples
    --------
    >>> metric_of("entropy"), metric_of("adaptive")
    (None, Adaptive(r=1.0))
    """
    chosen = resolve(geometry)
    return chosen if isinstance(chosen, Adaptive) else None


def _check_positive(name: str, value: object, usual: str) -> None:
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number; got {name}={value!r}. Try {usual}.")
    if not 0.0 < float(value) < math.inf:
        raise ValueError(f"{name} must be positive and finite; got {name}={value!r}. Try {usual}.")
