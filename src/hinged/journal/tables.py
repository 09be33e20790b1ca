"""Tables of a program's own beside the journal, each row with a checksum, so that damage is noticed."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from typing import Any

from hinged.journal.errors import JournalError
from hinged.journal.journal import Journal

__all__ = ["Table", "row_sum"]

DAMAGED = -1  # no CRC-32
MOST_SHOWN = 60  # characters of the key of a damaged row


def row_sum(row: Sequence[Any]) -> int:
    """CRC-32 of the values of a row.

    Examples
    --------
    >>> row_sum(("Work", "17.a", "m1")) == row_sum(("Work", "17.b", "m1"))
    False
    """
    return zlib.crc32(ascii(tuple(row)).encode())


class Table:
    """A table whose rows have checksums. Those who write do so inside a transaction of the journal.

    A row that is damaged is never given; it is named in `Journal.damaged_rows`.

    Parameters
    ----------
    journal : Journal
    name : str
    columns : str
        Their declarations, `key` first, with commas between them; no declaration holds a comma.
    key : int
        How many of the columns are the primary key. A single INTEGER is numbered by `add`.
    remedy : str
        What becomes of a row that is damaged, for those who are told of it.

    Attributes
    ----------
    is_damaged : bool
        Whether a damaged row was come across.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> journal = Journal(Path(tempfile.mkdtemp()) / "journal.sqlite")
    >>> places = Table(journal, "places", "folder TEXT, place TEXT, message TEXT", 2, "it is left out")
    >>> with journal.transaction():
    ...     places.make()
    ...     places.put("Work", "17.a", "m1")
    >>> places.rows("folder = ?", ("Work",))
    [('Work', '17.a', 'm1')]
    >>> with journal.transaction():
    ...     journal.run("UPDATE places SET message = 'm2'")
    >>> places.rows(), journal.damaged_rows
    ([], {"('Work', '17.a') of places": 'its checksum does not match; it is left out'})
    >>> journal.close()
    """

    is_damaged = False

    def __init__(self, journal: Journal, name: str, columns: str, key: int, remedy: str) -> None:
        self.journal, self.name, self.remedy = journal, name, remedy
        self._key, self._declared, self._known = key, columns, False
        self.columns = [column.split()[0] for column in columns.split(", ")]
        self._names = ", ".join(self.columns)

    def make(self) -> None:
        """Make the table where there is none, and give checksums to the rows of an older version."""
        have = self._has()
        if not have:
            self.create()
        elif "sum" not in have:
            self.journal.run(f"ALTER TABLE {self.name} ADD COLUMN sum INTEGER")
            self._give_sums()

    def create(self, temporary: bool = False) -> None:
        """Make the table; one that is temporary hides that of the same name, and is gone with the connection."""
        table = f"{'TEMP ' * temporary}TABLE {self.name}"
        key = ", ".join(self.columns[: self._key])
        if self._key == 1:
            columns = self._declared.replace("INTEGER", "INTEGER PRIMARY KEY AUTOINCREMENT", 1)
            self.journal.run(f"CREATE {table} ({columns}, sum INTEGER)")
        else:
            self.journal.run(f"CREATE {table} ({self._declared}, sum INTEGER, PRIMARY KEY ({key})) WITHOUT ROWID")

    def _has(self) -> set[str]:
        """The columns that the table has in the file; none where there is no table."""
        return {row[1] for row in self.journal.ask(f"PRAGMA table_info({self.name})")}

    def _give_sums(self) -> None:
        """Take rows that never had a checksum as they are; text that is no UTF-8 gets one that never fits."""
        for row in self.journal.ask(f"SELECT {self._names} FROM {self.name}"):
            which = " AND ".join(f"{name} IS ?" for name in self.columns[: self._key])
            if all(_is_whole(value) for value in row):
                self.journal.run(f"UPDATE {self.name} SET sum = ? WHERE {which}", (row_sum(row), *row[: self._key]))
        self.journal.run(f"UPDATE {self.name} SET sum = {DAMAGED} WHERE sum IS NULL")

    # ------------------------------------------------------------------ writing
    def put(self, *row: Any) -> None:
        """Write a row, in place of one with the same key."""
        marks = ", ".join("?" * (len(row) + 1))
        self.journal.run(
            f"INSERT OR REPLACE INTO {self.name} ({self._names}, sum) VALUES ({marks})", (*row, row_sum(row))
        )

    def add(self, *row: Any) -> int:
        """Write a row without its number, which is returned."""
        given = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = ?"
        ((last,),) = self.journal.ask(
            f"SELECT max(({given}), (SELECT coalesce(max({self.columns[0]}), 0) FROM {self.name}))", (self.name,)
        )
        self.put(int(last) + 1, *row)
        return int(last) + 1

    def change(self, which: str, values: tuple[Any, ...], **changes: Any) -> None:
        """Change the sound rows for which a condition in SQL holds; damaged ones stay as they are."""
        for row in self.rows(which, values):
            now = [changes.get(name, value) for name, value in zip(self.columns, row, strict=True)]
            if tuple(now[: self._key]) != row[: self._key]:
                self._remove_row(row)
            self.put(*now)

    def remove(self, which: str, values: tuple[Any, ...] = ()) -> None:
        """Remove the rows for which a condition in SQL holds, damaged or not."""
        self.journal.run(f"DELETE FROM {self.name} WHERE {which}", values)

    def remove_damaged(self) -> None:
        """Remove the rows that are damaged."""
        sound = list(self._checked("1", ()))
        if any(row is None for row in sound):
            self.remove("1")
            for row in sound:
                if row is not None:
                    self.put(*row)
        self.is_damaged = False

    def _remove_row(self, row: tuple[Any, ...]) -> None:
        self.remove(" AND ".join(f"{name} = ?" for name in self.columns[: self._key]), row[: self._key])

    # ------------------------------------------------------------------ reading
    def rows(self, which: str = "1", values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """The sound rows for which a condition in SQL holds, in the order of their keys; damaged ones are named."""
        return [row for row in self._checked(which, values) if row is not None]

    def check(self) -> None:
        """Look at every row, so that `is_damaged` says of all of them whether one is."""
        try:
            self.rows()
        except JournalError as problem:  # pages of the file are damaged: whoever needs the table is told so
            self.journal.damaged_rows[f"any of {self.name}"] = str(problem).rstrip(".")

    def _checked(self, which: str, values: tuple[Any, ...]) -> Iterator[tuple[Any, ...] | None]:
        """The rows, None for each that is damaged."""
        have = set() if self._known else self._has()
        self._known = self._known or "sum" in have
        if not (self._known or have):
            return
        total = "sum" if self._known else "NULL"  # an older version, opened to be read, has none
        order = ", ".join(self.columns[: self._key])
        query = f"SELECT {self._names}, {total} FROM {self.name} WHERE {which} ORDER BY {order}"
        for *row, told in self.journal.ask(query, values):
            if told == row_sum(row) or not self._known:
                yield tuple(row)
            else:
                self.is_damaged = True
                key = ascii(tuple(row[: self._key]) if self._key > 1 else row[0])
                self.journal.damaged_rows[f"{key[:MOST_SHOWN]} of {self.name}"] = (
                    f"its checksum does not match; {self.remedy}"
                )
                yield None


def _is_whole(value: Any) -> bool:
    """Whether a value is no text with bytes that are not UTF-8."""
    return not isinstance(value, str) or not any("\udc80" <= one <= "\udcff" for one in value)
