"""Chunks of examples into a file of any format that can hold them."""

from __future__ import annotations

import contextlib
import gzip
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from hinged.io.atomic import open_atomically
from hinged.io.examples.chunk import Chunk
from hinged.io.examples.formats import FORMATS, check_format, format_of_name, function_named

__all__ = ["write"]


def write(chunks: Iterable[Chunk], target: str | os.PathLike[str] | BinaryIO, format: str | None = None) -> int:
    """Write examples; what a format cannot hold is refused with a sentence, never dropped silently.

    Parameters
    ----------
    chunks : iterable of Chunk
        What `read` gives.
    target : path, "-" or binary file object
        A file whose name ends with .gz or .zst is compressed. A file appears whole or not at all.
    format : str, optional
        One of `FORMATS` (folders are not written); chosen by the target's name if left out.

    Returns
    -------
    int
        How many examples were written.

    Examples
    --------
    >>> import io
    >>> from hinged.io.examples import read
    >>> out = io.BytesIO()
    >>> write(read(io.BytesIO(b"+1 3:0.5 7:1")), out, "vw")
    1
    >>> out.getvalue()
    b'1 | 3:0.5 7\\n'
    """
    name = getattr(target, "name", "") if hasattr(target, "write") else os.fspath(target)  # type: ignore[arg-type]
    format = format or format_of_name(str(name))
    known = ", ".join(key for key, one in FORMATS.items() if one.writes)
    if format is None:
        raise ValueError(f"the name {str(name)!r} does not say which format to write; give one of {known}.")
    if not check_format(format).writes:
        raise ValueError(f"{format} can be read, not written; write one of {known}.")
    writer = function_named(FORMATS[format].writes, str(name))
    written = 0

    def counted() -> Iterator[Chunk]:
        nonlocal written
        for chunk in chunks:
            if len(chunk):
                written += len(chunk)
                yield chunk

    with _opened(target) as file:
        writer(counted(), file)
    return written


@contextlib.contextmanager
def _opened(target: Any) -> Iterator[BinaryIO]:
    if target == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    elif hasattr(target, "write"):
        yield target
    else:
        path = Path(target)
        if not path.parent.is_dir():
            raise FileNotFoundError(f"there is no folder {path.parent} to write {path.name} in; make it first.")
        if path.is_dir():
            raise IsADirectoryError(f"{path} is a folder; name a file to write.")
        with open_atomically(path) as file, _packing(file, path.suffix.lower()) as inner:
            yield inner


def _packing(file: BinaryIO, suffix: str) -> Any:
    if suffix in (".gz", ".gzip"):
        return gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0)
    if suffix in (".zst", ".zstd"):
        from zstandard import ZstdCompressor

        return ZstdCompressor().stream_writer(file, closefd=False)
    return contextlib.nullcontext(file)
