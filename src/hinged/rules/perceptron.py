"""Perceptron steps: a fixed length, taken on mistakes only."""

from __future__ import annotations

from numba import njit

__all__ = ["perceptron"]


@njit(cache=True)
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
