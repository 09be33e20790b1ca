"""Bytes as zstd frames, packed and unpacked by contexts that each thread keeps.

To make new contexts takes as long as to unpack a small model.
"""

from __future__ import annotations

import threading
from functools import cached_property
from typing import Any

__all__ = ["CONTEXTS"]

LEVEL = 3  # higher ones take several times as long for a few percent


class Contexts(threading.local):
    """The contexts of the thread that asks, made when they are first needed.

    Examples
    --------
    >>> CONTEXTS.unpacking.decompress(CONTEXTS.packing.compress(b"some bytes"))
    b'some bytes'
    """

    @cached_property
    def packing(self) -> Any:
        """A `zstandard.ZstdCompressor` that adds a checksum."""
        import zstandard

        return zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)

    @cached_property
    def unpacking(self) -> Any:
        """A `zstandard.ZstdDecompressor`."""
        import zstandard

        return zstandard.ZstdDecompressor()


CONTEXTS = Contexts()
