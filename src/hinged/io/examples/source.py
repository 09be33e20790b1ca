"""A path, a file object or standard input as one stream of bytes, decompressed if it is gzip or zstd."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from typing import IO, TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = ["BLANKS", "BOM", "ByteStream", "Source", "open_stream"]

HEAD = 1 << 16
BLANKS = b" \t\r\n"
BOM = b"\xef\xbb\xbf"  # the byte order mark of UTF-8
PIECE = 1 << 14  # packed bytes taken at a time: bounds the size of what they are unpacked to
GZIP = b"\x1f\x8b\x08"
ZSTD = b"\x28\xb5\x2f\xfd"
ZSTD_SKIPPABLE = b"\x2a\x4d\x18"  # after a byte 0x50 to 0x5f, as parallel compressors write
Source = str | os.PathLike[str] | BinaryIO


def packing(head: bytes) -> str | None:
    """Return how a stream that begins with `head` is compressed: "gzip", "zstd" or None.

    Examples
    --------
    >>> import gzip
    >>> packing(gzip.compress(b"")), packing(b"1 |f a")
    ('gzip', None)
    """
    if head.startswith(GZIP):
        return "gzip"
    if head.startswith(ZSTD) or (head[1:4] == ZSTD_SKIPPABLE and head[0] >> 4 == 5):
        return "zstd"
    return None


class _Unpacked:
    """Decompresses `head` and what `pull` returns after it; several streams one after the other are one."""

    def __init__(self, kind: str, head: bytes, pull: Callable[[int], bytes], name: str) -> None:
        self._kind, self._pull, self._name = kind, pull, name
        self._packed = head
        self._ready = memoryview(b"")  # unpacked
        self._position = 0
        self._begin()

    def _begin(self) -> None:
        self._begun = False  # becomes True with the first byte of a stream
        self._decompressor: Any
        if self._kind == "gzip":
            self._decompressor = zlib.decompressobj(wbits=31)
        else:
            from zstandard import ZstdDecompressor

            self._decompressor = ZstdDecompressor().decompressobj()

    def read(self, n: int) -> bytes:
        """Return up to `n` bytes, as many as are available; none only at the end."""
        while not self._ready:
            if not self._packed:
                self._packed = self._pull(PIECE)
                if not self._packed and self._begun:
                    raise self._broken("it ends in the middle")
                if not self._packed:
                    return b""
            if not self._begun:
                self._packed = self._packed.lstrip(b"\0")  # tape archives pad the end with zeros
            if self._packed:
                self._ready = memoryview(self._unpack(n))
        piece, self._ready = self._ready[:n], self._ready[n:]
        self._position += len(piece)
        return bytes(piece)

    def _unpack(self, n: int) -> bytes:
        self._begun = True
        piece, rest = self._packed[:PIECE], self._packed[PIECE:]
        most = (n,) if self._kind == "gzip" else ()
        try:
            data: bytes = self._decompressor.decompress(piece, *most)
        except MemoryError:
            raise
        except Exception as problem:  # zlib.error, ZstdError: neither is a subclass of anything common
            raise self._broken(str(problem)) from problem
        self._packed = self._decompressor.unused_data + self._decompressor.unconsumed_tail + rest
        if self._decompressor.eof:
            self._begin()
        return data

    def _broken(self, problem: str) -> ValueError:
        return ValueError(
            f"{self._name} is packed with {self._kind} but damaged or cut short after {self._position} unpacked bytes "
            f"({problem}); get or pack it again."
        )


class ByteStream:
    """Bytes in order, as they arrive: a read from a pipe returns what is available.

    Attributes
    ----------
    name : str
        What messages call it.
    size : int or None
        Bytes on disk, None if unknown.
    position : int
        Bytes read so far, of `size`.
    """

    def __init__(self, file: BinaryIO | io.FileIO, name: str, size: int | None = None, ours: bool = False) -> None:
        self.name, self.size, self.position = name, size, 0
        self._file, self._ours = file, ours
        self._take: Callable[[int], bytes] = getattr(file, "read1", file.read)
        self._into = file.readinto if ours and isinstance(file, io.FileIO) else None
        self._head = b""
        while len(self._head) < 4 and (piece := self._pull(HEAD)):
            self._head += piece
        self._inner: _Unpacked | None = None
        if kind := packing(self._head):
            self._inner = _Unpacked(kind, self._head, self._pull, name)
            self._head = b""

    def read(self, n: int) -> bytes:
        """Return up to `n` bytes, as many as are available; none only at the end."""
        if self._head:
            piece, self._head = self._head[:n], self._head[n:]
            return piece
        return self._inner.read(n) if self._inner else self._pull(n)

    def readinto(self, view: memoryview) -> int:
        """Read into `view`; return the number of bytes."""
        if self._head or self._inner or self._into is None:
            piece = self.read(len(view))
            view[: len(piece)] = piece
            return len(piece)
        got = self._into(view) or 0
        self.position += got
        return got

    def put_back(self, head: bytes) -> None:
        """Return these bytes again, before all others."""
        self._head = head + self._head

    def peek(self) -> bytes:
        """Return the beginning without consuming it: a whole line that is not blank if there is one within 64 KiB."""
        head = self._head
        self._head = b""
        while len(head) < HEAD and b"\n" not in head.lstrip(BLANKS) and (piece := self.read(HEAD)):
            head += piece
        self._head = head
        return head

    @contextlib.contextmanager
    def as_file(self) -> Iterator[str | IO[bytes]]:
        """Yield something seekable: the path of a plain file, else a temporary file with the rest of the bytes."""
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
        """Return the rest of the bytes as a file object."""
        return io.BufferedReader(_Raw(self))

    def close(self) -> None:
        """Close the file if it was opened here."""
        if self._ours:
            self._file.close()

    def _pull(self, n: int) -> bytes:
        piece = self._take(n)
        if not isinstance(piece, bytes):
            raise TypeError(f"{self.name} must be opened in binary mode; it gave {type(piece).__name__}.")
        self.position += len(piece)
        return piece


class _Raw(io.RawIOBase):
    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, view: WriteableBuffer) -> int:
        return self._stream.readinto(memoryview(view))


#: Why a file cannot be opened → the sentence about its path.
REFUSALS: dict[type[Exception], str] = {
    FileNotFoundError: "there is no file {}; check its name, or give - to read standard input.",
    PermissionError: "{} may not be read by this user; change its permissions (chmod u+r).",
    IsADirectoryError: "{} is a folder, not a file; give a file, or format='folders'.",
}


def open_stream(source: Source) -> ByteStream:
    """Open a path, "-" for standard input, or a file object in binary mode."""
    if source == "-":
        return ByteStream(sys.stdin.buffer, "stdin")
    if hasattr(source, "read") and not isinstance(source, str | os.PathLike):
        name = getattr(source, "name", None)
        return ByteStream(source, name if isinstance(name, str) else "<file>")
    path = os.fspath(source)
    try:
        file = open(path, "rb", buffering=0)  # noqa: SIM115
    except (OSError, ValueError) as problem:  # a name that no file can have, a loop of links, a broken disk
        if type(problem) in REFUSALS:
            raise type(problem)(REFUSALS[type(problem)].format(path)) from None
        raise OSError(f"{path!r} cannot be opened ({problem}).") from None
    try:
        return ByteStream(file, path, os.fstat(file.fileno()).st_size or None, ours=True)
    except BaseException:
        file.close()
        raise
