"""The plain tagger: every sequence of tags is written down and scored, so sentences must be short.

A second, also plain: Viterbi's recursion in dicts, for sentences of any length.
"""

from collections import Counter, defaultdict
from itertools import pairwise, product
from math import fsum, inf, sqrt

import numpy as np
from tests.reference import rules


def features_of(sentence):
    """Each token as a Counter of name to value, whether it came as a list of names or as a dict."""
    return [Counter(dict(t)) if isinstance(t, dict) else Counter(t) for t in sentence]


def phi(sentence, tags):
    """Φ(x, y) as a dict: features with their tag, and neighbouring tags (PA sec. 9)."""
    total = defaultdict(float)
    for token, tag in zip(features_of(sentence), tags, strict=True):
        for name, value in token.items():
            total[name, tag] += value
    for pair in pairwise(tags):
        total["across", *pair] += 1.0
    return total


def score(weights, sentence, tags):
    """⟨ω, Φ(x, y)⟩, rounded once."""
    return fsum(weights[key] * value for key, value in phi(sentence, tags).items())


def hamming(right, other):
    """Positions that differ."""
    return float(sum(a != b for a, b in zip(right, other, strict=True)))


def every_sequence(weights, sentence, tags, bonus=lambda other: 0.0):
    """All sequences with score plus bonus, best first; ties by the last tag, then the one before it, and so on."""
    each = [(score(weights, sentence, y) + bonus(y), y) for y in product(tags, repeat=len(sentence))]
    return sorted(each, key=lambda one: (-one[0], [tags.index(t) for t in reversed(one[1])]))


def viterbi(weights, sentence, tags):
    """The best sequence by recursion over prefixes: the same ties."""
    tokens = features_of(sentence)
    best = [{}]
    for i, token in enumerate(tokens):
        row = {}
        for tag in tags:
            emission = fsum(weights[name, tag] * value for name, value in token.items())
            before = [(best[i][p][0] + weights["across", p, tag], p) for p in tags] if i else [(0.0, None)]
            value, came = max(before, key=lambda one: one[0])
            row[tag] = (value + emission, came)
        best.append(row)
    tag = max(tags, key=lambda tag: best[-1][tag][0])
    path = [tag]
    for row in reversed(best[2:]):
        path.append(row[path[-1]][1])
    return tuple(reversed(path))


