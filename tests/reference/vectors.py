"""Plain learners of one vector: two labels, numbers, ranks, and the centre of a ball."""

import numpy as np
from tests.reference import rules
from tests.reference.scaling import Scaler


class VectorTwin:
    r"""Binary (PA section 3), regression (PA section 5) or ordinal (SP section 3), one round after the other.

    Every round has constraints :math:`\langle\omega, z_j\rangle \ge m_j` on the vector
    :math:`\omega = (w, b_1, \dots, b_{k-1})`, the thresholds for ranks only.

    Parameters
    ----------
    n : int
        Number of features.
    task : "binary", "regression" or "ordinal"
    k : int
        Number of ranks, for "ordinal". Targets are 0 and 1, numbers, or ranks from 0.
    """

    def __init__(
        self, n, task, rule, C, *, k=2, epsilon=0.1, margin=1.0, scaling=None, normalize=False, average=False, bias=0.0
    ):
        self.task, self.rule, self.C, self.k, self.epsilon, self.margin = task, rule, C, k, epsilon, margin
        self.scaler = Scaler(n, scaling, normalize, bias)
        self.n_thresholds = k - 1 if task == "ordinal" else 0
        self.omega = np.zeros(n + (1 if bias else 0) + self.n_thresholds)
        self.total, self.rounds, self.n, self.average = np.zeros_like(self.omega), 0, n, average
        self.gain, self.updates, self.flags, self.losses = 0.0, 0, [], []

    def constraints(self, x, target):
        """Directions and margins of a round."""
        if self.task == "binary":
            return np.array([(1 if target == 1 else -1) * x]), self.margin
        if self.task == "regression":
            s = 1.0 if target > self.omega @ x else -1.0
            return np.array([s * x]), s * target - self.epsilon
        z = []
        for i in range(self.n_thresholds):
            side = 1.0 if i < target else -1.0
            z.append(side * np.concatenate((x, -np.eye(self.n_thresholds)[i])))
        return np.array(z), self.margin

    def learn(self, raw, target, weight=1.0):
        x = self.scaler.row(raw)
        z, margin = self.constraints(x, target)
        trial = rules.Trial(z, z @ self.omega, margin)
        loss = float(np.max(trial.loss))
        self.flags.append(int(loss > 0 if self.task == "regression" else np.any(trial.mistaken)))
        self.losses.append(loss)
        if weight == 0:
            return
        C = 1.0 if self.rule == "uniform" else self.C * weight
        lam = rules.RULES[self.rule](trial, C)
        self.omega = self.omega + lam @ z
        self.gain += lam.sum() * margin - ((lam**2).sum() / (4 * C) if self.rule == "pa2" else 0.0)
        self.updates += int(np.any(lam > 0))
        self.scaler.enter(raw)
        self.total, self.rounds = self.total + self.omega, self.rounds + 1

    def run(self, X, targets, weights=None):
        for i, (raw, target) in enumerate(zip(X, targets, strict=True)):
            self.learn(raw, target, 1.0 if weights is None else weights[i])
        return self

    @property
    def dual(self):
        return self.gain - 0.5 * self.omega @ self.omega

    @property
    def answering(self):
        return self.total / self.rounds if self.average and self.rounds else self.omega

    @property
    def coef(self):
        return self.answering[: self.n]

    @property
    def thresholds(self):
        return self.answering[len(self.answering) - self.n_thresholds :]


class BallTwin:
    """Uniclass (PA section 6): w moves towards every vector outside the ball; one more coordinate learns the radius."""

    def __init__(self, n, rule, C, radius, learns):
        self.rule, self.C, self.radius, self.learns = rule, C, radius, learns
        self.w = np.append(np.zeros(n), radius if learns else 0.0)
        self.flags, self.losses = [], []

    def learn(self, x):
        y = np.append(x, 0.0)
        distance = np.linalg.norm(self.w - y)
        loss = max(0.0, distance - self.radius)
        self.flags.append(int(loss > 0))
        self.losses.append(loss)
        step = {"pa": loss, "pa1": min(self.C, loss), "pa2": loss / (1 + 1 / (2 * self.C))}[self.rule]
        if loss > 0:
            self.w = self.w + step * (y - self.w) / distance

    @property
    def center(self):
        return self.w[:-1]

    @property
    def current_radius(self):
        return np.sqrt(self.radius**2 - self.w[-1] ** 2)
