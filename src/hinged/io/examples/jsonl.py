"""JSON, one object a line: label, numbers and strings by key, or features as an object of numbers.

Malformed: a line that is not a JSON object, or not UTF-8; a label that is an object; a string where numbers were
before; a feature that is not a finite number, word or true/false; a weight that is not a number of 0 or more; none of
the keys that `text` and `numbers` name.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Container, Mapping
from typing import Any, NamedTuple, TypeGuard

import numpy as np
import numpy.typing as npt
import orjson

from hinged.io.examples.blocks import Blocks
from hinged.io.examples.chunk import LARGEST_VALUE, Answer, BadLine, Chunk, Named, Parts, Strings
from hinged.io.examples.columns import (
    LABELS,
    SAMPLE,
    TAGS,
    WEIGHTS,
    Layout,
    Options,
    divided,
    find_name,
    find_role,
    is_unused,
    kind_of_strings,
)
from hinged.io.examples.labels import label_of
from hinged.io.examples.scan import NOT_UTF8_EXPECTED
from hinged.io.examples.source import ByteStream

__all__ = ["chunks"]

Row = dict[Any, object]  # an object; `None` stands for a key that no object has
BLANKS = b" \t\r"
NUMBERS = (int, float, bool)
SHAPES = 1000  # sets of keys that are remembered
LARGEST = float(np.finfo(np.float64).max)


def chunks(stream: ByteStream, options: Options) -> Parts:
    """Yield the examples of a JSONL file, and its malformed lines."""
    rows = _ObjectRows(stream.name, options)
    line = 1
    for block in Blocks(stream, options.chunk_bytes):
        bad: list[BadLine] = []
        for raw in block.data.tobytes().split(b"\n")[:-1]:
            if raw.strip(BLANKS):
                try:
                    rows.add(_object_of(raw), line)
                except _Fault as fault:
                    bad.append(BadLine(stream.name, line, *fault.args))
                except RecursionError:
                    bad.append(BadLine(stream.name, line, "it is nested too deeply", "an object of plain values"))
            line += 1
        yield rows.take(), bad


class _Fault(Exception):  # noqa: N818
    """What is wrong with a line, and what was expected."""


def _object_of(raw: bytes) -> Row:
    try:
        value = orjson.loads(raw)
    except ValueError:
        value = _parsed_slowly(raw)
    if not isinstance(value, dict):
        kind = {list: "an array", str: "a string", bool: "true or false"}.get(type(value), "a number")
        raise _Fault(f"it is {'null' if value is None else kind}", "a JSON object, {…}")
    return value


def _parsed_slowly(raw: bytes) -> object:
    """Parse with the standard library, which accepts half surrogates and reports the place of an error."""
    try:
        return json.loads(raw.decode("utf-8"))
    except UnicodeDecodeError as problem:
        where = f"byte 0x{raw[problem.start]:02x} at place {problem.start + 1} is not UTF-8"
        raise _Fault(where, NOT_UTF8_EXPECTED) from None
    except json.JSONDecodeError as problem:
        raise _Fault(f"it is not JSON ({problem.msg} at place {problem.colno})", "one JSON object a line") from None
    except (ValueError, RecursionError) as problem:  # a number of thousands of digits, brackets thousands deep
        raise _Fault(f"it is JSON that cannot be read ({problem})", "one JSON object a line") from None


class _Keys(NamedTuple):
    """The roles of an object's keys."""

    label: str | None
    weight: str | None
    tag: str | None
    others: tuple[str, ...]  # numbers, texts or features


