"""Checksums of a journal's lines and notes, so that damage is noticed before it is learnt."""

from __future__ import annotations

import json
import sqlite3
import zlib
from typing import Any

from hinged.journal.codec import decode

__all__ = ["COLUMNS", "FIRST_SUM", "PASSED", "SUM", "add_functions", "is_sound", "line_sum", "note_sum"]

#: What the checksum of a line covers, in the order that `line_sum` takes it: all its columns.
COLUMNS = "seq, at, kind, key, given, label, dropped, weight, x"
TEXTS = ("kind", "key", "given", "label")
#: How SQL passes each column to a function: text that is no UTF-8 would fail before the function is called.
PASSED = {
    name: f"CAST({name} AS BLOB)" if name in TEXTS else f"CASE WHEN typeof({name}) != 'text' THEN {name} END"
    for name in COLUMNS.split(", ")
}
#: The checksum in SQL, to compare with or to write after a change.
SUM = f"line_sum({', '.join(PASSED.values())})"
#: The checksum in SQL for lines that never had one.
FIRST_SUM = f"first_sum({', '.join(PASSED.values())})"
DAMAGED = -1  # no CRC-32


def line_sum(
    seq: int,
    at: float,
    kind: str,
    key: str | None,
    given: str | None,
    label: str | None,
    dropped: int,
    weight: float | None,
    x: bytes | None,
) -> int:
    """CRC-32 of a line of the journal.

    Examples
    --------
    >>> line = (1, 0.0, "learn", None, '"work"', '"work"', 0, None, b'j"tax"')
    >>> line_sum(*line) == line_sum(*line[:-1], b'j"tux"')
    False
    """
    weight = None if weight is None else float(weight)
    key = str.__str__(key) if isinstance(key, str) else key  # as the file has it, whatever the type of the key
    told = ascii((seq, float(at), kind, key, given, label, dropped, weight, x is None))
    return zlib.crc32(x or b"", zlib.crc32(told.encode()))


def note_sum(name: str, value: str) -> int:
    """CRC-32 of a note."""
    return zlib.crc32(ascii((name, value)).encode())


def is_sound(line: tuple[Any, ...], total: int | None) -> bool:
    """Whether a line has its checksum; one from before there were checksums has none, and passes."""
    try:
        return total is None or line_sum(*line) == total
    except (TypeError, ValueError):  # damage can make a number of a text
        return False


def add_functions(database: sqlite3.Connection) -> None:
    """Let SQL compute checksums: `line_sum`, `note_sum`, and `first_sum` for lines that never had one."""
    database.create_function("line_sum", 9, _or_damaged(line_sum, 2, 6), deterministic=True)
    database.create_function("note_sum", 2, _or_damaged(note_sum, 0, 2), deterministic=True)
    database.create_function("first_sum", 9, _or_damaged(_first_sum, 2, 6), deterministic=True)


def _first_sum(*line: Any) -> int:
    """The checksum of a line that had none, if what it holds can be read."""
    if line[8] is not None:
        decode(line[8])
    if line[5] is not None:
        json.loads(line[5])
    for text in line[2:6]:
        (text or "").encode()  # refuses what is no UTF-8
    return line_sum(*line)


def _or_damaged(function: Any, start: int, stop: int) -> Any:
    """A function for SQL that does not fail; the values from `start` up to `stop` are texts, or their bytes."""

    def total(*values: Any) -> int:
        try:
            return int(function(*values[:start], *map(_text, values[start:stop]), *values[stop:]))
        except Exception:  # whatever damaged bytes do to a decoder
            return DAMAGED

    return total


def _text(value: Any) -> Any:
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value
