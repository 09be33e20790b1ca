"""What `Classifier` and `Ranker` share: learning."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from hinged.estimators.answering import Answers, as_scored
from hinged.estimators.edits import LabelEdits
from hinged.estimators.geometry import check_space, tell
from hinged.estimators.holding import Held, must_be_undone
from hinged.estimators.inputs import dense_values
from hinged.estimators.kernel_rows import part_of_rows
from hinged.estimators.label_weights import LabelWeights
from hinged.estimators.labels import LabelIndex, to_declare, without_rival
from hinged.estimators.learning import Learns
from hinged.estimators.reading import Batch
from hinged.estimators.scored import Scored
from hinged.estimators.settings import BUILT_FOR, STEPPING, check_sizes, settle
from hinged.loops.costs import Costs
from hinged.loops.labels import Targets
from hinged.loops.ledger import LABELS, Told, new_ledger, new_told
from hinged.loops.model import LabelModel
from hinged.loops.rows import Dense, Rows
from hinged.tasks.cost import cost_matrix

__all__ = ["LabelEstimator"]

ONE_EACH, UNWEIGHTED = np.arange(2), np.zeros(0)


class Reading(NamedTuple):
    """A stream as a learner that starts from zero reads it.

    Attributes
    ----------
    rows : Rows
        Before scaling.
    targets : Targets
        Positions of the right labels of each row.
    labels : list
        Every label, after the last row.
    n_known : int
        How many of them are known before the first row.
    new_model : function
        Makes an empty model of the learner's settings that knows these labels and columns.
    describe : function
        A scaled row as a dict, for label features of the user's own.
    """

    rows: Rows
    targets: Targets
    labels: list[Hashable]
    n_known: int
    new_model: Callable[[], LabelModel]
    describe: Callable[[np.ndarray, np.ndarray], dict[Hashable, float]]


class LabelEstimator(Answers, LabelEdits, LabelWeights, Learns):
    """Online learner on labels; see `Classifier` and `Ranker` for the parameters."""

    _stepping = STEPPING
    _built_for = BUILT_FOR
    _as_set: ClassVar = attrgetter(*STEPPING, *BUILT_FOR)
    _flat: Any
    _known_answer: Any
    _up_front: Any
    kernel: Any = None
    device: str = "cpu"
    budget: Any = None

    def __init__(
        self,
        rule: Any = "pa1",
        C: float = 1.0,
        *,
        sharing: Any = "multi",
        features: Any = None,
        geometry: Any = "euclidean",
        margin: float = 1.0,
        cost: Any = None,
        constraint: str = "max-loss",
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
        self.sharing = sharing
        self.features = features
        self.geometry = geometry
        self.margin = margin
        self.cost = cost
        self.constraint = constraint
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

    # ------------------------------------------------------------------ learning
    def learn_one(self, x: Any, y: Any, sample_weight: float | None = None) -> None:
        """Learn one row: a dict of feature → value, a 1-D array, or a sparse row."""
        if sample_weight is None and type(x) is dict and self._names is not None and self.class_weight is None:
            with self._writing():
                ids, model, known = self._known_answer(y), self._model, self.known_labels()
                usual = ids is not None and not must_be_undone(model) and self._is_up_to_date()
                if usual:  # the common case of a stream
                    batch = self._parse_dicts((x,), grow=True)
                    self._price(model, known)
                    self._take_in(batch)
                    model.learn(batch.rows, Targets(ONE_EACH, ids, UNWEIGHTED), known)
                    tell(self, model)
                    return
        super().learn_one(x, y, sample_weight)

    def learn_rounds(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        sample_weight: Any = None,
        delay: int = 0,
        advance: Callable[[int], None] | None = None,
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
            Called before each round with what the current weights say of its row; not with a delay.

        Returns
        -------
        Told
            Arrays (rounds,): flags (1 a mistake, 0 right, -1 a new label), ranks of the best right label (0 where there
            is nothing to rank), losses.
        """
        if before is None:
            return super().learn_rounds(X, y, classes, sample_weight, delay, advance)
        if delay:
            raise ValueError(f"before is called where answers come at once; got delay={delay!r}. Leave one out.")
        with self._or_undone(several=True):
            batch, answers, weights = self._check(X, y, sample_weight)
            self._expect_classes(classes, answers)
            told = new_told(batch.n)
            for i in range(batch.n):
                one = slice(i, i + 1)
                row = batch._replace(rows=part_of_rows(batch.rows, one))
                before(self._by_current_weights(row.rows))
                for of_all, of_one in zip(told, self._learn(row, answers[one], weights[one]), strict=True):
                    of_all[one] = of_one
                batch = batch._replace(names=batch.names and [])  # known by now
                if advance is not None:
                    advance(1)
        return told

    def _by_current_weights(self, rows: Any) -> Scored:
        """What the weights say of a row, without their mean; nothing before the first round."""
        labels, model = self.known_labels(), self._model
        if model is None:
            return Scored((), np.zeros((1, 0)), 0.0, new_ledger().leads)
        return as_scored(labels, model, model.score(rows, labels, self._describe, current=True))

    def read_stream(self, X: Any, y: Any, classes: Any = None) -> Reading:
        """Rows and answers as this learner, fresh, would read them; it stays fresh but for the labels and names."""
        batch, answers, _ = self._check(X, y, None)
        self._expect_classes(classes, answers)
        index = self._labels or LabelIndex()
        n_known = len(index)
        indptr, flat = self._flat(answers)
        ids, new = index.encode(flat, None)
        settled = self._settle(batch.dtype)

        def new_model(width: int = 0) -> LabelModel:
            model: LabelModel = settled.new_model(self, batch.dtype)
            model.declare(n_known)
            model.widen(width)
            return model

        self._held = Held(index, new_model())
        self._take_in(batch)
        width, self._held = self._model.n_features, Held(index, None)
        targets = Targets(np.asarray(indptr, np.int64), ids, np.zeros(0))
        labels = [*index.labels, *new]
        return Reading(batch.rows, targets, labels, n_known, partial(new_model, width), self._describe)

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
            if model is not None:
                model.declare(len(known) + len(new))  # first: readers go by the labels
            known.extend(new)
            self._held = Held(known, model)
        return self

    def _settle(self, dtype: Any = np.float64) -> Any:
        return settle(self, dtype)

    def _dense(self, X: np.ndarray, dtype: np.dtype) -> Any:
        return super()._dense(X, dtype) if self.kernel is None else Dense(dense_values(X, dtype))

    def _check_rows(self, batch: Batch) -> None:
        check_space(self, batch)

    def _expect(self, answers: list) -> None:
        self.declare(self._labels_of(answers))

    def _expect_classes(self, classes: Any, answers: list) -> None:
        classes = self._up_front(None if classes is None else to_declare(classes))
        if classes is not None:
            if self._settle().most_labels < math.inf:
                self._check_count(len({*self.known_labels(), *classes, *self._flat(answers)[1]}))
            self.declare(classes)

    def _learn(
        self,
        batch: Batch,
        answers: list,
        weights: np.ndarray,
        delay: int = 0,
        advance: Callable[[int], None] | None = None,
    ) -> Told:
        known, model = self._held
        known = LabelIndex() if known is None else known
        n_before = len(known)
        indptr, flat = self._flat(answers)
        each = np.repeat(weights, np.diff(indptr)) if len(weights) else None
        ids, new = known.encode(flat, each)
        if new:
            self._check_count(len(known) + len(new))
        if model is None:
            settled = self._settle(batch.dtype)
            self._certified, self._edited = settled.certified, False
            model = settled.new_model(self, batch.dtype)
            model.declare(len(known))
            self._held = Held(known, model)
            self._keep_up()
        with self._between_rounds():
            self._take_in(batch)
            after = [*known.labels, *new] if new else known.labels
            self._price(model, after)
            targets = Targets(indptr, ids, weights)
            try:
                told: Told = model.learn(batch.rows, targets, after, delay, self._describe, advance)
            finally:  # also where the call is interrupted: the labels met so far are known
                known.extend(new[: max(0, int(model.ledger.counts[LABELS]) - len(known))])
        tell(self, model)
        if n_before < 2 or (np.diff(indptr) != 1).any():  # elsewhere each round has one right label, and a rival
            told.ranks[without_rival(indptr, ids, n_before, delay)] = 0
        return told

    def _price(self, model: Any, labels: Sequence[Hashable]) -> None:
        """Give the model the costs of these labels, where mistakes have costs."""
        if self.cost is None:
            return
        now = (labels, self.cost, self.constraint)
        before = getattr(model, "priced", None)
        if before is None or any(a is not b for a, b in zip(now, before, strict=True)):
            rho = cost_matrix(self.cost, labels)
            check_sizes({"cost": float(rho.max(initial=0.0))}, model.dtype.name)
            model.costs, model.priced = Costs(rho, self.constraint == "prediction"), now

    def _check_count(self, n_labels: int) -> None:
        most = self._settle().most_labels
        if n_labels > most:
            raise ValueError(
                f"rule={self.rule!r} with sharing={self.sharing!r} solves a problem over all pairs of labels and takes "
                f"at most {most} of them; got {n_labels}. Use sharing='multi', or rule='simproj'."
            )
