"""The file of a journal: its tables, the checksums of their lines, and how to open it."""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

from hinged.journal.codec import decode
from hinged.journal.errors import JournalError

__all__ = [
    "COLUMNS",
    "PASSED",
    "SUM",
    "VERSION_WITH_BASE",
    "Row",
    "Value",
    "connect",
    "is_sound",
    "line_sum",
    "note_sum",
]

Value: TypeAlias = str | int | float | bytes | None  # of a column
Row: TypeAlias = tuple[Any, ...]  # as sqlite3 returns it: the types of its columns are in SQL only

VERSION = 2  # 1 had no checksums
VERSION_WITH_BASE = 3  # of a journal whose model begins with what another one learnt (`base.py`)
OURS = 0x68696E67  # "hing", in the header of the file
TABLES = """
CREATE TABLE events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    at REAL NOT NULL,           -- seconds since 1970
    kind TEXT NOT NULL,         -- learn, declare, forget, rename, merge, or a program's own
    key TEXT,                   -- who sent it; together with the label it counts once
    given TEXT,                 -- the label as it came
    label TEXT,                 -- the label after all renaming and merging since
    dropped INTEGER NOT NULL DEFAULT 0,  -- 1 once the label was forgotten
    weight REAL,
    x BLOB,
    sum INTEGER                 -- checksum of all the above
);
CREATE INDEX events_by_key ON events (key, label) WHERE key IS NOT NULL;
CREATE INDEX events_by_label ON events (label, seq) WHERE label IS NOT NULL;
CREATE TABLE notes (name TEXT PRIMARY KEY, value TEXT NOT NULL, sum INTEGER) WITHOUT ROWID;
"""
#: What the checksum of a line covers: all its columns.
COLUMNS = "seq, at, kind, key, given, label, dropped, weight, x"
TEXTS = ("kind", "key", "given", "label")
#: How SQL passes each column to a function: text that is not UTF-8 would fail before the function is called.
PASSED = {
    name: f"CAST({name} AS BLOB)" if name in TEXTS else f"CASE WHEN typeof({name}) != 'text' THEN {name} END"
    for name in COLUMNS.split(", ")
}
#: The checksum in SQL, to compare with or to write after a change.
SUM = f"line_sum({', '.join(PASSED.values())})"
#: The checksum in SQL for lines that never had one.
FIRST_SUM = f"first_sum({', '.join(PASSED.values())})"
DAMAGED = -1  # never a CRC-32


def connect(path: Path, read_only: bool = False, fsync: bool = True) -> sqlite3.Connection:
    """Open a journal, or create it; only its owner can read and write its files.

    WAL with ``synchronous=FULL``: a commit returns when its pages have reached the disk.
    """
    if read_only:
        return _connect_to_read(path)
    _make_file(path)
    database = _open(str(path))
    try:
        version = _version(database, path)
        database.execute("PRAGMA journal_mode=WAL")
        database.execute(f"PRAGMA synchronous={'FULL' if fsync else 'OFF'}")
        database.execute("PRAGMA secure_delete=ON")  # overwrite deleted content
        if version == 0:
            _make(database)
        elif version == 1:
            _add_checksums(database)
    except BaseException:
        database.close()
        raise
    return database


