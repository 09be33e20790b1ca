"""What the learners of one weight vector share: two labels, numbers, ranks."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from hinged.compiling.arrays import Ints
from hinged.estimators.auto import FirstRow, choices_of_vector, is_auto
from hinged.estimators.forgetting_settings import check_half_life, weights_fade
from hinged.estimators.geometry_settings import check_no_simplex
from hinged.estimators.inputs import dense_rows, kept_dense
from hinged.estimators.kernel_model import KernelVectorModel
from hinged.estimators.kernel_settings import check_kernel_settings, check_linear, new_machine, reading_of
from hinged.estimators.options import AsBudget, AsHalfLife, DType, Geometry, Rule
from hinged.estimators.parts import Parts, at_one_moment, runs_functions
from hinged.estimators.protocol import Advance, VectorModelLike
from hinged.estimators.reader import Answers, Checked, RowReader
from hinged.estimators.row_learner import RowLearner
from hinged.estimators.settings import (
    check_options,
    check_sizes,
    scaled_as,
    setting_of,
    side_by_side,
    whole,
)
from hinged.geometry.choice import metric_of
from hinged.geometry.forgetting import half_lives
from hinged.loops.hearing import hear, pieces
from hinged.loops.ledger import MISTAKES, NOVEL, Told
from hinged.loops.rows import Rows, part_of
from hinged.loops.steps import Setting
from hinged.loops.targets import Numbers
from hinged.loops.vector_model import BINARY, NO_NUMBERS, ORDINAL, REGRESSION, VectorModel
from hinged.mercer.fourier import remembers_rows
from hinged.mercer.functions import Kernel as PastRows
from hinged.rules.table import check_runs, name_of
from hinged.rules.table import resolve as resolve_rule
from hinged.rules.words import is_interior

__all__ = ["VectorLearner", "VectorSettled"]

UNWEIGHTED = np.zeros(0)


class VectorSettled(NamedTuple):
    """Settings that were found sound."""

    rule: Setting
    certified: bool
    sizes: dict[str, float]  # what must fit the range of the weights' type
    task: str
    numbers: Numbers
    kernel: PastRows | None = None
    caps: tuple[float, ...] = ()  # C of learners side by side; empty where C is a number
    mean: bool = False  # whether the mean weights of the last of them answer beside them

    def check_range(self, dtype: DTypeLike) -> None:
        """Refuse numbers that are too large for weights of that type."""
        check_sizes(self.sizes, np.dtype(dtype).name)

    def change(self, model: VectorModelLike) -> None:
        """Let a model go on by this rule."""
        if isinstance(model, VectorModel):
            if len(self.caps) != len(model.forecasters.caps):
                raise ValueError(
                    "C cannot change between 'auto' and a number once something is learnt, nor, with C='auto', the "
                    "rule to one that does not read C: learners have weights of their own. Set it back, or call fit "
                    "to start anew."
                )
            model.numbers = self.numbers._replace(known=model.numbers.known)
        elif isinstance(model, KernelVectorModel):
            model.epsilon = self._within()
        model.setting = self.rule

    def _within(self) -> float | None:
        """How close a number must come; None where a kernel learns labels."""
        return self.numbers.epsilon if self.task == REGRESSION else None

    def new_model(self, who: VectorLearner, dtype: DTypeLike) -> VectorModelLike:
        """An empty model for a learner with these settings; both kinds take the same calls."""
        if self.kernel is not None:
            machine = new_machine(who, self.kernel, dtype, n_outputs=1)
            return KernelVectorModel(machine, self.rule, self._within(), reading_of(who))
        numbers = self.numbers._replace(known=self.numbers.known.copy())
        scaled = scaled_as(who)
        return VectorModel(self.task, who.dtype or dtype, self.rule, numbers, self.caps, self.mean, **scaled)


class VectorLearner(RowLearner[VectorModelLike, VectorSettled]):
    """Online learner of one weight vector; subclasses say what the score means."""

    _task: ClassVar[str]
    _rules: ClassVar[tuple[str, ...]]
    _parts: Parts[VectorModelLike, RowReader] = Parts(None, None, RowReader())
    device: str = "cpu"
    budget: AsBudget = None
    rule: Rule
    C: float | str
    scaling: str | None
    normalize: bool | str
    average: bool | str
    bias: float | str
    dtype: DType
    geometry: Geometry = "euclidean"  # of a model pickled before the setting existed
    half_life: AsHalfLife = None

    # ------------------------------------------------------------------ answers
    @at_one_moment
    def explain(self, x: object, top: int | None = 10) -> list[tuple[Hashable, float]]:
        """The features of a row that carry its score ⟨w, x⟩, signed, largest first; all of them sum to the score.

        Where targets are scaled, their mean is one of them, by the name "mean". With a kernel, the past rounds that
        carry it, by their number from 0.
        """
        top = None if top is None else whole("top", top, 1)
        model = self._fitted()
        return self._largest(model.explain(self._row(x)), top)

    @property
    def coef_(self) -> np.ndarray:
        """The weights (features,); their mean over the rounds where one is kept."""
        return self._linear("coef_").weights[1:].copy()

    @property
    def intercept_(self) -> float:
        """What is added to every score: by the bias, and the mean of scaled targets."""
        model = self._linear("intercept_")
        return float(model.weights[0]) * model.bias + model.unit_of_targets[0]

    @property
    def experts_(self) -> dict[float | str, float]:
        """With ``C="auto"``: each C, and "mean" for the mean weights of the last, with its share in the answers.

        Shares follow the losses so far. Empty where one learner answers alone.
        """
        model = self._learnt("experts_")
        if not isinstance(model, VectorModel) or model.alone:
            return {}
        caps, shares = model.forecasters[:2]
        return dict(zip((*caps.tolist(), "mean"), shares.tolist(), strict=False))

    def _linear(self, name: str) -> VectorModel:
        model = self._with_weights(name)
        assert isinstance(model, VectorModel)
        return model

    # ------------------------------------------------------------------ learning
    def learn_one(self, x: object, y: object, sample_weight: float | None = None) -> None:
        """Learn one row: a dict of feature → value, a 1-D array, or a sparse row."""
        if sample_weight is None and self.class_weight is None:
            with self._writing():
                if self._learn_usual(x, y):
                    return
        super().learn_one(x, y, sample_weight)

    def _learn_usual(self, x: object, y: object) -> bool:
        """Learn a row where nothing but weights changes, the common case of a stream; False elsewhere."""
        _, model, reader = self._parts
        if model is None or runs_functions(model):
            return False
        target = self._usual_answer(y)
        if target is None or not self._is_up_to_date():
            return False
        if type(x) is dict and reader.names is not None:
            batch = reader.read_dicts(self, (x,), True)
            self._take_in(batch)
        elif type(x) is np.ndarray and x.ndim == 1 and reader.is_usual(model, x[np.newaxis]):
            batch = reader.read(self, x[np.newaxis], True)
        else:
            return False
        model.learn(batch.rows, target, UNWEIGHTED)
        return True

    def _usual_answer(self, y: object) -> np.ndarray | None:
        """An answer as the loop reads it, if it needs no closer look."""
        return None

    def _learn(self, checked: Checked[VectorSettled], delay: int = 0, advance: Advance | None = None) -> Told:
        """Learn rows in order; where it is refused, nothing has changed."""
        batch, answers, weights, _ = checked
        self._refuse(answers, weights)
        before = self.known_labels()
        if self._model is None:
            self._new_model(checked)
            self._begin()
        with self._between_rounds():
            self._take_in(batch)
            flags, losses = self._one_after_another(batch.rows, answers, weights, delay, advance)
        ranks = np.where(flags < 0, 0, 1 + flags).astype(np.int32)
        self._unrank(before, answers, weights, delay, ranks)
        return Told(flags, ranks, losses)

    def _unrank(
        self, before: Sequence[Hashable], answers: Answers, weights: np.ndarray, delay: int, ranks: np.ndarray
    ) -> None:
        """Give rank 0 to the rounds that cannot be wrong; the labels `before` were known."""

    def _one_after_another(
        self, rows: Rows, answers: Answers, weights: np.ndarray, delay: int, advance: Advance | None
    ) -> tuple[np.ndarray, np.ndarray]:
        n = len(rows.indptr) - 1
        flags, losses = np.zeros(n, np.int8), np.zeros(n)
        if delay == 0:
            for some in self._pieces(rows, advance):
                flags[some], losses[some] = self._run(part_of(rows, some), answers[some], weights[some])
            return flags, losses
        for t in range(n + delay):
            if t < n:  # what counts is the prediction, by the model of its moment
                one = slice(t, t + 1)
                counts = self._counts().copy()
                flags[one], losses[one] = self._run(part_of(rows, one), answers[one], np.zeros(1))
                self._counts()[:] = counts
            if t >= delay:
                one = slice(t - delay, t - delay + 1)
                counts = self._counts().copy()
                self._run(part_of(rows, one), answers[one], weights[one])
                self._counts()[MISTAKES] = counts[MISTAKES] + (flags[one] == 1).sum()
                self._counts()[NOVEL] = counts[NOVEL] + (flags[one] == -1).sum()
                if advance is not None:
                    advance(1)
            hear()
        return flags, losses

    def _counts(self) -> Ints:
        """The counts of the model by now: a new rank may have replaced it."""
        return self._learnt("counts").counts

    def _pieces(self, rows: Rows, advance: Advance | None) -> Iterator[slice]:
        """The rows in pieces; a kernel cuts them itself, where its matrix products end."""
        if not remembers_rows(self.kernel):
            model = self._model
            per_value = model.per_raw_value(1) if isinstance(model, VectorModel) else 1
            yield from pieces(rows.indptr, per_value, advance=advance)
            return
        n = len(rows.indptr) - 1
        size = n if advance is None else max(1, n // 200)
        for first in range(0, n, size):
            yield slice(first, min(n, first + size))
            if advance is not None:
                advance(min(n, first + size) - first)

    def _run(self, rows: Rows, answers: Answers, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Learn some rows; each round's flag and loss."""
        return self._learnt("model").learn(rows, np.asarray(answers), weights)

    def _refuse(self, answers: Answers, weights: np.ndarray) -> None:
        """Refuse answers that cannot be learnt after what is known."""

    def _begin(self) -> None:
        """What a new model has to be told."""

    # ------------------------------------------------------------------ checks
    def _dense(self, X: np.ndarray, dtype: np.dtype) -> Rows:
        unscaled = self.scaling is None or remembers_rows(self.kernel)
        plain = unscaled and (is_auto(self.normalize) or not self.normalize) and self._task != ORDINAL
        return kept_dense(X, dtype) if plain and len(X) > 1 else dense_rows(X, dtype)

    def check_settings(self) -> VectorSettled:
        """Check every setting, by name; return what they stand for. A ValueError says what was wrong."""
        return self._plainly()._settle()

    def _choices(self, row: FirstRow | None) -> dict[str, object]:
        return choices_of_vector(self, row)

    def _settle(self) -> VectorSettled:
        """Check settings of which none is left to the learner, but for C of learners side by side."""
        margin = getattr(self, "margin", 1.0)
        if name_of(self.rule) not in self._rules:
            raise ValueError(f"rule must be one of {', '.join(self._rules)}; got rule={self.rule!r}.")
        # Two labels with a vector each and half the C take the same steps.
        usual = 2.0 if self._task == BINARY else 1.0
        step, _own = resolve_rule(self.rule, usual if is_auto(self.C) else self.C, margin)
        if is_interior(step.words):
            raise ValueError("solver='interior-point' needs labels with vectors of their own; use solver='search'.")
        check_runs("on a single vector", self.rule, step.words)
        if not remembers_rows(self.kernel):
            check_linear(self)
        elif self._task == ORDINAL:
            raise ValueError(
                "for ranks, kernel must be hinged.mercer.Fourier(n), hinged.mercer.Products() or None; got "
                f"kernel={self.kernel!r}."
            )
        else:
            check_kernel_settings(self, step)
        check_options(self)
        check_no_simplex(self.geometry, "on a single vector")
        check_half_life(self)
        numbers, metric = self._numbers()._replace(half_life=half_lives(self.half_life)[1]), metric_of(self.geometry)
        sizes = {"C": step.C, "margin": step.margin, "bias": float(self.bias)}
        sizes["epsilon"] = max(0.0, numbers.epsilon)
        check_sizes(sizes, np.dtype(self.dtype or np.float64).name)
        caps, mean = side_by_side(self)
        caps = tuple(usual * cap for cap in caps)
        plain = metric is None and not weights_fade(self)
        certified = step.certified and self.budget is None and not caps and not len(numbers.known) and plain
        kernel = self.kernel if remembers_rows(self.kernel) else None
        return VectorSettled(setting_of(step, self), certified, sizes, self._task, numbers, kernel, caps, mean)

    def _numbers(self) -> Numbers:
        """How far a predicted number may lie from the right one, and what is known of targets so far, where scaled."""
        return NO_NUMBERS
