"""A stream cut into blocks of whole lines, in memory that is reused once no array points into it."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from hinged.io.examples.chunk import Bytes
from hinged.io.examples.source import BOM, ByteStream

__all__ = ["Blocks", "LineBlock", "Memory"]

NEWLINE = 10
LONGEST_LINE = 1 << 24  # bytes; working on one takes up to forty times as much memory
WIDE_BOMS = (b"\xff\xfe", b"\xfe\xff")
NOTHING = np.empty(0, np.uint8)
SPARE = 8  # pieces of memory that may wait for use


Piece = bytearray | Bytes  # of memory


class Memory:
    """Allocates arrays; when the last view of one is gone, its bytes are used for the next array.

    Fresh pages from the operating system cost as much time as parsing.

    Parameters
    ----------
    make : callable, default bytearray
        Allocates a number of bytes.

    Examples
    --------
    >>> memory = Memory()
    >>> first = memory.array((2, 3), np.int64)
    >>> part, address = first[1], first.ctypes.data
    >>> del first
    >>> second = memory.array((2, 3), np.int64)
    >>> second.ctypes.data == address  # `part` still looks at the first
    False
    >>> del part
    >>> third = memory.array((2, 3), np.int64)
    >>> third.ctypes.data == address
    True
    """

    def __init__(self, make: Callable[[int], Piece] = bytearray) -> None:
        self._make = make
        self._spare: list[Piece] = []

    def array(self, shape: int | tuple[int, ...], dtype: type) -> np.ndarray:
        """Return an uninitialised array."""
        size = math.prod(shape if isinstance(shape, tuple) else (shape,)) * np.dtype(dtype).itemsize
        spare, self._spare = self._spare, []  # another thread may return memory at any moment
        fit = [i for i, one in enumerate(spare) if size <= len(one) <= 4 * size + 4096]
        piece = spare.pop(min(fit, key=lambda i: len(spare[i]))) if fit else self._make(size + size // 8 + 64)
        self._spare.extend(spare[-SPARE:])
        view = memoryview(piece) if isinstance(piece, bytearray) else piece.data
        whole = np.frombuffer(view, np.uint8)  # every view keeps this one alive
        weakref.finalize(whole, self._back, piece).atexit = False
        return whole[:size].view(dtype).reshape(shape)

    def _back(self, piece: Piece) -> None:
        self._spare.append(piece)


class LineBlock(NamedTuple):
    """Some whole lines; the last byte is always a newline, added where the file lacks it."""

    data: Bytes  # writable, and shared with no one
    last: bool  # nothing comes after it


class Blocks:
    """Whole lines of a stream, about `chunk_bytes` at a time; a longer line makes a longer block, up to `LONGEST_LINE`.

    A reader that finds a record unfinished at the end of a block gives those bytes back. They come again at the start
    of the next block, followed by more than there were, so that the work stays proportional to the bytes.
    """

    def __init__(self, stream: ByteStream, chunk_bytes: int, memory: Memory | None = None) -> None:
        self._stream, self._size, self._memory = stream, chunk_bytes, memory or Memory()
        self._left = NOTHING  # after the last newline
        self._again = NOTHING  # given back: whole lines
        self._begun = False
        self._passed = 0  # bytes of lines yielded

    def __iter__(self) -> Iterator[LineBlock]:
        while block := self._next():
            yield block
            if block.last and not self._again.size:
                return

    def give_back(self, data: Bytes) -> None:
        """Repeat these whole lines, the end of the block just yielded, at the start of the next."""
        self._again = data

    def _next(self) -> LineBlock | None:
        again, n = len(self._again), len(self._again) + len(self._left)
        data = self._memory.array(n + max(self._size, n) + 1, np.uint8)  # there is always room for a newline
        data[:again], data[again:n] = self._again, self._left
        self._again = self._left = NOTHING
        while True:
            if n + 1 == len(data):
                data = self._longer(data)
            got = self._read(data[n:-1])
            if not got:
                if n > again:
                    data[n] = NEWLINE
                    n += 1
                return LineBlock(data[:n], last=True) if n else None
            n += got
            if cut := _after_last_newline(data[n - got : n]):
                cut += n - got
                self._left = data[cut:n]
                self._passed += cut - again
                return LineBlock(data[:cut], last=False)
            if n - again > LONGEST_LINE:
                raise ValueError(
                    f"{self._stream.name}: the line that begins at byte {self._passed + 1:,} is longer than "
                    f"{LONGEST_LINE >> 20} MB; an example has a line of its own. Is this a file of examples?"
                )

    def _longer(self, data: Bytes) -> Bytes:
        more = self._memory.array(2 * len(data), np.uint8)
        more[: len(data)] = data
        return more

    def _read(self, free: Bytes) -> int:
        if self._begun:
            return self._stream.readinto(free.data)
        self._begun = True
        head = b""
        while len(head) < len(BOM) and (piece := self._stream.read(len(BOM) - len(head))):
            head += piece
        if head.startswith(WIDE_BOMS):
            name = self._stream.name
            raise ValueError(f"{name} is UTF-16, not UTF-8; convert it first: iconv -f UTF-16 -t UTF-8 {name}")
        self._stream.put_back(head.removeprefix(BOM))
        return self._stream.readinto(free.data)


def _after_last_newline(data: Bytes) -> int:
    """Return the place after the last newline, 0 where there is none; searches from the end."""
    end, step = len(data), 1 << 12
    while end > 0:
        start = max(0, end - step)
        at = data[start:end].tobytes().rfind(b"\n")
        if at >= 0:
            return start + at + 1
        end, step = start, 2 * step
    return 0