def _make_file(path: Path) -> None:
    """Create the file with mode 0600 if there is none: SQLite would apply the umask.

    An existing file is not opened: closing it would drop the locks of every other connection of this process.
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _connect_to_read(path: Path) -> sqlite3.Connection:
    if not path.exists():
        raise JournalError(f"there is no journal at {path}.")
    where = f"file:{str(path).replace('%', '%25').replace('?', '%3f').replace('#', '%23')}?mode=ro"
    wal = path.with_name(path.name + "-wal")
    try:
        database = _open(where, uri=True)
        database.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:  # a read-only disk, on which SQLite cannot share the file
        if wal.exists() and wal.stat().st_size:
            raise
        database = _open(where + "&immutable=1", uri=True)
    _version(database, path)
    return database


def _open(where: str, uri: bool = False) -> sqlite3.Connection:
    """Open a connection with explicit transactions."""
    database = sqlite3.connect(where, isolation_level=None, check_same_thread=False, uri=uri)
    database.text_factory = lambda data: data.decode("utf-8", "surrogateescape")  # checksums detect damage
    _add_functions(database)
    return database


def _version(database: sqlite3.Connection, path: Path) -> int:
    """Return the version of the tables; 0 if there are none yet."""
    (ours,) = database.execute("PRAGMA application_id").fetchone()
    (version,) = database.execute("PRAGMA user_version").fetchone()
    (tables,) = database.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if ours == 0 and tables == 0:
        return 0
    if ours != OURS:
        raise JournalError(f"{path} is not a journal of hinged; it was written by another program.")
    if version > VERSION_WITH_BASE:
        raise JournalError(
            f"{path} was written by a newer hinged (version {version} of its tables, this one reads up to "
            f"{VERSION_WITH_BASE}); upgrade hinged to read it."
        )
    return int(version)


def _make(database: sqlite3.Connection) -> None:
    database.execute("BEGIN IMMEDIATE")
    for statement in TABLES.split(";\n"):
        if statement.strip():
            database.execute(statement)
    database.execute("INSERT INTO notes VALUES ('id', ?1, note_sum('id', ?1))", [f'"{secrets.token_hex(8)}"'])
    database.execute(f"PRAGMA application_id={OURS}")
    database.execute(f"PRAGMA user_version={VERSION}")
    database.execute("COMMIT")


def _add_checksums(database: sqlite3.Connection) -> None:
    """Migrate tables of version 1. Lines that cannot be read get a checksum that never matches."""
    steps = [
        "ALTER TABLE events ADD COLUMN sum INTEGER",
        "ALTER TABLE notes ADD COLUMN sum INTEGER",
        "PRAGMA user_version=2",
        f"UPDATE events SET sum = {FIRST_SUM}",
        "UPDATE notes SET sum = note_sum(CAST(name AS BLOB), CAST(value AS BLOB))",
    ]
    for some in (steps, steps[:3]):  # if the file itself is damaged, lines stay without checksums
        database.execute("BEGIN IMMEDIATE")
        try:
            for step in some:
                database.execute(step)
            database.execute("COMMIT")
            return
        except sqlite3.Error as problem:
            if database.in_transaction:
                database.execute("ROLLBACK")
            if "malformed" not in str(problem) or some is not steps:
                raise


def line_sum(*line: Any) -> int:
    """Return the CRC-32 of a line of the journal, whose values are in the order of `COLUMNS`.

    Examples
    --------
    >>> line = (1, 0.0, "learn", None, '"work"', '"work"', 0, None, b'j"tax"')
    >>> line_sum(*line) == line_sum(*line[:-1], b'j"tux"')
    False
    """
    seq, at, kind, key, given, label, dropped, weight, x = line
    weight = None if weight is None else float(weight)
    key = str.__str__(key) if isinstance(key, str) else key  # as the file has it, also for a subclass of str
    text = ascii((seq, float(at), kind, key, given, label, dropped, weight, x is None))
    return zlib.crc32(x or b"", zlib.crc32(text.encode()))


def note_sum(name: str, value: str) -> int:
    """Return the CRC-32 of a note."""
    return zlib.crc32(ascii((name, value)).encode())


def is_sound(line: Row, total: int | None) -> bool:
    """Return True if the checksum of a line matches; lines of older versions have none, and pass."""
    try:
        return total is None or line_sum(*line) == total
    except (TypeError, ValueError):  # damage can change the type of a value
        return False


def _add_functions(database: sqlite3.Connection) -> None:
    """Register SQL functions for checksums: `line_sum`, `note_sum`, and `first_sum` for lines that never had one."""
    database.create_function("line_sum", 9, _or_damaged(line_sum, 2, 6), deterministic=True)
    database.create_function("note_sum", 2, _or_damaged(note_sum, 0, 2), deterministic=True)
    database.create_function("first_sum", 9, _or_damaged(_first_sum, 2, 6), deterministic=True)


def _first_sum(*line: Any) -> int:
    """Return the checksum of a line that had none, if its content can be decoded."""
    if line[8] is not None:
        decode(line[8])
    if line[5] is not None:
        json.loads(line[5])
    for text in line[2:6]:
        (text or "").encode()  # raises if it is not UTF-8
    return line_sum(*line)


def _or_damaged(function: Callable[..., int], start: int, stop: int) -> Callable[..., int]:
    """Return an SQL function that does not fail; the values from `start` up to `stop` are texts, or their bytes."""

    def total(*values: Value) -> int:
        try:
            return function(*values[:start], *map(_text, values[start:stop]), *values[stop:])
        except Exception:  # damaged bytes can raise anything
            return DAMAGED

    return total


def _text(value: Value) -> Value:
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value
