"""Learning a journal again, with the weights of the first time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from hinged.journal.journal import Event, Journal
from hinged.journal.learning import shape_of

__all__ = ["learn_again", "rename_is_exact", "shown"]

MOST = 512  # examples at a time


def learn_again(model: Any, events: Iterable[Event]) -> None:
    """Learn events in order, several at a time where that gives the weights of one after the other.

    Examples
    --------
    >>> import hinged
    >>> model = hinged.TextClassifier()
    >>> learn_again(model, [Event(i, 0.0, "learn", None, y, None, y) for i, y in enumerate(["a", "b", "a"], 1)])
    >>> model.n_rounds_
    3
    """
    for some in _alike(events, together=getattr(model, "kernel", None) is None):
        first = some[0]
        if first.kind == "declare":
            model.declare(first.label)
        elif len(some) > 1:
            model.partial_fit([event.x for event in some], [event.label for event in some])
        elif first.weight is not None:
            model.learn_one(first.x, first.label, first.weight)
        else:
            model.learn_one(first.x, first.label)


def _alike(events: Iterable[Event], together: bool) -> Iterator[list[Event]]:
    """Runs of events that a batch learns as a loop would: texts, and documents with the same fields in one order."""
    some: list[Event] = []
    shape: Any = None
    for event in events:
        now = _shape(event) if together else None
        if some and (now is None or now != shape or len(some) >= MOST):
            yield some
            some = []
        some.append(event)
        shape = now
    if some:
        yield some


def _shape(event: Event) -> Any:
    return shape_of(event.x, event.label, event.weight) if event.kind == "learn" else None


def shown(events: Iterator[Event], show: Callable[[str, int, int], None] | None, total: int) -> Iterator[Event]:
    """The same events; `show` is told now and then how many of the lines have been gone through."""
    for number, event in enumerate(events):
        if show is not None and number % MOST == 0:
            show("learning again", event.seq, total)
        yield event


def rename_is_exact(model: Any, journal: Journal) -> bool:
    """Whether renaming a label of the model gives what learning anew under the new name would give.

    So it does where labels stand in the order of their appearance: not where they were declared, which sorts them, not
    for sets of labels, and not where settings name labels.
    """
    if any(getattr(model, name, None) is not None for name in ("cost", "class_weight")):
        return False
    if not isinstance(getattr(model, "sharing", ""), str) or callable(getattr(model, "features", None)):
        return False
    return model.task == "classify" and not journal.ask("SELECT 1 FROM events WHERE kind = 'declare' LIMIT 1")
