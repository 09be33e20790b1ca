"""Errors of a journal, each with one sentence for the user."""

from __future__ import annotations

import sqlite3
from pathlib import Path

__all__ = ["InUseError", "JournalError", "journal_error"]


class JournalError(OSError):
    """A journal could not be read or written; what was acknowledged before is safe."""


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


def journal_error(problem: sqlite3.Error | OSError, path: Path) -> JournalError:
    """Return the error for what SQLite or the system reported.

    Examples
    --------
    >>> print(journal_error(sqlite3.OperationalError("database or disk is full"), Path("a/journal.sqlite")))
    there is no room left to write a/journal.sqlite; nothing that was acknowledged is lost. Make room and try again.
    """
    said = str(problem).lower()
    if "full" in said or "no space" in said:
        what = f"there is no room left to write {path}; nothing that was acknowledged is lost. Make room and try again."
    elif "readonly" in said or "read-only" in said or "permission" in said:
        what = f"{path} cannot be written; nothing was changed. Check the permissions of its folder and disk."
    elif "not a database" in said or "malformed" in said:
        what = f"{path} is not a valid journal ({problem}); restore a copy, or remove its folder to start again."
    elif "locked" in said or "busy" in said:
        what = f"{path} is in use by another program ({problem}); wait until it ends and try again."
    elif "unable to open" in said:
        what = f"{path} cannot be opened; check that its folder exists and can be read and written."
    else:
        what = f"{path} could not be read or written ({problem}); nothing that was acknowledged is lost."
    return JournalError(what)
