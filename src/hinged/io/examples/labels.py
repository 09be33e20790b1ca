"""How a label is spelt: one label, one string, whatever the format writes."""

from __future__ import annotations

import math
import re
from typing import Any

__all__ = ["LabelTable", "label_of", "plain_number", "split_labels"]

WHOLE = re.compile(r"\+?(-?\d+)(?:\.0+)?", re.ASCII)
MANY = 1 << 16

Answer = Any  # str, list of str, or None


def plain_number(spelling: str) -> str:
    """A whole number without a plus sign and without ".0"; anything else as it is.

    Examples
    --------
    >>> plain_number("+1"), plain_number("3.0"), plain_number("-1"), plain_number("0.5"), plain_number("spam")
    ('1', '3', '-1', '0.5', 'spam')
    """
    whole = WHOLE.fullmatch(spelling)
    return whole[1] if whole else spelling


def label_of(value: Any) -> Answer:
    """A label, or a list of labels, out of a typed value of JSON or Arrow.

    Strings stay as they are, numbers are spelt as in the text formats (7 and 7.0 are both "7"), None and "" are no
    answer.

    Examples
    --------
    >>> label_of("a"), label_of(7), label_of(7.0), label_of(True), label_of(["b", 2]), label_of(None)
    ('a', '7', '7', 'true', ['b', '2'], None)
    """
    if type(value) is str or value is None:
        return value or None
    if isinstance(value, list):
        return [_single(item) for item in value if item != ""]
    return _single(value)


def _single(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    raise ValueError(f"a label cannot be {value!r}"[:80])


def split_labels(spellings: list[str], separator: str | None) -> list[Any]:
    """Cells of labels as answers: None where blank; a list wherever there is a separator.

    Examples
    --------
    >>> split_labels(["a", "", "a|b"], None), split_labels(["a", "", "a|b"], "|")
    (['a', None, 'a|b'], [['a'], None, ['a', 'b']])
    """
    if not separator:
        return [spelling or None for spelling in spellings]
    return [
        [part.strip() for part in spelling.split(separator) if part.strip()] if spelling else None
        for spelling in spellings
    ]


class LabelTable(dict[str, Answer]):
    """From a label's spelling in a file of numbers to the answer: "" → None, "1,3" → ["1", "3"], "+1" → "1".

    Each spelling is worked out once, so that equal labels are one object.
    """

    def __init__(self, separator: str = ",") -> None:
        super().__init__()
        self._separator = separator

    def __missing__(self, spelling: str) -> Answer:
        answer: Answer
        if not spelling:
            answer = None
        elif self._separator in spelling:
            answer = [plain_number(part) for part in spelling.split(self._separator) if part]
        else:
            answer = plain_number(spelling)
        self[spelling] = answer
        return answer

    def answers(self, spellings: list[str]) -> list[Any]:
        """An answer for each spelling; lists are never shared."""
        if len(self) > MANY:  # memory does not grow with the file
            self.clear()
        found = list(map(self.__getitem__, spellings))
        if any(type(answer) is list for answer in self.values()):
            return [answer.copy() if type(answer) is list else answer for answer in found]
        return found
