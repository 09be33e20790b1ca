"""Errors of a journal, each with one sentence for the user."""

from __future__ import annotations

import sqlite3
from pathlib import Path

__all__ = ["ErasedError", "InUseError", "JournalError", "journal_error"]

SAFE = "nothing that was acknowledged is lost."


class JournalError(OSError):
    """A journal could not be read or written; what was acknowledged before is safe."""


class ErasedError(JournalError):
    """Another process has erased or replaced this folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"{folder} was erased or replaced by another process; open it again to continue with its new content."
        )


class InUseError(JournalError):
    """Another process holds this folder.

    Attributes
    ----------
    pid : int or None
        The process id, if it is known.
    """

    def __init__(self, folder: Path, pid: int | None, waited: float = 0.0) -> None:
        self.pid = pid
        who = "another process" if pid is None else f"process {pid}"
        still = f", which did not finish within {waited:g} seconds" if waited else ""
        super().__init__(f"{folder} is in use by {who}{still}; wait until it ends, or stop it, and try again.")


#: Words in what SQLite or the system reports, and the sentence for the user.
SENTENCES = (
    (("full", "no space"), "there is no room left to write {path}; " + SAFE + " Make room and try again."),
    (
        ("readonly", "read-only", "permission"),
        "{path} cannot be written; nothing was changed. Check the permissions of its folder and disk.",
    ),
    (
        ("not a database", "malformed"),
        "{path} is not a valid journal ({problem}); restore a copy, or remove its folder to start again.",
    ),
    (("locked", "busy"), "{path} is in use by another program ({problem}); wait until it ends and try again."),
    (("unable to open",), "{path} cannot be opened; check that its folder exists and can be read and written."),
    (("",), "{path} could not be read or written ({problem}); " + SAFE),
)


def journal_error(problem: sqlite3.Error | OSError, path: Path) -> JournalError:
    """Return the error for what SQLite or the system reported.

    Examples
    --------
    >>> print(journal_error(sqlite3.OperationalError("database or disk is full"), Path("a/journal.sqlite")))
    there is no room left to write a/journal.sqlite; nothing that was acknowledged is lost. Make room and try again.
    """
    said = str(problem).lower()
    sentence = next(sentence for words, sentence in SENTENCES if any(word in said for word in words))
    return JournalError(sentence.format(path=path, problem=problem))
