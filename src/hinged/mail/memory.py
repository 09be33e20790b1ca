"""Tables beside the journal: places of messages, topics of threads, and moves that the assistant made."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from hinged.journal import Journal
from hinged.journal.codec import Label, label_from_text, label_to_text
from hinged.journal.schema import Value
from hinged.journal.tables import Table
from hinged.mail.headers import topic_of
from hinged.mail.label_sets import folders_in, label_of
from hinged.mail.message import Message
from hinged.mail.sources.source import Place

__all__ = ["ASIDE", "FAILED", "GONE", "MOVED_ON", "UNDONE", "MailMemory", "Move"]

#: Values of `undone`: the move was undone, the user has moved the message since, undoing failed; or the message was put
#: aside for review, which is not undone.
UNDONE, MOVED_ON, FAILED, ASIDE = 1, 2, 3, 4
WENT = "SELECT label FROM events WHERE key = ? AND kind = 'learn' AND dropped = 0 ORDER BY seq DESC LIMIT 1"
#: Journals of older versions stored only the last message of each topic.
OLD_TOPIC = (
    "SELECT label FROM mail_topics JOIN events ON key = message WHERE topic = ? AND kind = 'learn' AND dropped = 0 "
    "ORDER BY seq DESC LIMIT 1"
)
TAKE_OVER = (
    "SELECT topic, max(seq) FROM mail_topics JOIN events ON key = message WHERE kind = 'learn' AND dropped = 0 "
    "GROUP BY topic"
)
LEARNT = "SELECT seq FROM events WHERE key = ? AND kind = 'learn' AND dropped = 0 ORDER BY seq DESC LIMIT 1"
WENT_LAST = "SELECT label FROM events WHERE key = ? AND kind IN ('learn', ?) ORDER BY seq DESC LIMIT 1"
LINES = "SELECT label FROM events WHERE key = ? AND kind = ? ORDER BY seq DESC"
LABEL = "SELECT label FROM events WHERE seq = ?"
NUMBER = "SELECT min(seq) FROM events WHERE label = ? AND kind IN ('learn', 'folder')"
TOPIC = "SELECT seq FROM mail_threads JOIN events USING (seq) WHERE topic = ? AND dropped = 0 ORDER BY seq DESC LIMIT 1"
LAST = "SELECT label FROM events WHERE kind = 'learn' AND dropped = 0 ORDER BY seq DESC LIMIT 1"
GONE = "a folder that is gone"
OWN = "moved"  # kind of a line: the assistant moved the message there, so it is no feedback
FOLDER = "folder"  # kind of a line: a folder that first appeared in a set, whose number it is


class Move(NamedTuple):
    """A message that the assistant moved; `place` is None if it is unknown whether the move was made."""

    number: int
    message: str
    subject: str
    origin: str
    target: str
    place: str | None
    batch: int
    undone: int = 0

    @property
    def failed(self) -> bool:
        """True if an earlier attempt to undo it failed."""
        return self.undone == FAILED

    @property
    def is_open(self) -> bool:
        """True if it can be undone."""
        return self.undone in (0, FAILED)


class MailMemory:
    """The tables of one account; all writes happen inside a transaction of the journal.

    A folder's number is that of the journal's first line with its label, so it stays when the folder is renamed. If it
    first appears beside others in a set, it gets a line of its own for that (`number`).
    """

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        places, threads = "folder TEXT, place TEXT, message TEXT", "topic TEXT, seq INTEGER"
        moves = "number INTEGER, batch INTEGER, message TEXT, subject TEXT, origin TEXT, target TEXT, place TEXT"
        self._places = Table(journal, "mail_places", places, 2, "the next look at the mail writes it again")
        self._threads = Table(journal, "mail_threads", threads, 2, "it was restored from the journal")
        self._moves = Table(journal, "mail_moves", f"{moves}, undone INTEGER", 1, "that move cannot be undone")

    def make_tables(self) -> None:
        """Create the tables if there are none, migrate those of older versions, and repair what is damaged."""
        for table in (self._places, self._threads, self._moves):
            table.make()
        if self._is_old():
            for topic, seq in self.journal.ask(TAKE_OVER):
                self._threads.put(topic, seq)
            self.journal.run("DROP TABLE mail_topics")
        self.check_tables()

    def check_tables(self, temporary: bool = False) -> None:
        """Report damaged rows, and restore those that the journal implies; in memory only if `temporary`."""
        for table in (self._places, self._threads, self._moves):
            table.check()
        if self._threads.is_damaged:
            if temporary:
                self._threads.create(temporary=True)
            self._threads.remove("1")
            for event in self.journal.events(which="dropped = 0 AND kind = 'learn'"):
                assert isinstance(event.x, dict)  # the fields of a message
                if topic := topic_of(event.x.get("subject", "")):
                    self._threads.put(topic, event.seq)
            self._threads.is_damaged = False

    def _is_old(self) -> bool:
        return bool(self.journal.ask("SELECT 1 FROM sqlite_master WHERE name = 'mail_topics'"))

    # ------------------------------------------------------------------ where messages went
    def of_thread(self, message: Message) -> list[int]:
        """Return the folders of earlier messages of the thread, nearest first, then that of the last of its subject."""
        found = [number for name in reversed(message.references) for number in self._numbers_where(WENT, (name,))]
        topic = topic_of(message.subject)
        found += self._numbers_where(OLD_TOPIC, (topic,)) if self._is_old() else self._of_topic(topic)
        return list(dict.fromkeys(found))

    def _of_topic(self, topic: str) -> list[int]:
        found = self._threads.rows(f"topic = ? AND seq = ({TOPIC})", (topic, topic))
        return self._numbers_where(LABEL, (found[0][1],)) if found else []

    def last(self) -> list[int]:
        """Return the folders of the last message that was learnt."""
        return self._numbers_where(LAST, ())

    def went_last(self, message: str) -> tuple[str, ...]:
        """Return the folders that a message was last learnt for, or put in by the assistant."""
        return next((folders_in(label) for (label,) in self.journal.ask(WENT_LAST, (message, OWN))), ())

    def was_in(self, message: str, folder: str) -> bool:
        """Return True if a message was ever learnt for a folder, or put into it by the assistant."""
        lines = self.journal.ask("SELECT label FROM events WHERE key = ?", (message,))
        return any(folder in folders_in(label) for (label,) in lines)

    def learnt_for(self, message: str, folder: str) -> Label | None:
        """Return the last label that a message was learnt for and that this folder is, or is part of."""
        labels = [label for (label,) in self.journal.ask(LINES, (message, "learn")) if folder in folders_in(label)]
        return label_from_text(labels[0]) if labels else None

    def sets(self) -> dict[str, tuple[str, ...]]:
        """Return the messages that were last put into several folders, with these folders."""
        lines = "SELECT DISTINCT key FROM events WHERE key IS NOT NULL AND label LIKE '{\"list\"%'"
        found = {key: self.went_last(key) for (key,) in self.journal.ask(lines)}
        return {key: folders for key, folders in found.items() if len(folders) > 1}

    def stay_in(self, message: str, folders: Collection[str]) -> None:
        """Record that a message is in these folders without any feedback, inside a transaction."""
        self.journal.append(OWN, None, label_of(folders), key=message)

    def name_of(self, number: int) -> str:
        """Return the name of a folder by its number."""
        names = [name for (label,) in self.journal.ask(LABEL, (number,)) for name in folders_in(label)]
        return names[0] if names else GONE

    def number(self, folders: Iterable[str]) -> None:
        """Give each of these folders a number that has none, inside a transaction."""
        for folder in folders:
            if self.journal.ask(NUMBER, (label_to_text(folder),)) == [(None,)]:
                self.journal.append(FOLDER, None, folder)

    def _numbers_where(self, query: str, values: tuple[Value, ...]) -> list[int]:
        names = [name for (label,) in self.journal.ask(query, values) for name in folders_in(label)]
        found = [self.journal.ask(NUMBER, (label_to_text(name),))[0][0] for name in names]
        return [int(number) for number in found if number is not None]

    def note(self, message: Message, places: Iterable[Place]) -> None:
        """Record a message that was just learnt, and its places."""
        topic, learnt = topic_of(message.subject), self.journal.ask(LEARNT, (message.id,))
        if topic and learnt:
            self._threads.put(topic, learnt[0][0])
        for place in places:
            self.note_place(place, message.id)

    def forget_topic(self, message: Message, label: Label) -> None:
        """Erase the topic of a message that was learnt for a label."""
        self._threads.remove(
            "topic = ? AND seq IN (SELECT seq FROM events WHERE key = ? AND label = ? AND kind = 'learn')",
            (topic_of(message.subject), message.id, label_to_text(label)),
        )

    def forget_topics(self, folder: str) -> None:
        """Erase the topics of all messages that were learnt for a folder, and for no other."""
        self._threads.remove(
            "seq IN (SELECT seq FROM events WHERE label IN (?, ?) AND kind = 'learn')",
            (label_to_text(folder), label_to_text([folder])),
        )

    # ------------------------------------------------------------------ places
    def note_place(self, place: Place, message: str) -> None:
        """Record which message is at a place."""
        self._places.put(place.folder, place.key, message)

    def forget_place(self, place: Place) -> None:
        """Delete the record of a place, so that the message there counts as unseen."""
        self._places.remove("folder = ? AND place = ?", (place.folder, place.key))

    @property
    def has_damaged_places(self) -> bool:
        """True if the record of a message's place is damaged."""
        return self._places.is_damaged

    def forget_damaged_places(self) -> None:
        """Remove damaged rows, after a look has recorded the places again."""
        if self.has_damaged_places:
            self._places.remove_damaged()

    def forget_left(self, left: Mapping[Place, str]) -> None:
        """Record that messages left these places: if they come back, the user moved them."""
        for place in left:
            self.forget_place(place)
        for place, message in left.items():
            if not self.lies_in(message, place.folder):
                self._release(message, place.folder)

    def unknown(self, folder: str, places: Iterable[Place]) -> list[Place]:
        """Return the places of a folder that have not been seen."""
        known = {key for _, key, _ in self._places.rows("folder = ?", (folder,))}
        return [place for place in places if place.key not in known]

    def places(self) -> dict[str, dict[str, str]]:
        """Return all places that have been seen, by folder, with their messages."""
        found: dict[str, dict[str, str]] = {}
        for folder, place, message in self._places.rows():
            found.setdefault(folder, {})[place] = message
        return found

    def lies_in(self, message: str, folder: str) -> bool:
        """Return True if a message was in a folder at the last look, or a damaged row may have said so.

        So damage never makes a message look new.
        """
        return bool(self._places.rows("folder = ? AND message = ?", (folder, message))) or self._places.is_damaged

    def place_of(self, message: str, folder: str, key: str | None = None) -> Place | None:
        """Return a place of a message in a folder at the last look, the one with this key if it is there."""
        rows = [row for row in self._places.rows("folder = ? AND place = ?", (folder, key)) if row[2] == message]
        rows = rows or self._places.rows("folder = ? AND message = ?", (folder, message))
        return Place(folder, rows[0][1]) if rows else None

    def folders_with(self, message: str) -> set[str]:
        """Return the folders in which a message was found."""
        return {folder for folder, _, _ in self._places.rows("message = ?", (message,))}

    def copies(self, message: str, besides: Place | None = None) -> tuple[Place, ...]:
        """Return all places in which a message was found, but for one."""
        found = (Place(folder, key) for folder, key, _ in self._places.rows("message = ?", (message,)))
        return tuple(place for place in found if place != besides)

    def messages_in(self, folder: str) -> set[str]:
        """Return the messages that were found in a folder."""
        return {name for _, _, name in self._places.rows("folder = ?", (folder,))}

    def follow(self, old: str, new: str) -> None:
        """Rename a folder in all records."""
        self._places.change("folder = ?", (old,), folder=new)
        self._moves.change("origin = ?", (old,), origin=new)
        self._moves.change("target = ?", (old,), target=new)

    # ------------------------------------------------------------------ the assistant's own moves
    def begin_move(
        self, batch: int, message: Message, place: Place, target: str, undone: int = 0, folders: Collection[str] = ()
    ) -> int:
        """Record a move before it is made, so that it is never taken for the user's own.

        `folders` are those that the message lies in after it, if it has copies.
        """
        self.stay_in(message.id, folders or {target})
        return self._moves.add(batch, message.id, message.subject, place.folder, target, None, undone)

    def end_move(self, number: int, place: Place, message: str) -> None:
        """Record the place of the message after a move."""
        self._moves.change("number = ?", (number,), place=place.key)
        self.note_place(place, message)

    def drop_move(self, number: int, message: str, target: str, place: Place | None = None, how: int = UNDONE) -> None:
        """Record that a move did not happen or was undone: from now on, a message in its target is the user's filing.

        `place` is where the message was after the move. Other copies of it, and earlier moves, stay as they are.
        """
        self._moves.change("number = ?", (number,), undone=how)
        self._release(message, target, last=True)
        if place is not None:
            self.forget_place(place)

    def _release(self, message: str, folder: str, last: bool = False) -> None:
        """Forget that the assistant put a message into a folder: all such lines, or the last one."""
        labels = [label for (label,) in self.journal.ask(LINES, (message, OWN)) if folder in folders_in(label)]
        for label in labels[:1] if last else dict.fromkeys(labels):
            self.journal.release(message, label_from_text(label), OWN, last)

    def fail_move(self, number: int) -> None:
        """Record that a move could not be undone."""
        self._moves.change("number = ?", (number,), undone=FAILED)

    def forget_moves(self, folder: str) -> None:
        """Delete the records of moves to a folder; they can no longer be undone."""
        self._moves.remove("target = ?", (folder,))

    def moved_out_of(self, folder: str) -> set[str]:
        """Return the messages that the assistant moved out of a folder, except for moves that were undone.

        If a row is damaged, return all messages that the journal knows to have been moved, out of any folder.
        """
        rows = self._moves.rows("origin = ? AND undone != ? AND place IS NOT NULL", (folder, UNDONE))
        found = {row[2] for row in rows}
        if self._moves.is_damaged:
            found |= {key for (key,) in self.journal.ask("SELECT key FROM events WHERE kind = ?", (OWN,))}
        return found

    def was_moved(self, message: str) -> bool:
        """Return True if the assistant ever began to move a message, or a damaged row may have said so."""
        if self._moves.rows("message = ?", (message,)):
            return True
        own = "SELECT 1 FROM events WHERE key = ? AND kind = ? LIMIT 1"
        return self._moves.is_damaged and bool(self.journal.ask(own, (message, OWN)))

    def last_batch(self) -> int:
        """Return the number of the last batch of moves; 0 before the first."""
        ((last,),) = self.journal.ask("SELECT coalesce(max(CAST(batch AS INTEGER)), 0) FROM mail_moves")
        return int(last)

    def move(self, number: int) -> Move | None:
        """Return a move by its number."""
        return next(iter(self._moves_where("number = ?", (number,))), None)

    def every_move(self, message: str | None = None) -> list[Move]:
        """Return all moves in order, also undone ones; only those of a message if it is given."""
        return self._moves_where("1") if message is None else self._moves_where("message = ?", (message,))

    def _moves_where(self, which: str, values: tuple[Value, ...] = ()) -> list[Move]:
        return [
            Move(number, name, subject, origin, target, place, batch, undone)
            for number, batch, name, subject, origin, target, place, undone in self._moves.rows(which, values)
        ]

    def moves(self, before: int | None = None) -> list[Move]:
        """Return the moves of the last batch that is not undone yet, last first; only of batches before `before`."""
        rows = [move for move in self.every_move() if move.is_open and (before is None or move.batch < before)]
        last = max((move.batch for move in rows), default=0)
        return [move for move in reversed(rows) if move.batch == last]
