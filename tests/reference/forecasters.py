"""Plain learners of one vector side by side, their common answer, and targets in units of their deviation."""

import numpy as np
from tests.reference.vectors import VectorTwin

RATE, FORGETTING, LARGEST_ERROR, GROWTH = 0.1, 0.999, 4.0, 1.5


class TogetherTwin:
    """`VectorTwin`s that differ in C, the mean weights of the last one, and the mean of all scores by their shares.

    Parameters
    ----------
    caps : list of float
        C of each learner.
    mean : bool
        Whether the mean weights of the last learner, later rounds counting for more, are a forecaster of their own.
    scaled : bool
        Whether numbers are learnt in units of their deviation from their mean, over all targets so far.
    epsilon : float or "auto"
        In the unit of the targets; "auto" is 0.1 of their deviation, or 0.1 where they are not scaled.
    options
        Of every learner. With a `metric`, they share it: it learns from a round in which any of them moves.
    dense : bool
        Whether a zero is a value like any other; only scaling="standard" asks.
    """

    def __init__(
        self, n, task, rule, caps, *, mean=False, average=False, scaled=False, epsilon=0.1, dense=True, **options
    ):
        self.learners = [VectorTwin(n, task, rule, C, growth=GROWTH if mean else 1.0, **options) for C in caps]
        for twin in self.learners:
            twin.scaler.dense = dense
        self.task, self.mean, self.average, self.scaled, self.epsilon = task, mean, average, scaled, epsilon
        self.margin = self.learners[0].margin
        self.total, self.targets = np.zeros(len(caps) + mean), []
        self.flags, self.losses, self.gaps, self.updates = [], [], [], 0

    @property
    def shares(self):
        weight = np.exp(-RATE * FORGETTING * (self.total - self.total.min()))
        return weight / weight.sum()

    @property
    def unit(self):
        """Mean and deviation of the targets so far."""
        if not self.scaled:
            return 0.0, 1.0
        if not self.targets:
            return 0.0, 0.0
        values, weights = np.array(self.targets), self.learners[0].known_left ** np.arange(len(self.targets))[::-1]
        mean = np.average(values, weights=weights)
        return mean, np.sqrt(np.average((values - mean) ** 2, weights=weights))

    def vectors(self, averaged):
        """The weights of each forecaster."""
        means = [twin.total / max(1, twin.rounds) ** twin.growth for twin in self.learners]
        if averaged and self.average:
            return np.array(means)
        return np.array([*(twin.omega for twin in self.learners), *([means[-1]] if self.mean else [])])

    def score(self, raw, averaged=True):
        x, (mean, deviation) = self.learners[0].scaler.row(raw), self.unit
        return mean + deviation * (self.shares @ self.vectors(averaged) @ x)

    def tolerance(self):
        """ε in the unit of the targets."""
        if self.epsilon == "auto":
            return 0.1 * self.unit[1]
        return self.epsilon

    def learn(self, raw, target, weight=1.0):
        said = self.score(raw, averaged=False)
        if self.task == "binary":
            gap = (1 if target == 1 else -1) * said
            self.flags.append(int(gap <= 0))
            self.losses.append(max(0.0, self.margin - gap))
        else:
            gap = abs(target - said) - self.tolerance()
            self.flags.append(int(gap > 0))
            self.losses.append(max(0.0, gap))
        self.gaps.append(gap)
        if weight == 0:
            return
        scores = self.vectors(averaged=False) @ self.learners[0].scaler.row(raw)
        if self.task == "regression":
            self.targets.append(target)
            mean, deviation = self.unit
            epsilon = self.tolerance() / deviation if deviation else 0.0
            target = (target - mean) / deviation if deviation else 0.0
            cost = np.minimum(LARGEST_ERROR, np.abs(scores - target))
            for twin in self.learners:
                twin.epsilon = epsilon
        else:
            cost = (1 if target == 1 else -1) * scores <= 0
        self.total = FORGETTING * self.total + cost
        before, seen = [twin.updates for twin in self.learners], self.learners[0].seen
        x = self.learners[0].scaler.row(raw)
        for twin in self.learners:
            twin.learn(raw, target, weight)
        moved = [twin.updates for twin in self.learners] != before
        self.updates += moved
        for twin in self.learners:
            twin.seen = twin.known_left * (seen + moved * x**2)

    def run(self, X, targets, weights):
        for raw, target, weight in zip(X, targets, weights, strict=True):
            self.learn(raw, target, weight)
        return self
