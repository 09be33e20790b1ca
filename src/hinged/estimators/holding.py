"""What a learner holds: labels and weights that change together, writers in turn, and calls that leave no trace."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import wraps
from itertools import islice
from typing import Any, ClassVar, NamedTuple, Self, TypeVar, cast

from hinged.estimators.labels import LabelIndex
from hinged.estimators.protocol import Model
from hinged.loops.hearing import BetweenRounds
from hinged.loops.ledger import ROUNDS

__all__ = ["Held", "Holds", "at_one_moment", "must_be_undone"]

ONE_AT_A_TIME = threading.Lock()

Method = TypeVar("Method", bound=Callable[..., Any])


def at_one_moment(method: Method) -> Method:
    """Decorator of methods that only read: they see the learner as it was when they were called."""

    @wraps(method)
    def answered(self: Any, *args: Any, **more: Any) -> Any:
        return method(self._now(), *args, **more)

    return cast(Method, answered)


class Held(NamedTuple):
    """Labels and the model that knows them: replaced as one, so that no reader pairs the old with the new."""

    labels: LabelIndex | None = None
    model: Any = None  # a LabelModel, or whatever this kind of learner learns with


class Holds:
    """The learner's memory, and who may change it."""

    task: ClassVar[str]  # what is learnt: "classify", "rank", "binary", ...
    _held: Held = Held()
    _names: Any = None  # the names of features and their columns, where there are any
    _notes: dict[str, Any] | None = None
    _learnt: Any

    @property
    def _labels(self) -> LabelIndex | None:
        return self._held.labels

    @property
    def _model(self) -> Any:
        return self._held.model

    def known_labels(self) -> tuple[Hashable, ...]:
        """The labels known so far, in the order of `classes_`; empty before the first."""
        labels = self._held.labels
        return () if labels is None else labels.labels

    @property
    def model_(self) -> Any:
        """The model that learns: weights, counts and the rule. Read it; the learner's methods change it."""
        return self._learnt("model_")

    @property
    def n_known_features(self) -> int:
        """How many features were met so far: names, words or columns."""
        return int(getattr(self, "n_features_in_", 0)) if self._names is None else len(self._names)

    @property
    def notes(self) -> dict[str, Any]:
        """What a program keeps beside the model, as plain JSON: `save` writes it, `hinged.load` brings it back.

        Assign a new dict to change it.
        """
        return dict(self._notes) if isinstance(self._notes, dict) else {}

    @notes.setter
    def notes(self, notes: dict[str, Any]) -> None:
        self._notes = dict(notes)

    def _now(self) -> Self:
        """This learner at this moment, for reading: what a writer puts in place later is not in it.

        Copying a dict is one step to other threads. So is updating one, which is how a writer changes attributes that
        belong together.
        """
        attributes = self.__dict__.copy()
        if "_frozen" in attributes:  # one question may ask others
            return self
        twin = object.__new__(type(self))
        twin.__dict__ = attributes
        attributes["_frozen"] = True
        labels, model = twin._held
        if labels is not None:
            attributes["_held"] = Held(labels.now(), model)
        return twin

    def _writing(self) -> Any:
        """The lock of those who change this model; readers need none."""
        lock = vars(self).get("_lock")
        if lock is None:
            with ONE_AT_A_TIME:
                lock = vars(self).get("_lock") or threading.RLock()
                self._lock = lock
        return lock

    def _become(self, fresh: Holds, kept: set[str], learnt: Sequence[str]) -> None:
        """Take over what another learner has learnt, in one step, keeping the attributes named in `kept`."""
        with self._writing():
            ours = {name: value for name, value in vars(self).items() if name in kept or name not in learnt}
            self.__dict__ = ours | {name: value for name, value in vars(fresh).items() if name not in kept}

    def _runs_functions(self) -> bool:
        """Whether functions of the user's run between the rounds of a call, so that one that fails is undone whole."""
        return must_be_undone(self._model)

    def _between_rounds(self) -> Any:
        """While open, signals are heard between two rounds alone; at any moment where the call is undone whole."""
        return nullcontext() if self._runs_functions() else BetweenRounds()

    @contextmanager
    def _or_undone(self, several: bool) -> Iterator[None]:
        """Hold the lock for a call on one or several rows; where it fails, the model is as it was before.

        Rounds that were done when a call is interrupted stay, with their labels; only where label features or a
        kernel may have failed between them everything goes back, because then somebody refused the call.
        """
        with self._writing():
            at_once = self._model is not None and self._model.all_or_nothing
            before = Before(self, (several or at_once) and self._runs_functions())
            try:
                yield
            except BaseException:
                with BetweenRounds():  # another signal waits until all is back
                    before.bring_back(self)
                raise


class Before:
    """A learner as it was before a call; `whole` where rounds have to be undone too."""

    def __init__(self, who: Holds, whole: bool) -> None:
        self.whole, self.attributes = whole, dict(vars(who))
        labels, model = who._held
        self.rounds = rounds_of(model)
        self.n_labels = 0 if labels is None else len(labels)
        self.n_names = 0 if who._names is None else len(who._names)
        self.of_model: dict[str, Any] = {}
        self.sizes: tuple[int, ...] = ()
        if model is None:
            return
        if not whole:
            self.of_model, self.sizes = dict(vars(model)), model.sizes
            return
        self.attributes["_held"] = Held(None if labels is None else LabelIndex(labels.labels), model.copy())

    def bring_back(self, who: Holds) -> None:
        fresh = "_held" not in self.attributes or self.attributes["_held"].model is None
        undo_rounds = self.whole or (fresh and who._runs_functions())
        if rounds_of(who._model) != self.rounds and not undo_rounds:
            return
        who.__dict__ = dict(self.attributes)
        labels, model = who._held
        if labels is not None:
            labels.cut(self.n_labels)
        if who._names is not None and len(who._names) > self.n_names:  # readers may hold the longer list
            who._names = type(who._names)(islice(who._names, self.n_names))
        if model is not None and not self.whole:
            vars(model).update(self.of_model)  # its rule too, which may have followed a change of settings
            model.cut(*self.sizes)


def must_be_undone(model: Model | None) -> bool:
    """Return True if functions of the user run between the rounds of a call."""
    return model is not None and (bool(model.functions) or model.all_or_nothing)


def rounds_of(model: Model | None) -> int:
    """Rounds a model has gone through; 0 where there is none yet."""
    return 0 if model is None else int(model.counts[ROUNDS])
