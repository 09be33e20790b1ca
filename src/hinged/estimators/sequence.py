"""Online tagging of sequences."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from itertools import chain
from numbers import Real
from typing import ClassVar, NamedTuple, Self

import numpy as np

from hinged.compiling.arrays import Ints
from hinged.estimators.geometry_settings import check_no_simplex
from hinged.estimators.inputs import check_caps, check_weights
from hinged.estimators.labels import LabelIndex, check_labels, to_declare
from hinged.estimators.options import Cost, DType, Geometry, Lengths, RandomState, Rule, SampleWeight
from hinged.estimators.parameters import documented
from hinged.estimators.protocol import Advance
from hinged.estimators.settings import (
    check_dtype,
    check_sizes,
    check_switches,
    check_unchanged,
    random_generator,
    whole,
)
from hinged.estimators.tagging import Batch, Tagging
from hinged.geometry.choice import metric_of
from hinged.loops.chain import NO_TABLE, ChainModel
from hinged.loops.ledger import LABELS, Told
from hinged.loops.sequence import ADDITIVE, MAX_LOSS, PREDICTION, Wish
from hinged.rules.table import check_runs
from hinged.rules.table import resolve as resolve_rule
from hinged.tasks.cost import cost_matrix
from hinged.tasks.labels import check_novel

__all__ = ["SequenceTagger"]

CONSTRAINTS = {"prediction": PREDICTION, "max-loss": MAX_LOSS, "additive": ADDITIVE}
BUILT_FOR = ("geometry", "average", "dtype")  # settings that cannot change between rounds


class Read(NamedTuple):
    """What a call brings, all of it found sound."""

    wish: Wish  # the settings, resolved
    batch: Batch
    tags: list[Hashable]  # one per token
    weights: np.ndarray


@documented
class SequenceTagger(Tagging):
    """Online learner of one tag per token, where what a token is depends on its neighbours.

    A sequence of tags scores what its tokens' features say of each tag, plus what follows what; the best of all
    sequences is found exactly. After each sentence the right sequence must beat a rival by the root of the rival's
    cost.

    Parameters
    ----------
    rule : str, default "pa1"
        How far to move: "perceptron", "pa", "pa1", "pa2", "simperc", "simproj", "conproj", "optimal", "uniform".
    C : float, default 1.0
        The longest step, positive.
    cost : None, matrix, dict or callable, default None
        What predicting one sequence costs where another is right: None the number of wrong tags; a matrix
        ρ[right, predicted] in the order of `classes_`, or a dict of such pairs of tags (1 for those not named), summed
        over positions; or a function of two lists of tags.
    constraint : "prediction", "max-loss" or "additive", default "prediction"
        Which rival: the predicted sequence; the one that misses its margin √ρ by most (exact, number of wrong tags
        only); or the one that maximises score + ρ, whose margin is then ρ itself (not the paper's update).
    n_best : int, default 1
        How many of the best sequences the rule looks at; the right one among them is left out. More than one is what
        the simultaneous rules and "optimal" are for; not with "max-loss".
    {geometry, novel}
    average : bool, default False
        Answer with the mean of the weights after each round.
    epochs : int, default 1
        Passes over the sentences in `fit`.
    shuffle : bool, default False
        Another order in each epoch of `fit`.
    random_state : int, RandomState or None, default None
        For `shuffle`.
    dtype : float32, float64 or None, default None
        Of the features' weights; None takes a matrix's own (float32 stays), and float64 for names.

    Attributes
    ----------
    classes_ : array (tags,)
    coef_ : array or sparse array (tags, features)
    transitions_ : array (tags, tags), [previous, current]
    feature_names_ : list
    n_rounds_, n_mistakes_, n_updates_, n_novel_ : int
        Sentences; those not tagged right throughout; those that took a step; those with a new tag.
    total_cost_ : float
    dual_ : float or None
        The dual certificate.

    References
    ----------
    Crammer et al. (2006), sections 8 and 9; Amit et al. (2006), section 7. Derived in docs/maths.md, "Sequences".

    Examples
    --------
    >>> import hinged
    >>> model = hinged.SequenceTagger(epochs=3)
    >>> X = [[["w=the"], ["w=cat"], ["w=sat"]], [["w=a"], ["w=dog"], ["w=ran", "ends=an"]]]
    >>> model.fit(X, [["D", "N", "V"], ["D", "N", "V"]]).predict([[["w=a"], ["w=cat"], ["w=sat"]]])
    [['D', 'N', 'V']]
    """

    task = "sequence"

    _set_to: tuple[object, ...] | None = None
    rule: Rule
    C: float
    cost: Cost
    constraint: str
    n_best: int
    geometry: Geometry = "euclidean"  # of a model pickled before the setting existed, as is
    novel: str = "skip"  # of a model pickled before the setting existed
    _before: ClassVar[dict[str, object]] = {"novel": "skip"}
    average: bool
    epochs: int
    shuffle: bool
    random_state: RandomState

    def __init__(
        self,
        rule: Rule = "pa1",
        C: float = 1.0,
        *,
        cost: Cost = None,
        constraint: str = "prediction",
        n_best: int = 1,
        geometry: Geometry = "euclidean",
        novel: str = "learn",
        average: bool = False,
        epochs: int = 1,
        shuffle: bool = False,
        random_state: RandomState = None,
        dtype: DType = None,
    ) -> None:
        self._store(locals())

    # ------------------------------------------------------------------ learning
    def fit(self, X: object, y: object, sample_weight: SampleWeight = None, lengths: Lengths = None) -> Self:
        """Forget everything, make the tags of `y` known, and learn the sentences `epochs` times.

        Parameters
        ----------
        X : list of sentences
            A sentence is a list of tokens, a token a list of feature names or a dict of name → value; or a sentence is
            a matrix (tokens, features).
        y : list of tag lists
        sample_weight : array (sentences,), optional
            Replaces C by weight · C in each round; 0 leaves the model as it is.
        lengths : array (sentences,), optional
            Where X is one matrix of all tokens: how many each sentence has. `y` then has a tag per row.
        """
        fresh = type(self)(**self.get_params(deep=False))
        epochs = whole("epochs", self.epochs, 1)
        rng = random_generator(self.random_state)
        read = fresh._check(X, y, sample_weight, lengths)
        fresh.declare(set(read.tags))
        n = len(read.batch.sentences.ends) - 1
        for _ in range(epochs):
            fresh._learn(read, rng.permutation(n) if self.shuffle else np.arange(n))
        self._become(fresh)
        return self

    def partial_fit(
        self,
        X: object,
        y: object,
        classes: object = None,
        sample_weight: SampleWeight = None,
        lengths: Lengths = None,
    ) -> Self:
        """Learn sentences in order, keeping what was learnt; new tags and new features are welcome.

        Parameters
        ----------
        X, y, sample_weight, lengths : as in `fit`
        classes : tags to make known first, optional
        """
        self.learn_rounds(X, y, classes, sample_weight, lengths=lengths)
        return self

    def learn_one(self, sentence: object, tags: object, sample_weight: float | None = None) -> None:
        """Learn one sentence."""
        self.learn_rounds([sentence], [tags], None, None if sample_weight is None else [sample_weight])

    def declare(self, labels: Iterable[Hashable]) -> Self:
        """Make tags known before any of their sentences came; sorted where they can be compared."""
        with self._writing():
            known = LabelIndex() if self._labels is None else self._labels
            new = [label for label in to_declare(list(labels)) if label not in known.position]
            self.check_settings()
            self._costs([*known.labels, *new])
            if self._model is not None:
                self._model.declare(len(known) + len(new))  # first: readers go by the tags
            known.extend(new)
            self._parts = self._parts._replace(labels=known)
        return self

    def learn_rounds(
        self,
        X: object,
        y: object,
        classes: object = None,
        sample_weight: SampleWeight = None,
        delay: int = 0,
        advance: Advance | None = None,
        lengths: Lengths = None,
    ) -> Told:
        """`partial_fit`, and what each round came to; its rank is the place of the right sequence."""
        with self._or_undone(several=True):
            read = self._check(X, y, sample_weight, lengths)
            n = len(read.batch.sentences.ends) - 1
            if classes is not None:
                self.declare(to_declare(classes))
            return self._learn(read, np.arange(n), min(delay, n), advance)

    def _check(self, X: object, y: object, sample_weight: SampleWeight, lengths: Lengths) -> Read:
        """Everything that can be refused is refused here; names not met before have their numbers after it."""
        wish = self.check_settings()
        batch = self._parse(X, lengths, grow=True)
        sizes = np.diff(batch.sentences.ends)
        tags = list(chain.from_iterable(self._tag_lists(y, sizes, lengths)))
        check_labels(tags)
        check_sizes({"C": wish.C}, batch.dtype.name)
        weights = check_weights(sample_weight, len(sizes), batch.dtype)
        check_caps(self.C, weights, batch.dtype)
        return Read(wish, batch, tags, weights)

    def _learn(self, read: Read, order: np.ndarray, delay: int = 0, advance: Advance | None = None) -> Told:
        wish, batch, tags, weights = read
        known = LabelIndex() if self._labels is None else self._labels
        each = np.repeat(weights, np.diff(batch.sentences.ends)) if len(weights) else None
        ids, new = known.encode(tags, each)
        after = [*known.labels, *new]
        rho = self._costs(after)
        model = self._model
        if model is None:
            model = self._new_model(batch.dtype, wish, rho)
            model.declare(len(known))
            self._parts, self._edited = self._parts._replace(labels=known, model=model), False
        self._keep_up(model, wish, rho)
        with self._between_rounds():
            reader = self._parts.reader
            width = max(batch.width, reader.n_known)
            model.widen(width)
            if reader.names is None:
                self._parts = self._parts._replace(reader=reader._replace(width=width))  # last: readers go by it
            cost = self._asked(self.cost, after) if callable(self.cost) else None
            try:
                return model.learn(batch.sentences, ids, order, weights, len(after), cost, delay, advance)
            finally:  # also where the call is interrupted: the tags met so far are known
                known.extend(new[: max(0, int(model.counts[LABELS]) - len(known))])

    def _asked(self, of_tags: Callable[..., float], labels: list[Hashable]) -> Callable[[Ints, Ints], float]:
        """The user's cost, of numbered tags."""

        dtype = self._dtype(np.dtype(np.float64)).name

        def cost(right: Ints, other: Ints) -> float:
            value = of_tags([labels[t] for t in right.tolist()], [labels[t] for t in other.tolist()])
            if not isinstance(value, Real | np.number | np.bool_) or not 0.0 <= float(value) < math.inf:
                raise ValueError(f"cost must return a finite number that is not negative; got {value!r}.")
            check_sizes({"cost": float(value)}, dtype)
            return float(value)

        return cost

    # ------------------------------------------------------------------ settings
    def check_settings(self) -> Wish:
        """Check every setting, by name; return what they stand for. A ValueError says what was wrong."""
        step, _own = resolve_rule(self.rule, self.C, 1.0)
        check_runs("in a SequenceTagger", self.rule, step.words)
        if not isinstance(self.constraint, str) or self.constraint not in CONSTRAINTS:
            raise ValueError(
                f"constraint must be 'prediction', 'max-loss' or 'additive'; got constraint={self.constraint!r}."
            )
        n_best = whole("n_best", self.n_best, 1)
        self._check_constraint(n_best)
        check_no_simplex(self.geometry, "in a SequenceTagger")
        check_switches(self, ("average", "shuffle"))
        check_dtype(self.dtype)
        check_sizes({"C": step.C}, self._dtype(np.dtype(np.float64)).name)
        self._costs([])
        learns_new = check_novel(self.novel)
        return Wish(step.words, step.C, step.uses_weight, CONSTRAINTS[self.constraint], n_best, 0.0, learns_new)

    def _check_constraint(self, n_best: int) -> None:
        """Refuse, by name, what a constraint cannot be combined with."""
        if self.constraint == "max-loss" and n_best > 1:
            raise ValueError(f"constraint='max-loss' looks at one rival; got n_best={n_best}. Use 'additive', or 1.")
        if self.constraint == "max-loss" and self.cost is not None:
            raise ValueError(
                "constraint='max-loss' is exact for the number of wrong tags alone, cost=None; got a cost. Use "
                "constraint='prediction' for any cost, 'additive' for a matrix."
            )
        if self.constraint == "additive" and callable(self.cost):
            raise ValueError(
                "constraint='additive' needs a cost by position, None or a matrix; got a function. Use 'prediction'."
            )

    def _costs(self, labels: list[Hashable]) -> np.ndarray:
        """Costs by position (tags, tags); empty for the number of wrong tags, and for a function."""
        rho = NO_TABLE if self.cost is None or callable(self.cost) else cost_matrix(self.cost, labels)
        check_sizes({"cost": float(rho.max(initial=0.0))}, self._dtype(np.dtype(np.float64)).name)
        return rho

    def _new_model(self, dtype: np.dtype, wish: Wish, rho: np.ndarray) -> ChainModel:
        metric = metric_of(self.geometry)
        adaptive = 0.0 if metric is None else float(metric.r)
        model = ChainModel(self.dtype or dtype, wish, rho, bool(self.average), adaptive)
        if model.dtype != dtype:
            raise ValueError(f"its weights are {dtype}, its settings say {model.dtype}")
        return model

    def _keep_up(self, model: ChainModel, wish: Wish, rho: np.ndarray) -> None:
        """Follow any change of the rule since the last round; refuse one of what memory is built for."""
        now = tuple(getattr(self, name) for name in BUILT_FOR)
        if self._set_to is None or len(self._set_to) != len(now):  # a pickle from before one of them existed
            self._set_to = now
        check_unchanged(BUILT_FOR, self._set_to, now)
        k = min(len(model.rho), len(rho))  # costs of tags that were new since then come on top
        same = bool(len(model.rho)) == bool(len(rho)) and np.array_equal(model.rho[:k, :k], rho[:k, :k])
        if not same or model.wish._replace(least_norm=0.0) != wish:
            self._edited = True  # the certificate spoke of the rule it began with
        model.ask(wish, rho)

    def _runs_functions(self) -> bool:
        return callable(self.cost)
