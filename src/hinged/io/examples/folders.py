"""A folder of files: each file is a text, the folder it lies in (seen from the top) is its label.

Files at the top have no label; hidden ones are skipped. Bytes that are not UTF-8 are read as Latin-1. The order is
mixed, and the same every time: one folder after the other would be the worst order to learn in.

Malformed: a file that cannot be read.
"""

from __future__ import annotations

import os
import zlib

import numpy as np

from hinged.io.examples.chunk import BadLine, Chunk, Parts, Strings
from hinged.io.examples.columns import Options
from hinged.io.examples.source import open_stream

__all__ = ["chunks", "decode"]

PIECE = 1 << 20


def chunks(folder: str, options: Options) -> Parts:
    """Yield the files below a folder, and those that cannot be read; a line number is a file's place in the order."""
    texts: list[bytes] = []
    names: list[str] = []
    lines: list[int] = []
    bad: list[BadLine] = []
    size = 0
    for line, name in enumerate(_files(folder), start=1):
        try:
            texts.append(decode(_content(os.path.join(folder, name))).encode("utf-8", "replace"))
        except (OSError, ValueError) as problem:
            bad.append(BadLine(os.path.join(folder, name), line, f"it cannot be read ({problem})", "a readable file"))
            continue
        names.append(os.fsencode(name).decode("utf-8", "replace"))
        lines.append(line)
        size += len(texts[-1])
        if size >= options.chunk_bytes:
            yield _chunk(folder, texts, names, lines), bad
            texts, names, lines, bad, size = [], [], [], [], 0
    if lines or bad:
        yield _chunk(folder, texts, names, lines), bad


def decode(content: bytes) -> str:
    """Decode any bytes: as UTF-8 (UTF-16 after its byte order mark), else as Latin-1, in which every byte is valid.

    Examples
    --------
    >>> decode("é".encode()), decode(bytes([0xE9])), decode("é".encode("utf-16"))
    ('é', 'é', 'é')
    """
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _files(folder: str) -> list[str]:
    """Return the paths below a folder, with / between, in an order that depends on the names alone."""
    found = []
    for place, inside, files in os.walk(folder):
        inside[:] = [name for name in inside if not name.startswith(".")]
        for name in files:
            if not name.startswith("."):
                found.append(os.path.relpath(os.path.join(place, name), folder).replace(os.sep, "/"))
    return sorted(found, key=lambda name: (zlib.crc32(os.fsencode(name)), name))


def _content(path: str) -> bytes:
    if not os.path.isfile(path):  # reading a pipe or a device could block
        raise ValueError("it is not a regular file")
    stream = open_stream(path)
    try:
        return b"".join(iter(lambda: stream.read(PIECE), b""))
    finally:
        stream.close()


def _chunk(folder: str, texts: list[bytes], names: list[str], lines: list[int]) -> Chunk:
    return Chunk(
        answers=[name.rpartition("/")[0] or None for name in names],
        lines=np.array(lines, np.int64),
        source=folder,
        tags=names,
        texts={"text": Strings.joined(texts, len(texts))},
    )
