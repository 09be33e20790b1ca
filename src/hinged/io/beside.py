"""The file beside a file, which becomes it when it is whole; and what a killed program left of such files."""

from __future__ import annotations

import os
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["name_beside", "naming", "sweep_beside"]

STALE = 60.0  # seconds since the last write; a number of a process may be another machine's, or be in use again


def name_beside(path: Path) -> Path:
    """A hidden name beside `path` that nobody else takes: .NAME.PROCESS.EIGHT_HEX_DIGITS.

    Examples
    --------
    >>> name_beside(Path("a.hinged")).name.startswith(f".a.hinged.{os.getpid()}.")
    True
    """
    return path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Name the file in errors of the system that do not, such as a full disk's.

    Examples
    --------
    >>> with naming("a.hinged"):
    ...     raise OSError(28, "No space left on device")
    Traceback (most recent call last):
    OSError: [Errno 28] No space left on device: 'a.hinged'
    """
    try:
        yield
    except OSError as problem:
        if problem.filename is None and problem.errno is not None and not isinstance(problem, BrokenPipeError):
            problem.filename = os.fspath(path)
        raise


def sweep_beside(path: Path) -> None:
    """Remove what programs that no longer run left beside `path` and did not touch for a minute."""
    ours = re.compile(rf"\.{re.escape(path.name)}\.([1-9][0-9]*)\.[0-9a-f]{{8}}")
    with suppress(OSError):  # a folder that cannot be listed, a file that somebody else removed
        for found in os.scandir(path.parent):
            match = ours.fullmatch(found.name)
            if match is None or not found.is_file(follow_symlinks=False) or _runs(int(match[1])):
                continue
            if time.time() - found.stat(follow_symlinks=False).st_mtime > STALE:
                os.unlink(found.path)


def _runs(process: int) -> bool:
    """Whether a process of that number runs; True where it cannot be told."""
    if os.name == "nt":  # there, asking with signal 0 would end it
        return process == os.getpid()
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
