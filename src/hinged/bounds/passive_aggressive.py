"""The bounds of the passive-aggressive paper, as functions of a stream and a comparator u.

Each holds for every u; a good one, found in hindsight by `hindsight`, makes it say most. They speak of a learner that
starts from zero and meets rounds of equal weight.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hinged.bounds import formulas
from hinged.bounds.bound import Bound, last
from hinged.bounds.comparators import check_cap, read, sums_of

__all__ = ["pa_theorem_2", "pa_theorem_3", "pa_theorem_4", "pa_theorem_5", "pa_theorem_10"]


def pa_theorem_2(stream: Any, u: Any) -> Bound:
    r"""PA theorem 2 and corollary 8, for `pa` where u has no loss: :math:`\sum_t ℓ_t^2 ≤ R^2 ‖u‖^2`.

    R is the longest ‖V_r - V_s‖ between a right and a wrong label: √2 max‖x‖ where each label has its own vector.

    Parameters
    ----------
    stream : Stream or (X, y)
    u : array, sparse matrix, or a pair of them
        Comparator without loss; `hindsight(stream, C=inf)` finds one where there is one.

    Raises
    ------
    ValueError
        Where u has a loss.

    References
    ----------
    Crammer et al. (2006), theorem 2 and corollary 8.

    Examples
    --------
    >>> from hinged.bounds import as_stream
    >>> pa_theorem_2(as_stream(np.eye(2), [0, 1], classes=[0, 1]), np.eye(2))
    Bound(squared loss ≤ 4 by PA theorem 2: 4 for complexity, 0 for loss)
    """
    return last("PA theorem 2", formulas.pa_separable(sums_of(read(stream), u)))


def pa_theorem_3(stream: Any, u: Any) -> Bound:
    r"""PA theorem 3, for `pa` on rows of one length: :math:`\sum_t ℓ_t^2 ≤ (R‖u‖ + 2 \sqrt{\sum_t ℓ_t(u)^2})^2`.

    The paper has ‖z‖ = 1; here all ‖V_r - V_s‖ are some R, which is the same after rescaling the rows.

    Parameters
    ----------
    stream : Stream or (X, y)
    u : array, sparse matrix, or a pair of them

    Raises
    ------
    ValueError
        Where lengths differ.

    References
    ----------
    Crammer et al. (2006), theorem 3.

    Examples
    --------
    >>> from hinged.bounds import as_stream
    >>> pa_theorem_3(as_stream(np.eye(2)[[0, 1, 0, 1]], [0, 1, 0, 1], classes=[0, 1]), 0.5 * np.eye(2)).value
    9.0
    """
    return last("PA theorem 3", formulas.pa_equal_lengths(sums_of(read(stream), u)))


def pa_theorem_4(stream: Any, u: Any, C: float = 1.0) -> Bound:
    r"""PA theorem 4, for `pa1`: :math:`M ≤ \max\{R^2, 1/C\} (‖u‖^2 + 2C \sum_t ℓ_t(u))`.

    With a margin m, max{R²/m², 1/(Cm)}.

    Parameters
    ----------
    stream : Stream or (X, y)
    u : array, sparse matrix, or a pair of them
    C : float, default 1.0
        The learner's.

    References
    ----------
    Crammer et al. (2006), theorem 4; section 7 for several labels.

    Examples
    --------
    >>> from hinged.bounds import as_stream
    >>> pa_theorem_4(as_stream(np.eye(2), [0, 1], classes=[0, 1]), np.eye(2), C=0.25)
    Bound(mistakes ≤ 8 by PA theorem 4: 8 for complexity, 0 for loss)
    """
    return last("PA theorem 4", formulas.passive_aggressive_1(sums_of(read(stream), u), check_cap(C)))


def pa_theorem_5(stream: Any, u: Any, C: float = 1.0) -> Bound:
    r"""PA theorem 5, for `pa2`: :math:`\sum_t ℓ_t^2 ≤ (R^2 + 1/2C) (‖u‖^2 + 2C \sum_t ℓ_t(u)^2)`.

    Parameters
    ----------
    stream : Stream or (X, y)
    u : array, sparse matrix, or a pair of them
        `hindsight(stream, C, squared=True)` finds a good one.
    C : float, default 1.0
        The learner's.

    References
    ----------
    Crammer et al. (2006), theorem 5.

    Examples
    --------
    >>> from hinged.bounds import as_stream
    >>> pa_theorem_5(as_stream(np.eye(2), [0, 1], classes=[0, 1]), np.eye(2), C=0.25).value
    8.0
    """
    return last("PA theorem 5", formulas.passive_aggressive_2(sums_of(read(stream), u), check_cap(C)))


def pa_theorem_10(stream: Any, u: Any, cost: Any, C: float = 1.0) -> Bound:
    r"""PA theorem 10, for the max-loss `pa1` with costs: :math:`\sum_t ρ(y_t, ŷ_t) ≤ ‖u‖^2 + 2C \sum_t ℓ_{ML}(u)`.

    The loss of u is max_r (√ρ(y, r) + ⟨u, V_r - V_y⟩). As printed where ‖V_y - V_r‖ ≤ 1 and √ρ ≤ C; beyond, the same
    argument gives max{R², max√ρ / C} times as much.

    Parameters
    ----------
    stream : Stream or (X, y)
        One right label per round.
    u : array, sparse matrix, or a pair of them
    cost : matrix (labels, labels) or function of (true, predicted)
        ρ[true, predicted] ≥ 0, in the order of the stream's labels.
    C : float, default 1.0
        The learner's.

    References
    ----------
    Crammer et al. (2006), theorem 10.

    Examples
    --------
    >>> from hinged.bounds import as_stream
    >>> stream = as_stream(0.5 * np.eye(2), [0, 1], classes=[0, 1])
    >>> pa_theorem_10(stream, np.eye(2), cost=[[0, 1], [1, 0]])
    Bound(cost ≤ 4 by PA theorem 10: 2 for complexity, 2 for loss)
    """
    stream = read(stream)
    if (np.diff(stream.right.indptr)[np.diff(stream.starts) > 0] != 1).any():
        raise ValueError("PA theorem 10 does not apply: it is for one right label per round; got rounds with several.")
    k = len(stream.labels)
    if callable(cost):
        cost = [[0.0 if a == b else cost(a, b) for b in stream.labels] for a in stream.labels]
    rho = np.asarray(cost, np.float64)
    if rho.shape != (k, k) or not np.isfinite(rho).all() or (rho < 0).any() or np.diagonal(rho).any():
        raise ValueError(
            f"cost must be a matrix of {k} × {k} numbers that are finite and not negative, 0 on the diagonal; "
            f"got shape {rho.shape}."
        )
    s = sums_of(stream, u, margins=np.sqrt(rho))
    others = rho[~np.eye(k, dtype=bool)]
    largest, smallest = float(others.max(initial=0.0)), float(others.min(initial=math.inf))
    return last("PA theorem 10", formulas.cost(s, check_cap(C), largest, smallest))
