"""The tables of a journal, and opening the file that holds them."""

from __future__ import annotations

import os
import secrets
import sqlite3
from contextlib import suppress
from pathlib import Path

from hinged.journal.errors import JournalError
from hinged.journal.sums import FIRST_SUM, add_functions

__all__ = ["VERSION", "connect"]

VERSION = 2  # 1 had no checksums
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


def connect(path: Path, read_only: bool = False, fsync: bool = True) -> sqlite3.Connection:
    """Open a journal, making it where there is none; its files may be read and written by their owner alone.

    WAL with ``synchronous=FULL``: a commit returns when its pages have reached the disk.
    """
    if read_only:
        return _connect_to_read(path)
    _make_file(path)
    database = _plainly(str(path))
    try:
        version = _version(database, path)
        database.execute("PRAGMA journal_mode=WAL")
        database.execute(f"PRAGMA synchronous={'FULL' if fsync else 'OFF'}")
        database.execute("PRAGMA secure_delete=ON")  # what is forgotten does not linger in free pages
        if version == 0:
            _make(database)
        elif version == 1:
            _add_checksums(database)
    except BaseException:
        database.close()
        raise
    return database


def _make_file(path: Path) -> None:
    """Make the file, for its owner alone, where there is none: SQLite would make it by the umask.

    A file that exists is not opened: closing it would take the locks of every other connection of this process.
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _connect_to_read(path: Path) -> sqlite3.Connection:
    if not path.exists():
        raise JournalError(f"there is no journal at {path}.")
    where = f"file:{str(path).replace('%', '%25').replace('?', '%3f').replace('#', '%23')}?mode=ro"
    wal = path.with_name(path.name + "-wal")
    try:
        database = _plainly(where, uri=True)
        database.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:  # a disk that cannot be written, where SQLite cannot share the file
        if wal.exists() and wal.stat().st_size:
            raise
        database = _plainly(where + "&immutable=1", uri=True)
    _version(database, path)
    return database


def _plainly(where: str, uri: bool = False) -> sqlite3.Connection:
    """A connection whose transactions begin and end where the program says so."""
    database = sqlite3.connect(where, isolation_level=None, check_same_thread=False, uri=uri)
    database.text_factory = lambda data: data.decode("utf-8", "surrogateescape")  # damage is found by the checksums
    add_functions(database)
    return database


def _version(database: sqlite3.Connection, path: Path) -> int:
    """The version of the tables; 0 where there are none yet."""
    (ours,) = database.execute("PRAGMA application_id").fetchone()
    (version,) = database.execute("PRAGMA user_version").fetchone()
    (tables,) = database.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if ours == 0 and tables == 0:
        return 0
    if ours != OURS:
        raise JournalError(f"{path} is no journal of hinged; it was written by another program.")
    if version > VERSION:
        raise JournalError(
            f"{path} was written by a newer hinged (version {version} of its tables, this one reads up to {VERSION}); "
            "upgrade hinged to read it."
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
    """Bring tables of version 1 up to date. Lines that cannot be read any more get a checksum that never fits."""
    steps = [
        "ALTER TABLE events ADD COLUMN sum INTEGER",
        "ALTER TABLE notes ADD COLUMN sum INTEGER",
        "PRAGMA user_version=2",
        f"UPDATE events SET sum = {FIRST_SUM}",
        "UPDATE notes SET sum = note_sum(CAST(name AS BLOB), CAST(value AS BLOB))",
    ]
    for some in (steps, steps[:3]):  # lines of a file that is damaged itself go without
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
