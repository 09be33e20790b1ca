"""Means and deviations of numbers that come one at a time."""

from __future__ import annotations

from hinged.compiling import compiled

__all__ = ["CONSTANT", "welford"]

CONSTANT = 1e-15  # a deviation below this share of the mean is rounding


@compiled(helper=True)
def welford(mean: float, spread: float, held: float, value: float, weight: float) -> tuple[float, float]:
    """Mean and sum of squared deviations once a value of that weight has joined others, which weigh `held` (Welford).

    Examples
    --------
    >>> welford(2.0, 0.0, 1.0, 4.0, 1.0), welford(2.0, 0.0, 1.0, 4.0, 3.0)
    ((3.0, 2.0), (3.5, 3.0))
    """
    off = value - mean
    if off == 0.0:  # words mostly have one value, and divisions take long
        return mean, spread
    mean += weight * off / (held + weight)
    return mean, spread + weight * off * (value - mean)
