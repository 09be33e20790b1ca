"""Plain learners with a Mercer kernel: scores are sums over all past rounds, one term after the other."""

from math import exp, fsum

import numpy as np
from tests.reference import rules
from tests.reference.learner import Mira


def polynomial(a, d):
    """(a + <x, z>)^d of two rows."""
    return lambda x, z: (a + fsum(x * z)) ** d


def gaussian(gamma):
    """exp(-gamma |x - z|^2) of two rows."""
    return lambda x, z: exp(-gamma * fsum((x - z) ** 2))


class KernelTrial(rules.Trial):
    """The constraints of a round, of which the inner products are known, and the directions only up to a rotation."""

    @classmethod
    def of(cls, gram, achieved, margin):
        values, vectors = np.linalg.eigh(gram)
        z = vectors * np.sqrt(np.maximum(values, 0.0))
        z[np.diag(gram) == 0.0] = 0.0
        trial = cls(z, achieved, margin)
        trial.gram = gram
        return trial

    @property
    def squared_norm(self):
        return np.diag(self.gram)


class KernelTwin:
    r"""A learner on labels: :math:`f(x, r) = \sum_t \sum_s g_{ts}\,\kappa((x_t, s), (x, r))`.

    For "multi" :math:`\kappa` is K(x, z) where the labels are equal, else 0; for "single" it is
    K(x - p^r, z - p^s) with each label's mean at the time of the row (HS eq. 11); for "hybrid" the sum of both.

    Parameters
    ----------
    kernel : function of two rows
    classes : list, optional
        Labels known from the start; the others become known when they appear.
    """

    def __init__(self, kernel, rule="pa1", C=1.0, *, sharing="multi", margin=1.0, novel="learn", classes=None):
        self.kernel, self.sharing, self.C, self.novel = kernel, sharing, C, novel
        self.settings = rule if isinstance(rule, Mira) else Mira()
        self.rule = "mira" if isinstance(rule, Mira) else rule
        self.margin = self.settings.beta if self.rule == "mira" else margin
        self.known = sorted(classes) if classes is not None else []
        self.rows = {}  # of each label
        self.past = []  # (row, means then, label, coefficient)
        self.flags, self.losses, self.updates, self.gain = [], [], 0, 0.0

    def means(self, n):
        """Each label's mean, 0 before its first row."""
        return {r: np.mean(self.rows[r], axis=0) if self.rows.get(r) else np.zeros(n) for r in self.known}

    def kappa(self, x, p, r, z, q, s):
        """The kernel of (row, label) pairs."""
        value = 0.0
        if self.sharing != "single" and r == s:
            value += self.kernel(x, z)
        if self.sharing != "multi":
            value += self.kernel(x - p[r], z - q[s])
        return value

    def score(self, x, r):
        p = self.means(len(x))
        return fsum(g * self.kappa(x, p, r, z, q, s) for z, q, s, g in self.past)

    def scores(self, X):
        return np.array([[self.score(x, r) for r in self.known] for x in X])

    def learn(self, x, relevant, weight=1.0):
        new = sorted(r for r in relevant if r not in self.known)
        flag, loss = -1, 0.0
        if not new:
            flag, loss = self.update(x, relevant, weight)
        elif weight > 0:
            self.known += new
            if self.novel == "learn":
                self.update(x, relevant, weight)
        if weight > 0:
            for r in relevant:
                self.rows.setdefault(r, []).append(x)
        self.flags.append(flag)
        self.losses.append(loss)

    def update(self, x, relevant, weight):
        """Flag and loss of the round, before its step."""
        p = self.means(len(x))
        pairs = [(r, s) for r in self.known if r in relevant for s in self.known if s not in relevant]
        if not pairs:
            return 0, 0.0
        f = {r: self.score(x, r) for r in self.known}

        def inner(r, s):
            return self.kappa(x, p, r, x, p, s)

        gram = [[inner(r, a) - inner(r, b) - inner(s, a) + inner(s, b) for a, b in pairs] for r, s in pairs]
        trial = KernelTrial.of(np.array(gram), np.array([f[r] - f[s] for r, s in pairs]), self.margin)
        flag, loss = int(np.any(trial.mistaken)), float(np.max(trial.loss))
        if weight > 0:
            C = {"mira": self.settings.cap, "uniform": 1.0}.get(self.rule, self.C * weight)
            multipliers = rules.RULES[self.rule](trial, C)
            for step, (r, s) in zip(multipliers, pairs, strict=True):
                if step > 0:
                    self.past += [(x, p, r, step), (x, p, s, -step)]
            self.gain += np.sum(multipliers) * self.margin
            self.gain -= np.sum(multipliers**2) / (4.0 * C) if self.rule == "pa2" else 0.0
            self.updates += int(np.any(multipliers > 0))
        return flag, loss

    def run(self, X, y, weights=None):
        for i, (x, labels) in enumerate(zip(X, y, strict=True)):
            relevant = set(labels) if isinstance(labels, (set, frozenset)) else {labels}
            self.learn(x, relevant, 1.0 if weights is None else weights[i])
        return self

    @property
    def dual(self):
        """Sum of multipliers times margins, less half the squared length of everything learnt."""
        length = fsum(g * h * self.kappa(x, p, r, z, q, s) for x, p, r, g in self.past for z, q, s, h in self.past)
        return self.gain - 0.5 * length


