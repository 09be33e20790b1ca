"""The rules on a list of constraints, each with a margin and a direction of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from hinged.rules.active_set import on_gram
from hinged.rules.codes import CONPROJ, MIRA, OPTIMAL, PERCEPTRON, SIMPERC, SIMPROJ
from hinged.rules.passive_aggressive import pa1
from hinged.rules.worst import worst_step

__all__ = ["multipliers"]


@njit(cache=True)
def multipliers(code: int, achieved: Any, margins: Any, gram: Any, C: float, lam: Any) -> float:
    r"""Fill `lam` with the multipliers :math:`\lambda_j` of the constraints ⟨ω, z_j⟩ >= m_j; return their sum.

    "perceptron", "pa", "pa1" and "pa2" move along the worst constraint alone, "simperc", "simproj" and "conproj" take
    the mean of the steps that each would take alone, "optimal" maximises the dual over all of them. The table of
    docs/which_rule.md, with margins that differ.

    Parameters
    ----------
    code : int
        The rule, from `hinged.rules.codes`, up to "optimal".
    achieved, margins : float64 arrays (constraints,)
        ⟨ω, z_j⟩ now, and what is asked for.
    gram : float64 array (constraints, constraints)
        ⟨z_i, z_j⟩; all but "optimal" read the diagonal only.
    C : float
        The cap on the sum.
    lam : float64 array (constraints,)

    Examples
    --------
    >>> lam = np.zeros(2)
    >>> multipliers(SIMPROJ, np.array([0.0, 1.0]), np.array([1.0, 2.0]), 2.0 * np.eye(2), 1.0, lam), lam.tolist()
    (0.5, [0.25, 0.25])
    """
    n = achieved.shape[0]
    lam[:] = 0.0
    if code < SIMPERC:
        worst = 0
        for j in range(1, n):
            if code == PERCEPTRON:
                worst = j if achieved[j] < achieved[worst] else worst
            elif margins[j] - achieved[j] > margins[worst] - achieved[worst]:
                worst = j
        lam[worst] = worst_step(code, achieved[worst], gram[worst, worst], margins[worst], C)
        return lam[worst]
    if code == OPTIMAL:
        return _jointly(code, achieved, margins, gram, C, lam)
    if code not in (SIMPERC, SIMPROJ, CONPROJ):
        raise ValueError("this rule has no step on a list of constraints.")
    chosen = 0
    for j in range(n):
        if (code == SIMPROJ and achieved[j] < margins[j]) or (code != SIMPROJ and achieved[j] <= 0.0):
            chosen += 1
    total = 0.0
    for j in range(n):
        if (code == SIMPROJ and achieved[j] < margins[j]) or (code != SIMPROJ and achieved[j] <= 0.0):
            lam[j] = C if code == SIMPERC else pa1(max(0.0, margins[j] - achieved[j]), gram[j, j], C)
            lam[j] /= chosen
            total += lam[j]
    return total


@njit(cache=True)
def _jointly(code: int, achieved: Any, margins: Any, gram: Any, C: float, lam: Any) -> float:
    """The exact maximiser, as a ranking: one label without a vector must beat labels -z_j, each by its own margin."""
    n = achieved.shape[0]
    violated = False
    scores, K, is_right, g = np.zeros(n + 1), np.zeros((n + 1, n + 1)), np.zeros(n + 1, np.bool_), np.zeros(n + 1)
    is_right[0] = True
    for j in range(n):
        scores[j + 1] = margins[j] - achieved[j] - 1.0
        violated = violated or achieved[j] < margins[j]
        K[j + 1, 1:] = gram[j, :n]
    if not violated:
        return 0.0
    total = on_gram(scores, is_right, K, 1.0, C, code == MIRA, g)
    for j in range(n):
        lam[j] = max(0.0, -g[j + 1])
    return total
