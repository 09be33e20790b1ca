"""Hit rates: how often the right folder was suggested, for messages filed on the page and for a replay before them."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import NamedTuple, TypedDict

from hinged.journal import DurableModel, Journal, JournalError
from hinged.journal.tables import Table
from hinged.mail.label_sets import folders_in
from hinged.mail.memory import GONE
from hinged.mail.suggestion import Suggestion

__all__ = ["Hit", "Hits", "filed_on_page"]

COLUMNS = "number INTEGER, at REAL, message TEXT, folder TEXT, rank INTEGER, best TEXT"
RECENT, WINDOW, POINTS, SOME = 20, 100, 160, 20
REPLAY = "mail_replay"  # name of the journal's note of a replay


class Hit(NamedTuple):
    """Where a message was filed, and what was suggested for it.

    Attributes
    ----------
    folder : the folder it was filed in
    rank : rank of that folder among the suggestions, from 1; 0 if it was not among them
    best : the first suggestion; "" if there was none
    """

    folder: str
    rank: int
    best: str

    @classmethod
    def of(cls, found: Suggestion, folder: str) -> Hit:
        """Return the hit of a message that had this suggestion."""
        folders = [one.folder for one in found.candidates]
        return cls(folder, folders.index(folder) + 1 if folder in folders else 0, found.best or "")

    def renamed(self, old: str, new: str) -> Hit:
        """Return the hit after a folder was renamed, or merged into another."""
        folder, best = (new if name == old else name for name in (self.folder, self.best))
        return Hit(folder, 1 if folder == best else self.rank, best)


class Recent(TypedDict):
    """Counts of a folder's last messages."""

    recent: int  # messages
    replayed: int  # those among them that were replayed
    hits: int  # those for which the folder came first
    silent: int  # those without a suggestion
    mistaken: dict[str, int]  # folders that came first instead, and how often


class Hits:
    """A table of hits beside the journal; call `make_table` before `note`."""

    def __init__(self, kept: DurableModel) -> None:
        self.kept, self.journal = kept, kept.journal
        self._table = _table(kept.journal)

    def make_table(self) -> None:
        """Create the table if there is none, inside a transaction."""
        self._table.make()
        self._table.check()

    def note(self, message: str, folder: str, rank: int, best: str) -> int:
        """Record a message that was filed (see `Hit`), and return the number of the record."""
        with self.kept.writing():
            return self._table.add(time.time(), message, folder, rank, best)

    def drop(self, number: int) -> None:
        """Delete a record, because the filing was undone."""
        with self.kept.writing():
            self._table.remove("number = ?", (number,))

    def follow(self, old: str, new: str) -> None:
        """Rename a folder, or merge it into another, in all records; inside a transaction."""
        for number, _, _, *hit in self._table.rows("folder = ? OR best = ?", (old, old)):
            now = Hit(*hit).renamed(old, new)
            self._table.change("number = ?", (number,), folder=now.folder, rank=now.rank, best=now.best)
        if before := self.replay():
            self._keep([hit.renamed(old, new) for hit in before])

    def forget(self, folder: str) -> None:
        """Delete the records of a folder, and its name where it was suggested for others; inside a transaction."""
        self._table.remove("folder = ?", (folder,))
        self._table.change("best = ?", (folder,), best=GONE)
        if before := self.replay():
            self._keep([hit.renamed(folder, GONE) for hit in before if hit.folder != folder])

    def keep_replay(self, hits: Iterable[Hit]) -> None:
        """Store what the assistant would have suggested for mail that was filed before the page was opened."""
        with self.kept.writing():
            self._keep(hits)

    def _keep(self, hits: Iterable[Hit]) -> None:
        numbers: dict[str, int] = {"": 0}  # each folder's name is stored once
        rows = [
            [numbers.setdefault(hit.folder, len(numbers)), hit.rank, numbers.setdefault(hit.best, len(numbers))]
            for hit in hits
        ]
        self.journal.put(REPLAY, {"folders": list(numbers), "hits": rows})
        self.journal.run("DELETE FROM notes WHERE name = 'replayed'")  # of older versions, which stored ranks only

    def replay(self) -> list[Hit] | None:
        """Return the hits of the replay, in order; None if there was none yet, or it is damaged."""
        try:
            kept = self.journal.get(REPLAY)
        except JournalError as problem:
            self.journal.damaged_rows[f"{REPLAY!r} of notes"] = str(problem).partition(";")[0]
            return None
        if kept is None:
            return None
        folders = kept["folders"]
        return [Hit(folders[folder], rank, folders[best]) for folder, rank, best in kept["hits"]]

    def filed(self) -> list[Hit]:
        """Return the hits of all messages filed on the page, in order."""
        return [Hit(*row[3:]) for row in self._table.rows()]

    def curve(self) -> dict[str, object]:
        """Return the shares of first and top-three hits over the last hundred messages, at up to 160 points in time.

        A message without a suggestion is not a hit. `filed`, `first`, `top3` and `silent` count what was filed on the
        page; `replayed` and `replay` count what was replayed.
        """
        before, here = self.replay() or [], self.filed()
        hits = [*before, *here]
        points, stride = [], max(1, len(hits) // POINTS)
        for end in range(len(hits), min(SOME, max(1, len(hits))) - 1, -stride):
            some = hits[max(0, end - WINDOW) : end]
            counts = _counted(some)
            points.append([end, counts["first"] / len(some), counts["top3"] / len(some)])
        return {
            "points": points[::-1],
            "replayed": len(before),
            "replay": _counted(before),
            "filed": len(here),
            **_counted(here),
        }

    def learnt(self) -> dict[str, int]:
        """Return how many messages of each folder were learnt; those of several count for each."""
        rows = self.journal.ask(
            "SELECT label, count(*) FROM events WHERE kind = 'learn' AND dropped = 0 GROUP BY label"
        )
        found: dict[str, int] = {}
        for text, n in rows:
            for folder in folders_in(text or ""):
                found[folder] = found.get(folder, 0) + n
        return found

    def by_folder(self) -> dict[str, Recent]:
        """Return what was suggested for the last messages of each folder: those filed here, then those replayed."""
        found: dict[str, Recent] = {}
        here = self.filed()
        for i, hit in enumerate(reversed([*(self.replay() or []), *here])):
            told = found.setdefault(hit.folder, Recent(recent=0, replayed=0, hits=0, silent=0, mistaken={}))
            if told["recent"] < RECENT:
                _count(told, hit, replayed=i >= len(here))
        return found


def filed_on_page(journal: Journal) -> set[tuple[str | None, str]]:
    """Return the messages that were filed on the page, with their folders."""
    return {(message, folder) for _, _, message, folder, _, _ in _table(journal).rows()}


def _table(journal: Journal) -> Table:
    return Table(journal, "mail_hits", COLUMNS, 1, "it is not counted")


def _count(told: Recent, hit: Hit, replayed: bool) -> None:
    told["recent"] += 1
    told["replayed"] += replayed
    told["hits"] += hit.rank == 1
    told["silent"] += not hit.best
    if hit.rank != 1 and hit.best:
        told["mistaken"][hit.best] = told["mistaken"].get(hit.best, 0) + 1


def _counted(hits: list[Hit]) -> dict[str, int]:
    return {
        "first": sum(hit.rank == 1 for hit in hits),
        "top3": sum(1 <= hit.rank <= 3 for hit in hits),
        "silent": sum(not hit.best for hit in hits),
    }
