"""What `Classifier` and `Ranker` share: learning, scores, confidence, reasons."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Hashable, Iterable
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_random_state

from hinged.estimators.calibration import confidence_by_bin
from hinged.estimators.edits import LabelEdits
from hinged.estimators.inputs import check_weights
from hinged.estimators.labels import LabelIndex, as_labels, in_order
from hinged.estimators.learnt import Learnt
from hinged.estimators.reading import Batch, ReadsRows
from hinged.estimators.settings import BUILT_FOR, STEPPING, settle, whole
from hinged.loops.explain import row_contributions, shared_contributions
from hinged.loops.labels import WEIGHTS, Targets
from hinged.loops.ledger import LABELS, lead_bin
from hinged.loops.model import LabelModel
from hinged.loops.rows import Rows

__all__ = ["LabelEstimator"]

#: What learning leaves on an estimator beside its model; `fit` begins by forgetting it.
LEARNT_NAMES = (
    "_labels",
    "_names",
    "_model",
    "_indicator",
    "_column",
    "_learnt_with",
    "n_features_in_",
    "feature_names_in_",
)
ONE_AT_A_TIME = threading.Lock()
ONE_EACH, UNWEIGHTED = np.arange(2), np.zeros(0)


class LabelEstimator(ReadsRows, LabelEdits, Learnt, BaseEstimator):
    """Online learner on labels; see `Classifier` and `Ranker` for the parameters."""

    _labels: LabelIndex | None = None
    _learnt_with: tuple | None = None

    def __init__(
        self,
        rule: Any = "pa1",
        C: float = 1.0,
        *,
        sharing: Any = "multi",
        features: Any = None,
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
        for name in set(LEARNT_NAMES) & set(vars(self)):
            delattr(self, name)
        for name in set(vars(fresh)) - set(self.get_params(deep=False)):
            setattr(self, name, getattr(fresh, name))
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
            ids = self._known_answer(y)
            if ids is not None and not self._model.functions:  # the common case of a stream
                with self._writing():
                    batch = self._parse_dicts((x,), grow=True)
                    self._keep_up()
                    self._take_in(batch)
                    self._model.learn(batch.rows, Targets(ONE_EACH, ids, UNWEIGHTED), self._known())
                return
        with self._writing():
            self._learn(*self._check(self._one_row(x), [y], None if sample_weight is None else [sample_weight]))

    def declare(self, labels: Iterable[Hashable]) -> Self:
        """Make labels known before any of their rows came; sorted where they can be compared.

        Examples
        --------
        >>> import hinged
        >>> hinged.Classifier().declare(["spam", "ham"]).classes_.tolist()
        ['ham', 'spam']
        """
        labels = labels.tolist() if hasattr(labels, "tolist") else list(labels)
        known = self._labels if self._labels is not None else LabelIndex()
        new = [label for label in in_order(as_labels(labels, len(labels))) if label not in known.position]
        self._check_count(len(known) + len(new))
        known.extend(new)
        self._labels = known
        if self._model is not None:
            self._model.declare(len(known))
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
        with self._writing():
            before = self._copied() if self._model is not None and self._model.functions else None
            try:
                batch, answers, weights = self._check(X, y, sample_weight)
                if classes is None and self._labels is None:
                    classes = self._labels_up_front(y)
                if classes is not None:
                    self._check_fits(classes, answers)
                    self.declare(classes)
                return self._learn(batch, answers, weights, min(delay, batch.n), advance)
            except BaseException:
                if before is not None:  # a user's own label features may fail midway: as if nothing had been said
                    for name in [*vars(self)]:
                        delattr(self, name)
                    for name, value in before.items():
                        setattr(self, name, value)
                raise

    def _check(self, X: Any, y: Any, sample_weight: Any, fitting: bool = False) -> tuple[Batch, list, np.ndarray]:
        """Everything that can be refused is refused here, before anything changes."""
        if self._model is None:
            settle(self)
        batch = self._parse(X, grow=True)
        answers = self._answers(y, batch.n)
        return batch, answers, self._weights(sample_weight, answers, batch.n, fitting)

    def _learn(
        self,
        batch: Batch,
        answers: list,
        weights: np.ndarray,
        delay: int = 0,
        advance: Callable[[int], None] | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        known = self._labels if self._labels is not None else LabelIndex()
        indptr, flat = self._flat(answers)
        each = np.repeat(weights, np.diff(indptr)) if len(weights) else None
        ids, new = known.encode(flat, each)
        if new:
            self._check_count(len(known) + len(new))
        if self._model is None:
            settled = settle(self)
            self._certified, self._edited = settled.certified, False
            self._model = settled.new_model(self, batch.dtype)
            self._model.declare(len(known))
        self._keep_up()
        self._labels = known
        self._take_in(batch)
        after = [*known.labels, *new] if new else known.labels
        try:
            return self._model.learn(batch.rows, Targets(indptr, ids, weights), after, delay, self._describe, advance)
        finally:  # also where the call is interrupted: the labels met so far are known
            known.extend(new[: max(0, int(self._model.ledger.counts[LABELS]) - len(known))])

    def _keep_up(self) -> None:
        """Follow a change of `rule`, `C` or `margin` since the last round; refuse one of what memory is built for."""
        now = tuple(getattr(self, name) for name in (*STEPPING, *BUILT_FOR))
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
        settled = settle(self)
        self._model.setting = settled.rule._replace(least_norm=self._model.setting.least_norm)
        self._model.own = settled.own
        self._learnt_with, self._edited = now, True  # the certificate spoke of the rule it began with

    def _check_fits(self, classes: Any, answers: list) -> None:
        """Refuse more labels than the rule can take before any of them is declared."""
        classes = classes.tolist() if hasattr(classes, "tolist") else list(classes)
        told = {*self._known(), *as_labels(classes, len(classes)), *self._flat(answers)[1]}
        self._check_count(len(told))

    def _writing(self) -> Any:
        """The lock of those who change this model; readers need none."""
        lock = vars(self).get("_lock")
        if lock is None:
            with ONE_AT_A_TIME:
                lock = vars(self).get("_lock") or threading.RLock()
                self._lock = lock
        return lock

    def _copied(self) -> dict[str, Any]:
        """Everything learnt, apart from what goes on being learnt."""
        return {name: value if name == "_lock" else copy.deepcopy(value) for name, value in vars(self).items()}

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

    def _weights(self, sample_weight: Any, answers: list, n: int, fitting: bool) -> np.ndarray:
        """Weights of the rows: the user's, times those of their labels; empty for none."""
        weights = check_weights(sample_weight, n)
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
        factors = check_weights([self._factor(answer, by_label) for answer in answers], n)
        return weights * factors if len(weights) else factors

    # ------------------------------------------------------------------ answers
    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of every known label, (rows, labels) in the order of `classes_`."""
        return self._scores(X)

    def rank(self, X: Any, top: int | None = None) -> list[list[Hashable]]:
        """The labels of each row from best to worst (the best `top` of them); ties go to the earlier label."""
        labels = self._known()
        orders = np.argsort(-self._scores(X, labels), kind="stable", axis=1)[:, :top]
        return [[labels[r] for r in order] for order in orders.tolist()]

    def rank_one(self, x: Any, top: int | None = None) -> list[Hashable]:
        """The labels from best to worst for one row; empty before any is known."""
        return [] if self._model is None else self.rank(self._one_row(x), top)[0]

    def score_gap(self, X: Any) -> np.ndarray:
        """Lead of each row's best label over the runner-up; 0 where there is no runner-up."""
        scores = self._scores(X)
        if scores.shape[1] < 2:
            return np.zeros(len(scores))
        best = np.partition(scores, scores.shape[1] - 2, axis=1)
        return best[:, -1] - best[:, -2]

    def confidence(self, X: Any) -> np.ndarray:
        """Chance in [0, 1] that each row's best label is right, learnt online from earlier leads and hits."""
        by_bin = confidence_by_bin(*self._fitted().ledger.leads)
        return by_bin[[lead_bin(gap) for gap in self.score_gap(X)]]

    def explain(self, x: Any, label: Hashable, top: int | None = 10) -> list[tuple[Hashable, float]]:
        """The features of a row that carry a label's score, signed, largest first; all of them sum to the score.

        Parameters
        ----------
        x : dict, 1-D array or sparse row
        label : a known label
        top : how many, None for all

        Examples
        --------
        >>> import hinged
        >>> model = hinged.Classifier(C=0.5)
        >>> for x, y in [({"tax": 1, "the": 1}, "work"), ({"cake": 1, "the": 1}, "home"), ({"tax": 1}, "work")]:
        ...     model.learn_one(x, y)
        >>> model.explain({"tax": 2}, "work")
        [('tax', 1.0)]
        """
        model, at, labels = self._fitted(), self._position(label), self._known()
        rows = self._parse(self._one_row(x), grow=False).rows
        held = [paged.view for paged in model.stores]
        columns, scaling, counts = model._columns_of(labels), model._scaling(), model.ledger.counts
        mean_over, k = model.mean_over, len(labels)
        ids, values = row_contributions(rows, columns, scaling, held[WEIGHTS][0], counts, mean_over, k, at)
        total = dict(zip(ids.tolist(), values.tolist(), strict=True))
        own: list[tuple[Hashable, float]] = []
        if model.plan.parts:
            explicit = model._explicit(rows, labels, self._describe, False) if model.functions else None
            parts = model._parts(labels, explicit, held)
            ids, values = shared_contributions(rows, scaling, parts, counts, mean_over, k, at)
            own_names = list(model.names)
            for f, value in zip(ids.tolist(), values.tolist(), strict=True):
                if model.functions:
                    own.append((own_names[f - 1], value))
                else:
                    total[f] = total.get(f, 0.0) + value
        carrying = [*((self._feature_name(f), value) for f, value in total.items() if value != 0.0), *own]
        return sorted((c for c in carrying if c[1] != 0.0), key=lambda item: -abs(item[1]))[:top]

    def _scores(self, X: Any, labels: list[Hashable] | None = None) -> np.ndarray:
        """Scores of the known labels; of those given, where a reader has taken hold of a list a writer may replace."""
        model = self._fitted()
        return model.score(self._parse(X, grow=False).rows, self._known() if labels is None else labels, self._describe)

    def _row_scores(self, x: Any, labels: list[Hashable]) -> np.ndarray:
        """Scores of one row."""
        rows = self._parse_dicts((x,), False).rows if type(x) is dict else self._parse(self._one_row(x), False).rows
        return self._fitted().score(rows, labels, self._describe)[0]

    def _known(self) -> list[Hashable]:
        return [] if self._labels is None else self._labels.labels

    def _fitted(self) -> LabelModel:
        if self._model is None:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet: it has learnt nothing. "
                "Call fit, partial_fit or learn_one first."
            )
        return self._model

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
