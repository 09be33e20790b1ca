"""The rules that act on the worst pair alone, by code."""

from __future__ import annotations

from numba import njit

from hinged.rules.codes import PA, PA1, PA2, PERCEPTRON
from hinged.rules.passive_aggressive import pa, pa1, pa2
from hinged.rules.perceptron import perceptron

__all__ = ["worst_step"]


@njit(cache=True)
def worst_step(code: int, gap: float, sq_norm: float, margin: float, C: float) -> float:
    """Step along the worst pair alone; a code of another rule is an error."""
    if code == PERCEPTRON:
        return perceptron(gap, C)
    loss = margin - gap
    if loss <= 0.0:
        return 0.0
    if code == PA:
        return pa(loss, sq_norm)
    if code == PA1:
        return pa1(loss, sq_norm, C)
    if code == PA2:
        return pa2(loss, sq_norm, C)
    raise ValueError("this rule does not act on one pair alone: worst_step has perceptron, pa, pa1 and pa2.")
