"""A quadratic program over a capped simplex, solved by trying every support."""

from itertools import chain, combinations

import numpy as np

TOLERANCE = 1e-11


def maximise(linear, Z, cap, guess=None):
    r"""Maximise a concave quadratic over non-negative numbers whose sum is capped (SP eq. 2).

    .. math:: \max_\alpha\; \ell^\top\alpha - \tfrac12\|Z^\top\alpha\|^2
        \quad\text{s.t.}\quad \alpha \ge 0,\; \textstyle\sum_j\alpha_j \le C

    The optimum is a support and, on it, the solution of a linear system, with the cap slack or tight. All of them
    are tried, the small ones first, and the first to satisfy the optimality conditions is the answer: with
    :math:`g = \ell - ZZ^\top\alpha` there is a :math:`\nu \ge 0`, zero unless the cap is tight, such that
    :math:`g_j = \nu` on the support and :math:`g_j \le \nu` elsewhere.

    Parameters
    ----------
    linear : ndarray of shape (p,)
        The coefficients :math:`\ell`, negative ones included.
    Z : ndarray of shape (p, d)
        One direction per variable.
    cap : float
        The bound :math:`C` on the sum, possibly infinite.
    guess : tuple of int, optional
        A support to try before all others.

    Returns
    -------
    ndarray of shape (p,)
        A maximiser. It need not be unique; :math:`Z^\top\alpha` and :math:`\ell^\top\alpha` are.
    """
    gram = Z @ Z.T
    p = len(linear)
    every = chain.from_iterable(combinations(range(p), size) for size in range(p + 1))
    for support in every if guess is None else chain([guess], every):
        for tight in (False, True):
            if tight and (len(support) == 0 or not np.isfinite(cap)):
                continue
            alpha, nu = stationary_point(linear, gram, list(support), cap, tight)
            if is_optimal(linear, gram, alpha, nu, cap):
                return np.maximum(alpha, 0.0)
    raise ArithmeticError("no support satisfies the optimality conditions; without a cap the problem may be unbounded")


def stationary_point(linear, gram, support, cap, tight):
    """Solve `gram a + nu = linear` on the support; a tight cap adds `sum a = cap`, a slack one `nu = 0`."""
    size = len(support)
    system, right = gram[np.ix_(support, support)], linear[support]
    if tight:
        system, inner = np.ones((size + 1, size + 1)), system
        system[:size, :size], system[size, size] = inner, 0.0
        right = np.append(right, cap)
    solution = np.linalg.lstsq(system, right, rcond=None)[0] if size else np.zeros(0)
    alpha = np.zeros(len(linear))
    alpha[support] = solution[:size]
    return alpha, (solution[size] if tight else 0.0)


def is_optimal(linear, gram, alpha, nu, cap):
    """The optimality conditions of `maximise`, up to rounding at the size of the numbers involved."""
    slack = TOLERANCE * (1.0 + np.max(np.abs(linear)) + np.max(gram @ np.abs(alpha)))
    if np.any(alpha < -TOLERANCE * (1.0 + np.sum(np.abs(alpha)))) or nu < -slack:
        return False
    if np.sum(alpha) > cap * (1.0 + TOLERANCE):
        return False
    gradient = linear - gram @ alpha
    return bool(np.all(gradient <= nu + slack) and np.all(np.abs(gradient[alpha > 0] - nu) <= slack))
