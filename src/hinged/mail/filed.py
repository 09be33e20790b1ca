"""What the assistant filed: when, how sure it was, what became of it, and the promise that this counts for."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from hinged.journal.tables import Table
from hinged.mail.memory import ASIDE, MOVED_ON, MailMemory, Move
from hinged.mail.message import Message
from hinged.mail.promise import ALARM, Promise, evidence
from hinged.mail.suggestion import Suggestion

__all__ = ["FATES", "GONE", "KEPT", "MOVED", "OPEN", "UNDONE", "Alarm", "Entry", "FilingLog", "PromiseBroken"]

COLUMNS = "number INTEGER, at REAL, sender TEXT, sure REAL, promised INTEGER, fate INTEGER"
#: What became of a message: it lies where it was put, was left alone, moved by the user, undone, or is nowhere.
OPEN, KEPT, MOVED, UNDONE, GONE = range(5)
FATES = ("there", "kept", "moved", "undone", "gone")
WRONG = (MOVED, UNDONE)
NOTE = "mail_promise"  # name of the journal's note of the promise


class Entry(NamedTuple):
    """A message that the assistant filed.

    Attributes
    ----------
    at : seconds since 1970; None if an older version moved it
    sure : confidence in the folder; None if a pin decided, or an older version moved it
    promised : True if it counts for a promise
    fate : what became of it: `OPEN`, `KEPT`, `MOVED`, `UNDONE` or `GONE`
    """

    move: Move
    at: float | None = None
    sender: str = ""
    sure: float | None = None
    promised: bool = False
    fate: int = OPEN

    @property
    def is_wrong(self) -> bool:
        """True if the user moved the message since, or had that undone."""
        return self.fate in WRONG


class PromiseBroken(NamedTuple):
    """Corrections show that a promise is broken: this many of the messages filed since the last alarm were wrong.

    Nothing more is filed until `to_wait` messages have come and waited.
    """

    right: float
    filed: int
    wrong: int
    to_wait: int

    def __str__(self) -> str:
        """Return a sentence for the user, without full stop.

        Examples
        --------
        >>> str(PromiseBroken(0.95, 40, 7, 20)).partition(";")[2]
        ' nothing is filed until 20 more messages have come'
        """
        return (
            f"filing was to be right {100 * self.right:g} % of the time, but {self.wrong} of the last {self.filed} "
            f"messages filed were wrong; nothing is filed until {self.to_wait} more messages have come"
        )


class Alarm(NamedTuple):
    """When corrections showed that a promise is broken, and how many messages were filed until then and were wrong."""

    at: float
    filed: int
    wrong: int


class FilingLog:
    """A table beside that of moves, and the promise. All writes happen inside a transaction of the journal.

    Attributes
    ----------
    news : list of PromiseBroken
        Alarms of this process; whoever tells the user of one removes it.
    """

    def __init__(self, memory: MailMemory) -> None:
        self.memory, self.journal, self.news = memory, memory.journal, list[PromiseBroken]()
        self._table = Table(memory.journal, "mail_filed", COLUMNS, 1, "its date and what became of it are unknown")

    def make_table(self) -> None:
        """Create the table if there is none."""
        self._table.make()
        self._table.check()

    # ------------------------------------------------------------------ the promise
    def promise(self) -> Promise | None:
        """Return the promise that is in force; None if there never was one."""
        about = self.journal.get(NOTE)
        return None if about is None else Promise(about["right"], about["saved"], about["loans"], about["waited"])

    def last_alarm(self) -> Alarm | None:
        """Return the last alarm under the promise that is in force."""
        about = self.journal.get(NOTE, {}).get("alarm")
        return None if about is None else Alarm(*about)

    def promise_to(self, right: float) -> None:
        """Begin a promise, unless the same one is in force."""
        before = self.promise()
        if before is None or before.right != right:
            last = max((move.number for move in self.memory.every_move()), default=0)
            self._keep(Promise(right), since=last, watched=last, alarm=None)

    def wait(self) -> None:
        """Count a message that is not filed."""
        promise = self.promise()
        if promise is not None and promise.is_paused:
            self._keep(promise.waits())

    def _keep(self, promise: Promise, **more: Any) -> None:
        self.journal.put(NOTE, {**self.journal.get(NOTE, {}), **promise._asdict(), **more})

    # ------------------------------------------------------------------ writing
    def begin(self, number: int, message: Message, suggestion: Suggestion, promised: bool) -> None:
        """Record a move that is about to be made."""
        sure = None if suggestion.pinned else suggestion.confidence
        self._table.put(number, time.time(), message.sender, sure, int(promised), OPEN)

    def made(self, number: int) -> None:
        """Record that a move was made: for a promise it counts as right until it is corrected."""
        promise = self.promise()
        if promise is not None and self._counts(number):
            self._keep(promise.filed())

    def drop(self, number: int) -> None:
        """Delete the record of a move that was not made."""
        self._table.remove("number = ?", (number,))

    def end(self, number: int, fate: int) -> None:
        """Record what became of a message; a correction may break the promise, which is added to `news`."""
        rows = self._table.rows("number = ?", (number,))
        self._table.change("number = ?", (number,), fate=fate)
        if fate in WRONG and rows and rows[0][5] not in WRONG and self._counts(number):
            self._correct()

    def _counts(self, number: int) -> bool:
        since = self.journal.get(NOTE, {}).get("since", 0)
        return bool(self._table.rows("number = ? AND number > ? AND promised = 1", (number, since)))

    def _correct(self) -> None:
        promise = self.promise()
        assert promise is not None
        promise = promise.corrected()
        rows = self._table.rows("number > ? AND promised = 1", (self.journal.get(NOTE)["watched"],))
        wrong = [row[5] in WRONG for row in rows]
        if evidence(wrong, promise.right) < ALARM:
            self._keep(promise)
            return
        promise = promise.broken()
        self.news.append(PromiseBroken(promise.right, len(wrong), sum(wrong), promise.to_wait))
        self._keep(promise, watched=rows[-1][0], alarm=[time.time(), len(wrong), sum(wrong)])

    def forget(self) -> None:
        """Delete the records of moves that were forgotten."""
        self._table.remove("number NOT IN (SELECT number FROM mail_moves)")

    # ------------------------------------------------------------------ reading
    def entries(self, since: float | None = None) -> list[Entry]:
        """Return what was filed, in order; only from a time on if that is given."""
        known = {row[0]: row[1:] for row in self._table.rows()}
        found = []
        for move in self.memory.every_move():
            if move.undone == ASIDE or (move.number not in known and move.place is None):  # not filed, or not made
                continue
            at, sender, sure, promised, fate = known.get(move.number, (None, "", None, 0, OPEN))
            if fate not in WRONG and not move.is_open:
                fate = MOVED if move.undone == MOVED_ON else UNDONE
            found.append(Entry(move, at, sender, sure, bool(promised), fate))
        return [one for one in found if since is None or (one.at or 0.0) >= since]

    def open_entries(self) -> list[Entry]:
        """Return the entries whose fate is not known yet."""
        found = [(self.memory.move(row[0]), row) for row in self._table.rows("fate = ?", (OPEN,))]
        return [
            Entry(move, row[1], row[2], row[3], bool(row[4]))
            for move, row in found
            if move is not None and move.is_open
        ]

    def promised(self) -> list[Entry]:
        """Return what was filed under the promise that is in force."""
        since = self.journal.get(NOTE, {}).get("since", 0)
        return [one for one in self.entries() if one.promised and one.move.number > since]

    def what_became(self, entry: Entry) -> str:
        """Return what became of a message, in words."""
        if entry.fate != MOVED:
            return FATES[entry.fate]
        went = self.memory.went_last(entry.move.message)
        return "moved back" if went in ((), (entry.move.target,)) else f"moved to {', '.join(went)}"
