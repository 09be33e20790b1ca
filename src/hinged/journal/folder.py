"""The folder of a durable model: its files, and a lock that the system releases when its holder ends."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Self

from hinged.journal.errors import InUseError, journal_error

__all__ = ["JOURNAL", "SNAPSHOT", "FolderLock", "erase", "remove_files"]

JOURNAL, SNAPSHOT = "journal.sqlite", "snapshot.hinged"
DIGITS = 20
STEP = 0.002  # seconds between two attempts: short, because a busy process releases the lock only for a moment


class FolderLock:
    """Locks a folder for this process; a file in it names the holder.

    The file stays when the lock is released: if it were removed, two processes could lock two files of that name.

    Parameters
    ----------
    folder : Path
    wait : float, default 0
        Seconds to wait for another holder before `InUseError` is raised.
    name : str, default "lock"
        Name of the file, if a folder has several locks.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> held = FolderLock(folder)
    >>> try:
    ...     FolderLock(folder)
    ... except InUseError as problem:
    ...     print(problem.pid == os.getpid())
    True
    >>> held.release()
    >>> FolderLock(folder).release()
    """

    def __init__(self, folder: Path, wait: float = 0.0, name: str = "lock") -> None:
        self._file = os.open(folder / name, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        try:
            end = time.monotonic() + wait
            while not _try_lock(self._file):
                if time.monotonic() >= end:
                    raise InUseError(folder, self._holder(), wait)
                time.sleep(STEP)
            os.lseek(self._file, 0, os.SEEK_SET)
            os.write(self._file, str(os.getpid()).ljust(DIGITS).encode())
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        """Release the lock."""
        if self._file >= 0:
            _unlock(self._file)  # closing alone would not, if a child process has inherited the file
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.release()

    def _holder(self) -> int | None:
        with suppress(OSError, ValueError):
            os.lseek(self._file, 0, os.SEEK_SET)
            return int(os.read(self._file, DIGITS))
        return None


if os.name == "nt":
    import msvcrt

    def _try_lock(file: int) -> bool:
        os.lseek(file, DIGITS, os.SEEK_SET)  # after the number, which others must be able to read
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        except OSError:
            return False
        return True

    def _unlock(file: int) -> None:
        os.lseek(file, DIGITS, os.SEEK_SET)
        with suppress(OSError):  # was not locked
            msvcrt.locking(file, msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined,unused-ignore]

else:
    import fcntl

    def _try_lock(file: int) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)


def erase(folder: Path, wait: float = 30.0) -> None:
    """Remove the journal and the snapshot of a folder, whatever state they are in.

    Raises
    ------
    InUseError
        If another process holds the lock and does not finish in time.
    """
    with FolderLock(folder, wait):
        remove_files(folder)


def remove_files(folder: Path) -> None:
    """Remove the files of a folder whose lock is held."""
    try:
        for path in (folder / SNAPSHOT, *sorted(folder.glob(f"{JOURNAL}*"))):
            path.unlink(missing_ok=True)
    except OSError as problem:
        raise journal_error(problem, folder) from problem
