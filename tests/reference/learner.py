"""The plain learner: one round after the other, in the whole concatenated weight space."""

from dataclasses import dataclass, field
from math import fsum
from typing import NamedTuple

import numpy as np
from tests.reference import rules
from tests.reference.label_features import Statistics
from tests.reference.scaling import Scaler
from tests.reference.sharing import groups, label_vector


class Mira(NamedTuple):
    """Settings of the rule "mira": the margin `beta` and the cap on the multipliers (algorithms.md, section 6)."""

    beta: float = 0.01
    cap: float = np.inf


@dataclass
class History:
    """What the rounds so far amounted to; lists have one entry per round."""

    flags: list = field(default_factory=list)
    losses: list = field(default_factory=list)
    duals: list = field(default_factory=list)
    nearest: list = field(default_factory=list)
    updates: int = 0

    @property
    def mistakes(self):
        """Rounds flagged 1."""
        return self.flags.count(1)

    @property
    def novel(self):
        """Rounds flagged -1, those that brought a new label."""
        return self.flags.count(-1)


class Twin:
    r"""A learner on labels, with every Euclidean rule, sharing scheme, label feature and option.

    A round with row x and relevant labels Y among the known ones has the constraints
    :math:`\langle w, V_r - V_s\rangle \ge m` for r in Y and s outside; the rule's multipliers move the weights by
    :math:`\sum \lambda_{rs}(V_r - V_s)`. The certificate is
    :math:`D = \sum\lambda m - \frac12\|w\|^2`, for pa2 less :math:`\sum\lambda^2/(4C)` (algorithms.md, section 1).

    Parameters
    ----------
    n : int
        Number of features.
    labels : list
        Every label that the stream will bring; the weight space has room for them all from the start.
    classes : list, optional
        Labels known from the start, the closed setting; the others become known when they appear.
    rule : str or Mira
        A name of `rules.RULES`.
    sharing, features
        As in `sharing.groups`.
    growth : float
        With `average`, round t counts for t^growth - (t - 1)^growth in the mean; with 1, each counts alike.
    slack : float
        Of rule "optimal": squared length of a feature that a row shares with no other. Each label has a weight for it,
        which no other round ever sees.
    metric : float
        r of the adaptive geometry, 0 for Euclid's. Feature i has the variance 1/√(1 + S_i/r), S_i the sum of x_i² over
        the rounds that moved weights, in every block of the weights alike. Rules see √Σ z in place of z.
    half_life : pair of float or None
        Learnt rounds after which weights are halved, and after which `seen` and the weights of values in means and
        deviations are; None for never.
    novel : "learn" or "skip"
        Whether a row that brings new labels is learnt with these known, or makes them known after it.
    """

    def __init__(
        self,
        n,
        labels,
        rule="pa1",
        C=1.0,
        *,
        sharing="multi",
        features=None,
        margin=1.0,
        bias=0.0,
        scaling=None,
        normalize=False,
        average=False,
        growth=1.0,
        slack=0.0,
        metric=0.0,
        half_life=(None, None),
        novel="learn",
        classes=None,
    ):
        self.settings = rule if isinstance(rule, Mira) else Mira()
        self.rule = "mira" if isinstance(rule, Mira) else rule
        self.n, self.C, self.average, self.novel = n, C, average, novel
        self.growth, self.slack, self.metric = growth, slack, metric
        self.margin = self.settings.beta if self.rule == "mira" else margin
        self.collection = groups(sharing, labels, features)
        self.sharing, self.labels = sharing, list(labels)
        self.known = sorted(classes) if classes is not None else []
        self.left, self.known_left = (0.5 ** (1.0 / h) if h else 1.0 for h in half_life)
        self.scaler = Scaler(n, scaling, normalize, bias, left=self.known_left)
        self.width = n + (1 if bias else 0)
        self.statistics = Statistics(self.width)
        more = sum(getattr(phi, "more", 0) for _, phi in self.collection)  # evidence, at the end
        self.w = np.zeros(len(self.collection) * self.width + more)
        self.seen = np.zeros(self.width)
        self.sum_of_w = np.zeros_like(self.w)
        self.gain = 0.0
        self.history = History()

    # ------------------------------------------------------------------ one round
    def learn(self, raw, relevant, weight=1.0):
        """Score, count and learn one row; `relevant` is its set of labels, `weight` its sample weight."""
        x = self.scaler.row(raw)
        new = sorted(r for r in relevant if r not in self.known)
        flag, loss, nearest = -1, 0.0, np.inf
        if new and weight > 0 and self.novel == "learn":
            self.known += new
        if relevant <= set(self.known):
            trial = self.trial(x, relevant)
            if not new:
                flag, loss = int(np.any(trial.mistaken)), float(np.max(trial.loss, initial=0.0))
            if len(trial.achieved):
                nearest = rules.nearest_threshold(self.rule, trial)
                self.update(trial, weight)
                if self.moved:
                    self.seen = self.seen + x**2
        if weight > 0:
            self.known += [r for r in new if r not in self.known]
            self.scaler.enter(raw)
            self.statistics.enter(x, relevant)
            t = self.statistics.rounds
            self.w, self.seen = self.left * self.w, self.known_left * self.seen
            self.sum_of_w += (t**self.growth - (t - 1) ** self.growth) * self.w
        self.history.flags.append(flag)
        self.history.losses.append(loss)
        self.history.nearest.append(nearest)
        self.history.duals.append(self.dual)

    def trial(self, x, relevant):
        """The constraints of the round: each relevant label above each irrelevant one."""
        vectors = {r: label_vector(self.collection, x, r, self.statistics) for r in self.known}
        pairs = [(r, s) for r in self.known if r in relevant for s in self.known if s not in relevant]
        z = np.array([vectors[r] - vectors[s] for r, s in pairs]).reshape(len(pairs), len(self.w))
        apart = np.eye(len(self.known))
        at = {r: i for i, r in enumerate(self.known)}
        self.private = np.array([apart[at[r]] - apart[at[s]] for r, s in pairs]).reshape(len(pairs), len(apart))
        return rules.Trial(self.roots * z, self.margins(vectors, pairs), self.margin)

    @property
    def roots(self):
        """√σ of every weight; 1 where the geometry is Euclidean."""
        sigma = 1.0 / np.sqrt(1.0 + self.seen / self.metric) if self.metric else np.ones(self.width)
        own = np.tile(np.sqrt(sigma), len(self.collection))
        return np.concatenate([own, np.ones(len(self.w) - len(own))])  # evidence keeps the variance 1

    def margins(self, vectors, pairs):
        """What each constraint achieves, <w, V_r - V_s>, the sums rounded once so that equal labels stay equal."""
        return np.array([fsum((vectors[r] - vectors[s]) * self.w) for r, s in pairs])

    def update(self, trial, weight):
        """Move the weights by the rule's multipliers, and enter them in the certificate; weight 0 moves nothing."""
        self.moved = False
        if weight == 0:
            return
        C = self.bound_on_multipliers(weight)
        z = np.hstack([trial.z, np.sqrt(self.slack) * self.private]) if self.slack else trial.z
        multipliers = rules.RULES[self.rule](rules.Trial(z, trial.achieved, trial.margin), C)
        roots, self.moved = self.roots, bool(np.any(multipliers > 0))
        for step, direction in zip(multipliers, trial.z, strict=True):
            self.w = self.w + step * roots * direction
        self.gain += np.sum(multipliers) * self.margin
        if self.rule == "pa2":
            self.gain -= np.sum(multipliers**2) / (4.0 * C)
        if self.slack:
            self.gain -= 0.5 * self.slack * np.sum((multipliers @ self.private) ** 2)
        self.history.updates += int(self.moved)

    def bound_on_multipliers(self, weight):
        """C times the sample weight; mira and uniform bring their own bound, which the weight leaves alone."""
        return {"mira": self.settings.cap, "uniform": 1.0}.get(self.rule, self.C * weight)

    # ------------------------------------------------------------------ a stream
    def run(self, X, y, sample_weight=None):
        """Learn the rows of a dense matrix in order; `y` has a label or a set of labels for each."""
        weights = np.ones(len(X)) if sample_weight is None else sample_weight
        for raw, labels, weight in zip(X, y, weights, strict=True):
            self.learn(raw, set(labels) if isinstance(labels, (set, frozenset, list, tuple)) else {labels}, weight)
        return self

    # ------------------------------------------------------------------ what was learnt
    @property
    def dual(self):
        """The certificate; mira without a cap has none, nor has a metric that learns, nor weights that fade."""
        if self.metric or self.left < 1.0 or (self.rule == "mira" and np.isinf(self.settings.cap)):
            return None
        return float(self.gain - 0.5 * self.w @ self.w)

    @property
    def answering_weights(self):
        """The weights that answer questions: the mean over the rounds when averaging, else the last ones."""
        return self.sum_of_w / max(1, self.statistics.rounds) ** self.growth if self.average else self.w

    def scores(self, X):
        """Scores of rows, one column per known label."""
        answer = []
        for raw in X:
            x = self.scaler.row(raw)
            vectors = [label_vector(self.collection, x, r, self.statistics) for r in self.known]
            answer.append([fsum(v * self.answering_weights) for v in vectors])
        return np.array(answer)

    @property
    def blocks(self):
        """One row of weights per group, the bias among them."""
        whole = self.answering_weights[: len(self.collection) * self.width]
        return whole.reshape(len(self.collection), self.width)

    @property
    def evidence(self):
        """The weights of the kinds of evidence."""
        return self.answering_weights[len(self.collection) * self.width :]

    @property
    def coef(self):
        """Prototypes, a row per known label without the bias; None where the scheme has none."""
        if self.sharing not in ("multi", "hybrid"):
            return None
        return np.array([self.blocks[self.labels.index(r), : self.n] for r in self.known])

    @property
    def shared_coef(self):
        """The shared vector without the bias; None where the scheme has none."""
        return self.blocks[-1, : self.n] if self.sharing in ("single", "hybrid") else None
