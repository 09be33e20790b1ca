"""A path, a file object or standard input as one stream of bytes, unpacked where it is packed."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
from collections.abc import Iterator
from typing import Any, BinaryIO

from hinged.io.examples.packed import Unpacked, packing

__all__ = ["Source", "Stream", "open_stream"]

HEAD = 1 << 16
BLANKS = b" \t\r\n"
Source = str | os.PathLike[str] | BinaryIO


class Stream:
    """Bytes from the beginning, as they come: a pipe is never waited for longer than needed.

    Attributes
    ----------
    name : str
        What messages call it.
    size : int or None
        Bytes on disk, None where nobody knows.
    position : int
        Bytes taken so far, of `size`.
    """

    def __init__(self, file: Any, name: str, size: int | None = None, ours: bool = False) -> None:
        self.name, self.size, self.position = name, size, 0
        self._file, self._ours = file, ours
        self._take = getattr(file, "read1", file.read)
        self._into = file.readinto if ours else None
        self._head = b""
        while len(self._head) < 4 and (piece := self._pull(HEAD)):
            self._head += piece
        self._inner: Unpacked | None = None
        if kind := packing(self._head):
            self._inner = Unpacked(kind, self._first_head(self._head), name)
            self._head = b""

    def read(self, n: int) -> bytes:
        """Up to `n` bytes, as many as are at hand; none only at the end."""
        if self._head:
            piece, self._head = self._head[:n], self._head[n:]
            return piece
        return self._inner.read(n) if self._inner else self._pull(n)

    def readinto(self, view: memoryview) -> int:
        """As `read`, into `view`; how many bytes there were."""
        if self._head or self._inner or self._into is None:
            piece = self.read(len(view))
            view[: len(piece)] = piece
            return len(piece)
        got: int = self._into(view)
        self.position += got
        return got

    def put_back(self, head: bytes) -> None:
        """Let these bytes come again, before all others."""
        self._head = head + self._head

    def peek(self) -> bytes:
        """The beginning, up to 64 KiB, without taking it: a whole line that is not blank where there is one."""
        head = self._head
        self._head = b""
        while len(head) < HEAD and b"\n" not in head.lstrip(BLANKS) and (piece := self.read(HEAD)):
            head += piece
        self._head = head
        return head

    @contextlib.contextmanager
    def as_file(self) -> Iterator[Any]:
        """What can be read in any order: the path of a plain file, else a temporary file with the rest of the bytes."""
        if self._ours and self._inner is None and os.path.isfile(self.name):
            self.position = self.size or 0
            yield self.name
            return
        with tempfile.TemporaryFile() as file:
            while piece := self.read(HEAD):
                file.write(piece)
            file.seek(0)
            yield file

    def as_raw(self) -> io.BufferedReader:
        """The rest of the bytes as a file object that is read in order."""
        return io.BufferedReader(_Raw(self))

    def close(self) -> None:
        """Close the file if it was opened here."""
        if self._ours:
            self._file.close()

    def _pull(self, n: int) -> bytes:
        piece: bytes = self._take(n)
        if not isinstance(piece, bytes):
            raise TypeError(f"{self.name} must be opened in binary mode; it gave {type(piece).__name__}.")
        self.position += len(piece)
        return piece

    def _first_head(self, head: bytes) -> Any:
        def pull(n: int) -> bytes:
            nonlocal head
            if head:
                piece, head = head[:n], head[n:]
                return piece
            return self._pull(n)

        return pull


class _Raw(io.RawIOBase):
    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, view: Any) -> int:
        piece = self._stream.read(len(view))
        view[: len(piece)] = piece
        return len(piece)


def open_stream(source: Source) -> Stream:
    """The stream of a path, of "-" for standard input, or of a file object opened in binary mode."""
    if source == "-":
        return Stream(sys.stdin.buffer, "stdin")
    if hasattr(source, "read"):
        name = getattr(source, "name", None)
        return Stream(source, name if isinstance(name, str) else "<file>")
    path = os.fspath(source)
    try:
        file = open(path, "rb", buffering=0)  # noqa: SIM115
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {path}; check its name, or give - to read standard input.") from None
    except PermissionError:
        raise PermissionError(f"{path} may not be read by this user; change its permissions (chmod u+r).") from None
    except IsADirectoryError:
        raise IsADirectoryError(f"{path} is a folder, not a file; give a file, or format='folders'.") from None
    except (OSError, ValueError) as problem:  # a name that no file can have, a loop of links, a broken disk
        raise OSError(f"{path!r} cannot be opened ({problem}).") from None
    size = os.fstat(file.fileno()).st_size
    try:
        return Stream(file, path, size or None, ours=True)
    except BaseException:
        file.close()
        raise
