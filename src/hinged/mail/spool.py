"""Many messages in order of time: their content waits in a file, because a large mailbox does not fit into memory."""

from __future__ import annotations

import json
import tempfile
from array import array
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from typing import Any, Self

import numpy as np

from hinged.io.atomic import naming
from hinged.mail.assistant import Filed
from hinged.mail.message import Message
from hinged.mail.sources.source import Place

__all__ = ["Spool"]


class Spool:
    """Messages that are added in any order and read in order of time, from a file that nobody else can open.

    The file has no name, so that it vanishes with the process. Equal times keep the order of adding.

    Attributes
    ----------
    folders, ids : sets of the folders and of the Message-IDs of all messages
    several : set of the Message-IDs that were found at more than one place

    Examples
    --------
    >>> from hinged.mail.message import read_message
    >>> with Spool() as spool:
    ...     for when in (2.0, 1.0, 2.0):
    ...         message = read_message(f"Subject: {when}".encode())
    ...         spool.add(when, Filed(message, "Work", Place("Work", str(len(spool)))))
    ...     [(one.message.subject, one.place.key) for one in spool], len(spool)
    ([('1.0', '1'), ('2.0', '0'), ('2.0', '2')], 3)
    """

    def __init__(self) -> None:
        self.folders, self.ids, self.several = set[str](), set[str](), set[str]()
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 (closed by `close`)
        self._times, self._ends = array("d"), array("q", [0])  # of each message; where each ends in the file

    def __len__(self) -> int:
        return len(self._times)

    def add(self, when: float, filed: Filed) -> None:
        """Add a message."""
        places = [None if one is None else (one.folder, one.key) for one in (filed.place, *filed.copies)]
        line = json.dumps([asdict(filed.message), filed.folder, places]).encode()
        with naming(tempfile.gettempdir()):
            self._file.write(line)
        self.folders.update(filed.folders)
        if filed.message.id in self.ids or filed.copies:
            self.several.add(filed.message.id)
        self.ids.add(filed.message.id)
        self._times.append(when)
        self._ends.append(self._ends[-1] + len(line))

    def __iter__(self) -> Iterator[Filed]:
        with naming(tempfile.gettempdir()):
            self._file.flush()
        for i in np.argsort(np.array(self._times), kind="stable").tolist():
            self._file.seek(self._ends[i])
            fields, folder, (place, *copies) = json.loads(self._file.read(self._ends[i + 1] - self._ends[i]))
            known: dict[str, Any] = {name: tuple(one) if isinstance(one, list) else one for name, one in fields.items()}
            at = None if place is None else Place(*place)
            yield Filed(Message(**known), folder, at, tuple(Place(*copy) for copy in copies))

    def close(self) -> None:
        """Remove the file."""
        with suppress(OSError):  # of a full disk, which was reported before
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()
