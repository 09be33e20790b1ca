"""How often the right folder was among those suggested: of messages filed on the page, and of a replay before them."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NamedTuple

from hinged.journal import DurableModel, Journal, JournalError
from hinged.journal.codec import label_from_text
from hinged.journal.tables import Table
from hinged.mail.memory import GONE

__all__ = ["Hit", "Hits", "filed_on_page"]

COLUMNS = "number INTEGER, at REAL, message TEXT, folder TEXT, rank INTEGER, best TEXT"
RECENT, WINDOW, POINTS, SOME = 20, 100, 160, 20
REPLAY = "mail_replay"  # the journal's note of a replay


class Hit(NamedTuple):
    """Where a message was filed to, and what was suggested for it.

    Attributes
    ----------
    folder : where it was filed to
    rank : where that folder stood among those suggested, from 1; 0 where it was not among them
    best : the folder that stood first; "" where nothing was suggested
    """

    folder: str
    rank: int
    best: str

    def renamed(self, old: str, new: str) -> Hit:
        """The same after a folder was renamed, or joined to another."""
        folder, best = (new if name == old else name for name in (self.folder, self.best))
        return Hit(folder, 1 if folder == best else self.rank, best)


class Hits:
    """The ranks of the folders chosen, kept beside the journal; `make_table` comes before the first is noted."""

    def __init__(self, kept: DurableModel) -> None:
        self.kept, self.journal = kept, kept.journal
        self._table = _table(kept.journal)

    def make_table(self) -> None:
        """Make the table where there is none, inside a transaction."""
        self._table.make()
        self._table.check()

    def note(self, message: str, folder: str, rank: int, best: str) -> int:
        """Note a message that was filed, and return the number of the note.

        Parameters
        ----------
        message : its name
        folder : where it was filed to
        rank : where that folder stood among those suggested, from 1; 0 where it was not among them
        best : the folder that stood first; "" where nothing was suggested
        """
        with self.kept.changing(), self.journal.transaction():
            return self._table.add(time.time(), message, folder, rank, best)

    def drop(self, number: int) -> None:
        """Take back a note, because the filing was undone."""
        with self.kept.changing(), self.journal.transaction():
            self._table.remove("number = ?", (number,))

    def follow(self, old: str, new: str) -> None:
        """Rename a folder, or join it to another, in all that was counted; inside a transaction."""
        for number, _, _, *hit in self._table.rows("folder = ? OR best = ?", (old, old)):
            now = Hit(*hit).renamed(old, new)
            self._table.change("number = ?", (number,), folder=now.folder, rank=now.rank, best=now.best)
        if before := self.replay():
            self._keep([hit.renamed(old, new) for hit in before])

    def forget(self, folder: str) -> None:
        """Erase what was counted for a folder; where it was suggested for others, its name; inside a transaction."""
        self._table.remove("folder = ?", (folder,))
        self._table.change("best = ?", (folder,), best=GONE)
        if before := self.replay():
            self._keep([hit.renamed(folder, GONE) for hit in before if hit.folder != folder])

    def keep_replay(self, hits: Iterable[Hit]) -> None:
        """Keep what the assistant would have suggested for mail that was filed before the page was opened."""
        with self.kept.changing(), self.journal.transaction():
            self._keep(hits)

    def _keep(self, hits: Iterable[Hit]) -> None:
        numbers: dict[str, int] = {"": 0}  # names of folders stand in it once
        rows = [
            [numbers.setdefault(hit.folder, len(numbers)), hit.rank, numbers.setdefault(hit.best, len(numbers))]
            for hit in hits
        ]
        self.journal.put(REPLAY, {"folders": list(numbers), "hits": rows})
        self.journal.run("DELETE FROM notes WHERE name = 'replayed'")  # of older versions: ranks alone

    def replay(self) -> list[Hit] | None:
        """The hits of a replay, in order; None where there was none yet, or it is damaged: then it is made anew."""
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
        """Every message that was filed on the page, in order."""
        return [Hit(*row[3:]) for row in self._table.rows()]

    def curve(self) -> dict[str, Any]:
        """Shares of first and of top-three hits over the last hundred messages, at up to 160 moments.

        A message for which nothing was suggested is no hit. `filed`, `first`, `top3` and `silent` count what was filed
        on the page; `replayed` and `replay` count what was replayed.
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
        """How many messages of each folder were learnt."""
        rows = self.journal.ask(
            "SELECT label, count(*) FROM events WHERE kind = 'learn' AND dropped = 0 GROUP BY label"
        )
        found: dict[str, int] = {}
        for text, n in rows:
            with suppress(TypeError, ValueError):  # a damaged line
                found[str(label_from_text(text))] = n
        return found

    def by_folder(self) -> dict[str, dict[str, Any]]:
        """What was suggested for the last messages of each folder: those filed here, then those replayed.

        For each folder: `recent` messages, `replayed` ones among them, `hits` for which it stood first, `silent` ones
        for which nothing was suggested, and which folders stood first instead (`mistaken`).
        """
        found: dict[str, dict[str, Any]] = {}
        here = self.filed()
        for i, hit in enumerate(reversed([*(self.replay() or []), *here])):
            told = found.setdefault(hit.folder, {"recent": 0, "replayed": 0, "hits": 0, "silent": 0, "mistaken": {}})
            if told["recent"] < RECENT:
                told["recent"] += 1
                told["replayed"] += i >= len(here)
                told["hits"] += hit.rank == 1
                told["silent"] += not hit.best
                if hit.rank != 1 and hit.best:
                    told["mistaken"][hit.best] = told["mistaken"].get(hit.best, 0) + 1
        return found


def filed_on_page(journal: Journal) -> set[tuple[str | None, str]]:
    """The messages that were filed on the page, and the folders that they were filed to."""
    return {(message, folder) for _, _, message, folder, _, _ in _table(journal).rows()}


def _table(journal: Journal) -> Table:
    return Table(journal, "mail_hits", COLUMNS, 1, "it is not counted")


def _counted(hits: list[Hit]) -> dict[str, int]:
    return {
        "first": sum(hit.rank == 1 for hit in hits),
        "top3": sum(1 <= hit.rank <= 3 for hit in hits),
        "silent": sum(not hit.best for hit in hits),
    }
