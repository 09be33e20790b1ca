"""What the assistant remembers of mail, in tables beside the journal: places, topics, moves, and the user's wishes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from hinged.journal import Journal
from hinged.journal.codec import label_from_text, label_to_text
from hinged.mail.headers import topic_of
from hinged.mail.message import Message
from hinged.mail.sources.source import Place

__all__ = ["MOVED_ON", "UNDONE", "Memory", "Move"]

TABLES = (
    "CREATE TABLE IF NOT EXISTS mail_places (folder TEXT, place TEXT, message TEXT, PRIMARY KEY (folder, place)) "
    "WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS mail_threads (topic TEXT, seq INTEGER, PRIMARY KEY (topic, seq)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS mail_moves (number INTEGER PRIMARY KEY AUTOINCREMENT, batch INTEGER, message TEXT, "
    "subject TEXT, origin TEXT, target TEXT, place TEXT, undone INTEGER NOT NULL DEFAULT 0)",
)
UNDONE, MOVED_ON = 1, 2  # what `undone` says of a move that was taken back, and of one that the user changed
WENT = "SELECT label FROM events WHERE key = ? AND kind = 'learn' AND dropped = 0 ORDER BY seq DESC LIMIT 1"
TOPIC = (
    "SELECT label FROM mail_threads JOIN events USING (seq) WHERE topic = ? AND dropped = 0 ORDER BY seq DESC LIMIT 1"
)
#: Journals of older versions kept the last message of each topic alone.
OLD_TOPIC = (
    "SELECT label FROM mail_topics JOIN events ON key = message WHERE topic = ? AND kind = 'learn' AND dropped = 0 "
    "ORDER BY seq DESC LIMIT 1"
)
TAKE_OVER = (
    "INSERT OR IGNORE INTO mail_threads SELECT topic, max(seq) FROM mail_topics JOIN events ON key = message "
    "WHERE kind = 'learn' AND dropped = 0 GROUP BY topic"
)
LAST = "SELECT label FROM events WHERE kind = 'learn' AND dropped = 0 ORDER BY seq DESC LIMIT 1"
GONE = "a folder that is gone"
OWN = "moved"  # lines that say: the assistant put this message there, it is no feedback


class Move(NamedTuple):
    """A message that the assistant moved."""

    number: int
    message: str
    subject: str
    origin: str
    target: str
    place: str | None


class Memory:
    """The tables of one account; those who write do so inside a transaction of the journal.

    A folder's number is that of the first line of the journal that names it, so it stays when the folder is renamed.
    """

    def __init__(self, journal: Journal) -> None:
        self.journal = journal

    def make_tables(self) -> None:
        """Make the tables where there are none, and take over those of older versions."""
        for table in TABLES:
            self.journal.run(table)
        if self._is_old():
            self.journal.run(TAKE_OVER)
            self.journal.run("DROP TABLE mail_topics")

    def _is_old(self) -> bool:
        return bool(self.journal.ask("SELECT 1 FROM sqlite_master WHERE name = 'mail_topics'"))

    # ------------------------------------------------------------------ where messages went
    def of_thread(self, message: Message) -> list[int]:
        """Folders of earlier messages of the thread, the nearest first, then that of the last with its subject."""
        found = [self._number_where(WENT, (name,)) for name in reversed(message.references)]
        topic = OLD_TOPIC if self._is_old() else TOPIC
        found.append(self._number_where(topic, (topic_of(message.subject),)))
        return list(dict.fromkeys(number for number in found if number is not None))

    def last(self) -> int | None:
        """The folder of the last message that was learnt."""
        return self._number_where(LAST, ())

    def went_last(self, message: str) -> str | None:
        """The folder that a message was learnt for, or moved to by the assistant, the last time."""
        rows = self.journal.ask(
            "SELECT label FROM events WHERE key = ? AND kind IN ('learn', ?) ORDER BY seq DESC LIMIT 1", (message, OWN)
        )
        with suppress(TypeError, ValueError):  # a damaged line
            return str(label_from_text(rows[0][0])) if rows else None
        return None

    def release(self, message: str, folder: str) -> None:
        """Let a message be learnt for a folder once more; what was learnt before stays."""
        self.journal.release(message, folder)

    def name_of(self, number: int) -> str:
        """What a folder's number stands for."""
        rows = self.journal.ask("SELECT label FROM events WHERE seq = ?", (number,))
        with suppress(TypeError, ValueError):  # a damaged line
            return str(label_from_text(rows[0][0])) if rows else GONE
        return GONE

    def _number_where(self, query: str, values: tuple[Any, ...]) -> int | None:
        for (label,) in self.journal.ask(query, values):
            if not (isinstance(label, str) and label.isascii()):  # a damaged line: labels are kept in ASCII
                break
            ((number,),) = self.journal.ask("SELECT min(seq) FROM events WHERE label = ? AND kind = 'learn'", (label,))
            return int(number)
        return None

    def note(self, message: Message, place: Place | None) -> None:
        """Remember a message that was just learnt, and where it lies."""
        if topic := topic_of(message.subject):
            self.journal.run(
                "INSERT OR IGNORE INTO mail_threads SELECT ?, seq FROM events WHERE key = ? AND kind = 'learn' "
                "AND dropped = 0 ORDER BY seq DESC LIMIT 1",
                (topic, message.id),
            )
        if place is not None:
            self.note_place(place, message.id)

    def forget_topic(self, message: Message, folder: str) -> None:
        """Erase the topic of a message that was learnt for a folder."""
        self.journal.run(
            "DELETE FROM mail_threads WHERE topic = ? AND seq IN "
            "(SELECT seq FROM events WHERE key = ? AND label = ? AND kind = 'learn')",
            (topic_of(message.subject), message.id, label_to_text(folder)),
        )

    def forget_topics(self, folder: str) -> None:
        """Erase the topics of all messages that were learnt for a folder."""
        self.journal.run(
            "DELETE FROM mail_threads WHERE seq IN (SELECT seq FROM events WHERE label = ? AND kind = 'learn')",
            (label_to_text(folder),),
        )

    # ------------------------------------------------------------------ places
    def note_place(self, place: Place, message: str) -> None:
        """Remember that what lies there has been looked at."""
        self.journal.run("INSERT OR REPLACE INTO mail_places VALUES (?, ?, ?)", (place.folder, place.key, message))

    def forget_place(self, place: Place) -> None:
        """What lies there has not been looked at."""
        self.journal.run("DELETE FROM mail_places WHERE folder = ? AND place = ?", (place.folder, place.key))

    def forget_left(self, left: Mapping[Place, str]) -> None:
        """Messages are no longer at these places: what comes back to their folders is the user's doing."""
        for place in left:
            self.forget_place(place)
        for place, message in left.items():
            if not self.lies_in(message, place.folder):
                self.journal.release(message, place.folder, OWN)

    def unknown(self, folder: str, places: Iterable[Place]) -> list[Place]:
        """The places of a folder that have not been looked at."""
        known = {key for (key,) in self.journal.ask("SELECT place FROM mail_places WHERE folder = ?", (folder,))}
        return [place for place in places if place.key not in known]

    def places(self) -> dict[str, dict[str, str]]:
        """All places that have been looked at, by folder, with the message that lay there."""
        found: dict[str, dict[str, str]] = {}
        for folder, place, message in self.journal.ask("SELECT folder, place, message FROM mail_places"):
            found.setdefault(folder, {})[place] = message
        return found

    def lies_in(self, message: str, folder: str) -> bool:
        """Whether a message was found in a folder by the last look at it."""
        found = self.journal.ask("SELECT 1 FROM mail_places WHERE folder = ? AND message = ?", (folder, message))
        return bool(found)

    def messages_in(self, folder: str) -> set[str]:
        """The messages that were found in a folder."""
        return {name for (name,) in self.journal.ask("SELECT message FROM mail_places WHERE folder = ?", (folder,))}

    def rename_places(self, old: str, new: str) -> None:
        """The messages of a folder lie in another now."""
        self.journal.run("UPDATE OR REPLACE mail_places SET folder = ? WHERE folder = ?", (new, old))

    # ------------------------------------------------------------------ the assistant's own moves
    def begin_move(self, batch: int, message: Message, place: Place, target: str) -> int:
        """Write down a move before it is made, so that whatever happens it is not taken for the user's."""
        self.journal.append(OWN, None, target, key=message.id)
        self.journal.run(
            "INSERT INTO mail_moves (batch, message, subject, origin, target) VALUES (?, ?, ?, ?, ?)",
            (batch, message.id, message.subject, place.folder, target),
        )
        ((number,),) = self.journal.ask("SELECT last_insert_rowid()")
        return int(number)

    def end_move(self, number: int, place: Place, message: str) -> None:
        """Write down where the message lies after a move."""
        self.journal.run("UPDATE mail_moves SET place = ? WHERE number = ?", (place.key, number))
        self.note_place(place, message)

    def drop_move(self, number: int, message: str, target: str, place: Place | None = None, how: int = UNDONE) -> None:
        """Note that a move was not made, or undone: what is found in its target from now on is the user's doing.

        `place` is where the message lay after the move. Other copies of it, and earlier moves, stay as they are.
        """
        self.journal.run("UPDATE mail_moves SET undone = ? WHERE number = ?", (how, number))
        self.journal.release(message, target, OWN, last=True)
        if place is not None:
            self.forget_place(place)

    def moved_out_of(self, folder: str) -> set[str]:
        """The messages that the assistant moved out of a folder, but for moves that were undone."""
        rows = self.journal.ask(
            "SELECT message FROM mail_moves WHERE origin = ? AND undone != ? AND place IS NOT NULL", (folder, UNDONE)
        )
        return {message for (message,) in rows}

    def last_batch(self) -> int:
        """The number of the last batch of moves; 0 before the first."""
        return int(self.journal.ask("SELECT coalesce(max(batch), 0) FROM mail_moves")[0][0])

    def moves(self) -> list[Move]:
        """The moves of the last batch that was not undone yet, the last one first."""
        rows = self.journal.ask(
            "SELECT number, message, subject, origin, target, place FROM mail_moves WHERE undone = 0 AND batch = "
            "(SELECT max(batch) FROM mail_moves WHERE undone = 0) ORDER BY number DESC"
        )
        return [Move(*row) for row in rows]
