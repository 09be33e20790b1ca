"""The journal: all examples and edits, in order, in one SQLite file."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from hinged.journal.codec import Label, decode, encode, label_from_text, label_to_text
from hinged.journal.errors import JournalError, journal_error
from hinged.journal.schema import COLUMNS, PASSED, SUM, Row, Value, connect, is_sound, line_sum, note_sum

__all__ = ["Event", "Journal", "Line"]

GIVEN = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'events'"  # last line number in use
EDITS = "('forget', 'rename', 'merge', 'retract', 'become')"  # kinds of lines after which a model is learnt again

Line = tuple[str | None, str, float | None, bytes | None]


class Event(NamedTuple):
    """One line of a journal, with the present name of its label."""

    seq: int
    at: float
    kind: str
    key: str | None
    label: Label
    weight: float | None
    x: object


class Journal:
    """An append-only record of examples and of edits of their labels.

    An edit appends a line of its own and changes the labels of earlier lines: `examples` yields what is left to learn
    after all edits. The original labels are kept beside.

    Parameters
    ----------
    path : the file; created if needed
    read_only : True to write nothing; other processes may write meanwhile
    fsync : True if a commit waits for the disk; otherwise power loss may lose the last commits

    Attributes
    ----------
    lock : threading.RLock
        Held by a thread during its transactions and while it reads: others never see half of one. Iterating over
        lines (`events`) is for one thread at a time, or inside a transaction.
    damaged : dict of int to str
        Lines that could not be read, and why; every line has a checksum.
    damaged_rows : dict of str to str
        The same for rows of tables beside the journal (`hinged.journal.tables`).

    Examples
    --------
    >>> import tempfile
    >>> journal = Journal(Path(tempfile.mkdtemp()) / "journal.sqlite")
    >>> with journal.transaction():
    ...     journal.append("learn", "tax form", "work", key="message 1")
    ...     journal.append("learn", "cake", "home", key="message 2")
    1
    2
    >>> with journal.transaction():
    ...     journal.rename("work", "office")
    >>> [(event.x, event.label) for event in journal.examples()]
    [('tax form', 'office'), ('cake', 'home')]
    >>> journal.find("message 1", "office")
    1
    >>> journal.close()
    """

    def __init__(self, path: Path, *, read_only: bool = False, fsync: bool = True) -> None:
        self.path, self.lock = path, threading.RLock()
        self.damaged: dict[int, str] = {}
        self.damaged_rows: dict[str, str] = {}
        try:
            self._database = connect(path, read_only, fsync)
            names = [row[1] for row in self._database.execute("PRAGMA table_info(notes)")]
        except (sqlite3.Error, PermissionError) as problem:
            raise journal_error(problem, path) from problem
        self._sum = "sum" if "sum" in names else "NULL"  # tables of version 1, opened read-only, have none

    # ------------------------------------------------------------------ writing
    @contextmanager
    def transaction(self, to_write: bool = True) -> Iterator[None]:
        """Commit all writes inside, or none; they are on the disk when this returns.

        Reads inside see a consistent state; with ``to_write=False`` other processes may write meanwhile.
        """
        with self.lock:
            try:
                self._database.execute("BEGIN IMMEDIATE" if to_write else "BEGIN")
                try:
                    yield
                    self._database.execute("COMMIT")
                except BaseException:
                    if self._database.in_transaction:  # some failures of a commit end the transaction
                        self._database.execute("ROLLBACK")
                    raise
            except sqlite3.Error as problem:
                raise journal_error(problem, self.path) from problem

    def append(
        self, kind: str, x: object = None, label: object = None, *, key: str | None = None, weight: float | None = None
    ) -> int:
        """Append a line, inside a transaction; return its number."""
        text = label_to_text(label)
        return self.append_many(kind, [(key, text, weight, None if x is None else encode(x))])

    def append_many(self, kind: str, lines: Iterable[Line]) -> int:
        """Append lines of (key, label as text, weight, encoded example), inside a transaction; return the last number.

        Their numbers are consecutive, since no other process writes during a transaction.
        """
        run = self._database.execute
        now, (seq,) = time.time(), run(f"SELECT max(({GIVEN}), (SELECT coalesce(max(seq), 0) FROM events))").fetchone()
        rows = []
        for key, text, weight, data in lines:
            seq += 1
            line = (seq, now, kind, key, text, text, 0, weight, data)
            rows.append((*line, line_sum(*line)))
        self._database.executemany(f"INSERT INTO events ({COLUMNS}, sum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        return int(seq)

    def _update(self, changes: Mapping[str, Value], which: str, values: tuple[Value, ...]) -> None:
        """Change undamaged lines, and their checksums."""
        changed = ", ".join("?" if name in changes else passed for name, passed in PASSED.items())
        self._database.execute(
            f"UPDATE events SET {' = ?, '.join(changes)} = ?, sum = line_sum({changed}) "
            f"WHERE ({which}) AND (sum IS NULL OR sum = {SUM})",
            (*changes.values(), *(changes[name] for name in PASSED if name in changes), *values),
        )

    def rename(self, old: Hashable, new: Hashable, kind: str = "rename") -> None:
        """Replace a label in every line so far, inside a transaction."""
        self._update({"label": label_to_text(new)}, "label = ?", (label_to_text(old),))
        self._map_lists(old, [new])
        self.append(kind, [], [old, new])

    def forget(self, label: Hashable) -> None:
        """Remove a label from every line so far, inside a transaction; examples left without one are erased.

        Their keys stay, so that a forgotten example is not learnt when it is sent again.
        """
        which, values = "label = ? AND kind = 'learn'", (label_to_text(label),)
        self._update({"dropped": 1, "x": None}, which, values)
        self._database.execute(f"UPDATE events SET dropped = 1, x = NULL WHERE {which}", values)  # damaged ones too
        self._map_lists(label, [])
        self.append("forget", [], [label])

    def retract(self, seq: int) -> None:
        """Erase one example, inside a transaction; sent again, it is new."""
        self._update({"dropped": 1, "x": None, "key": None}, "seq = ?", (seq,))
        self._database.execute("UPDATE events SET dropped = 1, x = NULL, key = NULL WHERE seq = ?", [seq])  # if damaged
        self.append("retract", [], [seq])

    def release(self, key: str, label: object, kind: str | None = None, last: bool = False) -> None:
        """Remove a key from lines of a label, inside a transaction: from all, those of a kind, or the last one."""
        which, values = "key = ? AND label = ? AND kind = coalesce(?, kind)", (key, label_to_text(label), kind)
        self._update({"key": None}, f"seq = (SELECT max(seq) FROM events WHERE {which})" if last else which, values)

    def _map_lists(self, old: Hashable, by: list[Hashable]) -> None:
        """Replace a label in lines with several labels."""
        run = self._database.execute
        several = f"SELECT seq, label FROM events WHERE kind NOT IN {EDITS} AND label LIKE '{{\"list\"%'"
        for seq, text in run(several).fetchall():
            try:
                labels = label_from_text(text)
            except ValueError:  # a damaged line
                continue
            if isinstance(labels, list) and old in labels:
                left = list(dict.fromkeys(one for label in labels for one in (by if label == old else [label])))
                gone: dict[str, Value] = {} if left else {"dropped": 1, "x": None}
                self._update({"label": label_to_text(left), **gone}, "seq = ?", (seq,))

    def run(self, statement: str, values: tuple[Value, ...] = ()) -> None:
        """Run an SQL statement on the caller's own tables, inside a transaction."""
        self._database.execute(statement, values)

    def put(self, name: str, value: object) -> None:
        """Store a value by name, as JSON, inside a transaction."""
        text = json.dumps(value)
        self._database.execute("INSERT OR REPLACE INTO notes VALUES (?, ?, ?)", [name, text, note_sum(name, text)])

    # ------------------------------------------------------------------ reading
    def get(self, name: str, default: object = None) -> Any:
        """Return a value that was stored by `put`."""
        row = self._one(f"SELECT value, {self._sum} FROM notes WHERE name = ?", (name,))
        if row is None:
            return default
        try:
            if row[1] in (None, note_sum(name, row[0])):
                return json.loads(row[0])
        except (TypeError, ValueError):
            pass
        raise JournalError(
            f"the note {name!r} in {self.path} is damaged; restore a copy of the journal, or start again. Its examples "
            "can still be exported."
        )

    def find(self, key: str, label: object) -> int | None:
        """Return the number of the line with this key and this label; None if there is none."""
        row = self._one("SELECT seq FROM events WHERE key = ? AND label = ? LIMIT 1", (key, label_to_text(label)))
        return None if row is None else int(row[0])

    @property
    def last(self) -> int:
        """The number of the last line; 0 if there is none."""
        return self._number("SELECT coalesce(max(seq), 0) FROM events")

    def last_edit(self, after: int = 0) -> int:
        """Return the number of the last edit of labels after a line; 0 if there is none."""
        return self._number(f"SELECT coalesce(max(seq), 0) FROM events WHERE seq > ? AND kind IN {EDITS}", (after,))

    def version(self) -> int:
        """Return a number that changes when another connection has written something."""
        return self._number("PRAGMA data_version")

    def file(self) -> tuple[int, int] | None:
        """Return what identifies the file at the journal's path; None if there is none."""
        try:
            found = os.stat(self.path)
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def examples(self, after: int = 0) -> Iterator[Event]:
        """Yield what is to be learnt after a line: examples, and labels to declare, in order."""
        return self.events(after, "dropped = 0 AND kind IN ('learn', 'declare')")

    def events(self, after: int = 0, which: str = "1", values: tuple[Value, ...] = ()) -> Iterator[Event]:
        """Yield the lines after a line; `which` is an SQL condition on the columns of the table.

        A damaged line is left out, and reported in `damaged`.
        """
        lines = f"SELECT {COLUMNS}, {self._sum} FROM events WHERE ({which}) AND"
        try:
            for line in self._database.execute(f"{lines} seq > ? ORDER BY seq", (*values, after)):
                after = line[0]
                event = self._event(line)
                if event is not None:
                    yield event
        except sqlite3.Error as problem:
            if "malformed" not in str(problem):
                raise journal_error(problem, self.path) from problem
            yield from self._saved(f"{lines} seq = ?", values, after)

    def _saved(self, query: str, values: tuple[Value, ...], after: int) -> Iterator[Event]:
        """Yield what can still be read of a damaged file after a line, reading each line separately."""
        try:
            ((end,),) = self.ask(GIVEN)
        except JournalError:
            end = None
        most = after + os.path.getsize(self.path) // 16  # no line is shorter
        for seq in range(after + 1, min(end or most, most) + 1):
            try:
                line = self._database.execute(query, (*values, seq)).fetchone()
            except sqlite3.Error as problem:
                self.damaged[seq] = str(problem)
                continue
            event = None if line is None else self._event(line)
            if event is not None:
                yield event

    def _event(self, line: Row) -> Event | None:
        """Return a line of the table; None if it is damaged."""
        *content, total = line
        seq, at, kind, key, _, label, _, weight, x = content
        if is_sound(tuple(content), total):
            try:
                return Event(seq, at, kind, key, label_from_text(label), weight, None if x is None else decode(x))
            except Exception as problem:  # a line from before there were checksums
                self.damaged[seq] = str(problem)
        else:
            self.damaged[seq] = "its checksum does not match"
        return None

    def ask(self, query: str, values: tuple[Value, ...] = ()) -> list[Row]:
        """Return the rows of an SQL query."""
        try:
            with self.lock:
                return self._database.execute(query, values).fetchall()
        except sqlite3.Error as problem:
            raise journal_error(problem, self.path) from problem

    def _one(self, query: str, values: tuple[Value, ...] = ()) -> Row | None:
        return next(iter(self.ask(query, values)), None)

    def _number(self, query: str, values: tuple[Value, ...] = ()) -> int:
        """Return the number that a query always gives."""
        ((number,),) = self.ask(query, values)
        return int(number)

    # ------------------------------------------------------------------ the file
    def shrink(self) -> None:
        """Move the write-ahead log into the file, so that erased content does not stay in the log.

        Does not wait for readers: SQLite does it later then.
        """
        try:
            ((wait,),) = self.ask("PRAGMA busy_timeout")
            self._database.execute("PRAGMA busy_timeout=0")
            try:
                self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            finally:
                self._database.execute(f"PRAGMA busy_timeout={wait}")
        except sqlite3.Error as problem:
            raise journal_error(problem, self.path) from problem

    def close(self) -> None:
        """Close the file."""
        self._database.close()
