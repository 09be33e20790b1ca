"""Bytes of a gzip or zstd stream, known by their first bytes; one that is damaged or cut short gets one sentence."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

__all__ = ["Unpacked", "packing"]

PIECE = 1 << 14  # packed bytes taken at a time: bounds what one piece can grow to
GZIP = b"\x1f\x8b\x08"
ZSTD = b"\x28\xb5\x2f\xfd"
ZSTD_SKIPPABLE = b"\x2a\x4d\x18"  # after a byte 0x50 to 0x5f, as parallel compressors write


def packing(head: bytes) -> str | None:
    """How a stream that begins like this is packed: "gzip", "zstd" or None.

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


class Unpacked:
    """Reads what `pull` gives, unpacked; several streams one after the other are one."""

    def __init__(self, kind: str, pull: Callable[[int], bytes], name: str) -> None:
        self._kind, self._pull, self._name = kind, pull, name
        self._one = self._begin()
        self._fed = False  # whether the current stream has had a byte
        self._waiting = b""  # packed
        self._ready = memoryview(b"")  # unpacked
        self._position = 0

    def read(self, n: int) -> bytes:
        """Up to `n` bytes, as many as are at hand; none only at the end."""
        while not self._ready:
            if not self._waiting:
                self._waiting = self._pull(PIECE)
                if not self._waiting:
                    if self._fed:
                        raise self._broken("it ends in the middle")
                    return b""
            self._ready = memoryview(self._unpack(n))
        piece, self._ready = self._ready[:n], self._ready[n:]
        self._position += len(piece)
        return bytes(piece)

    def _unpack(self, n: int) -> bytes:
        if not self._fed:
            self._waiting = self._waiting.lstrip(b"\0")  # tape archives pad the end with zeros
            if not self._waiting:
                return b""
        self._fed = True
        try:
            if self._kind == "gzip":
                data: bytes = self._one.decompress(self._waiting, n)
                self._waiting = self._one.unconsumed_tail
            else:
                data = self._one.decompress(self._waiting)
                self._waiting = b""
        except Exception as problem:  # zlib.error, ZstdError: neither is a subclass of anything common
            if isinstance(problem, MemoryError):
                raise
            raise self._broken(str(problem)) from problem
        if self._one.eof:
            self._waiting = self._one.unused_data
            self._one, self._fed = self._begin(), False
        return data

    def _begin(self) -> Any:
        if self._kind == "gzip":
            return zlib.decompressobj(wbits=31)
        from zstandard import ZstdDecompressor

        return ZstdDecompressor().decompressobj()

    def _broken(self, problem: str) -> ValueError:
        return ValueError(
            f"{self._name} is packed with {self._kind} but damaged or cut short after {self._position} unpacked bytes "
            f"({problem}); get or pack it again."
        )
