"""One process at a time: a lock that the system lets go of when its holder ends, however it ends."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from hinged.journal.errors import InUseError

__all__ = ["FolderLock"]

DIGITS = 20


class FolderLock:
    """Holds a folder for this process; the file `lock` in it names the holder.

    The file stays when the lock goes: removing it would let two processes hold a lock each, on two files of one name.

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

    def __init__(self, folder: Path) -> None:
        self._file = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        try:
            _lock(self._file)
        except OSError:
            pid = self._holder()
            os.close(self._file)
            raise InUseError(folder, pid) from None
        os.lseek(self._file, 0, os.SEEK_SET)
        os.write(self._file, str(os.getpid()).ljust(DIGITS).encode())

    def release(self) -> None:
        """Let others have the folder."""
        if self._file >= 0:
            os.close(self._file)  # which unlocks
            self._file = -1

    def _holder(self) -> int | None:
        with suppress(OSError, ValueError):
            os.lseek(self._file, 0, os.SEEK_SET)
            return int(os.read(self._file, DIGITS))
        return None


if os.name == "nt":
    import msvcrt

    def _lock(file: int) -> None:
        os.lseek(file, DIGITS, os.SEEK_SET)  # behind the number, which others must be able to read
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]

else:
    import fcntl

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
