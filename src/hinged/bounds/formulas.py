"""The bounds as formulas: from the sums of a stream and a comparator, after each round, to numbers after each round.

Where a theorem does not apply its value is infinite, and `why` says so in a sentence. m is the margin, R² the longest
‖z‖² so far, U = ‖u‖², L and L2 the sums of losses and squared losses of u so far.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hinged.bounds.comparators import Sums
from hinged.compiling.arrays import Floats
from hinged.rules.gain import least_gain
from hinged.rules.table import RULES
from hinged.rules.words import Words, is_joint, is_softened, is_uncapped

__all__ = [
    "Bound",
    "Terms",
    "at_best_cap",
    "cost",
    "dual_ascent",
    "gain_per_mistake",
    "hypothesis_sharing",
    "last",
    "pa_equal_lengths",
    "pa_separable",
    "passive_aggressive_1",
    "passive_aggressive_2",
]

NO_LOSS = "with C=inf the comparator must have no loss at all; use hindsight(stream, C=inf)."
EQUAL = 1e-6  # lengths that differ by less, relatively, are one length rounded


class Terms(NamedTuple):
    """A bound after each round, complexity + loss + mixed, on what `counts` says; a mistake is `per_mistake` of it."""

    complexity: np.ndarray
    loss: np.ndarray
    mixed: np.ndarray
    counts: str = "mistakes"
    per_mistake: float = 1.0
    why: str = ""

    @property
    def value(self) -> np.ndarray:
        """The bound itself."""
        return self.complexity + self.loss + self.mixed


@dataclass(frozen=True)
class Bound:
    """What a theorem allows on a stream, for one comparator.

    Attributes
    ----------
    theorem : str
        Where it stands.
    value : float
        The bound, complexity + loss + mixed, on what `counts` says: "mistakes", "squared loss" or "cost".
    complexity, loss, mixed : float
        The parts due to the length of u, to its losses, and to both.
    mistakes : float
        What it means for mistakes: `value`, over the least squared loss (or cost) that comes with a mistake.
    """

    theorem: str
    value: float
    complexity: float
    loss: float
    mixed: float
    counts: str
    mistakes: float

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        parts = f"{self.complexity:.6g} for complexity, {self.loss:.6g} for loss"
        parts += f", {self.mixed:.6g} for both" if self.mixed else ""
        return f"Bound({self.counts} ≤ {self.value:.6g} by {self.theorem}: {parts})"


def last(theorem: str, terms: Terms) -> Bound:
    """A bound at the end of the stream, or a sentence that says why there is none."""
    if not len(terms.value):
        return Bound(theorem, 0.0, 0.0, 0.0, 0.0, terms.counts, 0.0)
    complexity, loss, mixed = (float(part[-1]) for part in (terms.complexity, terms.loss, terms.mixed))
    value, per = complexity + loss + mixed, terms.per_mistake
    if not math.isfinite(value):
        raise ValueError(f"{theorem} does not apply: {terms.why}")
    return Bound(theorem, value, complexity, loss, mixed, terms.counts, value / per if per > 0 else math.inf)


def gain_per_mistake(rule: str, s: Sums, C: float | Floats) -> np.ndarray:
    """What a mistake adds at least to the dual: M · gain ≤ D ≤ P(u), the whole proof of SP and LR."""
    return least_gain(RULES[rule].words, s.margin, s.curvature, C, s.sq_shortest, s.n_pairs)


def dual_ascent(rule: str, s: Sums, C: float) -> Terms:
    """(F(u) + C L) / gain, SP theorem 1 and corollary 1, LR eq. 2; for pa2 its own problem with squared losses."""
    gain = gain_per_mistake(rule, s, C)
    words = RULES[rule].words
    lost = s.squared if is_softened(words) else s.loss
    with np.errstate(divide="ignore", invalid="ignore"):
        price = np.where(lost == 0.0, 0.0, C * lost)
        complexity = np.where(gain > 0, s.complexity / gain, math.inf)
        loss = np.where((gain > 0) & (price > 0), price / gain, 0.0)
    return Terms(complexity, loss, np.zeros_like(loss), why=_why_not(words, s, C, gain))


def _why_not(words: Words, s: Sums, C: float, gain: np.ndarray) -> str:
    """Why `dual_ascent` may not apply."""
    if is_uncapped(words) and is_joint(words) and (s.sq_shortest <= 0).any():
        return "MIRA takes no step along constraints of length 0 (a zero row, labels with the same features)."
    if (gain <= 0).any():
        h = float(s.curvature.max())
        return (
            f"the bound needs C·h < m, where h = {h:g} (half the longest ‖z‖², for Euclidean weights) and the margin "
            f"m = {s.margin:g}; got C={C:g}. Take C < {s.margin / h:g}, or leave C out where predictions do not depend "
            "on it."
        )
    return NO_LOSS if math.isinf(C) else ""


def at_best_cap(s: Sums) -> Terms:
    """The least of `dual_ascent` over all C, true of Perceptrons whose predictions do not depend on C (Gentile).

    M m ≤ L + R √(U M), solved for M: with m = 1, L + ½R²U + ½√(R⁴U² + 4R²U L). SP prints it without the 4.
    """
    m, size = s.margin, s.sq_length * 2.0 * s.complexity
    mixed = np.sqrt(size * size + 4.0 * m * size * s.loss) / (2.0 * m * m)
    return Terms(size / (2.0 * m * m), s.loss / m, mixed)


def pa_separable(s: Sums) -> Terms:
    """PA theorem 2: Σ ℓ_t² ≤ R² U, where u has no loss."""
    complexity = np.where(s.loss <= 1e-9 * s.margin, s.sq_length * 2.0 * s.complexity, math.inf)
    why = f"the comparator must have no loss at all; its losses sum to {s.loss[-1]:g}." if len(s.loss) else ""
    return _squared(s, complexity, np.zeros_like(complexity), np.zeros_like(complexity), why)


def pa_equal_lengths(s: Sums) -> Terms:
    """PA theorem 3: Σ ℓ_t² ≤ (R‖u‖ + 2 √L2)², where all ‖z‖ = R (the paper has R = 1; rescaling x gives the rest)."""
    norm, lost = np.sqrt(s.sq_length * 2.0 * s.complexity), np.sqrt(s.squared)
    shortest = np.minimum(s.sq_shortest, s.sq_length)  # infinite before the first round with constraints
    equal = s.sq_length - shortest <= EQUAL * s.sq_length
    why = ""
    if not equal.all():
        why = (
            f"all constraints must be of one length; here ‖z‖ goes from {math.sqrt(max(0.0, shortest[-1])):g} to "
            f"{math.sqrt(s.sq_length[-1]):g}. Use normalize=True."
        )
    return _squared(s, np.where(equal, norm * norm, math.inf), 4.0 * lost * lost, 4.0 * norm * lost, why)


def passive_aggressive_1(s: Sums, C: float) -> Terms:
    """PA theorem 4: M ≤ max{R²/m², 1/(C m)} (U + 2 C L)."""
    m = s.margin
    factor = np.maximum(s.sq_length / (m * m), 1.0 / (C * m))
    with np.errstate(invalid="ignore"):
        price = np.where(s.loss == 0.0, 0.0, 2.0 * C * s.loss)
    return Terms(factor * 2.0 * s.complexity, factor * price, np.zeros_like(factor), why=NO_LOSS)


def passive_aggressive_2(s: Sums, C: float) -> Terms:
    """PA theorem 5: Σ ℓ_t² ≤ (R² + 1/(2C)) (U + 2 C L2)."""
    factor = s.sq_length + 1.0 / (2.0 * C)
    return _squared(s, factor * 2.0 * s.complexity, factor * 2.0 * C * s.squared, np.zeros_like(factor), "")


def hypothesis_sharing(s: Sums) -> Terms:
    """HS theorem 1: M ≤ L + κ + √(L κ) with κ = ρ R² U, R = 2 max‖φ^τ(x, r)‖; for a margin m, of u / m."""
    m = s.margin
    size, loss = s.most_vectors * 4.0 * s.sq_block * 2.0 * s.complexity / (m * m), s.loss / m
    return Terms(size, loss, np.sqrt(loss * size))


def cost(s: Sums, C: float, largest: float, smallest: float) -> Terms:
    """PA theorem 10: Σ ρ(y, ŷ) ≤ U + 2 C L, for ‖z‖ ≤ 1 and √ρ ≤ C; beyond, times max{R², max√ρ / C}."""
    factor = np.maximum(np.maximum(1.0, s.sq_length), math.sqrt(largest) / C)
    return Terms(
        factor * 2.0 * s.complexity, factor * 2.0 * C * s.loss, np.zeros_like(factor), "cost", per_mistake=smallest
    )


def _squared(s: Sums, complexity: np.ndarray, loss: np.ndarray, mixed: np.ndarray, why: str) -> Terms:
    """A bound on the learner's squared losses; a mistake has one of at least m²."""
    return Terms(complexity, loss, mixed, "squared loss", s.margin**2, why)
