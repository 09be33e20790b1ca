"""Tables beside the journal for a program's own data; each row has a checksum, so that damage is noticed."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence

from hinged.journal.errors import JournalError
from hinged.journal.journal import Journal
from hinged.journal.schema import Row, Value

__all__ = ["Table", "row_sum"]

DAMAGED = -1  # never a CRC-32
MOST_SHOWN = 60  # characters of the key of a damaged row


def row_sum(row: Sequence[Value]) -> int:
    """Return the CRC-32 of the values of a row.

    Examples
    --------
    >>> row_sum(("Work", "17.a", "m1")) == row_sum(("Work", "17.b", "m1"))
    False
    """
    return zlib.crc32(ascii(tuple(row)).encode())


class Table:
    """A table whose rows have checksums. All writes happen inside a transaction of the journal.

    A damaged row is never returned; it is reported in `Journal.damaged_rows`.

    Parameters
    ----------
    journal : Journal
    name : str
    columns : str
        Their declarations, those of the key first, separated by commas.
    key : int
        Number of columns in the primary key. A single INTEGER is numbered by `add`.
    remedy : str
        What happens to a damaged row, for the message.

    Attributes
    ----------
    is_damaged : bool
        True if a damaged row was found.

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
        self._names, self._keys = ", ".join(self.columns), ", ".join(self.columns[:key])
        self._at_key = " AND ".join(f"{name} IS ?" for name in self.columns[:key])

    def make(self) -> None:
        """Create the table if there is none, and add checksums to the rows of an older version."""
        have = self._has()
        if not have:
            self.create()
        elif "sum" not in have:
            self.journal.run(f"ALTER TABLE {self.name} ADD COLUMN sum INTEGER")
            self._give_sums()

    def create(self, temporary: bool = False) -> None:
        """Create the table; a temporary one hides that of the same name until the connection is closed."""
        table = f"{'TEMP ' * temporary}TABLE {self.name}"
        if self._key == 1:
            columns = self._declared.replace("INTEGER", "INTEGER PRIMARY KEY AUTOINCREMENT", 1)
            self.journal.run(f"CREATE {table} ({columns}, sum INTEGER)")
        else:
            self.journal.run(
                f"CREATE {table} ({self._declared}, sum INTEGER, PRIMARY KEY ({self._keys})) WITHOUT ROWID"
            )

    def _has(self) -> set[str]:
        """Return the columns of the table in the file; none if there is no table."""
        return {row[1] for row in self.journal.ask(f"PRAGMA table_info({self.name})")}

    def _give_sums(self) -> None:
        """Add checksums to rows that never had one; rows with text that is not UTF-8 get one that never matches."""
        for row in self.journal.ask(f"SELECT {self._names} FROM {self.name}"):
            if all(map(_is_whole, row)):
                values = (row_sum(row), *row[: self._key])
                self.journal.run(f"UPDATE {self.name} SET sum = ? WHERE {self._at_key}", values)
        self.journal.run(f"UPDATE {self.name} SET sum = {DAMAGED} WHERE sum IS NULL")

    # ------------------------------------------------------------------ writing
    def put(self, *row: Value) -> None:
        """Write a row; replace one with the same key."""
        marks = ", ".join("?" * (len(row) + 1))
        self.journal.run(
            f"INSERT OR REPLACE INTO {self.name} ({self._names}, sum) VALUES ({marks})", (*row, row_sum(row))
        )

    def add(self, *row: Value) -> int:
        """Write a row with the next number, and return that."""
        given = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = ?"
        ((last,),) = self.journal.ask(
            f"SELECT max(({given}), (SELECT coalesce(max({self.columns[0]}), 0) FROM {self.name}))", (self.name,)
        )
        self.put(int(last) + 1, *row)
        return int(last) + 1

    def change(self, which: str, values: tuple[Value, ...], **changes: Value) -> None:
        """Change the undamaged rows for which an SQL condition holds."""
        for row in self.rows(which, values):
            now = [changes.get(name, value) for name, value in zip(self.columns, row, strict=True)]
            if tuple(now[: self._key]) != row[: self._key]:
                self.remove(self._at_key, row[: self._key])
            self.put(*now)

    def remove(self, which: str, values: tuple[Value, ...] = ()) -> None:
        """Remove the rows for which an SQL condition holds, damaged or not."""
        self.journal.run(f"DELETE FROM {self.name} WHERE {which}", values)

    def remove_damaged(self) -> None:
        """Remove the damaged rows."""
        sound = list(self._checked("1", ()))
        if any(row is None for row in sound):
            self.remove("1")
            for row in sound:
                if row is not None:
                    self.put(*row)
        self.is_damaged = False

    # ------------------------------------------------------------------ reading
    def rows(self, which: str = "1", values: tuple[Value, ...] = ()) -> list[Row]:
        """Return the undamaged rows for which an SQL condition holds, sorted by key; report damaged ones."""
        return [row for row in self._checked(which, values) if row is not None]

    def check(self) -> None:
        """Read every row, so that `is_damaged` covers all of them."""
        try:
            for _ in self._checked("1", ()):
                pass
        except JournalError as problem:  # pages of the file are damaged: uses of the table raise
            self.journal.damaged_rows[f"any of {self.name}"] = str(problem).rstrip(".")

    def _checked(self, which: str, values: tuple[Value, ...]) -> Iterator[Row | None]:
        """Yield the rows, None for each damaged one."""
        have = {"sum"} if self._known else self._has()
        if not have:
            return
        self._known = "sum" in have
        total = "sum" if self._known else "NULL"  # an older version, opened read-only, has none
        query = f"SELECT {self._names}, {total} FROM {self.name} WHERE {which} ORDER BY {self._keys}"
        for found in self.journal.ask(query, values):
            row = found[:-1]
            if found[-1] == row_sum(row) or not self._known:
                yield row
            else:
                self._report(row)
                yield None

    def _report(self, row: Row) -> None:
        self.is_damaged = True
        key = ascii(row[: self._key] if self._key > 1 else row[0])[:MOST_SHOWN]
        self.journal.damaged_rows[f"{key} of {self.name}"] = f"its checksum does not match; {self.remedy}"


def _is_whole(value: Value) -> bool:
    """Return False if a value is text with bytes that are not UTF-8."""
    return not isinstance(value, str) or not any("\udc80" <= one <= "\udcff" for one in value)
