"""One of two labels."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from hinged.compiling.arrays import Ints
from hinged.estimators.labelled_vector import LabelledVector
from hinged.estimators.labels import LabelIndex
from hinged.estimators.options import BUILT_FOR, AsBudget, AsHalfLife, ClassWeight, DType, Geometry, Kernel, RandomState
from hinged.estimators.parameters import documented
from hinged.estimators.protocol import VectorModelLike
from hinged.interface import Classifies
from hinged.loops.vector_model import BINARY
from hinged.rules.table import ON_ONE

__all__ = ["BinaryClassifier"]


@documented
class BinaryClassifier(Classifies, LabelledVector):
    """Online learner of two labels on one weight vector: the sign of the score is the answer.

    Parameters
    ----------
    rule : "perceptron", "pa", "pa1" or "pa2", default "auto", which is "pa1"
        C on a mistake; the smallest move that meets the margin; the same, no longer than C; the same, softened.
    {C}
    margin : float, default 1.0
        How far on its own side of 0 a score must lie.
    {geometry, half_life, novel, kernel, scaling, normalize, average, bias, class_weight, n_features, epochs}
    {shuffle, random_state, device, budget, dtype}

    Attributes
    ----------
    classes_ : array
        The two labels; the second is the positive one.
    coef_ : array (features,)
    intercept_ : float
    experts_ : dict of C → share
    n_rounds_, n_mistakes_, n_updates_, n_novel_ : int
        Rounds, mistakes (a score of 0 is one), rounds with a step, rounds with a label seen for the first time.
    dual_ : float
        The dual certificate; None with ``C="auto"``.

    References
    ----------
    Crammer et al. (2006), section 3.

    Examples
    --------
    >>> import hinged
    >>> model = hinged.BinaryClassifier("pa1", C=1.0, scaling=None).declare(["ham", "spam"])
    >>> model.learn_one({"prize": 1, "you": 1}, "spam")
    >>> model.learn_one({"lunch": 1, "you": 1}, "ham")
    >>> model.predict_one({"prize": 1}), model.explain({"lunch": 1, "prize": 1})
    ('spam', [('lunch', -0.75), ('prize', 0.5)])
    """

    task = "binary"

    _task = BINARY
    _rules = ON_ONE
    _stepping = ("rule", "C", "margin", "novel")
    _built_for = ("budget", *BUILT_FOR)

    def __init__(
        self,
        rule: str = "auto",
        C: float | str = "auto",
        *,
        geometry: Geometry = "euclidean",
        half_life: AsHalfLife = None,
        margin: float = 1.0,
        novel: str = "learn",
        kernel: Kernel | None = None,
        scaling: str | None = "auto",
        normalize: bool | str = "auto",
        average: bool | str = "auto",
        bias: float | str = "auto",
        class_weight: ClassWeight = None,
        n_features: int | None = None,
        epochs: int = 1,
        shuffle: bool = False,
        random_state: RandomState = None,
        device: str = "cpu",
        budget: AsBudget = None,
        dtype: DType = None,
    ) -> None:
        self._store(locals())

    def _admit(self, new: list[Hashable]) -> None:
        known = list(self.known_labels())
        for label in new:
            known = self._after(known, label)
        self._parts = self._parts._replace(labels=LabelIndex(known))

    def _after(self, known: list[Hashable], new: Hashable) -> list[Hashable]:
        if len(known) == 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"{new!r} came beside {known[0]!r} and {known[1]!r}. Use hinged.Classifier for more than two labels."
            )
        return [*known, new]

    def _decided(self, scores: np.ndarray, model: VectorModelLike, n_labels: int) -> Ints:
        return np.minimum(scores > 0.0, n_labels - 1).astype(np.int64)

    @staticmethod
    def _targets(ids: Ints) -> np.ndarray:
        return ids.astype(np.float64)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
