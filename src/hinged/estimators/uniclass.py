"""One class: is this row like the others?"""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import DTypeLike

from hinged.estimators.dicts import is_dicts
from hinged.estimators.options import DType, RandomState, RowSettings, SampleWeight
from hinged.estimators.parameters import documented
from hinged.estimators.parts import Parts, at_one_moment
from hinged.estimators.protocol import Advance
from hinged.estimators.reader import Batch, Checked, RowReader
from hinged.estimators.row_learner import RowLearner
from hinged.estimators.settings import check_options, check_sizes, setting_of, whole
from hinged.interface import Detects
from hinged.loops.explain import Share
from hinged.loops.hearing import hear
from hinged.loops.ledger import MISTAKES, Told
from hinged.loops.rows import Rows, part_of
from hinged.loops.steps import Setting
from hinged.loops.uniclass import Ball, UniclassModel
from hinged.rules.table import UP_TO_THE_MARGIN, positive
from hinged.rules.table import resolve as resolve_rule

__all__ = ["Uniclass"]


class UniclassSettled(NamedTuple):
    """Settings that were found sound."""

    rule: Setting
    sizes: dict[str, float]  # what must fit the range of the centre's type
    largest: float
    learns_radius: bool
    certified: bool = False

    def check_range(self, dtype: DTypeLike) -> None:
        """Refuse numbers that are too large for a centre of that type."""
        check_sizes(self.sizes, np.dtype(dtype).name)

    def change(self, model: UniclassModel) -> None:
        """Let a model go on by this rule."""
        model.setting = self.rule

    def new_model(self, who: RowSettings, dtype: DTypeLike) -> UniclassModel:
        """An empty model for a learner with these settings."""
        return UniclassModel(who.dtype or dtype, self.rule, self.largest, self.learns_radius)