class BudgetTwin(KernelTwin):
    """A learner on labels that remembers at most `size` rows; where labels share a vector, rounds."""

    def __init__(self, size, drop, *args, **more):
        super().__init__(*args, **more)
        self.size, self.drop = size, drop

    def learn(self, x, relevant, weight=1.0):
        super().learn(x, relevant, weight)
        rows = {id(z): z for z, _, _, _ in self.past}
        sizes = {key: self.square(key) for key in rows}
        for key in [key for key, size in sizes.items() if size < 1e-20]:  # nothing was moved by it
            self.past = [entry for entry in self.past if id(entry[0]) != key]
            del rows[key]
        if len(rows) > self.size:
            self.give_up(rows, next(iter(rows)) if self.drop == "oldest" else min(rows, key=sizes.get))

    def square(self, key):
        """The squared length of what a row adds to the weights."""
        terms = [entry for entry in self.past if id(entry[0]) == key]
        return fsum(g * h * self.kappa(x, p, r, z, q, s) for x, p, r, g in terms for z, q, s, h in terms)

    def coefficients(self, key):
        """A row's coefficient for each label."""
        return {r: sum(g for z, _, s, g in self.past if id(z) == key and s == r) for r in self.known}

    def give_up(self, rows, gone):
        c, z = self.coefficients(gone), rows.pop(gone)
        self.past = [entry for entry in self.past if id(entry[0]) != gone]
        if self.drop == "project":
            kept = list(rows.values())
            among = [[self.kernel(a, b) for b in kept] for a in kept]
            shares = np.linalg.lstsq(among, [self.kernel(a, z) for a in kept], rcond=1e-10)[0]
            self.past += [(a, {}, r, share * c[r]) for a, share in zip(kept, shares, strict=True) for r in self.known]


class KernelVectorTwin:
    """Two labels (0 and 1), or numbers where `epsilon` is given: one constraint a round."""

    def __init__(self, kernel, rule, C, *, epsilon=None, margin=1.0):
        self.kernel, self.rule, self.C, self.epsilon, self.margin = kernel, rule, C, epsilon, margin
        self.past, self.flags, self.losses, self.updates, self.gain = [], [], [], 0, 0.0

    def score(self, x):
        return fsum(g * self.kernel(z, x) for z, g in self.past)

    def learn(self, x, target, weight=1.0):
        score = self.score(x)
        if self.epsilon is None:
            side, margin = (1.0 if target == 1 else -1.0), self.margin
        else:
            side = 1.0 if target > score else -1.0
            margin = side * target - self.epsilon
        trial = KernelTrial.of(np.array([[self.kernel(x, x)]]), np.array([side * score]), margin)
        loss = float(trial.loss[0])
        self.flags.append(int(trial.mistaken[0] if self.epsilon is None else loss > 0))
        self.losses.append(loss)
        if weight > 0:
            C = self.C * weight
            step = float(rules.RULES[self.rule](trial, C)[0])
            if step > 0:
                self.past.append((x, side * step))
                self.updates += 1
                self.gain += step * margin - (step**2 / (4.0 * C) if self.rule == "pa2" else 0.0)

    def run(self, X, y, weights=None):
        for i, (x, target) in enumerate(zip(X, y, strict=True)):
            self.learn(x, target, 1.0 if weights is None else weights[i])
        return self

    @property
    def dual(self):
        return self.gain - 0.5 * fsum(g * h * self.kernel(x, z) for x, g in self.past for z, h in self.past)
