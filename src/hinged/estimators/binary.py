"""One of two labels."""

from __future__ import annotations

from collections.abc import Hashable
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin

from hinged.estimators.holding import Held
from hinged.estimators.labelled_vector import LabelledVector
from hinged.estimators.labels import LabelIndex
from hinged.loops.vector_model import BINARY
from hinged.rules.table import ON_ONE

__all__ = ["BinaryClassifier"]

STEPPING = ("rule", "C", "margin")
BUILT_FOR = ("kernel", "budget", "scaling", "normalize", "average", "bias", "dtype")


class BinaryClassifier(ClassifierMixin, LabelledVector):
    """Online learner of two labels on one weight vector: the sign of the score is the answer.

    Parameters
    ----------
    rule : "perceptron", "pa", "pa1" or "pa2", default "pa1"
        C on a mistake; the smallest move that meets the margin; the same, no longer than C; the same, softened.
    C : float, default 1.0
        Longest step, positive. Small for noisy labels; inf for the plain step.
    margin : float, default 1.0
        How far on its own side of 0 a score must lie.
    kernel : hinged.mercer kernel or function, optional
        What takes the place of inner products; docs/kernels.md.
    scaling : None or "idf", default None
        "idf" multiplies every value by how rare its feature has been so far.
    normalize : bool, default False
        Divide each row by its L2 norm.
    average : bool, default False
        Answer with the mean of the weights after each round.
    bias : float, default 0.0
        Value of a constant feature; 0 for none.
    class_weight : dict of label → weight, "balanced" (fit only) or None
        Multiplies the sample weights.
    n_features : int, optional
        Width of the input, where it is known in advance.
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
        Type of the weights; None takes the first input's.

    Attributes
    ----------
    classes_ : array
        The two labels; the second is the positive one.
    coef_ : array (features,)
    intercept_ : float
    n_rounds_, n_mistakes_, n_updates_, n_novel_ : int
        Rounds, mistakes (a score of 0 is one), rounds with a step, rounds with a label seen for the first time.
    dual_ : float
        The dual certificate.

    References
    ----------
    Crammer et al. (2006), section 3.

    Examples
    --------
    >>> import hinged
    >>> model = hinged.BinaryClassifier().declare(["ham", "spam"])
    >>> model.learn_one({"prize": 1, "you": 1}, "spam")
    >>> model.learn_one({"lunch": 1, "you": 1}, "ham")
    >>> model.predict_one({"prize": 1}), model.explain({"lunch": 1, "prize": 1})
    ('spam', [('lunch', -0.75), ('prize', 0.5)])
    """

    task = "binary"

    _task = BINARY
    _rules = ON_ONE
    _stepping = STEPPING
    _built_for = BUILT_FOR
    _as_set: ClassVar = attrgetter(*STEPPING, *BUILT_FOR)

    def __init__(
        self,
        rule: str = "pa1",
        C: float = 1.0,
        *,
        margin: float = 1.0,
        kernel: Any = None,
        scaling: str | None = None,
        normalize: bool = False,
        average: bool = False,
        bias: float = 0.0,
        class_weight: Any = None,
        n_features: int | None = None,
        epochs: int = 1,
        shuffle: bool = False,
        random_state: Any = None,
        device: str = "cpu",
        budget: Any = None,
        dtype: Any = None,
    ) -> None:
        self.rule = rule
        self.C = C
        self.margin = margin
        self.kernel = kernel
        self.scaling = scaling
        self.normalize = normalize
        self.average = average
        self.bias = bias
        self.class_weight = class_weight
        self.n_features = n_features
        self.epochs = epochs
        self.shuffle = shuffle
        self.random_state = random_state
        self.device = device
        self.budget = budget
        self.dtype = dtype

    def _admit(self, new: list[Hashable]) -> None:
        labels, model = self._held
        known = list(labels.labels) if labels is not None else []
        for label in new:
            known = self._after(known, label)
        self._held = Held(LabelIndex(known), model)

    def _after(self, known: list[Hashable], new: Hashable) -> list[Hashable]:
        if len(known) == 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"{new!r} came beside {known[0]!r} and {known[1]!r}. Use hinged.Classifier for more than two labels."
            )
        return [*known, new]

    def _decided(self, scores: np.ndarray, model: Any, n_labels: int) -> np.ndarray:
        return np.minimum(scores > 0.0, n_labels - 1).astype(np.int64)

    @staticmethod
    def _targets(ids: np.ndarray) -> np.ndarray:
        return ids.astype(np.float64)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