class _ObjectRows:
    """Collects rows for a chunk; the first one decides whether the file holds a table or features.

    `mode` is "table" (numbers and strings by key), "features" (under that key) or "flat" (the object's own numbers,
    words and objects of them).
    """

    def __init__(self, source: str, options: Options) -> None:
        self.source, self.options = source, options
        self.mode = "table" if options.names_columns else ""
        self.label = options.label  # once found by a common name, the same for the whole file
        self.fields: dict[str, list[bytes]] = {name: [] for name in options.text or ()}
        self.numbers = dict.fromkeys(options.numbers or ())  # keys that hold numbers
        self.layout: Layout | None = None  # as the first objects have it
        self.keys: dict[str, None] = {}  # of all objects of the first chunk, in order ...
        self.first: _Keys | None = None  # ... and their roles in the first object
        self._seen: dict[tuple[str, ...], _Keys] = {}
        self._clear()

    def _clear(self) -> None:
        self.answers: list[Answer] = []
        self.lines: list[int] = []
        self.weights: list[float] = []
        self.tags: list[str] = []
        self.cells: list[dict[str, float]] = []  # the numbers of each row
        self.named = _NamedRows()
        for column in self.fields.values():
            column.clear()

    def add(self, row: Row, line: int) -> None:
        """Add one object; nothing is added if it is malformed."""
        keys = self._seen.get(tuple(row)) or self._keys_of(row)
        try:
            answer = label_of(row.get(keys.label))
        except ValueError as problem:
            raise _Fault(str(problem), "a string, a number, or a list of them") from None
        importance = _importance(row, keys.weight)
        mode = self.mode or _mode_of(row, keys)
        if mode == "table":
            self._add_cells(row, keys)
        else:
            self._add_features(row, mode, keys)
        self.first = self.first or keys
        if mode != self.mode or keys.label != self.label:  # decided for the rest of the file
            self.mode, self.label = mode, keys.label
            self._seen.clear()
        self.tags.append(_tag_as_text(row.get(keys.tag)))
        self.weights.append(importance)
        self.answers.append(answer)
        self.lines.append(line)

    def take(self) -> Chunk:
        """Return the rows so far as a chunk and begin a new one."""
        rows = self._table() if self.mode == "table" else self._features()
        chunk = Chunk(
            answers=self.answers,
            lines=np.array(self.lines, np.int64),
            source=self.source,
            weights=None if all(weight == 1.0 for weight in self.weights) else np.array(self.weights),
            tags=self.tags if any(self.tags) else None,
            layout=self.layout,
            **rows,
        )
        self._clear()
        return chunk

    def _features(self) -> dict[str, Any]:
        """Return the rows as features."""
        if self.layout is None and self.first is not None:
            read = ("features",) if self.mode == "features" else self.first.others
            self.layout = Layout.of(self.keys, self.first[:3], features=read)
        return {"named": self.named.collected()}

    def _table(self) -> dict[str, Any]:
        """Return the rows as columns; as features, without texts, where most rows lack most of their numbers."""
        n, there = len(self.lines), Counter(name for row in self.cells for name in row)
        if not self.fields and not self.options.names_columns and 2 * there.total() < n * len(there):
            return self._sparse_table()
        if self.layout is None and self.first is not None:
            self.layout = self._decide(self.first, there)
        texts = {name: Strings.joined(values, n) for name, values in self.fields.items()}
        return {"texts": Strings.of_table(texts, bool(self.numbers), n), "numbers": self._columns(there)}

    def _sparse_table(self) -> dict[str, Any]:
        """Return the numbers of the rows as features; so is the rest of the file read if it begins with these rows."""
        if self.layout is None and self.first is not None:
            self.layout = Layout.of(self.keys, self.first[:3], features=tuple(self.numbers))
        if self.layout is not None and self.layout.features:
            self.mode = "flat"
        for row in self.cells:
            self.named.add({name: None if value != value else value for name, value in row.items()})
        return {"named": self.named.collected()}

    def _columns(self, there: Container[str]) -> dict[str, npt.NDArray[np.float64]]:
        """Return the numbers of the rows as columns: those of the table, and others that some row has."""
        of_table = () if self.layout is None else self.layout.numbers
        return {
            name: np.array([row.get(name, math.nan) for row in self.cells], np.float64).reshape(len(self.cells))
            for name in self.numbers
            if name in of_table or name in there
        }

    def _decide(self, keys: _Keys, there: Counter[str]) -> Layout:
        """Return what the keys of a table are read as, by its first rows; beside strings, rare numbers are not used."""
        if self.fields and not self.options.names_columns:
            self.numbers = {name: None for name in self.numbers if 10 * there[name] >= len(self.lines)}
        first = {name: [text.decode() for text in texts[:SAMPLE]] for name, texts in self.fields.items()}
        kinds = {name: kind_of_strings(name, texts) for name, texts in first.items()}
        return Layout.of(self.keys, keys[:3], numbers=tuple(self.numbers), **divided(tuple(self.fields), kinds))

    def _keys_of(self, row: Row) -> _Keys:
        """Return the roles of an object's keys, determined once for all objects with the same keys."""
        options = self.options
        label = find_role(self.label, row, LABELS) or self.label
        own = (label, find_role(options.weight, row, WEIGHTS), find_role(options.tag, row, TAGS))
        if options.names_columns:
            others = self._named_keys(row)
        else:
            others = tuple(name for name in row if name not in own and not is_unused(name))
        if len(self._seen) >= SHAPES:
            self._seen.clear()
        if self.layout is None:
            self.keys.update(dict.fromkeys(row))
        keys = self._seen[tuple(row)] = _Keys(*own, others)
        return keys

    def _named_keys(self, row: Row) -> tuple[str, ...]:
        """Return the keys that options name, as the object has them; columns are called so from now on."""
        there = {name: find_name(name, row) for name in (*(self.options.numbers or ()), *(self.options.text or ()))}
        self.fields = {there.get(name) or name: texts for name, texts in self.fields.items()}
        self.numbers = dict.fromkeys(there.get(name) or name for name in self.numbers)
        return tuple(filter(None, there.values()))

    def _add_cells(self, row: Row, keys: _Keys) -> None:
        """Add the numbers and strings of an object; the first value of a key decides what the key holds."""
        asked = self.options.names_columns
        if asked and not keys.others:
            raise self._nothing_asked_for(row)
        numbers: dict[str, float] = {}
        texts: dict[str, str] = {}
        for name in keys.others:
            value = row[name]
            if self._holds_numbers(name, value):
                numbers[name] = _number(name, value)
            elif (text := _text_of(value, asked)) is not None:
                texts[name] = text
        self.cells.append(numbers)
        if self.layout is None or not self.fields:  # beside strings, the first chunk decides
            self.numbers |= dict.fromkeys(numbers)
        for name, text in texts.items():
            column = self.fields.setdefault(name, [])
            column.extend([b""] * (len(self.lines) - len(column)))
            column.append(text.encode("utf-8", "replace"))

    def _holds_numbers(self, name: str, value: object) -> bool:
        """Return True if a key holds numbers; where it is new, its value decides."""
        return name in self.numbers or (type(value) in NUMBERS and name not in self.fields)

    def _nothing_asked_for(self, row: Row) -> _Fault:
        wanted = (*(self.options.text or ()), *(self.options.numbers or ()))
        there = f"one of {', '.join(map(repr, row))}"[:200] if row else "a text"
        return _Fault(f"there is no {' or '.join(map(repr, wanted))}", there)

    def _add_features(self, row: Row, mode: str, keys: _Keys) -> None:
        if mode == "features":
            features = row.get("features")
            if not isinstance(features, dict):
                raise _Fault("there are no 'features', as the first line had", '"features": {"name": number, …}')
        else:
            features = {name: row[name] for name in keys.others}
        try:
            self.named.add(features)
        except ValueError as problem:
            raise _Fault(str(problem), '"name": number, "name": "word", or "namespace": {"name": number}') from None


