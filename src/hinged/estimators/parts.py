"""What a learner is made of, how writers take turns, and how a call that fails is undone."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, Generic, NamedTuple, ParamSpec, Protocol, Self, TypeVar

from hinged.estimators.labels import LabelIndex
from hinged.estimators.protocol import Model
from hinged.loops.ledger import ROUNDS

if TYPE_CHECKING:
    from hinged.estimators.learner import Learner

__all__ = ["Before", "Parts", "Reader", "at_one_moment", "rounds_of", "runs_functions"]

M_co = TypeVar("M_co", bound=Model, covariant=True)
R_co = TypeVar("R_co", bound="Reader", covariant=True)
Given = ParamSpec("Given")
Answer = TypeVar("Answer")


class Reader(Protocol):
    """What turns what users give into rows or sentences, and knows the features met so far."""

    @property
    def width(self) -> int | None:
        """Columns, where rows are matrices."""
        ...

    @property
    def n_known(self) -> int:
        """How many features were met."""
        ...

    def mark(self) -> Callable[[], Self]:
        """Remember this moment; the function returns the reader without the features that came after it."""
        ...


class Parts(NamedTuple, Generic[M_co, R_co]):
    """What changes while a learner learns: replaced as one, so that no reader pairs the old with the new.

    The fourth part, the settings, are the learner's own parameters.
    """

    labels: LabelIndex | None
    model: M_co | None
    reader: R_co


class _AtAMoment(Protocol):
    def _now(self) -> Self: ...


Who = TypeVar("Who", bound=_AtAMoment)


def at_one_moment(method: Callable[Concatenate[Who, Given], Answer]) -> Callable[Concatenate[Who, Given], Answer]:
    """Decorator of methods that only read: they see the learner as it was when they were called."""

    @wraps(method)
    def answered(self: Who, /, *args: Given.args, **more: Given.kwargs) -> Answer:
        return method(self._now(), *args, **more)

    return answered


def runs_functions(model: Model | None) -> bool:
    """Return True if functions of the user run between the rounds of a call, so that a failure undoes all of it."""
    return model is not None and (bool(model.functions) or model.all_or_nothing)


def rounds_of(model: Model | None) -> int:
    """Rounds a model has learnt; 0 where there is none yet."""
    return 0 if model is None else int(model.counts[ROUNDS])


class Before:
    """A learner as it was before a call; `whole` where finished rounds must be undone too."""

    def __init__(self, who: Learner[Model, Reader], whole: bool) -> None:
        self.whole, self.attributes = whole, dict(vars(who))
        labels, model, reader = who._parts
        self.had_model, self.rounds, self.reader_then = model is not None, rounds_of(model), reader.mark()
        self.n_labels = 0 if labels is None else len(labels)
        self.of_model: dict[str, Any] = {}
        self.sizes: tuple[int, ...] = ()
        if model is not None and whole:
            copied = None if labels is None else LabelIndex(labels.labels)
            self.attributes["_parts"] = Parts(copied, model.copy(), reader)
        elif model is not None:
            self.of_model, self.sizes = dict(vars(model)), model.sizes

    def bring_back(self, who: Learner[Model, Reader]) -> None:
        """Make the learner what it was, unless rounds were finished that may stay."""
        undo_rounds = self.whole or (not self.had_model and who._runs_functions())
        if rounds_of(who._parts.model) != self.rounds and not undo_rounds:
            return
        who.__dict__ = dict(self.attributes)
        labels, model, reader = who._parts
        if labels is not None:
            labels.cut(self.n_labels)
        kept = self.reader_then()
        if kept is not reader:
            who._parts = who._parts._replace(reader=kept)
        if model is not None and not self.whole:
            vars(model).update(self.of_model)  # its rule too, which may have followed a change of settings
            model.cut(*self.sizes)
