"""Weights on a simplex, in the plainest way: the whole vector, softmax anew in every round, roots by bisection."""

from itertools import combinations

import numpy as np
from scipy.optimize import brentq
from tests.reference import rules
from tests.reference.learner import Twin


class Simplices:
    r"""Blocks of a concatenated vector, each with weights :math:`U\,\mathrm{softmax}(\theta)` (LR section 4).

    Parameters
    ----------
    n_blocks : int
    radius : float
        What the weights of a block sum to.
    signed : bool
        Whether each coordinate has a twin with the opposite sign; the weight is then the difference of the two.
    """

    def __init__(self, n_blocks, radius=1.0, signed=False):
        self.n_blocks, self.radius, self.signed = n_blocks, radius, signed

    def exponents(self, theta):
        """One row per block, the opposite signs beside it."""
        blocks = theta.reshape(self.n_blocks, -1)
        return np.hstack([blocks, -blocks]) if self.signed else blocks

    def weights(self, theta):
        """The gradient of G."""
        e = self.exponents(theta)
        e = np.exp(e - e.max(axis=1, keepdims=True))
        p = self.radius * e / e.sum(axis=1, keepdims=True)
        n = p.shape[1] // 2
        return (p[:, :n] - p[:, n:] if self.signed else p).ravel()

    def potential(self, theta):
        """G, summed over the blocks; 0 at 0."""
        e = self.exponents(theta)
        top = e.max(axis=1)
        return self.radius * float(np.sum(top + np.log(np.mean(np.exp(e - top[:, None]), axis=1))))

    # ------------------------------------------------------------------ steps
    def alone(self, theta, z, margin, cap):
        """The best step along one constraint: where its margin is met, at most the cap (SP section 7)."""

        def short(alpha):
            return margin - z @ self.weights(theta + alpha * z)

        if short(0.0) <= 0.0:
            return 0.0
        return cap if short(cap) >= 0.0 else brentq(short, 0.0, cap, xtol=1e-15, rtol=1e-14)

    def multipliers(self, rule, theta, trial, caps):
        """One multiplier per constraint, as in `rules.RULES`, with the steps of this geometry."""
        n = len(trial.achieved)
        if rule == "perceptron":
            return np.where(np.arange(n) == np.argmin(trial.achieved), caps, 0.0) * bool(np.any(trial.mistaken))
        if rule in ("simperc", "uniform"):
            return rules.shared_by(trial, trial.mistaken, caps)
        if rule == "optimal":
            return jointly(self, theta, trial.z, trial.margin, caps[0]) if np.any(trial.loss > 0) else np.zeros(n)
        steps = np.array([self.alone(theta, z, trial.margin, cap) for z, cap in zip(trial.z, caps, strict=True)])
        if rule == "pa1":
            return rules.on_one(trial, np.argmax(trial.loss), steps[np.argmax(trial.loss)])
        return rules.shared_by(trial, trial.loss > 0 if rule == "simproj" else trial.mistaken, steps)


def jointly(simplices, theta, Z, margin, cap):
    """Maximise m'a - G(theta + Z'a) over a >= 0 with sum a <= cap, by trying every support (LR update III; SP eq. 2).

    On a support the optimum is stationary: the margins achieved are equal, to the margin asked for where the cap is
    slack. The first support whose stationary point satisfies all optimality conditions is the answer.
    """
    n = len(Z)
    for size in range(1, n + 1):
        for support in combinations(range(n), size):
            for tight in (False, True):
                alpha = stationary(simplices, theta, Z, list(support), margin, cap, tight)
                if alpha is not None and is_optimal(simplices, theta, Z, alpha, margin, cap, tight):
                    return np.maximum(alpha, 0.0)
    raise ArithmeticError("no support satisfies the optimality conditions")


def stationary(simplices, theta, Z, support, margin, cap, tight):
    """Newton's method on the support, halving steps that lose; None where it leads nowhere."""
    S, one = Z[support], np.ones((len(support), 1))
    a = np.full(len(support), cap / len(support) if tight else 0.0)

    def gain(a):
        return margin * np.sum(a) - simplices.potential(theta + a @ S)

    for _ in range(200):
        slope = margin - S @ simplices.weights(theta + a @ S)
        H = hessian(simplices, theta + a @ S, S)
        if tight:
            system = np.block([[H, one], [one.T, np.zeros((1, 1))]])
            step = np.linalg.lstsq(system, np.append(slope, 0.0), rcond=1e-13)[0][:-1]
        else:
            step = np.linalg.lstsq(H, slope, rcond=1e-13)[0]
        if np.max(np.abs(step)) <= 1e-14 * (1.0 + np.max(np.abs(a))):
            break
        size = 1.0
        while size > 1e-9 and gain(a + size * step) < gain(a) - 1e-12 * (1.0 + np.max(np.abs(theta))):
            size *= 0.5
        a = a + size * step
        if not np.all(np.isfinite(a)) or np.max(np.abs(a)) > 1e6:
            return None
    alpha = np.zeros(len(Z))
    alpha[support] = a
    return alpha


