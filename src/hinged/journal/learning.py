"""Learning examples and journaling them, and learning a journal again; in batches where these give the same weights."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from hinged.journal.codec import encode, label_to_text
from hinged.journal.journal import Event, Journal

__all__ = ["Example", "Receipt", "learn_again", "learn_in_order", "rename_is_exact", "shown"]

MOST = 4096  # examples at a time
REPLAYED_AT_ONCE = 512
REFUSALS = (TypeError, ValueError, OverflowError, RecursionError)  # raised for a bad example; the model is unchanged


class Example(NamedTuple):
    """An example to learn: a row, its correct answer, an idempotency key, a weight."""

    x: Any
    y: Any
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


def shape_of(x: Any, y: Any, weight: float | None) -> Any:
    """Return what examples must have in common so that a batch gives the weights of a loop; None if they must be alone.

    Texts qualify, and documents of the same fields in the same order (a batch orders fields by first appearance), if
    their labels are of one type.
    """
    if weight is not None or type(y) not in (str, int, list):
        return None
    if type(x) is str:
        return type(y)
    if type(x) is dict and x and all(type(value) is str for value in x.values()):
        return type(y), *x
    return None


def learn_in_order(model: Any, journal: Journal, examples: Iterable[Example]) -> list[Receipt]:
    """Learn and journal examples inside a transaction; a refused example does not stop the others.

    Only a list is learnt in batches: an iterator may read the journal before it yields the next example.
    """
    receipts: list[Receipt] = []
    run = _Run(model, journal, receipts)
    # with a kernel, batches agree up to rounding only
    alone = not isinstance(examples, list) or getattr(model, "kernel", None) is not None
    texts: dict[str, str] = {}
    for example in examples:
        x, y, key, weight = example
        try:
            text = texts.get(y) if type(y) is str else None
            if text is None:
                text = label_to_text(y)  # first: what cannot be written must not be learnt
                if type(y) is str:
                    texts[y] = text
            if key is not None and not key.isascii():
                check_text("a key", key)
            data = encode(x)
        except REFUSALS as problem:
            run.learn()
            receipts.append(Receipt(0, False, problem))
            continue
        shape = None if alone else shape_of(x, y, weight)
        if shape is None or shape != run.shape or len(run.examples) >= MOST or (key is not None and key in run.keys):
            run.learn()
        if key is not None:
            before = journal.find(key, y)
            if before is not None:
                run.learn()
                receipts.append(Receipt(before, False))
                continue
        run.add(example, text, data, shape)
        if alone:
            run.learn()
    run.learn()
    return receipts


def check_text(what: str, text: str) -> None:
    """Refuse text with a lone surrogate, which UTF-8 cannot encode."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{what} must be valid Unicode that UTF-8 can encode; got {text!r}.") from None


class _Run:
    """Examples of one shape that wait to be learnt as a batch."""

    def __init__(self, model: Any, journal: Journal, receipts: list[Receipt]) -> None:
        self._model, self._journal, self._receipts = model, journal, receipts
        self._clear()

    def _clear(self) -> None:
        self.shape: Any = None
        self.examples: list[Example] = []
        self.lines: list[Any] = []
        self.keys: set[str] = set()

    def add(self, example: Example, text: str, data: bytes, shape: Any) -> None:
        self.shape = shape
        self.examples.append(example)
        self.lines.append((example.key, text, example.weight, data))
        if example.key is not None:
            self.keys.add(example.key)

    def learn(self) -> None:
        """Learn and journal the waiting examples; if the batch is refused, one by one."""
        n = len(self.examples)
        if n > 1:
            try:
                self._model.partial_fit(
                    [example.x for example in self.examples], [example.y for example in self.examples]
                )
            except REFUSALS:
                for example, line in zip(self.examples, self.lines, strict=True):
                    self._learn_one(example, line)
            else:
                last = self._journal.append_many("learn", self.lines)
                self._receipts.extend(Receipt(seq, True) for seq in range(last - n + 1, last + 1))
        elif n:
            self._learn_one(self.examples[0], self.lines[0])
        if n:
            self._clear()

    def _learn_one(self, example: Example, line: Any) -> None:
        try:
            if example.weight is None:
                self._model.learn_one(example.x, example.y)
            else:
                self._model.learn_one(example.x, example.y, example.weight)
        except REFUSALS as problem:
            self._receipts.append(Receipt(0, False, problem))
        else:
            self._receipts.append(Receipt(self._journal.append_many("learn", [line]), True))


def learn_again(model: Any, events: Iterable[Event]) -> None:
    """Learn events in order, in batches where these give the same weights.

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
    """Yield runs of events that a batch learns as a loop would (see `shape_of`)."""
    some: list[Event] = []
    shape: Any = None
    for event in events:
        now = _shape(event) if together else None
        if some and (now is None or now != shape or len(some) >= REPLAYED_AT_ONCE):
            yield some
            some = []
        some.append(event)
        shape = now
    if some:
        yield some


def _shape(event: Event) -> Any:
    return shape_of(event.x, event.label, event.weight) if event.kind == "learn" else None


def shown(events: Iterator[Event], show: Callable[[str, int, int], None] | None, total: int) -> Iterator[Event]:
    """Yield the same events, and call `show` with the progress now and then."""
    for number, event in enumerate(events):
        if show is not None and number % REPLAYED_AT_ONCE == 0:
            show("learning again", event.seq, total)
        yield event


def rename_is_exact(model: Any, journal: Journal) -> bool:
    """Return True if renaming a label of the model gives the same model as learning again under the new name.

    That is so if labels are in order of appearance: not if they were declared, which sorts them, not for sets of
    labels, and not if settings name labels.
    """
    if any(getattr(model, name, None) is not None for name in ("cost", "class_weight")):
        return False
    if not isinstance(getattr(model, "sharing", ""), str) or callable(getattr(model, "features", None)):
        return False
    return model.task == "classify" and not journal.ask("SELECT 1 FROM events WHERE kind = 'declare' LIMIT 1")
