"""Any file of examples as a stream of chunks: its format is detected, malformed lines are reported or counted."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Generic, Self, TypeVar

import numpy as np

from hinged.io.examples.chunk import BadLine, Chunk, Parts
from hinged.io.examples.columns import Options
from hinged.io.examples.formats import FORMATS, check_format, detect, function_named
from hinged.io.examples.source import BLANKS, BOM, ByteStream, Source, open_stream

__all__ = ["BaseReader", "Reader", "read"]

REMEMBERED = 10  # malformed lines of which the reader keeps the message
Item = TypeVar("Item")


def read(
    source: Source,
    format: str | None = None,
    *,
    text: str | Iterable[str] | None = None,
    numbers: str | Iterable[str] | None = None,
    label: str | None = None,
    weight: str | None = None,
    tag: str | None = None,
    label_sep: str | None = None,
    quote: str = '"',
    on_error: str = "stop",
    chunk_bytes: int = 1 << 22,
) -> Reader:
    """Read examples from a file, chunk by chunk; memory does not grow with the file.

    Parameters
    ----------
    source : path, "-" or binary file object
        A file or a folder, standard input, or an open file; gzip and zstd are unpacked.
    format : str, optional
        One of `FORMATS`; detected from the content if left out.
    text, numbers : str or list of str, optional
        Columns or keys that hold text, and numbers, as a list or with commas between; no others are read then. By
        default all columns but label, names and dates, as their first values say.
    label, weight, tag : str, optional
        Column or key of the label, of the importance weight, of the example's own name; by default found by common
        names (`hinged.io.examples.columns`).
    label_sep : str, optional
        What separates several labels in one cell (csv, tsv, lines); by default "|" in a column called `labels`,
        `tags` and the like, and nothing elsewhere.
    quote : str
        What may surround cells of csv and tsv; "" where quotes are plain text.
    on_error : "stop" or "skip"
        Whether a malformed line raises `BadLine`, after the examples before it were returned, or is skipped and
        counted.
    chunk_bytes : int
        About how many bytes make a chunk.

    Returns
    -------
    Reader
        An iterator of `Chunk`.

    Examples
    --------
    >>> import io
    >>> chunk, = read(io.BytesIO(b"spam |words buy now"))
    >>> chunk.answers, len(chunk.named.values)
    (['spam'], 2)
    """
    if not isinstance(chunk_bytes, int) or chunk_bytes < 1:
        raise ValueError(f"chunk_bytes must be a whole number of 1 or more; got {chunk_bytes!r}.")
    if len(quote) > 1 or not quote.isascii():
        raise ValueError(f'quote must be one ASCII character, or "" for none; got {quote!r}.')
    options = Options(_names(text), label, weight, tag, label_sep, quote, chunk_bytes, _names(numbers))
    return Reader(source, format, options, on_error)


def _names(given: str | Iterable[str] | None) -> tuple[str, ...] | None:
    if isinstance(given, str):
        given = [name.strip() for name in given.split(",") if name.strip()]
    return tuple(given or ()) or None


class BaseReader(Iterator[Item], Generic[Item]):
    """What all readers share: progress, skipped lines, closing the file; `with` closes it early.

    Attributes
    ----------
    source : str
        What messages call the file.
    skipped : int
        Malformed lines (or sentences that hold one) skipped so far.
    problems : list of BadLine
        The first ten malformed lines.
    """

    source: str

    def __init__(self, on_error: str) -> None:
        if on_error not in ("stop", "skip"):
            raise ValueError(f'on_error must be "stop" or "skip"; got {on_error!r}.')
        self.skipped = 0
        self.problems: list[BadLine] = []
        self._stops = on_error == "stop"
        self._stream: ByteStream | None = None
        self._items: Iterator[Item] = iter(())

    def __next__(self) -> Item:
        return next(self._items)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if stream := getattr(self, "_stream", None):
            stream.close()

    def close(self) -> None:
        """Close the file; nothing more is read."""
        if self._stream is not None:
            self._stream.close()

    @property
    def progress(self) -> tuple[int, int | None]:
        """Bytes read so far, as they are stored on disk, and how many there are (None if unknown)."""
        return (self._stream.position, self._stream.size) if self._stream else (0, None)

    def _remember(self, bad: list[BadLine]) -> None:
        self.problems += bad[: REMEMBERED - len(self.problems)]


class Reader(BaseReader[Chunk]):
    """An iterator of chunks.

    Attributes
    ----------
    format : str or None
        The file's format; None for an empty file.
    rows : int
        Examples returned so far; further attributes are those of `BaseReader`.

    Notes
    -----
    Every chunk has examples, but for the last: it has none where the last lines of the file were skipped.
    """

    def __init__(self, source: Source, format: str | None, options: Options, on_error: str) -> None:
        super().__init__(on_error)
        self.rows = 0
        self.format: str | None = None
        self._parts: Parts = iter(())
        if format is not None:
            check_format(format)
        try:
            given = self._open(source, format, options)
            if self.format is not None:
                self._check_options(options)
                self._parts = function_named(FORMATS[self.format].reads, self.source)(given, options)
        except BaseException:
            self.close()
            raise
        self._items = self._chunks()

    def _open(self, source: Source, format: str | None, options: Options) -> ByteStream | str:
        """Set the format and open the stream; return it, or the name of a folder."""
        if isinstance(source, str | os.PathLike) and os.path.isdir(source):
            self.source = os.fspath(source)
            self.format = format or "folders"
            if self.format != "folders":
                raise IsADirectoryError(f"{self.source} is a folder; {self.format} is read from a file. Name the file.")
            return self.source
        if format == "folders":
            raise NotADirectoryError(f"{source} is not a folder; format 'folders' reads files below one.")
        stream = self._stream = open_stream(source)
        self.source = stream.name
        self.format = format or _format_of(stream, options)
        return stream

    def _check_options(self, options: Options) -> None:
        if not FORMATS[str(self.format)].table:
            for name in ("text", "numbers", "label", "weight", "tag"):
                if value := getattr(options, name):
                    raise ValueError(f"{name}={value!r} names a column, and {self.format} has none; leave {name} out.")

    def close(self) -> None:
        """Close the file; nothing more is read."""
        if hasattr(self._parts, "close"):
            self._parts.close()
        super().close()

    def _chunks(self) -> Iterator[Chunk]:
        waiting, chunk = 0, None  # malformed lines since the last chunk that had examples
        try:
            for chunk, bad in self._parts:
                bad.sort(key=lambda fault: fault.line)
                stops = bad and self._stops
                if stops:
                    chunk = chunk.taken(np.arange(np.searchsorted(chunk.lines, bad[0].line)))
                else:
                    self._remember(bad)
                    self.skipped += len(bad)
                    waiting += len(bad)
                if len(chunk):
                    chunk.skipped, waiting = waiting, 0
                    self.rows += len(chunk)
                    yield chunk
                if stops:
                    raise bad[0]
            if waiting and chunk is not None:
                chunk.skipped = waiting
                yield chunk
        finally:
            self.close()


def _format_of(stream: ByteStream, options: Options) -> str | None:
    """Detect the format; None for an empty file."""
    head = stream.peek()
    if not head.removeprefix(BOM).strip(BLANKS):
        return None
    found = detect(head, stream.name)
    return "tsv" if found == "lines" and (options.names_columns or options.label) else found