class SequenceTwin:
    """A tagger with every rule, cost and constraint, one sentence after the other, in the whole weight space.

    Parameters
    ----------
    tags : list
        Tags known from the start, in order; others become known when they appear.
    rule, C, cost, constraint, n_best, novel
        As `hinged.SequenceTagger`; `cost` is a function of two sequences.
    metric : float
        r of the adaptive geometry, 0 for Euclid's. A feature's variance is 1/√(1 + S/r); S gains, in a round that moves
        it, half its squared length in the mean direction. Transitions keep a variance of 1.
    by_recursion : bool
        Predict by `viterbi`, for the prediction alone; sentences may then be long.
    """

    def __init__(
        self,
        tags=(),
        rule="pa1",
        C=1.0,
        cost=hamming,
        constraint="prediction",
        n_best=1,
        novel="learn",
        metric=0.0,
        by_recursion=False,
    ):
        self.by_recursion, self.novel, self.metric = by_recursion, novel, metric
        self.seen = defaultdict(float)
        self.tags, self.rule, self.C, self.cost = list(tags), rule, C, cost
        self.constraint, self.n_best = constraint, n_best
        self.weights, self.sums = defaultdict(float), defaultdict(float)
        self.gain, self.rounds, self.updates, self.spent = 0.0, 0, 0, 0.0
        self.flags, self.losses, self.duals = [], [], []
        self.nearest = inf  # how close any round came to going another way

    # ------------------------------------------------------------------ one round
    def learn(self, sentence, right, weight=1.0):
        """Predict, count and learn one sentence."""
        right = tuple(right)
        new = [tag for tag in dict.fromkeys(right) if tag not in self.tags]
        flag, loss = -1, 0.0
        if new:
            self.tags += new if weight > 0 else []
            if weight > 0 and self.novel == "learn":
                self.update(sentence, right, self.rivals(sentence, right, self.ranked(sentence)), self.C * weight)
        else:
            ranked = self.ranked(sentence)
            flag = int(ranked[0][1] != right)
            self.spent += self.cost(right, ranked[0][1]) if flag else 0.0
            loss = self.update(sentence, right, self.rivals(sentence, right, ranked), self.C * weight)
        if weight > 0:
            self.rounds += 1
            for key, value in self.weights.items():
                self.sums[key] += value
        self.flags.append(flag)
        self.losses.append(loss)
        self.duals.append(self.dual)

    def ranked(self, sentence):
        """Sequences with their scores, best first; the best alone where it is found by recursion."""
        if self.by_recursion:
            return [(0.0, viterbi(self.weights, sentence, self.tags))]
        return self.look(every_sequence(self.weights, sentence, self.tags))

    def look(self, ranked):
        """The list, after a note of how nearly its first `n_best` are ties."""
        if any(self.weights.values()):
            for (a, _), (b, _) in pairwise(ranked[: self.n_best + 1]):
                self.nearest = min(self.nearest, a - b)
        return ranked

    def rivals(self, sentence, right, ranked):
        """The sequences that the right one is held against."""
        if self.constraint == "max-loss":
            ranked = self.look(every_sequence(self.weights, sentence, self.tags, lambda y: sqrt(self.cost(right, y))))
        if self.constraint == "additive":
            ranked = self.look(every_sequence(self.weights, sentence, self.tags, lambda y: self.cost(right, y)))
        return [y for _, y in ranked[: self.n_best] if y != right]

    def update(self, sentence, right, rivals, C):
        """One step on the constraints ⟨ω, Φ(x, y) - Φ(x, ŷ)⟩ >= √ρ (or ρ, where it is added); the loss before it."""
        if not rivals:
            return 0.0
        moves = [self.direction(sentence, right, other) for other in rivals]
        keys = sorted(set().union(*moves), key=repr)
        z = np.array([[move.get(key, 0.0) for key in keys] for move in moves])
        achieved = np.array([fsum(self.weights[key] * value for key, value in move.items()) for move in moves])
        costs = np.array([self.cost(right, other) for other in rivals])
        margins = costs if self.constraint == "additive" else np.sqrt(costs)
        self.nearest = min(self.nearest, *(abs(v) for v in [*(margins - achieved), *achieved] if v != 0.0), inf)
        roots = np.array([self.variance(key) ** 0.5 for key in keys])
        trial = rules.Trial(roots * z, achieved, margins)
        if C == 0.0:
            return float(np.max(trial.loss))
        multipliers = rules.RULES[self.rule](trial, C)
        for step, move in zip(multipliers, moves, strict=True):
            for key, value in move.items():
                self.weights[key] += step * self.variance(key) * value
        if np.any(multipliers > 0):
            mean = multipliers @ z / multipliers.sum()
            for (name, *_), value in zip(keys, mean, strict=True):
                self.seen[name] += 0.5 * value**2
        self.gain += float(multipliers @ margins)
        self.gain -= float(multipliers @ multipliers) / (4.0 * C) if self.rule == "pa2" else 0.0
        self.updates += int(np.any(multipliers > 0))
        return float(np.max(trial.loss))

    def variance(self, key):
        """Of a weight: that of its feature."""
        is_feature = len(key) == 2 and self.metric
        return (1.0 + self.seen[key[0]] / self.metric) ** -0.5 if is_feature else 1.0

    @staticmethod
    def direction(sentence, right, other):
        """Φ(x, y) - Φ(x, ŷ), without what cancels."""
        move = phi(sentence, right)
        for key, value in phi(sentence, other).items():
            move[key] -= value
        return {key: value for key, value in move.items() if value != 0.0}

    # ------------------------------------------------------------------ what was learnt
    @property
    def dual(self):
        """The certificate; a metric that learns has none."""
        return None if self.metric else self.gain - 0.5 * fsum(value * value for value in self.weights.values())

    @property
    def mean(self):
        """The mean of the weights after each round."""
        return defaultdict(float, {key: value / self.rounds for key, value in self.sums.items()})
