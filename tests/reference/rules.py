"""The update rules: from the constraints of a trial to one multiplier for each of them.

A trial holds constraints <w, z_j> >= m. A rule answers with multipliers lambda_j >= 0, and the learner then adds
sum_j lambda_j z_j to its weights. The table is that of algorithms.md, section 2.
"""

from math import fsum
from typing import NamedTuple

import numpy as np
from tests.reference.quadratic import maximise


class Trial(NamedTuple):
    """The constraints of one round, lowest labels first, so that the first of equals is the lowest label.

    Attributes
    ----------
    z : ndarray of shape (constraints, d)
        Directions, V_r - V_s for a relevant r and an irrelevant s.
    achieved : ndarray of shape (constraints,)
        The margins <w, z_j> before the update.
    margin : float
        The margin m asked for.
    """

    z: np.ndarray
    achieved: np.ndarray
    margin: float

    @property
    def loss(self):
        """Hinge losses, max(0, m - <w, z_j>)."""
        return np.maximum(0.0, self.margin - self.achieved)

    @property
    def squared_norm(self):
        """Squared lengths of the directions."""
        return np.array([fsum(z * z) for z in self.z])

    @property
    def mistaken(self):
        """Constraints on the wrong side; a margin of exactly 0 is there."""
        return self.achieved <= 0.0


def none(trial):
    """No multiplier at all."""
    return np.zeros(len(trial.achieved))


def on_one(trial, j, step):
    """The whole step on constraint `j`."""
    multipliers = none(trial)
    multipliers[j] = step
    return multipliers


def shared_by(trial, chosen, steps):
    """Steps averaged over the chosen constraints: mu_j = 1 / |chosen| on them."""
    return np.where(chosen, steps, 0.0) / max(1, np.sum(chosen))


def projections(trial, C):
    """The best step for each constraint alone, min(C, loss / |z|^2); C for a loss whose direction is 0 (SP eq. 3)."""
    squared, loss = trial.squared_norm, trial.loss
    flat = np.where(loss > 0, C, 0.0)
    return np.array([min(C, loss[j] / squared[j]) if squared[j] > 0 else flat[j] for j in range(len(loss))])


def perceptron(trial, C):
    """C on the smallest margin, on mistakes only (LR update I; HS fig. 3 with C = 1)."""
    return on_one(trial, np.argmin(trial.achieved), C) if np.any(trial.mistaken) else none(trial)


def pa(trial, C):
    """loss / |z|^2 on the worst constraint, 0 where the direction is 0 (PA eq. 8 and 38); C plays no part."""
    j = np.argmax(trial.loss)
    squared = trial.squared_norm[j]
    return on_one(trial, j, trial.loss[j] / squared) if squared > 0 else none(trial)


def pa1(trial, C):
    """min(C, loss / |z|^2) on the worst constraint (PA fig. 1, PA-I)."""
    j = np.argmax(trial.loss)
    return on_one(trial, j, projections(trial, C)[j]) if trial.loss[j] > 0 else none(trial)


def pa2(trial, C):
    """loss / (|z|^2 + 1 / (2C)) on the worst constraint (PA fig. 1, PA-II)."""
    j = np.argmax(trial.loss)
    return on_one(trial, j, trial.loss[j] / (trial.squared_norm[j] + 1.0 / (2.0 * C)))


def simperc(trial, C):
    """C on every mistaken constraint, averaged over them (SP sec. 4)."""
    return shared_by(trial, trial.mistaken, np.full(len(trial.achieved), C))


def simproj(trial, C):
    """The projections of every violated constraint, averaged over them (SP sec. 4)."""
    return shared_by(trial, trial.loss > 0, projections(trial, C))


def conproj(trial, C):
    """The projections of every mistaken constraint, averaged over them (SP sec. 4)."""
    return shared_by(trial, trial.mistaken, projections(trial, C))


def optimal(trial, C):
    """The best multipliers of all: maximise the trial's dual under sum_j lambda_j <= C (SP eq. 2; LR update III)."""
    return maximise(trial.margin - trial.achieved, trial.z, C) if np.any(trial.loss > 0) else none(trial)


def mira(trial, cap):
    """`optimal` at the trial's margin (beta) and C = cap, without the constraints whose direction is 0."""
    usable = trial.squared_norm > 0
    multipliers = none(trial)
    if np.any(usable):
        multipliers[usable] = optimal(Trial(trial.z[usable], trial.achieved[usable], trial.margin), cap)
    return multipliers


RULES = {
    "perceptron": perceptron,
    "pa": pa,
    "pa1": pa1,
    "pa2": pa2,
    "simperc": simperc,
    "simproj": simproj,
    "conproj": conproj,
    "optimal": optimal,
    "mira": mira,
    "uniform": simperc,
}


def nearest_threshold(rule, trial):
    """How close the round came to going another way: the smallest non-zero distance from a threshold.

    Every round asks whether a margin is above 0 (the flag); the rules on losses ask whether it reaches the margin;
    those that pick one constraint ask which is the worst; a direction is zero or not. Exact hits are not counted,
    since they are meant to be hits.
    """
    asked = [trial.achieved, trial.squared_norm]
    if rule not in ("perceptron", "simperc", "conproj", "uniform"):
        asked.append(trial.margin - trial.achieved)
    if rule in ("perceptron", "pa", "pa1", "pa2"):
        asked.append(trial.achieved - np.min(trial.achieved))
    distances = np.abs(np.concatenate(asked))
    return np.min(distances[distances > 0], initial=np.inf)
