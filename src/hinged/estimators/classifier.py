"""One right label out of many."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import NotFittedError

from hinged.estimators.base import LabelEstimator
from hinged.estimators.labels import as_array, as_labels
from hinged.loops.ledger import COST

__all__ = ["Classifier"]


class Classifier(ClassifierMixin, LabelEstimator):
    """Online multiclass learner: predicts one label, is told the right one, learns in microseconds.

    Labels are any hashable and may appear at any time; so may features. See docs/which_rule.md for choosing.

    Parameters
    ----------
    rule : str, hinged.rules.Mira, hinged.rules.Optimal or a compiled function, default "pa1"
        How far to move: "perceptron", "pa", "pa1", "pa2", "simperc", "simproj", "conproj", "optimal", "mira",
        "uniform", or your own (docs/adding_a_rule.md).
    C : float, default 1.0
        Longest step, positive. Small for noisy labels; inf for the plain step.
    sharing : "multi", "single", "hybrid" or hinged.sharing.Groups, default "multi"
        Whose weights move: one vector per label, one shared by all, both, or one per set of labels.
    features : str, object of hinged.features or callable, default None
        Label features φ(x, r) for "single" and "hybrid": "first", "frequency", "distance", "tfidf", or a function
        of (dict of feature → value, label) that returns a dict. "auto" takes those that suit text where `sharing`
        uses label features, none where it does not or where a `kernel` has its own.
    geometry : "euclidean", "entropy" or hinged.geometry.Entropy, default "euclidean"
        From moves to weights: added up, or multiplied on a simplex of a fixed number of features, one per label.
    margin : float, default 1.0
        By how much the right label must win. Under "entropy" below the radius, 1 unless set.
    cost : matrix, dict, function or hinged.costs.Tree, optional
        What a wrong label costs, ρ(right, answered): a matrix in the order of `classes_`, a dict of (right, answered)
        pairs (others cost 1), or a function of both. A pair's margin is then √ρ in place of `margin`.
    constraint : "max-loss" or "prediction", default "max-loss"
        With costs, which pair the rules on one pair take: the one with the largest loss, or that of the prediction.
    kernel : hinged.mercer kernel or function, optional
        What takes the place of inner products: `Polynomial(a, d)`, `Gaussian(gamma)`, `Centred(gamma)` for shared
        vectors, or a function of two matrices; docs/kernels.md.
    scaling : None or "idf", default None
        "idf" multiplies every value by how rare its feature has been so far.
    normalize : bool, default False
        Divide each row by its L2 norm.
    average : bool, default False
        Answer with the mean of the weights after each round.
    bias : float, default 0.0
        Value of a constant feature; 0 for none, which is right for normalised text.
    class_weight : dict of label → weight, "balanced" (fit only) or None
        Multiplies the sample weights.
    n_features : int, optional
        Width of the input, where it is known in advance: matrices up to that width are welcome at any time, the
        columns they lack count as zeros.
    epochs : int, default 1
        Passes over the rows in `fit`.
    shuffle : bool, default False
        Another order in each epoch of `fit`.
    random_state : int, RandomState or None
        For `shuffle`.
    device : "cpu", "cuda" or "auto", default "cpu"
        Where a kernel is computed.
    budget : int or hinged.mercer.Budget, optional
        With a kernel, how many past rows are remembered at most, and which go; `dual_` is None then.
    dtype : float32, float64 or None
        Type of the weights; None takes the first input's (float32 stays, all else becomes float64).

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

    def predict(self, X: Any) -> np.ndarray:
        """The best label of each row; ties go to the earlier one."""
        labels, _, scores = self._scored(X)
        if scores.shape[1] == 0:
            raise NotFittedError("no label is known, so none can be predicted; learn some rows, or declare labels.")
        return as_array(labels)[np.argmax(scores, axis=1)]

    def predict_one(self, x: Any) -> Hashable | None:
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

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores (rows, labels) in the order of `classes_`; with two labels (rows,), the second minus the first."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def _answers(self, y: Any, n: int) -> Sequence[Hashable]:
        return as_labels(y, n)

    def _known_answer(self, y: Hashable) -> np.ndarray | None:
        """Position of a label that is known, as the loop reads it; None for any other answer."""
        labels = self._labels
        try:
            return np.array([labels.position[y]]) if labels is not None else None
        except (KeyError, TypeError):
            return None

    def _one_answer(self, y: Hashable) -> list:
        return [y]

    def _flat(self, answers: list) -> tuple[np.ndarray, list]:
        return np.arange(len(answers) + 1), answers

    def _labels_of(self, answers: list) -> list:
        return list(dict.fromkeys(answers))

    def _up_front(self, classes: list | None) -> list | None:
        """Labels to declare before a batch: nothing but those given."""
        return classes
