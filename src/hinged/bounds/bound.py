"""A bound as it is given back: its value, the parts it is made of, and the theorem it comes from."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hinged.bounds.formulas import Terms

__all__ = ["Bound", "last"]


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
