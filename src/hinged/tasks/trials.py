"""Raw trials: every instance asks for its own margin, y_j ⟨ω, x_j⟩ >= m; all other tasks can be put this way.

Amit, Shalev-Shwartz and Singer (2006), section 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["directions", "signs"]


def directions(X: Any, y: np.ndarray) -> sparse.csr_array:
    """z_j = y_j x_j, a row each.

    Examples
    --------
    >>> directions(np.eye(2), np.array([1.0, -1.0])).toarray().tolist()
    [[1.0, 0.0], [0.0, -1.0]]
    """
    Z = sparse.csr_array(X, dtype=np.float64, copy=True)
    Z.data *= np.repeat(y, np.diff(Z.indptr))
    return Z


def signs(scores: np.ndarray) -> np.ndarray:
    """The answer to each instance: +1 where its score is positive; 0 has not won and is -1.

    Examples
    --------
    >>> signs(np.array([0.5, 0.0, -2.0])).tolist()
    [1, -1, -1]
    """
    return np.where(scores > 0.0, 1, -1)
