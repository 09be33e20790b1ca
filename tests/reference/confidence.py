"""How likely predictions are right: a logistic regression, one prediction at a time (docs/maths.md, "Confidence")."""

import numpy as np


class ConfidenceTwin:
    """The weights of a constant and of a lead cut off at each corner, and a record for each label."""

    def __init__(self):
        self.weights, self.errors, self.leads, self.records = np.zeros(5), [1.0], [], {}

    def features(self, lead):
        u = lead / np.mean(self.leads) if np.any(self.leads) else 1.0
        return np.minimum([1.0, u, u, u, u], [1.0, 0.5, 1.0, 2.0, 4.0])

    def chance(self, lead, label):
        return 1 / (1 + np.exp(-(self.weights @ self.features(lead) + self.records.get(label, 0.0))))

    def learn(self, lead, label, hit):
        x, error = self.features(lead), hit - self.chance(lead, label)
        self.errors.append(error**2)
        self.weights = self.weights + 0.5 * error / np.sqrt(np.sum(self.errors)) * x
        self.weights[1:] = np.maximum(self.weights[1:], 0)
        self.records[label] = 0.98 * self.records.get(label, 0.0) + 0.1 * error
        self.leads.append(lead)
