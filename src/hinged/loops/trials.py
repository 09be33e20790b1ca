"""Raw trials, one at a time: every rule of the table on any constraints, Euclidean or on the simplex.

Plain NumPy: this is the setting that everything faster can be checked against.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from copy import copy
from itertools import pairwise
from typing import Self

import numpy as np
from scipy import sparse

from hinged.geometry.entropy import Entropy, simplex_weights
from hinged.loops.base import check_arrays
from hinged.loops.ledger import MISTAKES, ROUNDS, UPDATES
from hinged.loops.rows import LEAST_NORM
from hinged.rules.choose import chosen
from hinged.rules.combine import shares
from hinged.rules.joint import joint_step
from hinged.rules.length import alone, softening
from hinged.rules.optimal import on_gram
from hinged.rules.response import LOGISTIC, TILTED, Responses, lone_step
from hinged.rules.table import Step
from hinged.rules.words import is_constant, is_interior, is_joint, is_softened, is_uncapped

__all__ = ["TrialModel"]

KEPT = [ROUNDS, MISTAKES, UPDATES]  # counts that a file holds


class TrialModel:
    """One vector ω = ∇G(θ), the sum θ of its moves, and what is counted.

    Parameters
    ----------
    step : Step
        The rule.
    geometry : Entropy or None
        None for Euclidean weights.
    """

    dtype = np.dtype(np.float64)
    functions, sizes = (), ()
    all_or_nothing = True  # a trial may fail to be solved, so calls are undone whole
    fixed_space = False

    def __init__(self, step: Step, geometry: Entropy | None) -> None:
        self.step, self.geometry = step, geometry
        self.theta = np.zeros(0)
        self.counts = np.zeros(6, np.int64)
        self.gain = 0.0  # Σ λm, for pa2 less Σ λ²/4C
        self.unreached = 0  # constraints whose margin no weights can meet
        self.edited = False  # whether the rule changed on the way

    # ------------------------------------------------------------------ weights
    @property
    def weights(self) -> np.ndarray:
        """ω on every coordinate; with signs, the features and then their opposites."""
        return self.theta if self.geometry is None else simplex_weights(self.theta, self.geometry.radius)

    @property
    def coef(self) -> np.ndarray:
        """ω by feature."""
        if self.geometry is None or not self.geometry.signed:
            return self.weights
        weights = self.weights
        n = len(weights) // 2
        return weights[:n] - weights[n:]

    @property
    def dual(self) -> float:
        """The certificate, Σ λm - G(θ)."""
        gain, theta = self.gain, self.theta
        if self.geometry is None:
            return float(gain - 0.5 * (theta @ theta))
        if not len(theta):
            return float(gain)
        return float(gain - self.geometry.radius * (_log_sum(theta) - math.log(len(theta))))

    def copy(self) -> Self:
        """A model of its own that knows the same; its vector is replaced by every step, so both may begin with it."""
        twin = copy(self)
        twin.counts = self.counts.copy()
        return twin

    def cut(self) -> None:
        """Nothing is kept of features that no trial had."""

    def widen(self, n_features: int) -> None:
        """Admit so many features."""
        n = n_features * (2 if self.geometry is not None and self.geometry.signed else 1)
        if n > len(self.theta):
            self.theta = np.concatenate([self.theta, np.zeros(n - len(self.theta))])

    # ------------------------------------------------------------------ keeping
    def arrays(self) -> dict[str, np.ndarray]:
        """Everything learnt, as plain arrays."""
        return {
            "theta": self.theta,
            "counts": self.counts[KEPT],
            "sums": np.array([self.gain, float(self.unreached)]),
        }

    def restore(self, arrays: dict[str, np.ndarray], names: Sequence[Hashable], n_labels: int) -> None:
        """Become what `arrays` described, if it makes sense; the model must have its width."""
        check_arrays(arrays, {name: (like.shape, like.dtype) for name, like in self.arrays().items()})
        self.theta = arrays["theta"].copy()
        self.counts[KEPT] = arrays["counts"]
        self.gain, self.unreached = float(arrays["sums"][0]), int(arrays["sums"][1])

    # ------------------------------------------------------------------ one trial
    def learn(self, Z: sparse.csr_array, nu: np.ndarray) -> None:
        """One trial of constraints ⟨ω, z_j⟩ >= m, with the weights ν of its dual variables."""
        if self.geometry is not None and self.geometry.signed:
            Z = sparse.hstack([Z, -Z], format="csr")
        weights = self.weights
        rows = ((Z.data[a:b], Z.indices[a:b]) for a, b in pairwise(Z.indptr.tolist()))
        achieved = np.array([math.fsum(z * weights[at]) for z, at in rows])  # rounded once, so that ties are ties
        loss = self.step.margin - achieved
        self.counts[ROUNDS] += 1
        self.counts[MISTAKES] += bool((achieved <= 0.0).any())
        lam = self._multipliers(Z, achieved, loss, nu)
        if (lam > 0.0).any():
            self.counts[UPDATES] += 1
            self.theta = self.theta + Z.T @ lam
            self.gain += self.step.margin * float(lam.sum())
            self.gain -= sum(softening(self.step.words.length, step, self.step.C) for step in lam.tolist())

    def _multipliers(self, Z: sparse.csr_array, achieved: np.ndarray, loss: np.ndarray, nu: np.ndarray) -> np.ndarray:
        """λ_j >= 0 with Σ ν_j λ_j <= C."""
        rule, n = self.step.words, len(achieved)
        with np.errstate(divide="ignore"):
            caps = self.step.C / nu  # no cap where ν is 0
        margins, lam = np.full(n, self.step.margin), np.zeros(n)
        if is_joint(rule):
            return self._jointly(Z, achieved, loss, nu) if (loss > 0.0).any() else lam
        for j in np.flatnonzero(chosen(rule, achieved, margins)).tolist():
            lam[j] = self._alone(Z, j, float(achieved[j]), float(caps[j]))
        shares(rule, achieved, margins, lam)
        return lam

    def _alone(self, Z: sparse.csr_array, j: int, achieved: float, cap: float) -> float:
        """The best step for one constraint alone."""
        margin, rule = self.step.margin, self.step.words
        values = Z.data[Z.indptr[j] : Z.indptr[j + 1]]
        if self.geometry is not None and not is_constant(rule):
            if achieved >= margin:
                return 0.0
            curve = self._curve(Z.indices[Z.indptr[j] : Z.indptr[j + 1]], values)
            self.unreached += bool(len(values)) and margin >= self.geometry.radius * curve.highest
            return lone_step(curve, 0, margin, cap)
        sq_norm = float(values @ values)
        sq_norm = sq_norm if sq_norm >= LEAST_NORM else 0.0
        return float(alone(rule.length, achieved, sq_norm, margin, self.step.C if is_softened(rule) else cap))

    def _curve(self, columns: np.ndarray, values: np.ndarray) -> Responses:
        """The margin of one constraint as a function of its own step, on the simplex."""
        assert self.geometry is not None
        everything, kept = _log_sum(self.theta), values != 0.0
        columns, values = columns[kept], values[kept]
        logs = self.theta[columns] - everything
        others = np.delete(self.theta, columns)
        rest = _log_sum(others) - everything if len(others) else -math.inf
        zero = [0.0] if len(others) else []
        lowest, highest = float(min([*values, *zero])), float(max([*values, *zero]))
        U, flat = float(self.geometry.radius), len(values) > 0 and len(others) > 0 and bool((values == values[0]).all())
        if flat:
            odds, v = float(_log_sum(logs) - rest), float(values[0])
            start = np.array([odds if v > 0.0 else -odds])
            offset = -U * abs(v) if v < 0.0 else 0.0
            return Responses(LOGISTIC, start, abs(v), offset, U, np.zeros((0, 0)), np.zeros(0), lowest, highest)
        values = np.ascontiguousarray(values, np.float64)
        return Responses(TILTED, np.array([rest]), 0.0, 0.0, U, logs[np.newaxis], values, lowest, highest)

    def _jointly(self, Z: sparse.csr_array, achieved: np.ndarray, loss: np.ndarray, nu: np.ndarray) -> np.ndarray:
        """The exact maximiser of the trial's dual over all its constraints."""
        step, lam = self.step, np.zeros(len(achieved))
        margins = np.full(len(achieved), step.margin)
        if self.geometry is None and not is_interior(step.words) and (nu > 0.0).all():
            # the trial as a ranking: one label without a vector must beat labels -z_j/ν_j, each with its own margin
            gram = np.zeros((len(achieved) + 1, len(achieved) + 1))
            gram[1:, 1:] = (Z @ Z.T).toarray() / np.outer(nu, nu)
            scores = np.concatenate([[0.0], loss / nu - step.margin])
            is_right, g = np.arange(len(scores)) == 0, np.zeros(len(scores))
            on_gram(scores, is_right, gram, step.margin, step.C, is_uncapped(step.words), g)
            return np.maximum(0.0, -g[1:]) / nu
        kept = np.flatnonzero(Z.power(2).sum(axis=1) > 0.0) if is_uncapped(step.words) else np.arange(len(lam))
        if len(kept):
            potential = self._potential(Z[kept], achieved[kept])
            lam[kept] = joint_step(potential, margins[kept], nu[kept], step.C)[0]
        return lam

    def _potential(
        self, Z: sparse.csr_array, achieved: np.ndarray
    ) -> Callable[[np.ndarray], tuple[float, np.ndarray, np.ndarray]]:
        """G(θ + Σ α_j z_j) - G(θ) as a function of α, with its gradient and Hessian."""
        if self.geometry is None:
            gram = (Z @ Z.T).toarray()
            return lambda alpha: (
                float(achieved @ alpha + 0.5 * alpha @ gram @ alpha),
                achieved + gram @ alpha,
                gram,
            )
        theta, U, before, dense = self.theta, float(self.geometry.radius), _log_sum(self.theta), Z.toarray()

        def potential(alpha: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
            moved = theta + alpha @ dense
            p = simplex_weights(moved)
            mean = dense @ p
            centred = dense - mean[:, np.newaxis]
            return U * (_log_sum(moved) - before), U * mean, U * (centred * p) @ centred.T

        return potential


def _log_sum(theta: np.ndarray) -> float:
    """log Σ e^θ."""
    top = float(theta.max())
    return top + math.log(float(np.exp(theta - top).sum()))
