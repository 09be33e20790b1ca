"""How often the right folder was among those suggested: of messages filed on the page, and of a replay before them."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from hinged.journal import DurableModel
from hinged.journal.codec import label_from_text
from hinged.mail.replaying import Hit

__all__ = ["Hits"]

TABLE = (
    "CREATE TABLE IF NOT EXISTS mail_hits (number INTEGER PRIMARY KEY AUTOINCREMENT, at REAL, message TEXT, "
    "folder TEXT, rank INTEGER, best TEXT)"
)
RECENT, WINDOW, POINTS, SOME = 20, 100, 160, 20
REPLAY = "mail_replay"  # the journal's note of a replay


class Hits:
    """The ranks of the folders chosen, kept beside the journal."""

    def __init__(self, kept: DurableModel) -> None:
        self.kept, self.journal = kept, kept.journal
        with kept.changing(), self.journal.transaction():
            self.journal.run(TABLE)

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
            self.journal.run(
                "INSERT INTO mail_hits (at, message, folder, rank, best) VALUES (?, ?, ?, ?, ?)",
                (time.time(), message, folder, rank, best),
            )
            return int(self.journal.ask("SELECT last_insert_rowid()")[0][0])

    def drop(self, number: int) -> None:
        """Take back a note, because the filing was undone."""
        with self.kept.changing(), self.journal.transaction():
            self.journal.run("DELETE FROM mail_hits WHERE number = ?", (number,))

    def keep_replay(self, hits: Iterable[Hit]) -> None:
        """Keep what the assistant would have suggested for mail that was filed before the page was opened."""
        numbers: dict[str, int] = {"": 0}  # names of folders stand in it once
        rows = [
            [numbers.setdefault(hit.folder, len(numbers)), hit.rank, numbers.setdefault(hit.best, len(numbers))]
            for hit in hits
        ]
        with self.kept.changing(), self.journal.transaction():
            self.journal.put(REPLAY, {"folders": list(numbers), "hits": rows})
            self.journal.run("DELETE FROM notes WHERE name = 'replayed'")  # of older versions: ranks alone

    def replay(self) -> list[Hit] | None:
        """The hits of a replay, in order; None where there was none yet."""
        kept = self.journal.get(REPLAY)
        if kept is None:
            return None
        folders = kept["folders"]
        return [Hit(folders[folder], rank, folders[best]) for folder, rank, best in kept["hits"]]

    def filed(self) -> list[Hit]:
        """Every message that was filed on the page, in order."""
        return [Hit(*row) for row in self.journal.ask("SELECT folder, rank, best FROM mail_hits ORDER BY number")]

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


def _counted(hits: list[Hit]) -> dict[str, int]:
    return {
        "first": sum(hit.rank == 1 for hit in hits),
        "top3": sum(1 <= hit.rank <= 3 for hit in hits),
        "silent": sum(not hit.best for hit in hits),
    }