@documented
class Uniclass(Detects, RowLearner[UniclassModel, UniclassSettled]):
    """Online outlier detector: a ball that moves towards every row that lies outside of it.

    Parameters
    ----------
    rule : "pa", "pa1" or "pa2", default "pa1"
        Move until the row is in the ball; the same, no further than C; the same, softened by 1/(2C).
    C : float, default 1.0
        Longest move, positive; in the unit of the data. Small where some rows are outliers.
    radius : float or "learn", default 1.0
        The ball's radius, or "learn" for one that begins at 0 and grows as rows lie outside, up to `max_radius`.
    max_radius : float, optional
        Largest radius, for radius="learn".
    {n_features, epochs, shuffle, random_state, dtype}

    Attributes
    ----------
    center_ : array (features,)
    radius_ : float
    offset_ : float
        Minus the radius: `decision_function` is `score_samples` minus this.
    n_rounds_, n_mistakes_, n_updates_ : int
        Rounds, rounds whose row lay outside, rounds with a move.
    dual_ : None
        This task has no certificate.

    References
    ----------
    Crammer et al. (2006), section 6.

    Examples
    --------
    >>> import hinged
    >>> model = hinged.Uniclass(C=5.0, radius=1.0).fit([[3.0, 4.0], [3.0, 5.0], [3.0, 4.5]])
    >>> model.predict([[3.0, 4.5], [9.0, 9.0]]).tolist()
    [1, -1]
    """

    task = "outliers"

    _parts: Parts[UniclassModel, RowReader] = Parts(None, None, RowReader())
    _stepping = ("rule", "C")
    _built_for = ("radius", "max_radius", "dtype")

    def __init__(
        self,
        rule: str = "pa1",
        C: float = 1.0,
        radius: float | str = 1.0,
        max_radius: float | None = None,
        *,
        n_features: int | None = None,
        epochs: int = 1,
        shuffle: bool = False,
        random_state: RandomState = None,
        dtype: DType = None,
    ) -> None:
        self._store(locals())

    # ------------------------------------------------------------------ learning
    def fit(self, X: object, y: object = None, sample_weight: SampleWeight = None) -> Self:
        """Forget everything and learn the rows `epochs` times; there are no answers, `y` is not looked at.

        Parameters
        ----------
        X : matrix, data frame or list of dicts
        y : not used
        sample_weight : array of shape (rows,), optional
            Replaces C by weight · C in each round; 0 leaves the model as it is.
        """
        return super().fit(X, None, sample_weight)

    def partial_fit(
        self, X: object, y: object = None, classes: object = None, sample_weight: SampleWeight = None
    ) -> Self:
        """Learn rows in order, keeping what was learnt; wider rows are welcome, `y` is not looked at."""
        return super().partial_fit(X, None, classes, sample_weight)

    def learn_one(self, x: object, y: object = None, sample_weight: float | None = None) -> None:
        """Learn one row: a dict of feature → value, a 1-D array, or a sparse row."""
        model = self._model
        if model is not None and sample_weight is None and type(x) is np.ndarray and _is_plain(x, model):
            with self._writing():
                usual = self._model is model and self._is_up_to_date()
                if usual and model.learn_dense(x) >= 0.0:
                    return
        super().learn_one(x, None, sample_weight)

    def _learn(self, checked: Checked[UniclassSettled], delay: int = 0, advance: Advance | None = None) -> Told:
        model = self._model or self._new_model(checked)
        with self._between_rounds():
            self._take_in(checked.batch)
            return self._one_after_another(model, checked.batch, checked.weights, delay, advance)

    def _one_after_another(
        self, model: UniclassModel, batch: Batch, weights: np.ndarray, delay: int, advance: Advance | None
    ) -> Told:
        rows = batch.rows
        if delay == 0:
            flags, losses = model.learn(rows, weights, advance)
        else:
            flags, losses = np.zeros(batch.n, np.int8), np.zeros(batch.n)
            for t in range(batch.n + delay):
                if t < batch.n:  # what counts is the ball of that moment
                    one = part_of(rows, slice(t, t + 1))
                    losses[t] = model.ask(partial(_outside, one))
                    flags[t] = losses[t] > 0.0
                if t >= delay:
                    i, before = t - delay, int(model.ledger.counts[MISTAKES])
                    model.learn(part_of(rows, slice(i, i + 1)), weights[i : i + 1])
                    model.ledger.counts[MISTAKES] = before + int(flags[i])
                    if advance is not None:
                        advance(1)
                hear()
        return Told(flags, (1 + flags).astype(np.int32), losses)

    # ------------------------------------------------------------------ answers
    @at_one_moment
    def score_samples(self, X: object) -> np.ndarray:
        """Minus each row's distance from the centre: the lower, the stranger."""
        rows = self._rows(X)
        return self._fitted().ask(lambda ball: -ball.distances(rows))

    @at_one_moment
    def decision_function(self, X: object) -> np.ndarray:
        """How far inside the ball each row lies; negative outside."""
        rows = self._rows(X)
        return self._fitted().ask(lambda ball: -ball.distances(rows) + ball.radius)

    def predict(self, X: object) -> np.ndarray:
        """+1 for rows in the ball, -1 for outliers."""
        return np.where(self.decision_function(X) >= 0.0, 1, -1)

    def predict_one(self, x: object) -> int:
        """+1 for a row in the ball, -1 for an outlier; -1 before anything is learnt."""
        return -1 if self._model is None else int(self.predict(self._parts.reader.one(x))[0])

    @at_one_moment
    def explain(self, x: object, top: int | None = 10) -> list[tuple[Hashable, float]]:
        """The features that set a row apart: x - centre for each, largest first; their squares sum to distance²."""
        top = None if top is None else whole("top", top, 1)
        model, reader = self._fitted(), self._parts.reader
        row = reader.one(x)
        grow = is_dicts(row) and reader.names is not None  # which changes nothing, and names what is new
        rows, *_, new, _ = reader.read(self, row, grow)
        last = rows.indices[len(rows.indices) - len(new or ()) :]
        strange = dict(zip((last + 1).tolist(), new or (), strict=True))
        shares = model.explain(rows)
        named = (Share(strange[s.feature], s.value, True) if s.feature in strange else s for s in shares)
        return self._largest(named, top)

    @property
    def center_(self) -> np.ndarray:
        """The centre of the ball (features,)."""
        return self._learnt("center_").ask(attrgetter("center"))

    @property
    def radius_(self) -> float:
        """The radius of the ball by now."""
        return self._learnt("radius_").ask(attrgetter("radius"))

    @property
    def offset_(self) -> float:
        """Minus the radius."""
        return -self.radius_

    @property
    def classes_(self) -> np.ndarray:
        raise AttributeError("Uniclass knows one class and has no classes_.")

    # ------------------------------------------------------------------ checks
    def check_settings(self) -> UniclassSettled:
        """Check every setting, by name; return what they stand for. A ValueError says what was wrong."""
        if self.rule not in UP_TO_THE_MARGIN:
            raise ValueError(f"rule must be one of {', '.join(UP_TO_THE_MARGIN)}; got rule={self.rule!r}.")
        step, _own = resolve_rule(self.rule, self.C, 1.0)
        check_options(self)
        learns = isinstance(self.radius, str)
        if learns and self.radius != "learn":
            raise ValueError(f"radius must be a positive number or 'learn'; got radius={self.radius!r}.")
        if learns and self.max_radius is None:
            raise ValueError("radius='learn' needs max_radius, the largest it may grow to; got max_radius=None.")
        name = "max_radius" if learns else "radius"
        largest = positive(name, self.max_radius if learns else self.radius, "1.0, in the unit of the data")
        sizes = {"C": step.C, name: largest}
        check_sizes(sizes, np.dtype(self.dtype or np.float64).name)
        return UniclassSettled(setting_of(step, self), sizes, largest, learns)

    def _answers(self, y: object, n: int) -> list[None]:
        return [None] * n

    def _one_answer(self, y: object) -> list[None]:
        return [None]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        return tags


def _outside(row: Rows, ball: Ball) -> float:
    """How far outside of a ball a row lies; 0 inside."""
    return max(0.0, float(ball.distances(row)[0]) - ball.radius)


def _is_plain(x: np.ndarray, model: UniclassModel) -> bool:
    """Return True if a row can be read where it lies: as wide as those before, of the same type, in one piece."""
    return x.shape == model.columns.shape and x.dtype is model.dtype and x.flags.c_contiguous and x.flags.writeable
