"""Examples learnt and written in one order, several at once where that gives the weights of one after the other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from hinged.journal.codec import encode, label_to_text
from hinged.journal.journal import Journal

__all__ = ["Example", "Receipt", "learn_in_order", "shape_of"]

MOST = 4096  # examples at a time
REFUSALS = (TypeError, ValueError, OverflowError, RecursionError)  # of an example; the estimator leaves no trace then


class Example(NamedTuple):
    """Something to learn: a row, its right answer, who sent it, how much it counts."""

    x: Any
    y: Any
    key: str | None = None
    weight: float | None = None


class Receipt(NamedTuple):
    """What became of an example.

    Attributes
    ----------
    seq : its number in the journal; 0 where it was refused
    new : False where the same key had taught the same label before, so that nothing was learnt
    error : why it was refused, or None
    """

    seq: int
    new: bool
    error: Exception | None = None


def shape_of(x: Any, y: Any, weight: float | None) -> Any:
    """What examples must have in common to be learnt as one batch with the weights of a loop; None for those alone.

    So it is with texts, and with documents of the same fields in one order (a batch takes fields in the order of
    their first appearance in it), where labels are of one type.
    """
    if weight is not None or type(y) not in (str, int, list):
        return None
    if type(x) is str:
        return type(y)
    if type(x) is dict and x and all(type(value) is str for value in x.values()):
        return type(y), *x
    return None


def learn_in_order(model: Any, journal: Journal, examples: Iterable[Example]) -> list[Receipt]:
    """Learn examples and write them, inside a transaction; one that is refused does not hinder the others.

    Only a list is learnt several at a time: an iterator may look at the journal before it gives the next example.
    """
    receipts: list[Receipt] = []
    run = _Run(model, journal, receipts)
    # batches of a kernel agree to rounding only
    alone = not isinstance(examples, list) or getattr(model, "kernel", None) is not None
    texts: dict[str, str] = {}
    for example in examples:
        x, y, key, weight = example
        try:
            text = texts.get(y) if type(y) is str else None
            if text is None:
                text = label_to_text(y)  # what cannot be written must not be learnt
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
    """Refuse text with half a character in it, which no file can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{what} must be whole characters, as UTF-8 has them; got {text!r}.") from None


class _Run:
    """Examples of one shape that wait to be learnt together."""

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
        """Learn and write what waits; where a batch is refused, each example by itself."""
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
