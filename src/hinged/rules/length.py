"""How far to go along one constraint: a fixed length on mistakes, or the smallest move that meets the margin."""

from __future__ import annotations

import math

from hinged.compiling import compiled
from hinged.rules.words import CONSTANT, PA, PA1

__all__ = ["alone", "pa", "pa1", "pa2", "perceptron", "softening"]


@compiled(helper=True)
def perceptron(score_gap: float, C: float) -> float:
    r"""Step size of the Perceptron, :math:`\tau = C` on a mistake and 0 otherwise.

    A right label that merely ties with a rival has not won, so a gap of exactly zero is a mistake.
    Update I of the label-ranking paper; the hypothesis-sharing paper has `C` = 1.

    Parameters
    ----------
    score_gap : float
        Score of the right label minus that of its rival.
    C : float
        Length of the step.

    Examples
    --------
    >>> perceptron(0.0, 0.5), perceptron(0.25, 0.5)
    (0.5, 0.0)
    """
    if score_gap <= 0.0:
        return C
    return 0.0


@compiled(helper=True)
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


@compiled(helper=True)
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


@compiled(helper=True)
def pa2(loss: float, sq_norm: float, C: float) -> float:
    r"""Step size of PA-II, :math:`\tau = \ell / (\|z\|^2 + 1/(2C))`: a softer move at every loss.

    Crammer et al. (2006), Fig. 1.

    Examples
    --------
    >>> pa2(1.0, 3.0, C=0.5), pa2(1.0, 0.0, C=0.5)
    (0.25, 1.0)
    """
    return loss / (sq_norm + 1.0 / (2.0 * C))


@compiled(helper=True)
def alone(length: int, gap: float, sq_norm: float, margin: float, C: float) -> float:
    """Return the step that one constraint would take alone, 0 where it needs none.

    Parameters
    ----------
    length : int
        `CONSTANT`, `PA`, `PA1` or `PA2`, from `hinged.rules.words`.
    gap, margin : float
        What the constraint achieves now, and what is asked for.
    sq_norm : float
        Squared norm of its direction.
    C : float
        The length of a constant step, or the cap.

    Examples
    --------
    >>> alone(PA1, 0.0, 4.0, 1.0, 1.0), alone(CONSTANT, 0.5, 4.0, 1.0, 1.0)
    (0.25, 0.0)
    """
    if length == CONSTANT:
        return perceptron(gap, C)
    loss = margin - gap
    if loss <= 0.0:
        return 0.0
    if length == PA:
        return pa(loss, sq_norm)
    if length == PA1:
        return pa1(loss, sq_norm, C)
    return pa2(loss, sq_norm, C)


@compiled(helper=True)
def softening(length: int, step: float, C: float) -> float:
    r"""Return what the dual subtracts for a step: :math:`\lambda^2 / 4C` for PA-II, nothing for the others.

    Examples
    --------
    >>> softening(3, 1.0, 0.5), softening(2, 1.0, 0.5)
    (0.5, 0.0)
    """
    return step * step / (4.0 * C) if length > PA1 else 0.0
