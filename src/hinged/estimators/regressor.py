"""A number for each row."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from hinged.estimators.auto import FirstRow
from hinged.estimators.inputs import LARGEST
from hinged.estimators.labels import given
from hinged.estimators.options import BUILT_FOR, AsBudget, AsHalfLife, DType, Geometry, Kernel, RandomState
from hinged.estimators.parameters import documented
from hinged.estimators.parts import at_one_moment
from hinged.estimators.reader import Answers, Batch
from hinged.estimators.vectors import VectorLearner
from hinged.interface import Regresses
from hinged.loops.targets import Numbers
from hinged.loops.vector_model import REGRESSION
from hinged.mercer.fourier import remembers_rows
from hinged.rules.table import UP_TO_THE_MARGIN

__all__ = ["Regressor"]


@documented
class Regressor(Regresses, VectorLearner):
    """Online learner of numbers: predicts one, is told the right one, and moves until it is within ε of it.

    Parameters
    ----------
    rule : "pa", "pa1" or "pa2", default "auto", which is "pa1"
        The smallest move that comes within ε; the same, no longer than C; the same, softened by 1/(2C).
    {C}
    epsilon : float or "auto", default "auto"
        Errors up to this size are no loss; in the targets' unit, not negative. "auto": 0.1 standard deviations of the
        targets so far, where these are scaled, else 0.1.
    target_scaling : None, "standard" or "auto", default "auto"
        "standard" learns targets in units of their standard deviation, measured from their mean, both as they have
        been so far: C then means the same whatever the targets' unit. "auto": "standard", unless `scaling` is None.
    {geometry, half_life, kernel, scaling, normalize, average, bias, n_features, epochs, shuffle, random_state}
    {device, budget, dtype}

    Attributes
    ----------
    coef_ : array (features,)
    intercept_ : float
    experts_ : dict of C → share
    n_rounds_, n_mistakes_, n_updates_ : int
        Rounds, rounds with a loss (an error beyond ε), rounds with a step.
    dual_ : float
        The dual certificate, with margins s·y - ε, s the side of the error. None where targets are scaled.

    References
    ----------
    Crammer et al. (2006), section 5.

    Examples
    --------
    >>> import hinged
    >>> model = hinged.Regressor("pa1", C=1.0, epsilon=0.25, scaling=None)
    >>> model.learn_one({"rooms": 2}, 1.25)
    >>> model.predict_one({"rooms": 2}), model.explain({"rooms": 4})
    (1.0, [('rooms', 2.0)])
    """

    task = "regress"

    _task = REGRESSION
    _rules = UP_TO_THE_MARGIN
    _stepping = ("rule", "C", "epsilon")
    _built_for = ("target_scaling", "budget", *BUILT_FOR)
    _before: ClassVar[dict[str, Any]] = {"target_scaling": None}
    target_scaling: str | None = None  # of a model pickled before the setting existed
    epsilon: float | str

    def __init__(
        self,
        rule: str = "auto",
        C: float | str = "auto",
        epsilon: float | str = "auto",
        *,
        target_scaling: str | None = "auto",
        geometry: Geometry = "euclidean",
        half_life: AsHalfLife = None,
        kernel: Kernel | None = None,
        scaling: str | None = "auto",
        normalize: bool | str = "auto",
        average: bool | str = "auto",
        bias: float | str = "auto",
        n_features: int | None = None,
        epochs: int = 1,
        shuffle: bool = False,
        random_state: RandomState = None,
        device: str = "cpu",
        budget: AsBudget = None,
        dtype: DType = None,
    ) -> None:
        self._store(locals())

    @at_one_moment
    def predict(self, X: object) -> np.ndarray:
        """The number of each row."""
        return self._fitted().score(self._rows(X))

    @at_one_moment
    def predict_one(self, x: object) -> float:
        """The number of one row; 0 before anything is learnt."""
        model = self._model
        return 0.0 if model is None else float(model.score(self._row(x))[0])

    @property
    def classes_(self) -> np.ndarray:
        raise AttributeError("a Regressor predicts numbers and has no classes_.")

    def _choices(self, row: FirstRow | None) -> dict[str, object]:
        choices = super()._choices(row)
        as_they_are = choices["scaling"] is None or remembers_rows(self.kernel)
        return choices | {"target_scaling": None if as_they_are else "standard"}

    def _numbers(self) -> Numbers:
        scaled, value = self._scales_targets(), self.epsilon
        if isinstance(value, str) and value == "auto":
            return Numbers(0.1, scaled, np.zeros(2 * scaled))
        if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 <= float(value) < math.inf:
            raise ValueError(
                f"epsilon must be a finite number that is not negative; got epsilon={value!r}. Try 0.1, or 'auto'."
            )
        return Numbers(float(value), False, np.zeros(2 * scaled))

    def _scales_targets(self) -> bool:
        """Return True if targets are scaled."""
        how = self.target_scaling  # no longer "auto"
        if how not in (None, "standard"):
            raise ValueError(f"target_scaling must be None, 'standard' or 'auto'; got target_scaling={how!r}.")
        if how == "standard" and remembers_rows(self.kernel):
            raise ValueError(
                "target_scaling cannot be used with a kernel; got target_scaling='standard': past rounds would have to "
                "be learnt anew in every round. Scale the targets first."
            )
        return how == "standard"

    def _answers(self, y: object, n: int) -> np.ndarray:
        """One finite number per row."""
        numbers, _ = given(y)
        try:
            targets = np.array(numbers, np.float64)  # a copy: loops are compiled for arrays in one piece
        except (TypeError, ValueError):
            raise ValueError(f"y must hold one number per row; got {numbers!r}.") from None
        if targets.ndim == 2 and targets.shape[1] == 1:
            from sklearn.utils.validation import column_or_1d

            targets = column_or_1d(targets, warn=True)
        if targets.ndim != 1:
            raise ValueError(f"y should be a 1d array, one number per row; got an array of shape {targets.shape}.")
        if len(targets) != n:
            raise ValueError(f"X and y must have as many rows; got {n} rows and {len(targets)} numbers.")
        if not np.isfinite(targets).all():
            what = "NaN" if np.isnan(targets).any() else "infinity"
            raise ValueError(f"Input y contains {what}. Targets must be finite; drop those rows.")
        return targets

    def _check_answers(self, answers: Answers, batch: Batch) -> None:
        most, largest = LARGEST[batch.dtype.name], float(np.abs(answers).max())
        if largest > most:
            raise ValueError(
                f"targets must not exceed {most:g} where weights are {batch.dtype.name}; got {largest:g}. "
                "Scale them down."
            )

    def _usual_answer(self, y: object) -> np.ndarray | None:
        return np.array([y], np.float64) if isinstance(y, float | int) and -1e10 < y < 1e10 else None

    def _one_answer(self, y: object) -> list[object]:
        return [y]
