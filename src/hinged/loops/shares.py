"""Shares of forecasters in a common answer, by their losses so far; what that costs is proven in docs/maths.md."""

from __future__ import annotations

import math

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats

__all__ = ["FORGETTING", "GROWTH", "RATE", "mass", "share_out"]

RATE, FORGETTING = 0.1, 0.999  # η and γ
#: The exponent of `mass` for a mean that is a forecaster; 1 in models that began when every round counted alike.
GROWTH = 1.5


@compiled(helper=True)
def mass(growth: float, rounds: float) -> float:
    r"""Return what the first n rounds count for together in a mean, :math:`n^{1.5}`, or n where `growth` is 1.

    Round t counts for :math:`t^{1.5} - (t - 1)^{1.5} \approx 1.5 \sqrt t`: the weights of a beginner count for less.

    Examples
    --------
    >>> mass(1.5, 4.0), mass(1.0, 4.0)
    (8.0, 4.0)
    """
    return rounds if growth == 1.0 else rounds * math.sqrt(rounds)


@compiled(helper=True)
def share_out(losses: Floats, credit: Floats, shares: Floats) -> None:
    r"""Fill in the shares in the next answer, :math:`p_e \propto e^{-\eta\gamma L_e}`, L_e the losses so far.

    A round that costs a forecaster z makes :math:`L_e \leftarrow \gamma L_e + z`; the caller does that first. `credit`
    is scratch: others may be reading the shares, so each changes in one step.

    Examples
    --------
    >>> import numpy as np
    >>> shares = np.zeros(2)
    >>> share_out(np.array([3.0, 3.0]), np.zeros(2), shares)
    >>> shares.tolist()
    [0.5, 0.5]
    """
    least, total = math.inf, 0.0
    for e in range(losses.shape[0]):
        least = min(least, losses[e])
    for e in range(losses.shape[0]):
        credit[e] = math.exp(-RATE * FORGETTING * (losses[e] - least))
        total += credit[e]
    for e in range(losses.shape[0]):
        shares[e] = credit[e] / total
