"""What every learner of rows shares: fit, partial_fit and learn_one, checks before changes, changes of settings."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from operator import attrgetter
from typing import Any, ClassVar, Generic, Self, TypeVar, cast

import numpy as np
from scipy import sparse

from hinged.estimators.auto import choices_before, first_row_of
from hinged.estimators.dicts import FeatureNames
from hinged.estimators.inputs import check_caps, check_weights, dense_rows
from hinged.estimators.kernel_model import KernelModel
from hinged.estimators.kernel_settings import check_columns
from hinged.estimators.labels import LabelIndex
from hinged.estimators.learner import Learner, State
from hinged.estimators.options import ClassWeight, DType, Kernel, RandomState, SampleWeight
from hinged.estimators.parts import Parts
from hinged.estimators.protocol import Advance, RowModel
from hinged.estimators.reader import Answers, Batch, Checked, ReadsRows, RowReader, S_co
from hinged.estimators.scored import Scored
from hinged.estimators.settings import check_unchanged, is_same, random_generator, whole
from hinged.io import from_json, to_json
from hinged.loops.experts import BOLD
from hinged.loops.explain import Share
from hinged.loops.ledger import Told, new_told
from hinged.loops.rows import Rows

__all__ = ["RowLearner"]

R_co = TypeVar("R_co", bound=RowModel, covariant=True)


class RowLearner(Learner[R_co, ReadsRows], Generic[R_co, S_co]):
    """Learning rows, whatever is predicted of them.

    Subclasses define what targets look like (`_answers`, `_one_answer`, `_balanced`, `_factor`), which settings may
    change (`_stepping`) and which not (`_built_for`), and how rows are learnt (`_learn`).
    """

    _stepping: ClassVar[tuple[str, ...]]
    _built_for: ClassVar[tuple[str, ...]]
    _as_set: ClassVar[Callable[[object], tuple[object, ...]]]  # the values of both
    _parts: Parts[R_co, ReadsRows] = Parts(None, None, RowReader())
    _settled: S_co | None = None  # the settings that the model goes by, resolved
    _set_to: tuple[object, ...] | None = None  # their values as the user set them
    C: float | str
    epochs: int
    shuffle: bool
    random_state: RandomState
    class_weight: ClassWeight = None
    n_features: int | None = None
    kernel: Kernel | None = None
    dtype: DType

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if hasattr(cls, "_stepping"):
            cls._as_set = staticmethod(attrgetter(*cls._stepping, *cls._built_for))

    # ------------------------------------------------------------------ what subclasses say
    @abstractmethod
    def check_settings(self) -> S_co:
        """Check every setting, by name; return what they stand for. A ValueError says what was wrong."""

    @abstractmethod
    def _answers(self, y: object, n: int) -> Answers:
        """The answers of `n` rows, or a ValueError that says what is wrong with them."""

    @abstractmethod
    def _one_answer(self, y: Any) -> object:
        """The answer of one row as those of a batch of one."""

    @abstractmethod
    def _learn(self, checked: Checked[S_co], delay: int = 0, advance: Advance | None = None) -> Told:
        """Learn rows in order."""

    # ------------------------------------------------------------------ learning
    def fit(self, X: object, y: object, sample_weight: SampleWeight = None) -> Self:
        """Forget everything, make the labels of `y` known, and learn the rows `epochs` times.

        Parameters
        ----------
        X : matrix, data frame or list of dicts
        y : the right answer of each row
        sample_weight : array of shape (rows,), optional
            Replaces C by weight · C in each round; 0 leaves the model as it is.
        """
        fresh = type(self)(**self.get_params(deep=False))
        epochs = whole("epochs", self.epochs, 1)
        rng = random_generator(self.random_state)
        checked = fresh._check(X, y, sample_weight, fitting=True)
        fresh._expect(checked)
        for _ in range(epochs):
            fresh._learn(checked.in_order(rng.permutation(checked.batch.n)) if self.shuffle else checked)
            checked = checked.known()
        self._become(fresh)
        return self

    def partial_fit(self, X: object, y: object, classes: object = None, sample_weight: SampleWeight = None) -> Self:
        """Learn rows in order, keeping what was learnt; new labels and wider rows are welcome.

        Parameters
        ----------
        X : matrix, data frame or list of dicts
        y : the right answer of each row
        classes : labels to make known first, optional
        sample_weight : array of shape (rows,), optional
        """
        self.learn_rounds(X, y, classes, sample_weight)
        return self

    def learn_one(self, x: object, y: object, sample_weight: float | None = None) -> None:
        """Learn one row: a dict of feature → value, a 1-D array, or a sparse row."""
        with self._or_undone(several=False):
            weights = None if sample_weight is None else [sample_weight]
            self._learn(self._check(self._parts.reader.one(x), self._one_answer(y), weights))

    def learn_rounds(
        self,
        X: object,
        y: object,
        classes: object = None,
        sample_weight: SampleWeight = None,
        delay: int = 0,
        advance: Advance | None = None,
        before: Callable[[Scored], None] | None = None,
    ) -> Told:
        """`partial_fit`, and what each round came to: its flag, rank and loss.

        Parameters
        ----------
        X, y, classes, sample_weight : as in `partial_fit`
        delay : int, default 0
            The answer to a row comes that many rows later; its flag, rank and loss are those of its prediction.
        advance : function, optional
            Called now and then with the number of rounds done since its last call.
        before : function, optional
            Called before each round with what the current weights say of its row: of labels, and without a delay.

        Returns
        -------
        Told
            Arrays (rounds,): flags (1 a mistake, 0 right, -1 a new label), ranks of the best right label, losses.
        """
        with self._or_undone(several=True):
            checked = self._check(X, y, sample_weight)
            self._expect_classes(classes, checked)
            if before is None:
                return self._learn(checked, min(delay, checked.batch.n), advance)
            if delay:
                raise ValueError(f"before is called where answers come at once; got delay={delay!r}. Leave one out.")
            told = new_told(checked.batch.n)
            for i in range(checked.batch.n):
                one = slice(i, i + 1)
                row = checked.part(one)
                before(self._by_current_weights(row.batch.rows))
                for of_all, of_one in zip(told, self._learn(row, 0, advance), strict=True):
                    of_all[one] = of_one
                checked = checked.known()
            return told

    def _by_current_weights(self, rows: Rows) -> Scored:
        """What the weights say of a row, without their mean; nothing before the first round."""
        raise TypeError(f"before is for learners with a score for each label; {type(self).__name__} has none.")

    def _expect(self, checked: Checked[S_co]) -> None:
        """Make known what `fit` will be asked about."""

    def _expect_classes(self, classes: object, checked: Checked[S_co]) -> None:
        """Make known the labels that were declared for a batch."""
        if classes is not None:
            raise ValueError(f"classes are for learners of labels; {type(self).__name__} has none. Leave them out.")

    def _new_model(self, checked: Checked[S_co]) -> R_co:
        """An empty model for these settings and rows, with the labels known so far."""
        model: R_co = checked.settled.new_model(self._plainly(), checked.batch.dtype)
        self.__dict__.update(
            _parts=self._parts._replace(labels=LabelIndex() if self._labels is None else self._labels, model=model),
            _settled=checked.settled,
            _set_to=type(self)._as_set(self),
            _edited=False,
        )
        return model

    def _take_in(self, batch: Batch) -> None:
        """Admit what is new in a batch: names, columns, and at first the meaning of columns."""
        reader = self._parts.reader
        after = reader.admit(self, batch)
        if after is not reader:
            self._parts = self._parts._replace(reader=after)

    # ------------------------------------------------------------------ checks
    def _check(self, X: object, y: object, sample_weight: SampleWeight, fitting: bool = False) -> Checked[S_co]:
        """Everything that can be refused is refused here, before anything changes."""
        settled = self.check_settings() if self._model is None else self._keep_up()
        batch = self._parts.reader.read(self, X, grow=True)
        if self._model is None:
            self._chosen = self._left_to_it(self._choices(first_row_of(batch)))
            settled = self.check_settings() if self._chosen else settled
            settled.check_range(batch.dtype)
        self._check_rows(batch)
        answers = self._answers(y, batch.n)
        self._check_answers(answers, batch)
        return Checked(batch, answers, self._weights(sample_weight, answers, batch, fitting), settled)

    def _check_rows(self, batch: Batch) -> None:
        """Refuse rows that this kind of learner cannot take."""
        check_columns(self.kernel, batch, self._parts.reader)

    def _check_answers(self, answers: Answers, batch: Batch) -> None:
        """Refuse answers that do not suit the rows."""

    def _is_up_to_date(self) -> bool:
        """Return True if no setting has changed since the last round."""
        return self._set_to is not None and is_same(type(self)._as_set(self), self._set_to)

    def _keep_up(self) -> S_co:
        """Follow a change of `rule`, `C` or `margin` since the last round; refuse one of what memory is built for."""
        now, model, before = type(self)._as_set(self), self._model, self._settled
        assert model is not None
        assert before is not None
        if self._set_to is None or len(self._set_to) != len(now):  # a pickle from before one of them existed
            self._set_to = now
        if is_same(now, self._set_to):
            return before
        n = len(self._stepping)
        check_unchanged(self._built_for, self._set_to[n:], now[n:])
        settled = self.check_settings()
        settled.check_range(model.dtype)
        settled.change(model)
        settled = settled._replace(certified=before.certified)  # the certificate spoke of the rule it began with
        self.__dict__.update(_settled=settled, _set_to=now, _edited=True)
        return settled

    def _weights(self, sample_weight: SampleWeight, answers: Answers, batch: Batch, fitting: bool) -> np.ndarray:
        """Weights of the rows: the user's, times those of their labels; empty for none."""
        weights = check_weights(sample_weight, batch.n, batch.dtype)
        by_label = self._weight_by_label(answers, fitting)
        if by_label is not None:
            factors = np.array([self._factor(answer, by_label) for answer in answers], np.float64)
            weights = check_weights(weights * factors if len(weights) else factors, batch.n, batch.dtype)
        check_caps(max(BOLD) if isinstance(self.C, str) else self.C, weights, batch.dtype)
        return weights

    def _weight_by_label(self, answers: Answers, fitting: bool) -> dict[Hashable, float] | None:
        """What `class_weight` stands for, None, a dict or "balanced"; None for no weights."""
        by_label = self.class_weight
        if by_label is None or isinstance(by_label, dict):
            return by_label
        if not fitting:
            raise ValueError(
                "class_weight='balanced' needs all labels at once and works with fit only; "
                "give a dict of label → weight to learn from a stream."
            )
        return self._balanced(answers)

    @staticmethod
    def _balanced(answers: Answers) -> dict[Hashable, float]:
        """Weights by which every label counts as much as any other."""
        counts = Counter(answers)
        return {label: len(answers) / (len(counts) * n) for label, n in counts.items()}

    @staticmethod
    def _factor(answer: Any, by_label: dict[Hashable, float]) -> float:
        """The weight of a row by its answer."""
        return by_label.get(answer, 1.0)

    # ------------------------------------------------------------------ rows
    @property
    def feature_names_in_(self) -> np.ndarray:
        """Names of the data frames' columns."""
        return self._of_reader("feature_names_in_", self._parts.reader.frame)

    @property
    def feature_names_(self) -> list[Hashable]:
        """Names of the features met so far, in order of appearance; exists where rows are dicts."""
        return list(self._of_reader("feature_names_", self._parts.reader.names))

    def _rows(self, X: object) -> Rows:
        """Rows to be asked about."""
        return self._parts.reader.read(self, X, grow=False).rows

    def _row(self, x: object) -> Rows:
        """One row to be asked about."""
        return self._parts.reader.read(self, self._parts.reader.one(x), grow=False).rows

    def _dense(self, X: np.ndarray, dtype: np.dtype) -> Rows:
        """A dense matrix as this learner's loops read it."""
        return dense_rows(X, dtype)

    def _dtype(self, dtype: np.dtype) -> np.dtype:
        """The weights' type where there are weights, else the setting, else the input's."""
        model = self._parts.model
        return model.dtype if model is not None else np.dtype(self.dtype or dtype)

    def _describe(self, f: np.ndarray, v: np.ndarray) -> dict[Hashable, float]:
        """A scaled row as a dict, for label features of the user's own."""
        return {self._parts.reader.name_of(i): value for i, value in zip(f.tolist(), v.tolist(), strict=True)}

    def _largest(self, shares: Iterable[Share], top: int | None) -> list[tuple[Hashable, float]]:
        """Shares of a score by name, largest first, without those that are 0."""
        name_of = self._parts.reader.name_of
        named = [
            (share.feature if share.named else name_of(cast(int, share.feature)), share.value)
            for share in shares
            if share.value != 0.0
        ]
        return sorted(named, key=lambda item: -abs(item[1]))[:top]

    # ------------------------------------------------------------------ what was learnt
    @property
    def support_(self) -> np.ndarray:
        """With a kernel: the rounds, from 0, whose rows are remembered; in the order of `support_vectors_`."""
        return self._with_kernel("support_").remembered.rounds.copy()

    @property
    def support_vectors_(self) -> np.ndarray | sparse.csr_array:
        """With a kernel: the remembered rows (steps, features), for "single" from their labels' means; maybe sparse."""
        return self._with_kernel("support_vectors_").support_vectors()

    @property
    def dual_coef_(self) -> np.ndarray:
        """With a kernel: coefficients of the remembered rows, (steps, labels), or (steps, 1) for one vector."""
        return self._with_kernel("dual_coef_").remembered.coef.copy()

    def _with_kernel(self, name: str) -> KernelModel:
        model = self._learnt(name)
        if not isinstance(model, KernelModel):
            raise AttributeError(f"{name} exists for learners with a kernel that remembers rows; this one has coef_.")
        return model

    def _with_weights(self, name: str) -> R_co:
        model = self._learnt(name)
        if isinstance(model, KernelModel):
            hint = "weights live in its space. Use support_, dual_coef_ or explain."
            raise AttributeError(f"{name} does not exist with a kernel: {hint}")
        return model

    @property
    def dual_(self) -> float | None:
        """The dual certificate: no fixed predictor has a smaller objective. None where the rule has none."""
        model = self._learnt("dual_")
        certified = self._settled is not None and self._settled.certified and not self._edited
        return model.dual if certified else None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, whole or not at all; `hinged.load` reads it."""
        with self._writing():
            if self._model is not None:
                self._keep_up()  # refuses a change of settings that the model cannot follow
            super().save(path)

    def _state(self) -> State:
        model, reader = self._learnt("state"), self._parts.reader
        with model.lock:
            about = {
                "edited": self._edited,
                "dtype": model.dtype.name,
                "columns": reader.width,
                "notes": self._notes,
                "chosen": {name: to_json(name, value) for name, value in self._chosen.items()},
            }
            names = {"labels": list(self.known_labels()), "phi": list(getattr(model, "names", ()))}
            if reader.names is not None:
                names["features"] = list(reader.names)
            if reader.frame is not None:
                names["frame"] = reader.frame.tolist()
            return about, model.arrays(), names

    def _restore(self, about: dict[str, Any], arrays: dict[str, np.ndarray], names: dict[str, list[Hashable]]) -> None:
        """Become the model of that state."""
        said = {name: from_json(name, value, {}) for name, value in about.get("chosen", {}).items()}
        self._chosen = self._left_to_it({**choices_before(self), **said})  # older files do not say all of it
        settled = (plain := self._plainly()).check_settings()
        settled.check_range(about["dtype"])
        model = settled.new_model(plain, about["dtype"])
        if np.dtype(about["dtype"]) != model.dtype:
            raise ValueError(f"its weights are {about['dtype']}, its settings say {model.dtype}")
        model.restore(arrays, names["phi"], len(names["labels"]))
        self._edited, self._notes = about["edited"], about.get("notes")
        self._parts = Parts(LabelIndex(names["labels"]), model, self._reader_of(about, names))
        self._settled, self._set_to = settled, type(self)._as_set(self)

    def _reader_of(self, about: dict[str, Any], names: dict[str, list[Hashable]]) -> ReadsRows:
        """The reader of a state."""
        features = FeatureNames(names["features"]) if "features" in names else None
        frame = np.array(names["frame"], object) if "frame" in names else None
        return RowReader(features, about["columns"], frame)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags
