"""Files that appear whole or not at all: written under a hidden name beside the target, then renamed."""

from __future__ import annotations

import json
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

__all__ = ["check_folder", "flush_folder", "naming", "open_atomically", "write_private"]

STALE = 60.0  # seconds since the last write; a process number may come from another machine, or be in use again


def check_folder(path: Path) -> None:
    """Refuse to write a file into a folder that does not exist."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to write {path.name} in; create it first.")


@contextmanager
def open_atomically(path: Path, durable: bool = False, mode: int | None = None) -> Iterator[BinaryIO]:
    """Open a file that becomes `path` when the block ends without an error.

    With `durable`, it is flushed to the disk, and keeps the permissions of the file that it replaces unless `mode` is
    given. Files that killed programs left behind are removed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open_atomically(Path(folder, "a")) as file:
    ...         written = file.write(b"whole"), os.path.exists(Path(folder, "a"))
    ...     print(written, Path(folder, "a").read_bytes())
    (5, False) b'whole'
    """
    _remove_leftovers(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    if durable and mode is None and path.exists():
        mode = stat.S_IMODE(path.stat().st_mode)
    try:
        with naming(path), open(temporary, "xb", opener=_private if mode is not None else None) as file:
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    if durable:
        flush_folder(path.parent)


def write_private(path: Path, content: object) -> None:
    """Write JSON to a file that only its owner can read; others see the old file or the new one, never a part.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "secret.json"
    >>> write_private(path, {"secret": 1})
    >>> path.read_text(), oct(path.stat().st_mode & 0o777)
    ('{"secret": 1}', '0o600')
    """
    with open_atomically(path, durable=True, mode=0o600) as file:
        file.write(json.dumps(content).encode())


def flush_folder(folder: Path) -> None:
    """Flush the entries of a folder to the disk, so that renames in it survive a power loss."""
    if os.name != "nt":
        file = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Add the file's name to errors of the operating system that have none, such as a full disk's.

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


def _private(name: str, flags: int) -> int:
    return os.open(name, flags, 0o600)


def _remove_leftovers(path: Path) -> None:
    """Remove temporary files of `path` whose program no longer runs and that were not written to for a minute."""
    ours = re.compile(rf"\.{re.escape(path.name)}\.([1-9][0-9]*)\.[0-9a-f]{{8}}")
    with suppress(OSError):  # a folder that cannot be listed, a file that another program removed
        for found in os.scandir(path.parent):
            match = ours.fullmatch(found.name)
            if match is None or not found.is_file(follow_symlinks=False) or _runs(int(match[1])):
                continue
            if time.time() - found.stat(follow_symlinks=False).st_mtime > STALE:
                os.unlink(found.path)


def _runs(process: int) -> bool:
    """Return True if a process with that number runs, or if this cannot be known."""
    if os.name == "nt":  # signal 0 would end the process there
        return process == os.getpid()
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
