"""The journal itself: what was learnt, in order, in one SQLite file."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from hinged.journal.codec import decode, encode, label_from_text, label_to_text
from hinged.journal.errors import told
from hinged.journal.schema import connect

__all__ = ["Event", "Journal"]

COLUMNS = "seq, at, kind, key, label, weight, x"

Line = tuple[str | None, str, float | None, bytes | None]


class Event(NamedTuple):
    """One line of a journal, its label as it is called by now."""

    seq: int
    at: float
    kind: str
    key: str | None
    label: Any
    weight: float | None
    x: Any


class Journal:
    """An append-only record of examples and of edits of their labels; who calls it sees to it that calls take turns.

    An edit appends a line of its own and changes how earlier lines call their labels: `examples` gives what is left
    to learn after all edits. Labels as they first came are kept beside.

    Parameters
    ----------
    path : the file; made where there is none
    read_only : whether nothing will be written; other processes may write meanwhile
    fsync : whether a commit waits for the disk; without, power loss may take the last ones

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
        self.path = path
        try:
            self._database = connect(path, read_only, fsync)
        except (sqlite3.Error, PermissionError) as problem:
            raise told(problem, path) from problem

    # ------------------------------------------------------------------ writing
    @contextmanager
    def transaction(self, to_write: bool = True) -> Iterator[None]:
        """All of what is written inside, or nothing of it; on the disk when this returns.

        What is read inside is of one moment; with ``to_write=False`` others may write meanwhile.
        """
        try:
            self._database.execute("BEGIN IMMEDIATE" if to_write else "BEGIN")
            try:
                yield
                self._database.execute("COMMIT")
            except BaseException:
                if self._database.in_transaction:  # some failures of a commit end the transaction themselves
                    self._database.execute("ROLLBACK")
                raise
        except sqlite3.Error as problem:
            raise told(problem, self.path) from problem

    def append(
        self, kind: str, x: Any = None, label: Any = None, *, key: str | None = None, weight: float | None = None
    ) -> int:
        """Write a line, inside a transaction; return its number."""
        text = label_to_text(label)
        return self.append_many(kind, [(key, text, weight, None if x is None else encode(x))])

    def append_many(self, kind: str, lines: Iterable[Line]) -> int:
        """Write lines of (key, label as text, weight, encoded example), inside a transaction; return the last number.

        Their numbers follow each other, since nobody else writes during a transaction.
        """
        now = time.time()
        self._database.executemany(
            "INSERT INTO events (at, kind, key, given, label, weight, x) VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(now, kind, key, text, text, weight, data) for key, text, weight, data in lines],
        )
        return int(self._database.execute("SELECT last_insert_rowid()").fetchone()[0])

    def rename(self, old: Hashable, new: Hashable, kind: str = "rename") -> None:
        """Let every line so far that says `old` say `new`, inside a transaction."""
        self._database.execute("UPDATE events SET label = ? WHERE label = ?", [label_to_text(new), label_to_text(old)])
        self._map_lists(old, [new])
        self.append(kind, [], [old, new])

    def forget(self, label: Hashable) -> None:
        """Drop a label from every line so far, inside a transaction; examples left without one are erased.

        Their keys stay, so that an example which was forgotten is not learnt again when it is sent again.
        """
        self._database.execute(
            "UPDATE events SET dropped = 1, x = NULL WHERE label = ? AND kind = 'learn'", [label_to_text(label)]
        )
        self._map_lists(label, [])
        self.append("forget", [], [label])

    def retract(self, seq: int) -> None:
        """Erase one example, inside a transaction; if it is sent again, it is new."""
        self._database.execute("UPDATE events SET dropped = 1, x = NULL, key = NULL WHERE seq = ?", [seq])
        self.append("retract", [], [seq])

    def _map_lists(self, old: Hashable, by: list[Hashable]) -> None:
        """The same for lines with several labels."""
        run = self._database.execute
        several = "SELECT seq, label FROM events WHERE kind IN ('learn', 'declare') AND label LIKE '{\"list\"%'"
        for seq, text in run(several).fetchall():
            labels = label_from_text(text)
            if old in labels:
                left = list(dict.fromkeys(one for label in labels for one in (by if label == old else [label])))
                run("UPDATE events SET label = ? WHERE seq = ?", [label_to_text(left), seq])
                if not left:
                    run("UPDATE events SET dropped = 1, x = NULL WHERE seq = ?", [seq])

    def run(self, statement: str, values: tuple[Any, ...] = ()) -> None:
        """Write to tables of one's own, inside a transaction."""
        self._database.execute(statement, values)

    def put(self, name: str, value: Any) -> None:
        """Keep a fact by name, as JSON, inside a transaction."""
        self._database.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", [name, json.dumps(value)])

    # ------------------------------------------------------------------ reading
    def get(self, name: str, default: Any = None) -> Any:
        """A fact that was put."""
        row = self._one("SELECT value FROM notes WHERE name = ?", [name])
        return default if row is None else json.loads(row[0])

    def find(self, key: str, label: Any) -> int | None:
        """The number of the line with that key and, by now, that label; None where there is none."""
        row = self._one("SELECT seq FROM events WHERE key = ? AND label = ? LIMIT 1", [key, label_to_text(label)])
        return None if row is None else int(row[0])

    @property
    def last(self) -> int:
        """The number of the last line; 0 where there is none."""
        row = self._one("SELECT max(seq) FROM events", [])
        return 0 if row is None or row[0] is None else int(row[0])

    def last_edit(self, after: int = 0) -> int:
        """The number of the last edit of earlier lines beyond a line; 0 where there is none."""
        edits = "kind IN ('forget', 'rename', 'merge', 'retract')"
        row = self._one(f"SELECT max(seq) FROM events WHERE seq > ? AND {edits}", [after])
        return 0 if row is None or row[0] is None else int(row[0])

    def version(self) -> int:
        """A number that changes when another connection has written something."""
        return int(self._one("PRAGMA data_version", [])[0])

    def file(self) -> tuple[int, int] | None:
        """What tells the file at the journal's path from any other; None where there is none."""
        try:
            found = os.stat(self.path)
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def examples(self, after: int = 0) -> Iterator[Event]:
        """What is to be learnt beyond a line: examples, and labels to declare, in order."""
        return self.events(after, "dropped = 0 AND kind IN ('learn', 'declare')")

    def events(self, after: int = 0, which: str = "1", values: tuple[Any, ...] = ()) -> Iterator[Event]:
        """The lines beyond a line; `which` is a condition in SQL on the columns of the table."""
        try:
            rows = self._database.execute(
                f"SELECT {COLUMNS} FROM events WHERE seq > ? AND ({which}) ORDER BY seq", (after, *values)
            )
            for seq, at, kind, key, label, weight, x in rows:
                content = None if x is None else decode(x)
                yield Event(seq, at, kind, key, label_from_text(label), weight, content)
        except sqlite3.Error as problem:
            raise told(problem, self.path) from problem

    def ask(self, query: str, values: tuple[Any, ...] = ()) -> list[Any]:
        """The rows of a query, for those who know the tables."""
        try:
            return self._database.execute(query, values).fetchall()
        except sqlite3.Error as problem:
            raise told(problem, self.path) from problem

    def _one(self, query: str, values: list[Any]) -> Any:
        try:
            return self._database.execute(query, values).fetchone()
        except sqlite3.Error as problem:
            raise told(problem, self.path) from problem

    # ------------------------------------------------------------------ the file
    def shrink(self) -> None:
        """Move what was committed into the file itself, so that nothing forgotten is left beside it."""
        try:
            self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.Error as problem:
            raise told(problem, self.path) from problem

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()
