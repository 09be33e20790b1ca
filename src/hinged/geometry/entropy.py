"""The entropic geometry: weights on a simplex, multiplied where Euclidean ones are added to.

Each label's weights are w = U softmax(θ), θ the sum of the moves, U the radius. F is the relative entropy to equal
weights; its conjugate G(θ) = U (log Σ e^θ - log n) is what the dual subtracts. docs/maths.md, "Weights on a simplex".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hinged.compiling import compiled

__all__ = ["Entropy", "curvature", "simplex_weights"]


@dataclass(frozen=True)
class Entropy:
    """The geometry `"entropy"` with its settings.

    Parameters
    ----------
    radius : float
        What each label's weights sum to, positive. Scores of rows in [0, 1] lie in [0, radius], so a margin of
        `radius` and above is out of reach on them.
    signed : bool
        Two weights per feature, one for each sign (EG±): the label's weight is their difference.

    Examples
    --------
    >>> Entropy(signed=True)
    Entropy(radius=1.0, signed=True)
    """

    radius: float = 1.0
    signed: bool = False


def simplex_weights(theta: np.ndarray, radius: float = 1.0) -> np.ndarray:
    """U softmax(θ) along the last axis.

    Examples
    --------
    >>> simplex_weights(np.log([1.0, 2.0, 1.0]), 2.0).round(6).tolist()
    [0.5, 1.0, 0.5]
    """
    e = np.exp(theta - np.max(theta, axis=-1, keepdims=True))
    return radius * e / e.sum(axis=-1, keepdims=True)


@compiled
def curvature(lowest: float, highest: float, radius: float) -> float:
    r"""Supremum of :math:`\langle x, H(\theta) x\rangle` over all θ, :math:`U (\max x - \min x)^2 / 4`.

    H is the curvature of G, so this is U times the variance of the row's values under some weights: largest with half
    of the weight on either end. The ends are those of all coordinates, the zeros among them; with two weights per
    feature they are ± the largest value. The label-ranking paper's bound asks for at most 1/2.

    Examples
    --------
    >>> curvature(0.0, 1.0, 1.0)
    0.25
    """
    return radius * (highest - lowest) ** 2 / 4.0
