"""Fixed predictors chosen in hindsight, which the bounds of the papers compare with."""

import numpy as np
from tests.reference.learner import Twin
from tests.reference.quadratic import maximise


class Recorder(Twin):
    """A twin that keeps the directions of every round that has constraints."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.directions = []

    def update(self, trial, weight):
        self.directions.append(trial.z)
        super().update(trial, weight)


def constraints(stream, sharing="multi", features=None, classes=None, **options):
    """The directions z_j of each round with constraints, an array (constraints, dimensions) per round.

    They depend on the stream and on how labels are represented, not on what is learnt.
    """
    twin = Recorder(
        stream.X.shape[1],
        stream.labels,
        rule="perceptron",
        sharing=sharing,
        features=features,
        classes=classes,
        **options,
    )
    return twin.run(stream.X, stream.y).directions


def losses(u, directions, margin=1.0):
    """The loss of predictor `u` on each round: the largest max(0, m - <u, z_j>)."""
    return np.array([max(0.0, float(np.max(margin - z @ u))) for z in directions])


def objective(u, directions, C, margin=1.0, power=1):
    """What a predictor pays: half its squared length plus C times its losses (squared with `power=2`)."""
    return 0.5 * float(u @ u) + C * float(np.sum(losses(u, directions, margin) ** power))


def best_predictor(directions, C, margin=1.0, sweeps=30):
    """A predictor that nearly minimises `objective`, by exact dual ascent on one round after the other (SP eq. 5)."""
    dimension = directions[0].shape[1] if directions else 0
    u, steps = np.zeros(dimension), [np.zeros(len(z)) for z in directions]
    for _ in range(sweeps):
        for t, z in enumerate(directions):
            others = u - steps[t] @ z
            support = tuple(np.flatnonzero(steps[t]))  # that of the sweep before, which seldom changes
            steps[t] = maximise(margin - z @ others, z, C, guess=support)
            u = others + steps[t] @ z
    return u


def longest_direction(directions):
    """The largest |z_j|, R in the bounds; 0 where there is no constraint at all."""
    return max((float(np.max(np.linalg.norm(z, axis=1))) for z in directions), default=0.0)


def comparators(directions, C, rng):
    """Predictors to compare with: a good one, a multiple of it, and random ones."""
    best = best_predictor(directions, C, sweeps=6)
    return [best, 2.0 * best, *rng.normal(size=(3, len(best)))]


def longest_block(stream, scheme):
    """The largest length of x, of phi(x, r), or of both, as the scheme uses them (R/2 of HS theorem 1)."""
    rows = [np.linalg.norm(stream.X, axis=1)] if scheme["sharing"] != "single" else []
    if scheme["sharing"] != "multi":
        first = {}
        for x, label in zip(stream.X, stream.y, strict=True):
            rows.append([np.linalg.norm(x * p) for p in first.values()])
            first.setdefault(label, x)
    return max((float(np.max(row, initial=0.0)) for row in rows), default=0.0)