def _number(name: str, value: object) -> float:
    """Return the value of a key that holds numbers; NaN where it is missing."""
    if value is None:
        return math.nan
    if not isinstance(value, int | float) or not abs(value) <= LARGEST_VALUE:
        problem = f"the value {value!r:.40} of {name!r:.40} is not a finite number"
        raise _Fault(problem, "a number, or null where it is missing; --text and --numbers name keys")
    return float(value)


def _text_of(value: object, asked: bool) -> str | None:
    """Return a value as the text of its key; none for null and objects, for a list of strings only where asked for."""
    if isinstance(value, str):
        return value
    if type(value) in NUMBERS:
        return json.dumps(value)
    return "\n".join(value) if asked and _is_list_of_strings(value) else None


def _is_list_of_strings(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(piece, str) for piece in value)


def _tag_as_text(tag: object) -> str:
    if isinstance(tag, str):
        return tag
    return "" if tag is None else json.dumps(tag)


def _importance(row: Row, key: str | None) -> float:
    value = row.get(key)
    if value is None:
        return 1.0
    if not (type(value) is int or type(value) is float) or not 0 <= value <= LARGEST:
        raise _Fault(f"the weight {value!r:.40} under {key!r} is not a number of 0 or more", "a number, or null")
    return float(value)


def _mode_of(row: Row, keys: _Keys) -> str:
    if isinstance(row.get("features"), dict):
        return "features"
    strings = {name: value for name in keys.others if isinstance(value := row[name], str)}
    texts = any(kind_of_strings(name, [value]) == "text" for name, value in strings.items())
    nested = any(isinstance(row[name], dict) for name in keys.others)
    return "flat" if nested and not texts else "table"


