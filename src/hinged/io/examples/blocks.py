"""A stream cut into pieces that end where a line ends; what is left over goes in front of the next piece."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from hinged.io.examples.source import Stream

__all__ = ["Block", "Blocks"]

BOM = b"\xef\xbb\xbf"
WIDE_BOMS = (b"\xff\xfe", b"\xfe\xff")


class Block(NamedTuple):
    """Some whole lines: the last byte is always a newline, added where the file lacks it."""

    data: np.ndarray  # uint8, writable, nobody else's
    last: bool  # nothing comes after it


class Blocks:
    """Whole lines of a stream, about `chunk_bytes` at a time; a longer line makes a longer block.

    A reader that finds a record unfinished at the end of a block gives those bytes back, and they come again, followed
    by more than there were, so that the work stays proportional to the bytes.
    """

    def __init__(self, stream: Stream, chunk_bytes: int) -> None:
        self._stream, self._size = stream, chunk_bytes
        self._left = b""  # after the last newline
        self._again = b""  # given back: whole lines
        self._begun = False

    def __iter__(self) -> Iterator[Block]:
        while True:
            block = self._next()
            if block is not None:
                yield block
            if block is None or (block.last and not self._again):
                return

    def give_back(self, data: np.ndarray) -> None:
        """Let these whole lines, the end of the block just handed out, come again in front of the next."""
        self._again = data.tobytes()

    def _next(self) -> Block | None:
        again, pieces = self._again, [self._left]
        held = len(again) + len(self._left)
        self._again = b""
        while True:
            piece = self._stream.read(max(self._size, held)) if self._begun else self._first_piece()
            if not piece:
                self._left = b""
                pieces.append(b"\n" if held > len(again) else b"")
                break
            if cut := piece.rfind(b"\n") + 1:
                self._left = piece[cut:]
                pieces.append(piece[:cut])
                break
            pieces.append(piece)
            held += len(piece)
        data = _joined([again, *pieces])
        return Block(data, last=not piece) if data.size else None

    def _first_piece(self) -> bytes:
        head = b""
        while len(head) < len(BOM) and (piece := self._stream.read(self._size)):
            head += piece
        self._begun = True
        if head.startswith(WIDE_BOMS):
            name = self._stream.name
            raise ValueError(f"{name} is UTF-16, not UTF-8; convert it first: iconv -f UTF-16 -t UTF-8 {name}")
        if head.startswith(BOM):
            head = head.removeprefix(BOM) or self._stream.read(self._size)
        return head


def _joined(pieces: list[bytes]) -> np.ndarray:
    data = np.empty(sum(map(len, pieces)), np.uint8)
    view = data.data
    at = 0
    for piece in pieces:
        view[at : at + len(piece)] = piece
        at += len(piece)
    return data
