"""Label features φ(x, r): what a label's earlier examples say about this one, value by value.

Each formula takes the value of one feature in the row and the label's statistics of earlier rounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hinged.compiling import compiled
from hinged.compiling.arrays import Ints

__all__ = ["Distance", "First", "Frequency", "Tfidf", "resolve"]

FIRST, FREQUENCY, DISTANCE, TFIDF, EXPLICIT, NO_WORDS = range(6)
NO_THRESHOLDS = (0, 1, 0, 1, 0)
NEVER = 2**31 - 1  # more rows than are counted


@dataclass(frozen=True)
class First:
    """x ∘ p with p the label's first row (hypothesis-sharing paper, eq. 4); 0 before it came."""


@dataclass(frozen=True)
class Frequency:
    """Words often seen with the label count double, words almost never seen with it count against it.

    With p the share of the label's earlier rows that have the feature and c its value in this row: `often`·c if
    p ≥ `high`, `seldom`·c if p ≤ `low`, else 0. A label without rows yet has p = 0. Hypothesis-sharing paper,
    eq. 10; the simultaneous-projections paper has a strict < 0.02 (`low_strict=True`).

    Parameters
    ----------
    high, low : float
        Shares, compared exactly as the decimals they are written as.
    low_strict : bool
        True if the lower comparison is strict.
    often, seldom : float
        Factors of frequent and of rare words.

    Examples
    --------
    >>> Frequency(low_strict=True)
    Frequency(high=0.2, low=0.02, low_strict=True, often=2.0, seldom=-1.0)
    """

    high: float = 0.2
    low: float = 0.02
    low_strict: bool = False
    often: float = 2.0
    seldom: float = -1.0


@dataclass(frozen=True)
class Distance:
    """|x - p| with p the label's mean row (hypothesis-sharing paper, section 5); dense wherever the mean is."""


@dataclass(frozen=True)
class Tfidf:
    """Value times the log of rows per row that has the word without the label (passive-aggressive paper, section 7)."""


@compiled(helper=True)
def frequency_bars(rows: int, thresholds: Ints) -> tuple[int, int]:
    """Return from how many of a label's `rows` on a word is frequent with it, and up to how many it is rare.

    Thresholds are (high, low) as fractions, then strictness, so that ties are exact.

    Examples
    --------
    >>> frequency_bars(100, (1, 5, 1, 50, 0)), frequency_bars(100, (1, 5, 1, 50, 1))
    ((20, 2), (20, 1))
    """
    if rows == 0:
        return NEVER, 0
    often = -(-thresholds[0] * rows // thresholds[1])
    return min(NEVER, often), min(NEVER, (thresholds[2] * rows - thresholds[4]) // thresholds[3])


@compiled(helper=True, forceinline=True)
def frequency(seen: int, often: int, rare: int, high: float, low: float) -> float:
    """`Frequency` of a value that `seen` of a label's rows had: `high` from `often` on, `low` up to `rare`, else 0."""
    return high if seen >= often else low if seen <= rare else 0.0


@compiled(helper=True, forceinline=True)
def tfidf(c: float, rows: int, rows_with: int, rows_with_label: int) -> float:
    """`Tfidf` of one value; a word never seen outside the label counts as seen once, no rows at all give 0."""
    if rows == 0:
        return 0.0
    return c * math.log(rows / max(1, rows_with - rows_with_label))


def resolve(
    features: object, sharing: str
) -> tuple[int, tuple[int, ...], tuple[float, float], Callable[..., Any] | None]:
    """Code, exact thresholds, factors and function (if one) of label features given by name, object or callable."""
    named = {"first": First(), "frequency": Frequency(), "distance": Distance(), "tfidf": Tfidf()}
    hint = (
        f"Choose one of {', '.join(named)}, evidence, hinged.features.Frequency(...) or Evidence(...), "
        "or a function of (x, label)."
    )
    if features is None:
        raise ValueError(f"sharing={sharing!r} needs label features; got features=None. {hint}")
    if isinstance(features, str):
        if features not in named:
            raise ValueError(f"features must be known label features; got features={features!r}. {hint}")
        features = named[features]
    if isinstance(features, Frequency):
        if not all(math.isfinite(v) for v in (features.often, features.seldom)):
            raise ValueError(f"Frequency needs finite factors; got often={features.often}, seldom={features.seldom}.")
        if not 0 <= features.low <= features.high <= 1:
            raise ValueError(
                f"Frequency needs 0 <= low <= high <= 1; got low={features.low}, high={features.high}. "
                "The papers use 0.02 and 0.2."
            )
        high, low = (Fraction(repr(float(v))) for v in (features.high, features.low))
        exact = (high.numerator, high.denominator, low.numerator, low.denominator, int(features.low_strict))
        return FREQUENCY, exact, (float(features.often), float(features.seldom)), None
    for kind, code in ((First, FIRST), (Distance, DISTANCE), (Tfidf, TFIDF)):
        if isinstance(features, kind):
            return code, NO_THRESHOLDS, (0.0, 0.0), None
    if callable(features):
        return EXPLICIT, NO_THRESHOLDS, (0.0, 0.0), features
    raise TypeError(f"features must be a name, an object of hinged.features or a callable; got {features!r}. {hint}")