class _NamedRows:
    """Collects rows of features, one dict at a time, for a `Named`.

    Examples
    --------
    >>> rows = _NamedRows()
    >>> rows.add({"size": 1.5, "colour": "red", "f": {"a": 2}, "new": True, "old": False, "who": None})
    >>> named = rows.collected()
    >>> [named.buffer[a:b].tobytes().decode() for a, b in named.names.T.tolist()]
    ['size', 'colour=red', 'a', 'new']
    >>> named.buffer[slice(*named.spaces[:, 2])].tobytes(), named.values.tolist()
    (b'f', [1.5, 1.0, 2.0, 1.0])
    """

    def __init__(self) -> None:
        self._numbers = {"": 0}  # of namespaces and names; 0 is no namespace
        self._spaces: list[int] = []
        self._names: list[int] = []
        self._values: list[float] = []
        self._ends = [0]

    def add(self, features: Mapping[str, object]) -> None:
        """Add a row; nothing is added if a feature is refused.

        Numbers are values, true is 1, false, null and 0 are absent, a word makes name=word with the value 1, an
        object is a namespace.
        """
        row: list[tuple[str, str, float]] = []
        for name, value in features.items():
            if isinstance(value, dict):
                for inner, number in value.items():
                    _append(row, name, inner, number)
            else:
                _append(row, "", name, value)
        numbers = self._numbers
        for space, name, number in row:
            self._spaces.append(numbers.setdefault(space, len(numbers)))
            self._names.append(numbers.setdefault(name, len(numbers)))
            self._values.append(number)
        self._ends.append(len(self._values))

    def collected(self) -> Named:
        """Return the rows so far."""
        pieces = [piece.encode("utf-8", "replace") for piece in self._numbers]
        ends, spaces, names = (np.array(numbers, np.int64) for numbers in (self._ends, self._spaces, self._names))
        return Named.joined(ends, pieces, spaces, names, self._values)


def _append(row: list[tuple[str, str, float]], space: str, name: str, value: object) -> None:
    if value in (None, 0, ""):  # and False, which equals 0
        return
    if isinstance(value, str):
        name, value = f"{name}={value}", 1.0
    if not isinstance(value, int | float) or not abs(value) <= LARGEST_VALUE:
        raise ValueError(f"the value {value!r:.40} of {name!r:.40} is not a finite number")
    row.append((space, name, float(value)))
