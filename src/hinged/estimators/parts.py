"""What a learner is made of, how writers take turns, and how a call that fails is undone."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple, TypeVar, cast

from hinged.estimators.labels import LabelIndex
from hinged.estimators.protocol import Model
from hinged.loops.ledger import ROUNDS

__all__ = ["Before", "Parts", "at_one_moment", "rounds_of", "runs_functions"]

Method = TypeVar("Method", bound=Callable[..., Any])


class Parts(NamedTuple):
    """What changes while a learner learns: replaced as one, so that no reader pairs the old with the new.

    The fourth part, the settings, are the learner's own parameters.
    """

    labels: LabelIndex | None = None
    model: Any = None  # satisfies `hinged.estimators.protocol.Model`
    reader: Any = None  # turns what users give into rows, and knows the features met so far


def at_one_moment(method: Method) -> Method:
    """Decorator of methods that only read: they see the learner as it was when they were called."""

    @wraps(method)
    def answered(self: Any, *args: Any, **more: Any) -> Any:
        return method(self._now(), *args, **more)

    return cast(Method, answered)


def runs_functions(model: Model | None) -> bool:
    """Return True if functions of the user run between the rounds of a call, so that a failure undoes all of it."""
    return model is not None and (bool(model.functions) or model.all_or_nothing)


def rounds_of(model: Model | None) -> int:
    """Rounds a model has learnt; 0 where there is none yet."""
    return 0 if model is None else int(model.counts[ROUNDS])


class Before:
    """A learner as it was before a call; `whole` where finished rounds must be undone too."""

    def __init__(self, who: Any, whole: bool) -> None:
        self.whole, self.attributes = whole, dict(vars(who))
        labels, model, reader = who._parts
        self.rounds, self.mark = rounds_of(model), reader.mark()
        self.n_labels = 0 if labels is None else len(labels)
        self.of_model: dict[str, Any] = {}
        self.sizes: tuple[int, ...] = ()
        if model is not None and whole:
            copied = None if labels is None else LabelIndex(labels.labels)
            self.attributes["_parts"] = Parts(copied, model.copy(), reader)
        elif model is not None:
            self.of_model, self.sizes = dict(vars(model)), model.sizes

    def bring_back(self, who: Any) -> None:
        """Make the learner what it was, unless rounds were finished that may stay."""
        had_model = "_parts" in self.attributes and self.attributes["_parts"].model is not None
        undo_rounds = self.whole or (not had_model and who._runs_functions())
        if rounds_of(who._model) != self.rounds and not undo_rounds:
            return
        who.__dict__ = dict(self.attributes)
        labels, model, reader = who._parts
        if labels is not None:
            labels.cut(self.n_labels)
        kept = reader.back_to(self.mark)
        if kept is not reader:
            who._parts = who._parts._replace(reader=kept)
        if model is not None and not self.whole:
            vars(model).update(self.of_model)  # its rule too, which may have followed a change of settings
            model.cut(*self.sizes)
