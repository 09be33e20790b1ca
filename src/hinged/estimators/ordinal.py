"""Ranks: labels with an order."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from hinged.compiling.arrays import Ints
from hinged.estimators.auto import FirstRow, choices_of_ranks
from hinged.estimators.labelled_vector import LabelledVector
from hinged.estimators.labels import LabelIndex, as_labels
from hinged.estimators.options import BUILT_FOR, AsHalfLife, DType, Geometry, RandomState, Rule
from hinged.estimators.parameters import documented
from hinged.estimators.parts import at_one_moment
from hinged.estimators.protocol import VectorModelLike
from hinged.interface import Classifies
from hinged.loops.vector_model import ORDINAL, VectorModel
from hinged.mercer.fourier import FeatureMap
from hinged.rules.table import RULES
from hinged.tasks.ordinal import rank_of

__all__ = ["OrdinalClassifier"]


@documented
class OrdinalClassifier(Classifies, LabelledVector):
    """Online learner of ranks: one score for each row, and thresholds that cut it into ranks.

    A round asks for as many margins as there are thresholds, so all the rules that act on several at once apply.
    The thresholds are learnt with the weights and nothing forces them to stay sorted; the answer is the first
    rank whose upper threshold lies above the score.

    Parameters
    ----------
    rule : str, hinged.rules.Optimal or Mira, default "auto", which is Optimal(slack=1.0)
        "perceptron", "pa", "pa1", "pa2" act on the threshold that is worst met; "simperc", "simproj", "conproj",
        "optimal", "mira", "uniform" on all that are not met.
    C : float or "auto", default "auto"
        Bound on the sum of a round's steps, positive. "auto": 3.2 where the rule is "auto" too, else 1.
    order : list of labels, optional
        The ranks from low to high. Without it labels are in their natural order, and one that appears later may lie
        below or above all known ones, not between them.
    margin : float, default 1.0
        How far from every threshold a score must lie.
    {geometry, half_life, novel}
    kernel : hinged.mercer.Fourier or Products, optional
        Random features in place of the columns; kernels that remember past rows do not learn ranks.
    {scaling, normalize}
    average : bool or "auto", default "auto"
        Answer with the mean of the weights and thresholds after each round. "auto": where rows are scaled.
    bias : float or "auto", default "auto", which is 0
        Value of a constant feature; the thresholds take its place.
    {n_features, epochs, shuffle, random_state, dtype}

    Attributes
    ----------
    classes_ : array
        The known ranks from low to high.
    coef_ : array (features,)
    thresholds_ : array (ranks - 1,)
    n_rounds_, n_mistakes_, n_updates_, n_novel_ : int
        Rounds, imperfect rounds (a score on the wrong side of any threshold, or on it), rounds with a step, rounds
        with a rank seen for the first time.
    dual_ : float or None
        The dual certificate.

    References
    ----------
    Amit, Shalev-Shwartz and Singer (2006), section 3.

    Examples
    --------
    >>> import hinged
    >>> model = hinged.OrdinalClassifier(order=["poor", "fair", "good"])
    >>> for stars, grade in [(1, "poor"), (3, "fair"), (5, "good")] * 20:
    ...     model.learn_one({"stars": stars}, grade)
    >>> [model.predict_one({"stars": n}) for n in (0, 3, 6)]
    ['poor', 'fair', 'good']
    """

    task = "ordinal"

    _task = ORDINAL
    _rules = tuple(RULES)
    _stepping = ("rule", "C", "margin", "novel")
    _built_for = ("order", *BUILT_FOR)

    def __init__(
        self,
        rule: Rule = "auto",
        C: float | str = "auto",
        *,
        order: Sequence[Hashable] | None = None,
        geometry: Geometry = "euclidean",
        half_life: AsHalfLife = None,
        margin: float = 1.0,
        novel: str = "learn",
        kernel: FeatureMap | None = None,
        scaling: str | None = "auto",
        normalize: bool | str = "auto",
        average: bool | str = "auto",
        bias: float | str = "auto",
        n_features: int | None = None,
        epochs: int = 1,
        shuffle: bool = False,
        random_state: RandomState = None,
        dtype: DType = None,
    ) -> None:
        self._store(locals())

    def _choices(self, row: FirstRow | None) -> dict[str, object]:
        return choices_of_ranks(self, row)

    @property
    def thresholds_(self) -> np.ndarray:
        """Between each rank and the next, the score that divides them; their means where an average is kept."""
        return _thresholds(self._learnt("thresholds_")).copy()

    @at_one_moment
    def decision_function(self, X: object) -> np.ndarray:
        """⟨w, x⟩ of each row, (rows,); with two ranks ⟨w, x⟩ - b₁, positive for `classes_[1]` as scikit-learn has it.

        A row that lies on the threshold, at exactly 0, is of the upper rank: the paper's definition.
        """
        model = self._fitted()
        scores, threshold = model.score(self._rows(X)), _only_threshold(model)
        return scores if threshold is None else scores - threshold

    @at_one_moment
    def explain(self, x: object, top: int | None = 10) -> list[tuple[Hashable, float]]:
        """The features that carry ⟨w, x⟩, signed, largest first; with two ranks "threshold" is one of them.

        All of them sum to `decision_function`.
        """
        carried, threshold = super().explain(x, top), _only_threshold(self._fitted())
        if threshold:
            carried = sorted([*carried, ("threshold", -threshold)], key=lambda item: -abs(item[1]))
        return carried[:top]

    def known_labels(self) -> tuple[Hashable, ...]:
        """The ranks known so far from low to high: all of `order`, where it is given."""
        return super().known_labels() or (() if self.order is None else tuple(self._order()))

    def _order(self) -> list[Hashable]:
        order: Any = self.order
        if isinstance(order, str | bytes) or not hasattr(order, "__iter__"):
            raise ValueError(f"order must be a list of labels from low to high; got order={order!r}.")
        labels = list(as_labels(list(order), len(list(order))))
        if len(set(labels)) != len(labels):
            raise ValueError(f"order must hold each label once; got order={self.order!r}.")
        return labels

    def _begin(self) -> None:
        if self.order is not None:
            self._admit([])
        elif self._labels is not None:  # declared before there was a model
            model = _with_ranks(self._learnt("model"))
            self._parts = self._parts._replace(model=model.with_thresholds(0, max(0, len(self._labels) - 1)))

    def _admit(self, new: list[Hashable]) -> None:
        before = [] if self._labels is None else list(self._labels.labels)
        known = self._order() if self.order is not None else before
        for label in sorted(new) if len(new) > 1 else new:  # type: ignore[type-var]
            if label not in known:
                known = self._after(known, label)
        parts = self._parts._replace(labels=LabelIndex(known))
        if parts.model is not None:
            model, low = _with_ranks(parts.model), known.index(before[0]) if before else 0
            n_new = max(0, len(known) - 1) - len(model.vector.b)
            parts = parts._replace(model=model.with_thresholds(min(low, n_new), max(0, n_new - low)))
        self._parts = parts

    def _after(self, known: list[Hashable], new: Any) -> list[Hashable]:
        if self.order is not None:
            raise ValueError(f"label {new!r} is not in order={list(self.order)!r}; the order must hold every rank.")
        if not known:
            return [new]
        low: Any = known[0]
        high: Any = known[-1]
        try:
            if new < low:
                return [new, *known]
            if new > high:
                return [*known, new]
        except TypeError:
            raise TypeError(
                f"ranks must be comparable; got {new!r} beside {low!r}. Give order=, the labels from low to high."
            ) from None
        raise ValueError(
            f"a rank that appears later must lie below or above all known ones; got {new!r} between {low!r} and "
            f"{high!r}. Declare all ranks up front: classes=, or order=."
        )

    def _decided(self, scores: np.ndarray, model: VectorModelLike, n_labels: int) -> Ints:
        thresholds = _thresholds(model)[: n_labels - 1]
        return np.array([rank_of(score, thresholds) for score in scores.tolist()], np.int64)


def _with_ranks(model: VectorModelLike) -> VectorModel:
    """The model of ranks, which remembers no rows."""
    assert isinstance(model, VectorModel)
    return model


def _thresholds(model: VectorModelLike) -> np.ndarray:
    return _with_ranks(model).thresholds


def _only_threshold(model: VectorModelLike) -> float | None:
    """What divides two ranks; None where there are more, or fewer."""
    thresholds = _thresholds(model)
    return float(thresholds[0]) if len(thresholds) == 1 else None
