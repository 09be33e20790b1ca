"""Products of pairs of a row's features, hashed: a kernel of degree 2 for short sparse rows, in bounded memory."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real

__all__ = ["Products"]

FEWEST_BITS, MOST_BITS, MOST_PAIRED = 4, 22, 1024


@dataclass(frozen=True)
class Products:
    """Read a row x as 2^bits hashed features z(x): its values, and the products of every two of them.

    With a column h and a sign s, drawn by the seed for each feature and for each pair of features,

        z(x) = Σ_i s_i x_i e(h_i) + weight · √2 / ‖x‖ · Σ_{i<j} s_ij x_i x_j e(h_ij).

    On average over the seeds, ⟨z(x), z(x')⟩ is ⟨x, x'⟩ + weight² · (⟨x, x'⟩² - Σ_i x_i² x'_i²) / (‖x‖ ‖x'‖). The
    learner is the linear one on z(x). A row of k values takes time k², so rows of more than `most` get no products.

    Parameters
    ----------
    bits : int, default 18
        There are 2^bits columns: 262,144.
    most : int, default 64
        Values of a row, not zero, for which products are made; longer rows, such as texts, are only hashed.
    weight : float, default 0.5
        How much products count, positive; with 1 they count as much as the values.
    random_state : int, default 0
        Seed of columns and signs.

    References
    ----------
    Weinberger et al. (2009), Feature hashing for large scale multitask learning: signs keep inner products unbiased.

    Examples
    --------
    >>> import hinged
    >>> rows = [{a, b} for a in ("hot", "cold") for b in ("tea", "milk")] * 8
    >>> rows, y = [dict.fromkeys(row, 1.0) for row in rows], ["yes", "no", "no", "yes"] * 8
    >>> hinged.Classifier(kernel=Products(bits=10, weight=1.0)).fit(rows, y).predict(rows[:4]).tolist()
    ['yes', 'no', 'no', 'yes']
    """

    bits: int = 18
    most: int = 64
    weight: float = 0.5
    random_state: int = 0

    def __post_init__(self) -> None:
        _check_whole("bits", self.bits, FEWEST_BITS, MOST_BITS, "18")
        _check_whole("most", self.most, 2, MOST_PAIRED, "64")
        _check_whole("random_state", self.random_state, 0, (1 << 63) - 1, "0")
        weight = self.weight
        if isinstance(weight, bool) or not isinstance(weight, Real) or not 0.0 < float(weight) <= 1000.0:
            raise ValueError(f"weight must be a positive number up to 1000; got weight={weight!r}. Try 0.5.")

    @property
    def n(self) -> int:
        """How many features a row may have once it is read."""
        return 1 << int(self.bits)

    def check_columns(self, columns: int) -> None:
        """Take any number of columns."""

    def values(self, length: int) -> int:
        """Most features that a row of so many values, some of them perhaps 0, has once it is read.

        Examples
        --------
        >>> Products(most=5).values(4), Products(most=5).values(6), Products(most=5).values(60)
        (10, 15, 60)
        """
        paired = min(length, int(self.most))
        return max(length, paired + math.comb(paired, 2))


def _check_whole(name: str, value: object, least: int, most: int, usual: str) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral) or not least <= int(value) <= most:
        raise ValueError(f"{name} must be a whole number from {least} to {most:,}; got {name}={value!r}. Try {usual}.")
