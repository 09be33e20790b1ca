"""Half-lives: how fast weights and statistics fade, for streams that drift. docs/maths.md, "Forgetting"."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

import numpy as np

__all__ = ["HalfLife", "half_lives"]

LEAST, LARGEST = 1.0, 1e12


@dataclass(frozen=True)
class HalfLife:
    """`half_life` of weights and of statistics apart.

    Parameters
    ----------
    weights : float, optional
        Learnt rounds after which a weight, or a threshold, is half of what it was; at least 1. None keeps all.
    statistics : float, optional
        Learnt rounds after which a value counts for half in the means and deviations that rows and targets are scaled
        by, and a row in what an adaptive metric has seen; at least 1. None lets all rounds count alike.

    Examples
    --------
    >>> HalfLife(statistics=50.0)
    HalfLife(weights=None, statistics=50.0)
    """

    weights: float | None = None
    statistics: float | None = None


def half_lives(half_life: object) -> tuple[float, float]:
    """Half-lives of weights and of statistics, 0 for none; a number is both.

    Examples
    --------
    >>> half_lives(None), half_lives(200), half_lives(HalfLife(statistics=50))
    ((0.0, 0.0), (200.0, 200.0), (0.0, 50.0))
    """
    if isinstance(half_life, HalfLife):
        return _rounds("weights", half_life.weights), _rounds("statistics", half_life.statistics)
    both = _rounds("half_life", half_life)
    return both, both


def _rounds(name: str, value: object) -> float:
    if value is None:
        return 0.0
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(
            f"{name} must be a number of rounds or None, half_life also a hinged.geometry.HalfLife(...); got "
            f"{name}={value!r}. Try 1000."
        )
    if not LEAST <= float(value) <= LARGEST:
        raise ValueError(
            f"{name} must be between {LEAST:g} and {LARGEST:g} rounds; got {name}={value!r}. Try 1000, or None to "
            "forget nothing."
        )
    return float(value)
