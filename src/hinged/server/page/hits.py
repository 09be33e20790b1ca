"""How often the right folder was among those suggested: of messages filed on the page, and of a replay before them."""

from __future__ import annotations

import json
import time
from typing import Any

from hinged.journal import DurableModel
from hinged.journal.codec import label_from_text

__all__ = ["Hits"]

TABLE = (
    "CREATE TABLE IF NOT EXISTS mail_hits (number INTEGER PRIMARY KEY AUTOINCREMENT, at REAL, message TEXT, "
    "folder TEXT, rank INTEGER, best TEXT)"
)
RECENT, WINDOW, POINTS, SOME = 20, 100, 160, 20


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

    def keep_replay(self, ranks: list[int]) -> None:
        """What the assistant would have achieved on the mail that was filed before."""
        with self.kept.changing(), self.journal.transaction():
            self.journal.put("replayed", json.dumps(ranks, separators=(",", ":")))

    @property
    def replayed(self) -> list[int] | None:
        """The ranks of a replay; None where there was none yet."""
        text = self.journal.get("replayed")
        return None if text is None else json.loads(text)

    def curve(self) -> dict[str, Any]:
        """Shares of first and of top-three hits over the last hundred messages, at up to 160 moments."""
        before = self.replayed or []
        here = [rank for (rank,) in self.journal.ask("SELECT rank FROM mail_hits WHERE rank > 0 ORDER BY number")]
        ranks = [*before, *here]
        points, stride = [], max(1, len(ranks) // POINTS)
        for end in range(len(ranks), min(SOME, max(1, len(ranks))) - 1, -stride):
            some = ranks[max(0, end - WINDOW) : end]
            points.append([end, sum(r == 1 for r in some) / len(some), sum(r <= 3 for r in some) / len(some)])
        counts = {"filed": len(here), "first": sum(r == 1 for r in here), "top3": sum(r <= 3 for r in here)}
        return {"points": points[::-1], "replayed": len(before), **counts}

    def learnt(self) -> dict[str, int]:
        """How many messages of each folder were learnt."""
        rows = self.journal.ask(
            "SELECT label, count(*) FROM events WHERE kind = 'learn' AND dropped = 0 GROUP BY label"
        )
        return {str(label_from_text(text)): n for text, n in rows}

    def by_folder(self) -> dict[str, dict[str, Any]]:
        """How many of the last messages filed to a folder it stood first for, and what stood there instead."""
        found: dict[str, dict[str, Any]] = {}
        for folder, rank, best in self.journal.ask("SELECT folder, rank, best FROM mail_hits ORDER BY number DESC"):
            told = found.setdefault(folder, {"recent": 0, "hits": 0, "mistaken": {}})
            if told["recent"] < RECENT:
                told["recent"] += 1
                told["hits"] += rank == 1
                if rank != 1:
                    told["mistaken"][best] = told["mistaken"].get(best, 0) + 1
        return found
