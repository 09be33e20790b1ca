"""Removing what a folder keeps, also where it is too damaged to be opened."""

from __future__ import annotations

from pathlib import Path

from hinged.journal.errors import told
from hinged.journal.lock import FolderLock

__all__ = ["JOURNAL", "SNAPSHOT", "erase", "remove_files"]

JOURNAL, SNAPSHOT = "journal.sqlite", "snapshot.hinged"


def erase(folder: Path, wait: float = 30.0) -> None:
    """Remove the journal and the snapshot of a folder, whatever state they are in.

    Raises
    ------
    InUseError
        Where another process holds the folder and does not finish in time.
    """
    held = FolderLock(folder, wait)
    try:
        remove_files(folder)
    finally:
        held.release()


def remove_files(folder: Path) -> None:
    """Remove the files of a folder that is held."""
    try:
        for path in (folder / SNAPSHOT, *sorted(folder.glob(f"{JOURNAL}*"))):
            path.unlink(missing_ok=True)
    except OSError as problem:
        raise told(problem, folder) from problem
