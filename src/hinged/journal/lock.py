"""One process at a time: a lock that the system lets go of when its holder ends, however it ends."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Self

from hinged.journal.errors import InUseError

__all__ = ["FolderLock"]

DIGITS = 20
STEP = 0.002  # seconds between two attempts: short, because a busy process frees the folder only for a moment


class FolderLock:
    """Holds a folder for this process; a file in it names the holder.

    The file stays when the lock goes: removing it would let two processes hold a lock each, on two files of one name.

    Parameters
    ----------
    folder : Path
    wait : float, default 0
        Seconds to wait for another holder before `InUseError` is raised.
    name : str, default "lock"
        Of the file, where more than one thing in the folder has a lock.

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
        """Let others have the folder."""
        if self._file >= 0:
            _unlock(self._file)  # closing alone would not, while a child that was forked meanwhile has the file too
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
        os.lseek(file, DIGITS, os.SEEK_SET)  # behind the number, which others must be able to read
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        except OSError:
            return False
        return True

    def _unlock(file: int) -> None:
        os.lseek(file, DIGITS, os.SEEK_SET)
        with suppress(OSError):  # it was not locked
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
