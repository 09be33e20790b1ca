"""SCW-I with a diagonal covariance, for many labels: Wang, Zhao and Hoi (2012).

One learner for each label, or one constraint a round, that of the right label against the strongest other one, as the
passive-aggressive rules choose it; there each label has variances of its own, or all labels share one diagonal.
"""

from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numba import njit

CHECKED = 40
EACH, WORST, SHARED = 0, 1, 2
WAYS = {"per label": EACH, "worst": WORST, "worst, one diagonal": SHARED}


class Setting(NamedTuple):
    """How many deviations the margin should be, and the cap of a step."""

    phi: float
    C: float

    def __str__(self) -> str:
        return f"φ={self.phi:g}, C={self.C:g}"


GRID = tuple(Setting(phi, C) for phi, C in product((0.1, 0.3, 1.0, 2.0), (0.03, 0.1, 0.3, 1.0, 3.0)))


def online_scores(X: Any, Y: np.ndarray, way: str, setting: Setting) -> np.ndarray:
    """Scores (rows, labels) of each row before it is learnt.

    Parameters
    ----------
    X : csr_array
    Y : bool array (rows, labels)
        The right labels; exactly one in each row unless `way` is "per label".
    way : one of `WAYS`
    setting : Setting
    """
    scores = np.zeros(Y.shape)
    if WAYS[way] == EACH:
        _learn_each(X.indptr, X.indices, X.data, Y, X.shape[1], setting, scores)
    else:
        right = Y.argmax(axis=1)
        _learn_worst(X.indptr, X.indices, X.data, right, X.shape[1], (WAYS[way] == SHARED, *setting), scores)
    _check(X[:CHECKED], Y[:CHECKED], way, setting, scores[:CHECKED])
    return scores


@njit(cache=True)
def _steps(margin: float, v: float, phi: float, C: float) -> tuple[float, float]:
    """How far means move, α, and variances shrink, β (proposition 1 of the paper)."""
    if v <= 0.0 or phi * np.sqrt(v) <= margin:
        return 0.0, 0.0
    psi, zeta = 1.0 + phi**2 / 2.0, 1.0 + phi**2
    root = np.sqrt(margin**2 * phi**4 / 4.0 + v * phi**2 * zeta)
    alpha = min(C, max(0.0, (root - margin * psi) / (v * zeta)))
    u = 0.25 * (np.sqrt((alpha * v * phi) ** 2 + 4.0 * v) - alpha * v * phi) ** 2
    return alpha, alpha * phi / (np.sqrt(u) + v * alpha * phi)


@njit(cache=True)
def _learn_each(indptr: Any, indices: Any, data: Any, Y: Any, width: int, setting: Any, scores: Any) -> None:
    # W, sigma (features, labels): means and variances
    phi, C = setting
    W, sigma = np.zeros((width, Y.shape[1])), np.ones((width, Y.shape[1]))
    for t in range(Y.shape[0]):
        f, x = indices[indptr[t] : indptr[t + 1]], data[indptr[t] : indptr[t + 1]]
        for j in range(len(f)):
            for c in range(Y.shape[1]):
                scores[t, c] += x[j] * W[f[j], c]
        for c in range(Y.shape[1]):
            sign, v = 1.0 if Y[t, c] else -1.0, 0.0
            for j in range(len(f)):
                v += sigma[f[j], c] * x[j] ** 2
            alpha, beta = _steps(sign * scores[t, c], v, phi, C)
            for j in range(len(f) if alpha > 0.0 else 0):
                along = sigma[f[j], c] * x[j]
                W[f[j], c] += sign * alpha * along
                sigma[f[j], c] -= beta * along**2


@njit(cache=True)
def _learn_worst(indptr: Any, indices: Any, data: Any, right: Any, width: int, setting: Any, scores: Any) -> None:
    # W (features, labels): means; sigma (features, labels), or one column for all: variances
    shared, phi, C = setting
    k = scores.shape[1]
    W, sigma = np.zeros((width, k)), np.ones((width, 1 if shared else k))
    for t in range(len(right)):
        f, x = indices[indptr[t] : indptr[t + 1]], data[indptr[t] : indptr[t + 1]]
        for j in range(len(f)):
            for c in range(k):
                scores[t, c] += x[j] * W[f[j], c]
        y, s = right[t], 1 if right[t] == 0 else 0
        for c in range(k):
            if c != y and scores[t, c] > scores[t, s]:
                s = c
        of_y, of_s = (0, 0) if shared else (y, s)
        v = 0.0
        for j in range(len(f)):
            v += (sigma[f[j], of_y] + sigma[f[j], of_s]) * x[j] ** 2
        alpha, beta = _steps(scores[t, y] - scores[t, s], v, phi, C)
        for j in range(len(f) if alpha > 0.0 else 0):
            up, down = sigma[f[j], of_y] * x[j], sigma[f[j], of_s] * x[j]
            W[f[j], y] += alpha * up
            W[f[j], s] -= alpha * down
            sigma[f[j], of_y] -= beta * up**2
            if not shared:
                sigma[f[j], of_s] -= beta * down**2


def _check(X: Any, Y: np.ndarray, way: str, setting: Setting, scores: np.ndarray) -> None:
    """Raise if the scores are not those of the paper's formulas, written plainly, a constraint z at a time."""
    X = X[:, np.unique(X.indices)].toarray()
    if WAYS[way] == EACH:  # labels learn apart from one another, so a few of them tell
        Y, scores = Y[:, :3], scores[:, :3]
    k = Y.shape[1]
    W, sigma = np.zeros((k, X.shape[1])), np.ones((k, X.shape[1]))
    for t, (x, right) in enumerate(zip(X, Y, strict=True)):
        s = W @ x
        if not np.allclose(s, scores[t], atol=1e-8):
            raise AssertionError(f"SCW's twin went astray in round {t}: {way}, {setting}.")
        if WAYS[way] == EACH:
            constraints = [(np.arange(k) == c) * (1.0 if right[c] else -1.0) for c in range(k)]
        else:
            y = int(right.argmax())
            rival = int(np.where(np.arange(k) == y, -np.inf, s).argmax())
            constraints = [(np.arange(k) == y) * 1.0 - (np.arange(k) == rival)]
        for sign in constraints:
            z = np.outer(sign, x)
            v, m = float((sigma * z * z).sum()), float((W * z).sum())
            if v <= 0 or setting.phi * np.sqrt(v) - m <= 0:
                continue
            psi, zeta = 1 + setting.phi**2 / 2, 1 + setting.phi**2
            root = np.sqrt(m**2 * setting.phi**4 / 4 + v * setting.phi**2 * zeta)
            alpha = min(setting.C, max(0.0, (-m * psi + root) / (v * zeta)))
            apart = alpha * v * setting.phi
            u = (-apart + np.sqrt(apart**2 + 4 * v)) ** 2 / 4
            beta = alpha * setting.phi / (np.sqrt(u) + apart)
            W = W + alpha * sigma * z
            shrunk = beta * (sigma * z) ** 2
            sigma = sigma - (shrunk.max(axis=0) if WAYS[way] == SHARED else shrunk)
