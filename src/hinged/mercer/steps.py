"""From a round's scores to its net coefficients, by every Euclidean rule, on values of a kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from hinged.compiling.arrays import Ints
from hinged.rules.combine import Directions, Labels, over_labels
from hinged.rules.table import RULES, on_mistakes
from hinged.rules.words import Words

__all__ = ["Rule", "net_coefficients"]


class Rule(NamedTuple):
    """A rule and its numbers.

    `own` is a user's function, (scores, right labels, pair norms, margin, C, g), that fills g; `words` say so.
    """

    words: Words = RULES["pa1"].words
    C: float = 1.0
    margin: float = 1.0
    uses_weight: bool = True
    own: Callable[..., Any] | None = None
    least_norm: float = 1e-60  # as in hinged.loops.rows
    learns_new: bool = False  # as in hinged.loops.steps


def pair_norms(measure: float | np.ndarray, r: Ints, s: Ints, least: float) -> float | np.ndarray:
    """‖V_r - V_s‖², from K(x, x) where labels have vectors of their own, else from the Gram matrix; noise is 0."""
    if isinstance(measure, float):
        return 2.0 * measure if 2.0 * measure >= least else 0.0
    size = measure[r, r] + measure[s, s]
    norm = size - 2.0 * measure[r, s]
    return np.where(norm > max(least, 1e-14) * np.maximum(size, least), norm, 0.0)


def net_coefficients(
    rule: Rule, C: float, s: np.ndarray, right: np.ndarray, low: int, rival: int, measure: float | np.ndarray
) -> tuple[np.ndarray, float, float] | None:
    """Net coefficients g of the labels, Σλ, and Σλ²/4C where the dual subtracts it; None where there is no step.

    `low` is the lowest right label, `rival` the highest wrong one; `measure` as in `pair_norms`.
    """
    gap, k, words = s[low] - s[rival], len(s), rule.words
    if gap >= rule.margin or (gap > 0.0 and on_mistakes(words)):
        return None
    g, is_right, s = np.zeros(k), np.zeros(k, np.bool_), np.ascontiguousarray(s, np.float64)
    is_right[right] = True
    norms, wrong = np.zeros((len(right), k)), np.flatnonzero(~is_right)
    norms[:, wrong] = pair_norms(measure, right[:, None], wrong, rule.least_norm)
    if rule.own is not None:
        rule.own(s, right, norms, rule.margin, C, g)
        total, softened = float(g[right].sum()), 0.0
    else:
        labels = Labels(s, right, is_right, int(np.flatnonzero(right == low)[0]), rival)
        total, softened = over_labels(words, labels, _directions(norms, measure, rule.least_norm), rule.margin, C, g)
    return (g, total, softened) if total > 0.0 else None


def _directions(norms: np.ndarray, measure: float | np.ndarray, least: float) -> Directions:
    """What rules read of the labels' vectors."""
    if isinstance(measure, float):
        return Directions(norms, np.zeros((0, 0)), measure if measure >= least else 0.0)
    return Directions(norms, np.ascontiguousarray(measure), 0.0)
