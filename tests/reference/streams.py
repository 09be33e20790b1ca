"""Seeded random streams, and how far one can be followed before a round hangs on rounding."""

import math
from typing import NamedTuple

import numpy as np
from tests.reference.learner import Twin

NEAR = 1e-9


class Stream(NamedTuple):
    """Rows in order with the labels of each, and rows to score afterwards.

    Attributes
    ----------
    X, probes : ndarray of shape (rows, features)
    y : list
        A label per row, or a sorted tuple of labels.
    labels : list
        Every label there is.
    """

    X: np.ndarray
    y: list
    labels: list
    probes: np.ndarray

    def head(self, rounds):
        """The first rounds of the stream."""
        return self._replace(X=self.X[:rounds], y=self.y[:rounds])

    def shuffled_columns(self, order):
        """The same stream with its features in another order."""
        return self._replace(X=self.X[:, order], probes=self.probes[:, order])


def values(kind, rng, shape):
    """Numbers of one kind: "real", "count" (small integers, signs included) or "binary"; a third of them not zero."""
    drawn = {"real": rng.normal(size=shape), "count": rng.integers(-2, 4, size=shape), "binary": np.ones(shape)}[kind]
    return drawn * (rng.random(shape) < 0.35)


def random_stream(kind, seed, rounds=48, features=9, labels=4, sets=False):
    """A stream that can partly be learnt: noisy labels from a hidden matrix; some rows are zero, some repeat.

    Parameters
    ----------
    kind : {"real", "count", "binary"}
    seed : int
    sets : bool
        Whether a row has a set of labels, sometimes none or all of them, instead of one label.
    """
    rng = np.random.default_rng([seed, rounds, features, labels])
    X = values(kind, rng, (rounds, features))
    X[rng.random(rounds) < 0.05] = 0.0
    scores = X @ rng.normal(size=(features, labels)) + 0.5 * rng.normal(size=(rounds, labels))
    names = list(range(labels))
    if sets:
        y = [tuple(r for r in names if row[r] > 0.4) for row in scores]
    else:
        y = [int(r) for r in np.argmax(scores, axis=1)]
    return Stream(X, y, names, values(kind, rng, (6, features)))


def easy_stream(seed, rounds=90, labels=4):
    """A stream that a short predictor masters without loss: rows close to one axis per label."""
    rng = np.random.default_rng(seed)
    y = [int(r) for r in rng.integers(0, labels, size=rounds)]
    X = np.eye(labels)[y] + 0.05 * rng.normal(size=(rounds, labels))
    return Stream(X, y, list(range(labels)), X)


class HastyTwin(Twin):
    """The twin in the arithmetic of a hurry, to find out which rounds hang on rounding.

    Margins are differences of two scores, each summed from left to right, and every step is off by a few units in
    the last place, unless steps and rows are exact in binary anyway. Labels with the same history stay equal, as
    they do in any arithmetic; ties that need more luck than that do not survive here.
    """

    @property
    def is_exact(self):
        """Whether all sums are exact on integer rows: perceptron steps that are a power of two, no scaling."""
        power_of_two = math.frexp(self.C)[0] == 0.5
        rounded = self.scaler.scaling or self.scaler.normalize or self.metric
        return self.rule == "perceptron" and power_of_two and not rounded

    def margins(self, vectors, pairs):
        scores = {r: np.cumsum(np.append(0.0, v * self.w))[-1] for r, v in vectors.items()}
        return np.array([scores[r] - scores[s] for r, s in pairs])

    def update(self, trial, weight):
        before = self.w
        super().update(trial, weight)
        phase = 1.0 + 7.0 * len(self.history.flags)
        if not self.is_exact:
            self.w = self.w + 1e-15 * np.sin(phase) * (self.w - before)
        if self.rule in ("optimal", "mira"):  # a solver leaves a trace on every constraint
            self.w = self.w + 1e-16 * np.sin(phase + np.arange(len(trial.z))) @ trial.z


def learn(stream, params, classes=None, sample_weight=None, twin=Twin, near=0.0):
    """A twin that has learnt the stream, or as far as a round that came nearer than that to a threshold."""
    learner = twin(stream.X.shape[1], stream.labels, classes=classes, **params)
    weights = np.ones(len(stream.y)) if sample_weight is None else sample_weight[: len(stream.y)]
    for t in range(len(stream.y)):
        learner.run(stream.X[t : t + 1], stream.y[t : t + 1], weights[t : t + 1])
        if learner.history.nearest[-1] < near:
            break
    return learner


def follow(stream, params, classes=None, sample_weight=None, twin=Twin, hasty=HastyTwin, shuffled=True):
    """The twin after as many rounds as can be followed before one comes within 1e-9 of a threshold without hitting it.

    A threshold that is hit exactly in one order of summation may be missed by a hair in another, so the
    stream is also run hastily, where `shuffled` with its features in two orders; the first near tie of any run ends it.
    """
    n, rounds = stream.X.shape[1], len(stream.y)
    orders = [np.arange(n)]
    if shuffled and not takes_a_function(params):
        orders.append(np.random.default_rng(n).permutation(n))
    for order in orders:
        run = learn(stream.head(rounds).shuffled_columns(order), params, classes, sample_weight, hasty, NEAR)
        rounds = rounds_before_a_near_tie(run)
    run = learn(stream.head(rounds), params, classes, sample_weight, twin, NEAR)
    if rounds_before_a_near_tie(run) < rounds:  # it went one too far
        run = learn(stream.head(rounds_before_a_near_tie(run)), params, classes, sample_weight, twin)
    return run


def rounds_before_a_near_tie(run):
    """How many rounds a twin has learnt, without the one that it stopped after."""
    nearest = run.history.nearest
    return len(nearest) - bool(nearest and nearest[-1] < NEAR)


def rounds_without_near_ties(stream, params, classes=None, sample_weight=None):
    """How many rounds of the stream can be followed."""
    return len(follow(stream, params, classes, sample_weight).history.flags)


def takes_a_function(params):
    """Whether label features are a function of the user's, which may tell one feature from another."""
    features = params.get("features")
    return any(callable(phi) for phi in (features if isinstance(features, list) else [features]))
