"""The passive-aggressive steps: the smallest move that meets one violated margin."""

from __future__ import annotations

import math

from numba import njit

__all__ = ["pa", "pa1", "pa2"]


@njit(cache=True)
def pa(loss: float, sq_norm: float) -> float:
    r"""Step size of PA, :math:`\tau = \ell / \|z\|^2`: the margin is met whatever it takes.

    A direction of norm 0 cannot be met by any move, so the step is 0 there. Crammer et al. (2006), Fig. 1.

    Examples
    --------
    >>> pa(1.0, 4.0), pa(1.0, 0.0)
    (0.25, 0.0)
    """
    if sq_norm == 0.0:
        return 0.0
    return loss / sq_norm


@njit(cache=True)
def pa1(loss: float, sq_norm: float, C: float) -> float:
    r"""Step size of PA-I, :math:`\tau = \min(C, \ell / \|z\|^2)`.

    The smallest move that meets the margin, unless it would be longer than `C` allows. Crammer et al. (2006),
    Fig. 1. With norm 0 the dual is linear: the step counts as `C` and moves no weight; without a cap it is 0.

    Examples
    --------
    >>> pa1(1.0, 4.0, C=1.0), pa1(1.0, 4.0, C=0.125)
    (0.25, 0.125)
    """
    if sq_norm == 0.0:
        return C if math.inf > C else 0.0
    return min(C, loss / sq_norm)


@njit(cache=True)
def pa2(loss: float, sq_norm: float, C: float) -> float:
    r"""Step size of PA-II, :math:`\tau = \ell / (\|z\|^2 + 1/(2C))`: a softer move at every loss.

    Crammer et al. (2006), Fig. 1.

    Examples
    --------
    >>> pa2(1.0, 3.0, C=0.5), pa2(1.0, 0.0, C=0.5)
    (0.25, 1.0)
    """
    return loss / (sq_norm + 1.0 / (2.0 * C))
