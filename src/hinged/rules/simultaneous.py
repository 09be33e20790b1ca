"""Simultaneous projections: a step for every violated pair at once, then their mean."""

from __future__ import annotations

from typing import Any

from numba import njit

from hinged.rules.codes import CONPROJ, SIMPERC, SIMPROJ
from hinged.rules.passive_aggressive import pa1

__all__ = ["simultaneous"]


@njit(cache=True)
def simultaneous(
    code: int,
    scores: Any,
    relevant: Any,
    is_relevant: Any,
    norms: Any,
    margin: float,
    C: float,
    g: Any,
    moving_only: bool = False,
) -> float:
    r"""Net coefficients of SimPerc, SimProj and ConProj; return their total :math:`\sum_j \lambda_j`.

    Each chosen pair j = (r, s) gets the step it would take alone, divided by how many pairs were chosen:
    :math:`\lambda_j = \alpha_j / n`. SimProj chooses the pairs that miss the margin, SimPerc and ConProj those
    ranked wrongly; :math:`\alpha_j` is `C` for SimPerc and PA-I's step for the other two, so
    :math:`\sum_j \lambda_j \le C`. Amit et al. (2006), section 4.

    Parameters
    ----------
    code : int
        Which of the three, from `hinged.rules.codes`.
    scores : float64 array (labels,)
    relevant : int array
        The right labels.
    is_relevant : bool array (labels,)
    norms : float64 array (right labels, labels)
        Squared norm of each pair's direction.
    margin, C : float
        The margin asked for, and the cap on the total.
    g : float64 array (labels,)
        Zeros on entry; the net coefficient of every label on return.
    moving_only : bool, default False
        Leave the steps of pairs with norm 0 out of `g`; the total has them.
    """
    if code not in (SIMPERC, SIMPROJ, CONPROJ):
        raise ValueError("this rule has no step here: simultaneous has simperc, simproj and conproj.")
    n_labels = scores.shape[0]
    bar = margin if code == SIMPROJ else 0.0
    chosen = 0
    for a in range(relevant.shape[0]):
        for s in range(n_labels):
            gap = scores[relevant[a]] - scores[s]
            # SimProj asks for gap < margin, the others for gap <= 0
            if not is_relevant[s] and (gap < bar or (gap == 0.0 and code != SIMPROJ)):
                chosen += 1
    if chosen == 0:
        return 0.0
    total = 0.0
    for a in range(relevant.shape[0]):
        r = relevant[a]
        for s in range(n_labels):
            gap = scores[r] - scores[s]
            if not is_relevant[s] and (gap < bar or (gap == 0.0 and code != SIMPROJ)):
                step = C if code == SIMPERC else pa1(margin - gap, norms[a, s], C)
                step /= chosen
                total += step
                if norms[a, s] > 0.0 or not moving_only:
                    g[r] += step
                    g[s] -= step
    return total
