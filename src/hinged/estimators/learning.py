"""What every learner on rows shares: fit, partial_fit and learn_one, checks before changes, changes of settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_random_state

from hinged.estimators.inputs import check_caps, check_weights
from hinged.estimators.labels import Numbers
from hinged.estimators.learnt import Learnt
from hinged.estimators.reading import Batch, ReadsRows
from hinged.estimators.settings import whole
from hinged.loops.ledger import Told
from hinged.loops.rows import Dense, Rows

__all__ = ["Learns"]

#: What learning leaves on an estimator beside its model; `fit` begins by forgetting it.
LEARNT_NAMES = (
    "_held",
    "_names",
    "_columns",
    "_column",
    "_learnt_with",
    "n_features_in_",
    "feature_names_in_",
)


class Learns(ReadsRows, Learnt, BaseEstimator):
    """Learning rows, whatever is predicted of them; what the answers are is the heirs' business.

    They say what answers look like (`_answers`, `_one_answer`, `_labels_of`; `_balanced` and `_factor` where they are
    no single labels), which settings may change (`_stepping`) and which not (`_built_for`), and learn (`_learn`).
    """

    _learnt_with: tuple | None = None
    _stepping: ClassVar[tuple[str, ...]]
    _built_for: ClassVar[tuple[str, ...]]
    _as_set: ClassVar[Any]  # the values of both
    _answers: Any
    _settle: Any
    _one_answer: Any
    _labels_of: Any
    _learn: Any
    C: float
    epochs: int
    shuffle: bool
    random_state: Any
    class_weight: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
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
        rng = check_random_state(self.random_state)
        batch, answers, weights = fresh._check(X, y, sample_weight, fitting=True)
        fresh._expect(answers)
        for _ in range(epochs):
            if self.shuffle:
                order = rng.permutation(batch.n)
                some = batch._replace(rows=_taken(batch.rows, order))
                theirs = answers[order] if isinstance(answers, np.ndarray | Numbers) else [answers[i] for i in order]
                fresh._learn(some, theirs, weights[order] if len(weights) else weights)
            else:
                fresh._learn(batch, answers, weights)
            batch = batch._replace(names=batch.names and [])  # known by now
        self._become(fresh, {*self.get_params(deep=False), "_lock"}, LEARNT_NAMES)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
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

    def learn_one(self, x: Any, y: Any, sample_weight: float | None = None) -> None:
        """Learn one row: a dict of feature → value, a 1-D array, or a sparse row."""
        weights = None if sample_weight is None else [sample_weight]
        with self._or_undone(several=False):
            self._learn(*self._check(self._one_row(x), self._one_answer(y), weights))

    def learn_rounds(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        sample_weight: Any = None,
        delay: int = 0,
        advance: Callable[[int], None] | None = None,
    ) -> Told:
        """`partial_fit`, and what each round came to: its flag, rank and loss.

        Parameters
        ----------
        X, y, classes, sample_weight : as in `partial_fit`
        delay : int, default 0
            The answer to a row comes that many rows later; its flag, rank and loss are those of its prediction.
        advance : function, optional
            Called now and then with the number of rounds done since its last call.

        Returns
        -------
        Told
            Arrays (rounds,): flags (1 a mistake, 0 right, -1 a new label), ranks of the best right label (0 where there
            is nothing to rank), losses.
        """
        with self._or_undone(several=True):
            batch, answers, weights = self._check(X, y, sample_weight)
            self._expect_classes(classes, answers)
            return self._learn(batch, answers, weights, min(delay, batch.n), advance)

    def _expect(self, answers: list) -> None:
        """Make known what `fit` will be asked about."""

    def _expect_classes(self, classes: Any, answers: list) -> None:
        """Make known the labels that were declared for a batch."""
        if classes is not None:
            raise ValueError(f"classes are for learners of labels; {type(self).__name__} has none. Leave them out.")

    def _check(self, X: Any, y: Any, sample_weight: Any, fitting: bool = False) -> tuple[Batch, list, np.ndarray]:
        """Everything that can be refused is refused here, before anything changes."""
        if self._model is None:
            self._settle()
        else:
            self._keep_up()
        batch = self._parse(X, grow=True)
        if self._model is None:
            self._settle(batch.dtype)
        self._check_rows(batch)
        answers = self._answers(y, batch.n)
        self._check_answers(answers, batch)
        return batch, answers, self._weights(sample_weight, answers, batch, fitting)

    def _is_up_to_date(self) -> bool:
        """Return True if no setting has changed since the last round."""
        return self._learnt_with is not None and _same(type(self)._as_set(self), self._learnt_with)

    def _check_answers(self, answers: Any, batch: Batch) -> None:
        """Refuse answers that do not suit the rows."""

    def _keep_up(self) -> None:
        """Follow a change of `rule`, `C` or `margin` since the last round; refuse one of what memory is built for."""
        now = type(self)._as_set(self)
        if self._learnt_with is None:
            self._learnt_with = now
        if _same(now, self._learnt_with):
            return
        n = len(self._stepping)
        for name, before, value in zip(self._built_for, self._learnt_with[n:], now[n:], strict=True):
            if not _same(before, value):
                raise ValueError(
                    f"{name} cannot change once something is learnt; it was {before!r}, now {value!r}. "
                    "Set it back, or call fit to start anew."
                )
        self._settle(self._model.dtype).change(self._model)
        self._learnt_with, self._edited = now, True  # the certificate spoke of the rule it began with

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_lock", None)
        return state

    def _weights(self, sample_weight: Any, answers: list, batch: Batch, fitting: bool) -> np.ndarray:
        """Weights of the rows: the user's, times those of their labels; empty for none."""
        weights = check_weights(sample_weight, batch.n, batch.dtype)
        by_label = self.class_weight
        if by_label is None:
            check_caps(self.C, weights, batch.dtype)
            return weights
        if isinstance(by_label, str) and by_label == "balanced":
            if not fitting:
                raise ValueError(
                    "class_weight='balanced' needs all labels at once and works with fit only; "
                    "give a dict of label → weight to learn from a stream."
                )
            by_label = self._balanced(answers)
        if not isinstance(by_label, dict):
            raise ValueError(
                f"class_weight must be None, 'balanced' (fit only) or a dict of label → weight; got {by_label!r}."
            )
        factors = np.array([self._factor(answer, by_label) for answer in answers], np.float64)
        weights = check_weights(weights * factors if len(weights) else factors, batch.n, batch.dtype)
        check_caps(self.C, weights, batch.dtype)
        return weights

    @staticmethod
    def _balanced(answers: list) -> dict:
        """Weights by which every label counts as much as any other."""
        counts = Counter(answers)
        return {label: len(answers) / (len(counts) * n) for label, n in counts.items()}

    @staticmethod
    def _factor(answer: Any, by_label: dict) -> float:
        """The weight of a row by its answer."""
        return by_label.get(answer, 1.0)

    def __sklearn_is_fitted__(self) -> bool:
        return self._model is not None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def _same(a: Any, b: Any) -> bool:
    """Whether settings are equal; arrays are where they are the same ones."""
    try:
        return bool(a == b)
    except ValueError:
        return False


def _taken(rows: Any, order: np.ndarray) -> Any:
    """Rows in another order."""
    if isinstance(rows, Dense):
        return Dense(rows.values[order])
    shape = (len(order), int(rows.indices.max(initial=0)) + 1)
    X = sparse.csr_array((rows.data, rows.indices, rows.indptr), shape=shape)[order]
    return Rows(X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data)
