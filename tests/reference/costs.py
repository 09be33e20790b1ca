"""The plain cost-sensitive learner: prototypes, and a margin √ρ(y, r) for every pair."""

import numpy as np
from tests.reference import rules


class CostTwin:
    """PA section 8 for one right label out of k; the simultaneous rules take each pair's own margin."""

    def __init__(self, n, k, rule, C, rho, constraint):
        self.rule, self.C, self.rho, self.constraint = rule, C, rho, constraint
        self.W = np.zeros((k, n))
        self.flags, self.losses, self.cost, self.gain, self.updates = [], [], 0.0, 0.0, 0
        self.nearest = np.inf  # the smallest distance so far, not 0, between two scores or of a pair from its margin

    def learn(self, x, y):
        k, n = self.W.shape
        scores = self.W @ x
        predicted = int(np.argmax(scores))
        gaps = np.abs(scores - scores[:, np.newaxis])
        self.nearest = min(self.nearest, np.min(gaps[gaps > 0], initial=np.inf))
        self.cost += self.rho[y, predicted]
        others = [r for r in range(k) if r != y]
        self.flags.append(int(any(scores[y] <= scores[r] for r in others)))
        if self.rule in ("pa", "pa1", "pa2") and self.constraint == "prediction":
            others = [predicted] if predicted != y else []
        if not others:
            self.losses.append(0.0)
            return
        z = np.array([(np.arange(k) == y).astype(float) - (np.arange(k) == r) for r in others])
        z = np.einsum("jk,n->jkn", z, x).reshape(len(others), k * n)
        margins = np.sqrt(self.rho[y, others])
        trial = rules.Trial(z, z @ self.W.ravel(), margins)
        short = np.abs(margins - trial.achieved)
        self.nearest = min(self.nearest, np.min(short[short > 0], initial=np.inf))
        self.losses.append(float(np.max(trial.loss)))
        lam = rules.RULES[self.rule](trial, self.C)
        self.W = self.W + (lam @ z).reshape(k, n)
        self.gain += lam @ margins - ((lam**2).sum() / (4 * self.C) if self.rule == "pa2" else 0.0)
        self.updates += int(np.any(lam > 0))

    @property
    def dual(self):
        return self.gain - 0.5 * (self.W**2).sum()
