"""What `Classifier` and `Ranker` share: learning."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from operator import attrgetter
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_random_state

from hinged.estimators.answering import Answers
from hinged.estimators.edits import LabelEdits
from hinged.estimators.geometry import check_space, tell
from hinged.estimators.holding import Held
from hinged.estimators.inputs import check_weights
from hinged.estimators.labels import LabelIndex, to_declare
from hinged.estimators.learnt import Learnt
from hinged.estimators.reading import Batch
from hinged.estimators.settings import BUILT_FOR, STEPPING, settle, whole
from hinged.loops.labels import Targets
from hinged.loops.ledger import LABELS
from hinged.loops.rows import Rows

__all__ = ["LabelEstimator"]

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
ONE_EACH, UNWEIGHTED = np.arange(2), np.zeros(0)
AS_SET = attrgetter(*STEPPING, *BUILT_FOR)


class LabelEstimator(Answers, LabelEdits, Learnt, BaseEstimator):
    """Online learner on labels; see `Classifier` and `Ranker` for the parameters."""

    _learnt_with: tuple | None = None

    def __init__(
        self,
        rule: Any = "pa1",
        C: float = 1.0,
        *,
        sharing: Any = "multi",
        features: Any = None,
        geometry: Any = "euclidean",
        margin: float = 1.0,
        scaling: str | None = None,
        normalize: bool = False,
        average: bool = False,
        bias: float = 0.0,
        class_weight: Any = None,
        n_features: int | None = None,
        epochs: int = 1,
        shuffle: bool = False,
        random_state: Any = None,
        dtype: Any = None,
    ) -> None:
        self.rule = rule
        self.C = C
        self.sharing = sharing
        self.features = features
        self.geometry = geometry
        self.margin = margin
        self.scaling = scaling
        self.normalize = normalize
        self.average = average
        self.bias = bias
        self.class_weight = class_weight
        self.n_features = n_features
        self.epochs = epochs
        self.shuffle = shuffle
        self.random_state = random_state
        self.dtype = dtype

    # ------------------------------------------------------------------ learning
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
        fresh.declare(fresh._labels_of(answers))
        order = np.arange(batch.n)
        for _ in range(epochs):
            if self.shuffle:
                order = rng.permutation(batch.n)
            some = batch._replace(rows=_taken(batch.rows, order)) if self.shuffle else batch
            fresh._learn(some, [answers[i] for i in order], weights[order] if len(weights) else weights)
        kept = {*self.get_params(deep=False), "_lock"}
        with self._writing():
            self.__dict__.update({name: value for name, value in vars(fresh).items() if name not in kept})
            for name in (set(LEARNT_NAMES) & set(vars(self))) - set(vars(fresh)):
                delattr(self, name)
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
        self._learn_batch(X, y, classes, sample_weight)
        return self

    def learn_one(self, x: Any, y: Any, sample_weight: float | None = None) -> None:
        """Learn one row: a dict of feature → value, a 1-D array, or a sparse row."""
        if sample_weight is None and type(x) is dict and self._names is not None and self.class_weight is None:
            with self._writing():
                ids = self._known_answer(y)
                if ids is not None and not self._model.functions:  # the common case of a stream
                    batch = self._parse_dicts((x,), grow=True)
                    self._keep_up()
                    self._take_in(batch)
                    self._model.learn(batch.rows, Targets(ONE_EACH, ids, UNWEIGHTED), self._known())
                    tell(self, self._model)
                    return
        weights = None if sample_weight is None else [sample_weight]
        with self._or_undone(several=False):
            self._learn(*self._check(self._one_row(x), self._one_answer(y), weights))

    def declare(self, labels: Iterable[Hashable]) -> Self:
        """Make labels known before any of their rows came; sorted where they can be compared.

        Examples
        --------
        >>> import hinged
        >>> hinged.Classifier().declare(["spam", "ham"]).classes_.tolist()
        ['ham', 'spam']
        """
        with self._writing():
            known, model = self._held
            known = LabelIndex() if known is None else known
            new = [label for label in to_declare(labels) if label not in known.position]
            self._check_count(len(known) + len(new))
            known.extend(new)
            self._held = Held(known, model)
            if model is not None:
                model.declare(len(known))
        return self

    def _learn_batch(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        sample_weight: Any = None,
        delay: int = 0,
        advance: Callable[[int], None] | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """`partial_fit`, with each round's flag and rank."""
        with self._or_undone(several=True):
            batch, answers, weights = self._check(X, y, sample_weight)
            classes = self._up_front(None if classes is None else to_declare(classes))
            if classes is not None:
                self._check_count(len({*self._known(), *classes, *self._flat(answers)[1]}))
                self.declare(classes)
            return self._learn(batch, answers, weights, min(delay, batch.n), advance)

    def _check(self, X: Any, y: Any, sample_weight: Any, fitting: bool = False) -> tuple[Batch, list, np.ndarray]:
        """Everything that can be refused is refused here, before anything changes."""
        if self._model is None:
            settle(self)
        else:
            self._keep_up()
        batch = self._parse(X, grow=True)
        if self._model is None:
            settle(self, batch.dtype)
        check_space(self, batch)
        answers = self._answers(y, batch.n)
        return batch, answers, self._weights(sample_weight, answers, batch, fitting)

    def _learn(
        self,
        batch: Batch,
        answers: list,
        weights: np.ndarray,
        delay: int = 0,
        advance: Callable[[int], None] | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        known, model = self._held
        known = LabelIndex() if known is None else known
        indptr, flat = self._flat(answers)
        each = np.repeat(weights, np.diff(indptr)) if len(weights) else None
        ids, new = known.encode(flat, each)
        if new:
            self._check_count(len(known) + len(new))
        if model is None:
            settled = settle(self, batch.dtype)
            self._certified, self._edited = settled.certified, False
            model = settled.new_model(self, batch.dtype)
            model.declare(len(known))
            self._held = Held(known, model)
            self._keep_up()
        self._take_in(batch)
        after = [*known.labels, *new] if new else known.labels
        try:
            told = model.learn(batch.rows, Targets(indptr, ids, weights), after, delay, self._describe, advance)
        finally:  # also where the call is interrupted: the labels met so far are known
            known.extend(new[: max(0, int(model.ledger.counts[LABELS]) - len(known))])
        tell(self, model)
        return told

    def _keep_up(self) -> None:
        """Follow a change of `rule`, `C` or `margin` since the last round; refuse one of what memory is built for."""
        now = AS_SET(self)
        if self._learnt_with is None:
            self._learnt_with = now
        if now == self._learnt_with:
            return
        for name, before, value in zip(
            BUILT_FOR, self._learnt_with[len(STEPPING) :], now[len(STEPPING) :], strict=True
        ):
            if before != value:
                raise ValueError(
                    f"{name} cannot change once something is learnt; it was {before!r}, now {value!r}. "
                    "Set it back, or call fit to start anew."
                )
        settled = settle(self, self._model.dtype)
        self._model.setting = settled.rule._replace(least_norm=self._model.setting.least_norm)
        self._model.own = settled.own
        self._learnt_with, self._edited = now, True  # the certificate spoke of the rule it began with

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_lock", None)
        return state

    def _check_count(self, n_labels: int) -> None:
        most = settle(self).most_labels
        if n_labels > most:
            raise ValueError(
                f"rule={self.rule!r} with sharing={self.sharing!r} solves a problem over all pairs of labels and takes "
                f"at most {most} of them; got {n_labels}. Use sharing='multi', or rule='simproj'."
            )

    def _weights(self, sample_weight: Any, answers: list, batch: Batch, fitting: bool) -> np.ndarray:
        """Weights of the rows: the user's, times those of their labels; empty for none."""
        weights = check_weights(sample_weight, batch.n, batch.dtype)
        by_label = self.class_weight
        if by_label is None:
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
        return check_weights(weights * factors if len(weights) else factors, batch.n, batch.dtype)

    def __sklearn_is_fitted__(self) -> bool:
        return self._model is not None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def _taken(rows: Rows, order: np.ndarray) -> Rows:
    """Rows in another order."""
    shape = (len(order), int(rows.indices.max(initial=0)) + 1)
    X = sparse.csr_array((rows.data, rows.indices, rows.indptr), shape=shape)[order]
    return Rows(X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data)
