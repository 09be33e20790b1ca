"""Learning examples and journaling them, and learning a journal again; in batches where these give the same weights."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import groupby, islice
from typing import NamedTuple, TypeAlias

from hinged.estimators.learner import Learner
from hinged.journal.codec import encode, label_to_text
from hinged.journal.journal import Event, Journal, Line
from hinged.mercer.fourier import remembers_rows

__all__ = ["Example", "Receipt", "learn_again", "learn_in_order", "rename_is_exact", "with_progress"]

Shape: TypeAlias = tuple[type, tuple[str, ...]]  # the type of labels, and the fields of documents
MOST = 4096  # examples at a time
REPLAYED_AT_ONCE = 512
REFUSALS = (TypeError, ValueError, OverflowError, RecursionError)  # raised for a bad example; the model is unchanged


class Example(NamedTuple):
    """An example to learn: a row, its correct answer, an idempotency key, a weight."""

    x: object
    y: object
    key: str | None = None
    weight: float | None = None


class Receipt(NamedTuple):
    """The result of learning an example.

    Attributes
    ----------
    seq : its number in the journal; 0 if it was refused
    new : False if an example of the same key and label was learnt before, so that nothing was learnt
    error : why it was refused, or None
    """

    seq: int
    new: bool
    error: Exception | None = None


def shape_of(x: object, y: object, weight: float | None) -> Shape | None:
    """Return what examples must have in common so that a batch gives the weights of a loop; None if they must be alone.

    Texts qualify, and documents of the same fields in the same order (a batch orders fields by first appearance), if
    their labels are of one type.
    """
    if weight is not None or type(y) not in (str, int, list):
        return None
    if type(x) is str:
        return type(y), ()
    if type(x) is dict and x and all(type(value) is str for value in x.values()):
        return type(y), tuple(x)
    return None


def learn_in_order(model: Learner, journal: Journal, examples: Iterable[Example]) -> list[Receipt]:
    """Learn and journal examples inside a transaction; a refused example does not stop the others.

    Only a list is learnt in batches: an iterator may read the journal before it yields the next example.
    """
    run = _WaitingExamples(model, journal, together=isinstance(examples, list) and _may_batch(model))
    for example in examples:
        run.take(example)
    run.learn()
    return run.receipts


def _may_batch(model: Learner) -> bool:
    return not remembers_rows(getattr(model, "kernel", None))  # there, batches agree up to rounding only


def _check_key(key: str) -> None:
    """Refuse a key with a lone surrogate, which UTF-8 cannot encode."""
    try:
        key.encode()
    except UnicodeEncodeError:
        raise ValueError(f"a key must be valid Unicode that UTF-8 can encode; got {key!r}.") from None


class _WaitingExamples:
    """Examples of one shape that wait to be learnt as a batch, and the receipts of those before them."""

    def __init__(self, model: Learner, journal: Journal, together: bool) -> None:
        self._model, self._journal, self._together = model, journal, together
        self.receipts: list[Receipt] = []
        self._text = lru_cache(MOST)(label_to_text)
        self._clear()

    def _clear(self) -> None:
        self._shape: Shape | None = None
        self._examples: list[Example] = []
        self._lines: list[Line] = []
        self._keys: set[str] = set()

    def take(self, example: Example) -> None:
        """Learn an example, later if it may be part of a batch; refuse one that cannot be written."""
        x, y, key, weight = example
        try:
            line = self._line(example)  # first: what cannot be written must not be learnt
        except REFUSALS as problem:
            self._answer(Receipt(0, False, problem))
            return
        shape = shape_of(x, y, weight) if self._together else None
        if not self._fits(shape, key):
            self.learn()
        before = None if key is None else self._journal.find(key, y)
        if before is not None:
            self._answer(Receipt(before, False))
            return
        self._shape = shape
        self._examples.append(example)
        self._lines.append(line)
        if key is not None:
            self._keys.add(key)
        if not self._together:
            self.learn()

    def _fits(self, shape: Shape | None, key: str | None) -> bool:
        """Return True if an example may be part of the batch that waits: of its shape, and with a new key."""
        return shape is not None and shape == self._shape and len(self._examples) < MOST and key not in self._keys

    def _line(self, example: Example) -> Line:
        x, y, key, weight = example
        text = self._text(y) if type(y) is str else label_to_text(y)
        if key is not None and not key.isascii():
            _check_key(key)
        return key, text, weight, encode(x)

    def _answer(self, receipt: Receipt) -> None:
        """Add the receipt of an example that is not learnt, after those that wait before it."""
        self.learn()
        self.receipts.append(receipt)

    def learn(self) -> None:
        """Learn and journal the waiting examples: as a batch, or one by one if that is refused."""
        if self._examples:
            if not self._learn_together():
                for example, line in zip(self._examples, self._lines, strict=True):
                    self._learn_one(example, line)
            self._clear()

    def _learn_together(self) -> bool:
        n = len(self._examples)
        if n == 1:
            return False
        try:
            self._model.partial_fit(
                [example.x for example in self._examples], [example.y for example in self._examples]
            )
        except REFUSALS:
            return False
        last = self._journal.append_many("learn", self._lines)
        self.receipts.extend(Receipt(seq, True) for seq in range(last - n + 1, last + 1))
        return True

    def _learn_one(self, example: Example, line: Line) -> None:
        try:
            _teach(self._model, example.x, example.y, example.weight)
        except REFUSALS as problem:
            self.receipts.append(Receipt(0, False, problem))
        else:
            self.receipts.append(Receipt(self._journal.append_many("learn", [line]), True))


def _answer(model: Learner, y: object) -> object:
    """Return a label of the journal: a text from before the model became a ranker is a set of one now."""
    return [y] if type(y) is str and model.task == "rank" else y


def _teach(model: Learner, x: object, y: object, weight: float | None) -> None:
    if weight is None:
        model.learn_one(x, y)
    else:
        model.learn_one(x, y, weight)


def learn_again(model: Learner, events: Iterable[Event]) -> None:
    """Learn events in order, in batches where these give the same weights.

    Examples
    --------
    >>> import hinged
    >>> model = hinged.TextClassifier()
    >>> learn_again(model, [Event(i, 0.0, "learn", None, y, None, y) for i, y in enumerate(["a", "b", "a"], 1)])
    >>> model.n_rounds_
    3
    """
    for some in _alike(events, together=_may_batch(model)):
        first = some[0]
        if first.kind == "declare":
            model.declare(first.label)
        elif len(some) > 1:
            model.partial_fit([event.x for event in some], [_answer(model, event.label) for event in some])
        else:
            _teach(model, first.x, _answer(model, first.label), first.weight)


def _alike(events: Iterable[Event], together: bool) -> Iterator[list[Event]]:
    """Yield runs of events that a batch learns as a loop would (see `shape_of`)."""

    def shape(event: Event) -> Shape | None:
        return shape_of(event.x, event.label, event.weight) if together and event.kind == "learn" else None

    for common, alike in groupby(events, shape):
        while some := list(islice(alike, 1 if common is None else REPLAYED_AT_ONCE)):
            yield some


def with_progress(events: Iterator[Event], show: Callable[[str, int, int], None] | None, total: int) -> Iterator[Event]:
    """Yield the same events, and call `show` with the progress now and then."""
    for number, event in enumerate(events):
        if show is not None and number % REPLAYED_AT_ONCE == 0:
            show("learning again", event.seq, total)
        yield event


def rename_is_exact(model: Learner, journal: Journal) -> bool:
    """Return True if renaming a label of the model gives the same model as learning again under the new name.

    That is so if labels are in order of appearance: not if they were declared, which sorts them, not for sets of
    labels, and not if settings name labels.
    """
    if any(getattr(model, name, None) is not None for name in ("cost", "class_weight")):
        return False
    if not isinstance(getattr(model, "sharing", ""), str) or callable(getattr(model, "features", None)):
        return False
    return model.task == "classify" and not journal.ask("SELECT 1 FROM events WHERE kind = 'declare' LIMIT 1")