def hessian(simplices, theta, S):
    """S H S', with H the curvature of G."""
    e = simplices.exponents(theta)
    p = np.exp(e - e.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    total = np.zeros((len(S), len(S)))
    for b, weights in enumerate(p):
        rows = S.reshape(len(S), simplices.n_blocks, -1)[:, b]
        rows = np.hstack([rows, -rows]) if simplices.signed else rows
        centred = rows - (rows @ weights)[:, None]
        total += simplices.radius * (centred * weights) @ centred.T
    return total


def is_optimal(simplices, theta, Z, alpha, margin, cap, tight):
    """Feasible, and no constraint earns more than the active ones do; those earn nothing where the cap is slack."""
    if np.any(alpha < -1e-12) or np.sum(alpha) > cap * (1.0 + 1e-12):
        return False
    slope = margin - Z @ simplices.weights(theta + alpha @ Z)
    price = np.max(slope[alpha > 0], initial=0.0)
    spread = np.max(np.abs(slope[alpha > 0] - price), initial=0.0)
    return bool(np.all(slope <= price + 1e-10) and spread <= 1e-10 and (price <= 1e-10 or tight) and price >= -1e-10)


class EntropicTwin(Twin):
    """The plain learner with a simplex per label; `w` is the sum of the moves, theta."""

    def __init__(self, n, labels, rule="pa1", C=1.0, *, radius=1.0, signed=False, **more):
        super().__init__(n, labels, rule, C, **more)
        self.simplices = Simplices(len(self.collection), radius, signed)
        self.sum_of_weights = np.zeros_like(self.w)

    def margins(self, vectors, pairs):
        theta, self.w = self.w, self.simplices.weights(self.w)
        try:
            achieved = super().margins(vectors, pairs)
        finally:
            self.w = theta
        return np.where(np.abs(achieved) < 1e-14, 0.0, achieved)  # weights sum to the radius up to rounding

    def update(self, trial, weight):
        self.moved = False
        if weight == 0:
            return
        caps = np.full(len(trial.achieved), self.bound_on_multipliers(weight))
        multipliers = self.simplices.multipliers(self.rule, self.w, trial, caps)
        multipliers = np.round(multipliers, 12)  # roots of labels with the same moves differ in their last digits
        self.w = self.w + multipliers @ trial.z
        self.gain += np.sum(multipliers) * self.margin
        self.moved = bool(np.any(multipliers > 0))
        self.history.updates += int(self.moved)

    @property
    def dual(self):
        """The certificate, with G in place of half the squared length."""
        return float(self.gain - self.simplices.potential(self.w))

    def learn(self, raw, relevant, weight=1.0):
        super().learn(raw, relevant, weight)
        if weight > 0:  # after each round the weights of every label that exists, 0 before it did
            known = np.isin(self.labels, self.known).repeat(self.width)
            self.sum_of_weights = self.sum_of_weights + np.where(known, self.simplices.weights(self.w), 0.0)

    @property
    def answering_weights(self):
        """The weights themselves, or their mean over the rounds."""
        if self.average and self.statistics.rounds:
            return self.sum_of_weights / self.statistics.rounds
        return self.simplices.weights(self.w)


class HastyEntropicTwin(EntropicTwin):
    """The twin with scores a little off, to find out which rounds hang on rounding.

    Labels with the same moves stay equal, as they do in any arithmetic. Ties of labels whose moves merely mirror each
    other, which only exactly rounded sums would see, do not survive here.
    """

    def margins(self, vectors, pairs):
        exact = super().margins(vectors, pairs)
        blocks = self.w.reshape(len(self.collection), -1)
        marks = np.sin(blocks @ np.arange(1.0, 1.0 + blocks.shape[1]) ** 1.5)
        # a row that is the same everywhere gives all labels the same score, whatever their moves
        x = next(iter(vectors.values()), np.zeros(1))
        speaks = len(set(x[x != 0])) != 1 or np.count_nonzero(x) < blocks.shape[1]
        off = {r: 1e-12 * marks[self.labels.index(r)] * (speaks and np.any(x)) for r in self.known}
        return exact + np.array([off[r] - off[s] for r, s in pairs])
