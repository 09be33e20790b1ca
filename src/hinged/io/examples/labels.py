"""Labels as strings: the same label is the same string in every format."""

from __future__ import annotations

import math
import re

from hinged.io.examples.chunk import Answer

__all__ = ["LabelTable", "label_of", "plain_number", "split_labels"]

WHOLE = re.compile(r"\+?(-?\d+)(?:\.0+)?", re.ASCII)
MANY = 1 << 16


def plain_number(cell: str) -> str:
    """Write a whole number without a plus sign and without ".0"; return anything else as it is.

    Examples
    --------
    >>> plain_number("+1"), plain_number("3.0"), plain_number("-1"), plain_number("0.5"), plain_number("spam")
    ('1', '3', '-1', '0.5', 'spam')
    """
    whole = WHOLE.fullmatch(cell)
    return whole[1] if whole else cell


def label_of(value: object) -> Answer:
    """Turn a typed value of JSON or Arrow into a label, or a list of labels.

    Strings stay as they are, numbers are written as in the text formats (7 and 7.0 are both "7"), None and "" are no
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


def _single(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return str(value).lower()  # true and false are integers too
    if isinstance(value, float) and math.isfinite(value):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    raise ValueError(f"a label cannot be {value!r}"[:80])


def split_labels(cells: list[str], separator: str | None) -> list[Answer]:
    """Turn cells of labels into answers: None where blank; a list wherever there is a separator.

    Examples
    --------
    >>> split_labels(["a", "", "a|b"], None), split_labels(["a", "", "a|b"], "|")
    (['a', None, 'a|b'], [['a'], None, ['a', 'b']])
    """
    if not separator:
        return [cell or None for cell in cells]
    return [list(filter(None, map(str.strip, cell.split(separator)))) if cell else None for cell in cells]


class LabelTable(dict[str, Answer]):
    """From a label as svmlight and VW write it to the answer: "" → None, "1,3" → ["1", "3"], "+1" → "1".

    Each is converted once, so that equal labels are one object.
    """

    def __missing__(self, cell: str) -> Answer:
        answer: Answer = plain_number(cell) or None
        if "," in cell:
            answer = [plain_number(part) for part in cell.split(",") if part]
        self[cell] = answer
        return answer

    def answers(self, cells: list[str]) -> list[Answer]:
        """Return an answer for each cell; lists are never shared."""
        if len(self) > MANY:  # memory does not grow with the file
            self.clear()
        found = list(map(self.__getitem__, cells))
        if any(type(answer) is list for answer in self.values()):
            return [answer.copy() if type(answer) is list else answer for answer in found]
        return found
