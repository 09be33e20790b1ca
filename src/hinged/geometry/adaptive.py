"""The adaptive geometry: a diagonal metric that learns, so that a feature moves less the more it has moved.

One variance per feature, shared by all labels: σ = 1 / √(1 + S/r), S the sum of x² over the rounds that moved the
feature. Steps are projections in this metric: a rule sees norms ⟨x, Σx⟩, and weights move along Σx.
docs/maths.md, "A metric that learns".
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from hinged.compiling import compiled

__all__ = ["Adaptive", "variance"]


@dataclass(frozen=True)
class Adaptive:
    """The geometry `"adaptive"` with its setting.

    Parameters
    ----------
    r : float
        The sum of x² at which a feature's variance has fallen to 1/√2, positive; the larger, the nearer to Euclid.

    References
    ----------
    Duchi, Hazan and Singer, *Adaptive subgradient methods for online learning and stochastic optimization* (2011),
    the diagonal of section 3. Crammer, Kulesza and Dredze, *Adaptive regularization of weight vectors* (2009), AROW,
    whose diagonal is σ without the root.

    Examples
    --------
    >>> Adaptive(r=1.0)
    Adaptive(r=1.0)
    """

    r: float = 1.0


@compiled(helper=True, error_model="numpy")
def variance(seen: float, r: float) -> float:
    r"""Variance of a feature, :math:`\sigma = 1 / \sqrt{1 + S / r}`, S the sum of its squares in rounds with a step.

    Examples
    --------
    >>> variance(0.0, 1.0), variance(3.0, 1.0)
    (1.0, 0.5)
    """
    return 1.0 / math.sqrt(1.0 + seen / r)
