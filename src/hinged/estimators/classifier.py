"""One right label out of many."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from hinged.compiling.arrays import Ints
from hinged.estimators.label_learner import LabelLearner
from hinged.estimators.labels import LabelIndex, as_array, as_labels
from hinged.estimators.parameters import documented
from hinged.estimators.reader import Answers
from hinged.interface import Classifies, not_fitted
from hinged.loops.ledger import COST

__all__ = ["Classifier"]


@documented
class Classifier(Classifies, LabelLearner):
    """Online multiclass learner: predicts one label, is told the right one, learns in microseconds.

    Labels are any hashable and may appear at any time; so may features. No setting is needed: those that are "auto"
    follow from the first row, and `settled_` shows them. The papers' plain learners are
    ``Classifier("pa1", C=1, scaling=None, bias=0)``. See docs/which_rule.md.

    Parameters
    ----------
    rule : str, hinged.rules.Mira, hinged.rules.Optimal or a compiled function, default "auto"
        How far to move: "perceptron", "pa", "pa1", "pa2", "simperc", "simproj", "conproj", "optimal", "mira",
        "uniform", or your own (docs/adding_a_rule.md). "auto": "optimal" for labels with vectors of their own, else
        "pa1".
    {C}
    sharing : "multi", "single", "hybrid" or hinged.sharing.Groups, default "multi"
        Whose weights move: one vector per label, one shared by all, both, or one per set of labels.
    features : str, object of hinged.features or callable, default None
        Label features φ(x, r) for "single" and "hybrid": "first", "frequency", "distance", "tfidf", "evidence", or a
        function of (dict of feature → value, label) that returns a dict. "auto" takes those that suit text where
        `sharing` uses label features, none where it does not or where a `kernel` has its own.
    geometry : "euclidean", "entropy", "adaptive", hinged.geometry.Entropy or Adaptive, default "euclidean"
        From moves to weights: added up, or multiplied on a simplex of a fixed number of features, one per label.
        "adaptive": added up, in a metric that learns: a feature moves less the more it has moved. `dual_` is None then.
    margin : float, default 1.0
        By how much the right label must win. Under "entropy" below the radius, 1 unless set.
    cost : matrix, dict, function or hinged.costs.Tree, optional
        What a wrong label costs, ρ(right, answered): a matrix in the order of `classes_`, a dict of (right, answered)
        pairs (others cost 1), or a function of both. A pair's margin is then √ρ in place of `margin`.
    constraint : "max-loss" or "prediction", default "max-loss"
        With costs, which pair the rules on one pair take: the one with the largest loss, or that of the prediction.
    {half_life, novel, kernel, scaling, normalize, average, bias, class_weight, n_features, epochs, shuffle}
    {random_state, device, budget, dtype}

    Attributes
    ----------
    classes_ : array
        The known labels.
    coef_ : array (labels, features)
        Weights of each label, for "multi" and "hybrid".
    shared_coef_ : array (features,)
        The shared vector of "single" and "hybrid".
    support_, dual_coef_ : arrays
        With a kernel: the rounds that made a step, and their coefficients (rounds, labels).
    settled_ : dict
        The settings that the model goes by, with what was chosen in place of "auto".
    experts_ : dict of float or "mean" → float
        With ``C="auto"``: the share of each C, and of the mean weights, in the answers.
    n_rounds_, n_mistakes_, n_updates_, n_novel_ : int
        Rounds, mistakes, rounds with a step, rounds with a label seen for the first time.
    total_cost_ : float
        Cost of all predictions so far; without `cost`, the mistakes.
    dual_ : float or None
        The dual certificate.

    References
    ----------
    Crammer et al. (2006), sections 3 and 7; Amit, Shalev-Shwartz and Singer (2006), section 4; Fink et al. (2006).

    Examples
    --------
    >>> import hinged
    >>> model = hinged.Classifier()
    >>> mail = [({"tax": 1, "form": 1}, "work"), ({"cake": 1}, "home"), ({"tax": 1}, "work"), ({"cake": 1}, "home")]
    >>> for x, y in mail:
    ...     model.learn_one(x, y)
    >>> model.predict_one({"tax": 1}), model.rank_one({"cake": 2})
    ('work', ['home', 'work'])
    """

    task = "classify"

    def predict(self, X: object) -> np.ndarray:
        """The best label of each row; ties go to the earlier one."""
        labels, _, scores = self._scored(X)
        if scores.shape[1] == 0:
            raise not_fitted("no label is known, so none can be predicted; learn some rows, or declare labels.")
        return as_array(labels)[np.argmax(scores, axis=1)]

    def predict_one(self, x: object) -> Hashable | None:
        """The best label of one row; None before any is known."""
        if self._model is None or not self.known_labels():
            return None
        labels, _, scores = self._scored_one(x)
        return labels[int(scores.argmax())] if len(scores) else None

    @property
    def total_cost_(self) -> float:
        """Σ ρ(right, predicted) over the rounds, each prediction before its lesson; the mistakes where none is set."""
        model = self._learnt("total_cost_")
        return float(model.notes[COST]) if self.cost is not None else float(self.n_mistakes_)

    def decision_function(self, X: object) -> np.ndarray:
        """Scores (rows, labels) in the order of `classes_`; with two labels (rows,), the second minus the first."""
        scores = super().decision_function(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def _answers(self, y: object, n: int) -> Sequence[Hashable]:
        return as_labels(y, n)

    def _known_answer(self, y: Hashable, labels: LabelIndex) -> Ints | None:
        """Position of a label that is known, as the loop reads it; None for any other answer."""
        try:
            return np.array([labels.position[y]])
        except (KeyError, TypeError):
            return None

    def _one_answer(self, y: Hashable) -> list[Hashable]:
        return [y]

    def _flat(self, answers: Answers) -> tuple[Ints, Sequence[Hashable]]:
        assert not isinstance(answers, np.ndarray)
        return np.arange(len(answers) + 1, dtype=np.int64), answers

    def _labels_of(self, answers: Answers) -> list[Hashable]:
        return list(dict.fromkeys(answers))

    def _up_front(self, classes: list[Hashable] | None) -> list[Hashable] | None:
        """Labels to declare before a batch: nothing but those given."""
        return classes
