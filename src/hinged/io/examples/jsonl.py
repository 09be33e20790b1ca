"""JSON, one object a line: label and text fields by key, or features as an object of numbers.

Malformed: a line that is not a JSON object, or not UTF-8; a label that is an object; a feature that is not a finite
number, word or true/false; a weight that is not a number of 0 or more; none of the keys that `text` names.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeGuard

import numpy as np
import orjson

from hinged.io.examples.blocks import Blocks
from hinged.io.examples.chunk import Answer, BadLine, Chunk, Named, Parts, Strings
from hinged.io.examples.columns import LABELS, TAGS, WEIGHTS, Layout, Options, find_name, find_role, is_text, is_unused
from hinged.io.examples.labels import label_of
from hinged.io.examples.scan import NOT_UTF8_EXPECTED
from hinged.io.examples.source import Stream

__all__ = ["chunks"]

Row = dict[Any, object]  # an object; `None` stands for a key that no object has
BLANKS = b" \t\r"
SHAPES = 1000  # sets of keys that are remembered
LARGEST = float(np.finfo(np.float64).max)
LARGEST_VALUE = float(np.finfo(np.float32).max)


def chunks(stream: Stream, options: Options) -> Parts:
    """Yield the examples of a JSONL file, and its malformed lines."""
    rows = _Rows(stream.name, options)
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
    others: tuple[str, ...]  # texts or features


class _Rows:
    """Collects rows for a chunk; the first one decides whether the file holds text or features.

    `mode` is "text", "features" (under that key) or "flat" (the object's own numbers and words).
    """

    def __init__(self, source: str, options: Options) -> None:
        self.source, self.options = source, options
        self.mode = "text" if options.text else ""
        self.label = options.label  # once found by a common name, the same for the whole file
        self.fields: dict[str, list[bytes]] = defaultdict(list, {name: [] for name in options.text or ()})
        self.layout: Layout | None = None  # as the first object has it
        self._seen: dict[tuple[str, ...], _Keys] = {}
        self._clear()

    def _clear(self) -> None:
        self.answers: list[Answer] = []
        self.lines: list[int] = []
        self.weights: list[float] = []
        self.tags: list[str] = []
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
        if mode == "text":
            self._add_text(row, keys)
        else:
            self._add_features(row, mode, keys)
        if self.layout is None:
            self.layout = _layout(row, keys, mode, bool(self.options.text))
        if mode != self.mode or keys.label != self.label:  # decided for the rest of the file
            self.mode, self.label = mode, keys.label
            self._seen.clear()
        self.tags.append(_tag_as_text(row.get(keys.tag)))
        self.weights.append(importance)
        self.answers.append(answer)
        self.lines.append(line)

    def take(self) -> Chunk:
        """Return the rows so far as a chunk and begin a new one."""
        fields = (self.fields or {"text": []}) if self.mode == "text" else {}
        chunk = Chunk(
            answers=self.answers,
            lines=np.array(self.lines, np.int64),
            source=self.source,
            weights=None if all(weight == 1.0 for weight in self.weights) else np.array(self.weights),
            tags=self.tags if any(self.tags) else None,
            texts={name: Strings.joined(values, len(self.lines)) for name, values in fields.items()},
            named=self.named.collected() if self.mode in ("features", "flat") else None,
            layout=self.layout,
        )
        self._clear()
        return chunk

    def _keys_of(self, row: Row) -> _Keys:
        """Return the roles of an object's keys, determined once for all objects with the same keys."""
        options = self.options
        label = find_role(self.label, row, LABELS) or self.label
        own = (label, find_role(options.weight, row, WEIGHTS), find_role(options.tag, row, TAGS))
        if options.text:
            others = self._named_texts(row, options.text)
        else:
            others = tuple(name for name in row if name not in own and not is_unused(name))
        if len(self._seen) >= SHAPES:
            self._seen.clear()
        keys = self._seen[tuple(row)] = _Keys(*own, others)
        return keys

    def _named_texts(self, row: Row, asked: tuple[str, ...]) -> tuple[str, ...]:
        """Return the keys that options name, as the object has them; fields are called so from now on."""
        there = {name: find_name(name, row) for name in asked}
        renamed = {there.get(name) or name: texts for name, texts in self.fields.items()}
        self.fields = defaultdict(list, renamed)
        return tuple(filter(None, there.values()))

    def _add_text(self, row: Row, keys: _Keys) -> None:
        asked = self.options.text
        if asked and not keys.others:
            there = f"one of {', '.join(map(repr, row))}"[:200] if row else "a text"
            raise _Fault(f"there is no {' or '.join(map(repr, asked))}", there)
        rows = len(self.lines)
        for name in keys.others:
            value = row[name]
            if type(value) is not str:
                if not (asked and _is_list_of_strings(value)):
                    continue
                value = "\n".join(value)
            column = self.fields[name]
            if len(column) < rows:
                column.extend([b""] * (rows - len(column)))
            column.append(value.encode("utf-8", "replace"))

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


def _layout(row: Row, keys: _Keys, mode: str, asked: bool) -> Layout:
    """Return what the keys of an object are read as."""
    texts = tuple(name for name in keys.others if asked or isinstance(row[name], str))
    read_as = {"text": (texts, ()), "features": ((), ("features",)), "flat": ((), keys.others)}
    return Layout.of(row, keys[:3], *read_as[mode])


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
    if any(isinstance(value := row[name], str) and is_text(name, value) for name in keys.others):
        return "text"
    return "flat" if any(type(row[name]) in (int, float, bool) for name in keys.others) else "text"


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
