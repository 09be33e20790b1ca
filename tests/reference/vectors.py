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
    growth : float
        Round t counts for t^growth - (t - 1)^growth in the mean; with 1, each counts alike.
    slack : float
        Of rule "optimal": squared length of a feature that a constraint shares with no other.
    metric : float
        r of the adaptive geometry, 0 for Euclid's: as in `Twin`; thresholds keep a variance of 1.
    half_life : pair of float or None
        Learnt rounds after which weights and thresholds are halved, and after which statistics are: as in `Twin`.
    """

    def __init__(
        self,
        n,
        task,
        rule,
        C,
        *,
        k=2,
        epsilon=0.1,
        margin=1.0,
        scaling=None,
        normalize=False,
        average=False,
        bias=0.0,
        growth=1.0,
        slack=0.0,
        metric=0.0,
        half_life=(None, None),
    ):
        self.growth, self.slack, self.metric = growth, slack, metric
        self.task, self.rule, self.C, self.k, self.epsilon, self.margin = task, rule, C, k, epsilon, margin
        self.left, self.known_left = (0.5 ** (1.0 / h) if h else 1.0 for h in half_life)
        self.scaler = Scaler(n, scaling, normalize, bias, left=self.known_left)
        self.n_thresholds = k - 1 if task == "ordinal" else 0
        self.omega = np.zeros(n + (1 if bias else 0) + self.n_thresholds)
        self.seen = np.zeros(len(self.omega) - self.n_thresholds)
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
        roots = self.roots
        wide = np.hstack([roots * z, np.sqrt(self.slack) * np.eye(len(z))]) if self.slack else roots * z
        lam = rules.RULES[self.rule](rules.Trial(wide, trial.achieved, margin), C)
        self.omega = self.omega + roots**2 * (lam @ z)
        self.seen = self.seen + (x**2 if np.any(lam > 0) else 0.0)
        self.gain += lam.sum() * margin - ((lam**2).sum() / (4 * C) if self.rule == "pa2" else 0.0)
        self.gain -= 0.5 * self.slack * (lam**2).sum()
        self.updates += int(np.any(lam > 0))
        self.scaler.enter(raw)
        self.rounds += 1
        self.omega, self.seen = self.left * self.omega, self.known_left * self.seen
        self.total = self.total + (self.rounds**self.growth - (self.rounds - 1) ** self.growth) * self.omega

    def run(self, X, targets, weights=None):
        for i, (raw, target) in enumerate(zip(X, targets, strict=True)):
            self.learn(raw, target, 1.0 if weights is None else weights[i])
        return self

    @property
    def roots(self):
        """√σ of every weight; 1 where the geometry is Euclidean, and for thresholds."""
        sigma = 1.0 / np.sqrt(1.0 + self.seen / self.metric) if self.metric else np.ones(len(self.seen))
        return np.concatenate((np.sqrt(sigma), np.ones(self.n_thresholds)))

    @property
    def dual(self):
        return None if self.metric or self.left < 1.0 else self.gain - 0.5 * self.omega @ self.omega

    @property
    def answering(self):
        return self.total / self.rounds**self.growth if self.average and self.rounds else self.omega

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
