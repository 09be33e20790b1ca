"""The Gaussian kernel by random Fourier features: a kernel learner whose rows take constant time and memory."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import TypeGuard

from hinged.mercer.functions import Kernel
from hinged.mercer.products import Products

__all__ = ["FeatureMap", "Fourier", "feature_map_of", "remembers_rows"]

#: Frequencies that may be kept, n/2 for each column: 32 MiB in float64.
MOST = 1 << 22
#: Squared length, on average, of rows that are scaled by their mean and deviation, or divided by their length.
SCALED = 1.0
LARGEST = 1e12  # gamma: phases stay within the range of float32


@dataclass(frozen=True)
class Fourier:
    """Read a row x as n random features z(x), with ⟨z(x), z(x')⟩ ≈ exp(-gamma · ‖x - x'‖²).

    With m = n/2 frequencies ω drawn from a normal distribution of variance 2·gamma for each column,

        z(x) = 1/√m · (cos ⟨ω₁, x⟩, ..., cos ⟨ω_m, x⟩, sin ⟨ω₁, x⟩, ..., sin ⟨ω_m, x⟩).

    Every z(x) has length 1. The learner is the linear one on z(x): its rules, experts, averages and files stay as they
    are. Frequencies are drawn for each column from the seed and the column's number alone, so columns may come later
    and a model file holds no frequencies.

    Parameters
    ----------
    n : int, default 512
        How many features, even. The error of an inner product is about 1/√n; 2,048 suit rows of more than 20 columns.
    gamma : float or "scale", default "scale"
        The exponent's coefficient, positive, on rows as the learner reads them: after `scaling` and `normalize`.
        "scale" is scikit-learn's 1 / (columns · variance) on rows that the learner scales itself: 1, because these have
        a mean squared length of about 1. It needs scaling="standard" or "mixed" (what "auto" chooses), or
        normalize=True.
    random_state : int, default 0
        Seed of the frequencies.

    References
    ----------
    Rahimi and Recht (2007), Random features for large-scale kernel machines. The pairs of cos and sin are those of
    Sutherland and Schneider (2015), On the error of random Fourier features, eq. 1.

    Examples
    --------
    >>> import hinged
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * 8, ["same", "not", "not", "same"] * 8
    >>> hinged.Classifier(kernel=Fourier(64)).fit(X, y).predict([[0.0, 0.0], [0.0, 1.0]]).tolist()
    ['same', 'not']
    """

    n: int = 512
    gamma: float | str = "scale"
    random_state: int = 0

    def __post_init__(self) -> None:
        if isinstance(self.n, bool) or not isinstance(self.n, Integral) or not 2 <= self.n <= MOST or self.n % 2:
            raise ValueError(
                f"n must be an even whole number from 2 to {MOST:,}, as every frequency gives a cosine and a sine; "
                f"got n={self.n!r}. Try 512."
            )
        check_gamma(self.gamma)
        seed = self.random_state
        if isinstance(seed, bool) or not isinstance(seed, Integral) or not 0 <= seed < 1 << 63:
            raise ValueError(
                "random_state must be a whole number that is not negative, below 2^63: a model file keeps it in place "
                f"of the frequencies; got random_state={seed!r}. Try 0."
            )

    @property
    def coefficient(self) -> float:
        """Gamma as a number."""
        return SCALED if isinstance(self.gamma, str) else float(self.gamma)

    def values(self, length: int) -> int:
        """How many features a row has once it is read, whatever its length."""
        return int(self.n)

    def check_columns(self, columns: int) -> None:
        """Refuse rows for which too many frequencies would have to be kept."""
        most = 2 * MOST // int(self.n)
        if columns > most:
            raise ValueError(
                f"kernel=Fourier(n={self.n}) keeps {self.n // 2} frequencies for each column, for {most:,} columns at "
                f"most; got {columns:,}. Use a smaller n, hash the columns into fewer, or learn without a kernel: wide "
                "rows are nearly separable as they are."
            )


def check_gamma(gamma: object) -> None:
    """Refuse a coefficient that is neither positive nor "scale"."""
    if isinstance(gamma, str) and gamma == "scale":
        return
    if isinstance(gamma, bool) or not isinstance(gamma, Real) or not 0.0 < float(gamma) <= LARGEST:
        raise ValueError(
            f"gamma must be 'scale' or a positive number up to {LARGEST:g}; got gamma={gamma!r}. Try 'scale'."
        )


#: What reads a row as features of a fixed number, on which the learner is linear.
FeatureMap = Fourier | Products


def feature_map_of(kernel: object) -> FeatureMap | None:
    """Return the random features that a setting `kernel` asks for; None for no kernel and for exact ones."""
    return kernel if isinstance(kernel, FeatureMap) else None


def remembers_rows(kernel: object) -> TypeGuard[Kernel]:
    """Return True if a learner with this setting `kernel` keeps past rows in place of weights."""
    return kernel is not None and not isinstance(kernel, FeatureMap)
