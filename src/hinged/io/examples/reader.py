"""Any file of examples as a stream of chunks: format and packing found by content, malformed lines named or counted."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any

import numpy as np

from hinged.io.examples.chunk import Chunk, Named, Strings
from hinged.io.examples.detect import detect
from hinged.io.examples.errors import BadLine
from hinged.io.examples.formats import check_format
from hinged.io.examples.options import Options
from hinged.io.examples.source import BLANKS, Source, Stream, open_stream

__all__ = ["Reader", "read"]

REMEMBERED = 10  # malformed lines of which the reader keeps the message


def read(
    source: Source,
    format: str | None = None,
    *,
    text: str | Iterable[str] | None = None,
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
        One of `FORMATS`; told by the content if left out.
    text : str or list of str, optional
        Columns or keys that hold text, as a list or with commas between. By default every column of text but label,
        names and dates.
    label, weight, tag : str, optional
        Column or key of the label, of the importance weight, of the example's own name; by default found by custom
        (`hinged.io.examples.columns`).
    label_sep : str, optional
        What separates several labels in one cell (csv, tsv, lines); by default "|" in a column called `labels`,
        `tags` and the like, and nothing elsewhere.
    quote : str
        What may surround cells of csv and tsv; "" where quotes are plain text.
    on_error : "stop" or "skip"
        Whether a malformed line raises `BadLine`, after the examples before it were handed out, or is left out and
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
    if on_error not in ("stop", "skip"):
        raise ValueError(f'on_error must be "stop" or "skip"; got {on_error!r}.')
    if not isinstance(chunk_bytes, int) or chunk_bytes < 1:
        raise ValueError(f"chunk_bytes must be a whole number of 1 or more; got {chunk_bytes!r}.")
    if len(quote) > 1 or not quote.isascii():
        raise ValueError(f'quote must be one ASCII character, or "" for none; got {quote!r}.')
    if isinstance(text, str):
        text = [name.strip() for name in text.split(",") if name.strip()]
    options = Options(tuple(text) if text else None, label, weight, tag, label_sep, quote, chunk_bytes)
    return Reader(source, format, options, on_error)


class Reader(Iterator[Chunk]):
    """An iterator of chunks that knows how far it is; `with` closes its file early.

    Attributes
    ----------
    source : str
        What messages call the file.
    format : str or None
        Its format; None for a file without anything in it.
    rows, skipped : int
        Examples handed out, and malformed lines left out, so far.
    problems : list of BadLine
        The first ten of those lines.

    Notes
    -----
    Every chunk has examples, but for the last: it comes without any where lines at the very end were left out.
    """

    def __init__(self, source: Source, format: str | None, options: Options, on_error: str) -> None:
        self.rows = self.skipped = 0
        self.format: str | None = None
        self.problems: list[BadLine] = []
        self._on_error = on_error
        self._stream: Stream | None = None
        self._parts: Any = iter(())
        if format is not None:
            check_format(format)
        if isinstance(source, str | os.PathLike) and os.path.isdir(source):
            self.source = os.fspath(source)
            self.format = format or "folders"
            if self.format != "folders":
                raise IsADirectoryError(f"{self.source} is a folder; {self.format} is read from a file. Name the file.")
            given: Any = self.source
        else:
            if format == "folders":
                raise NotADirectoryError(f"{source} is no folder; format 'folders' reads files below one.")
            given = self._stream = open_stream(source)
            self.source = self._stream.name
            self.format = self._detected(format, options)
        if self.format is not None:
            self._check_options(options)
            module, function = check_format(self.format).reads.split(".")
            self._parts = getattr(import_module(f"hinged.io.examples.{module}"), function)(given, options)
        self._chunks = self._handed_out()

    def _detected(self, format: str | None, options: Options) -> str | None:
        stream = self._stream
        if format is not None or stream is None:
            return format
        try:
            head = stream.peek()
            if not head.removeprefix(b"\xef\xbb\xbf").strip(BLANKS):
                return None
            found = detect(head, stream.name)
        except BaseException:
            stream.close()
            raise
        return "tsv" if found == "lines" and (options.text or options.label) else found

    def _check_options(self, options: Options) -> None:
        if not check_format(str(self.format)).table:
            for name in ("text", "label", "weight", "tag"):
                if value := getattr(options, name):
                    self.close()
                    raise ValueError(f"{name}={value!r} names a column, and {self.format} has none; leave {name} out.")

    def __next__(self) -> Chunk:
        return next(self._chunks)

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; nothing more is read."""
        if hasattr(self._parts, "close"):
            self._parts.close()
        if self._stream is not None:
            self._stream.close()

    def __del__(self) -> None:
        if stream := getattr(self, "_stream", None):
            stream.close()

    @property
    def progress(self) -> tuple[int, int | None]:
        """Bytes read so far, as they lie on the disk, and how many there are (None where nobody knows)."""
        return (self._stream.position, self._stream.size) if self._stream else (0, None)

    def _handed_out(self) -> Iterator[Chunk]:
        waiting = 0
        chunk = None
        try:
            for chunk, bad in self._parts:
                bad.sort(key=lambda fault: fault.line)
                if bad and self._on_error == "stop":
                    chunk = first_rows(chunk, int(np.searchsorted(chunk.lines, bad[0].line)))
                    if len(chunk):
                        self.rows += len(chunk)
                        yield chunk
                    raise bad[0]
                self.skipped += len(bad)
                waiting += len(bad)
                self.problems += bad[: REMEMBERED - len(self.problems)]
                if len(chunk):
                    chunk.skipped, waiting = waiting, 0
                    self.rows += len(chunk)
                    yield chunk
            if waiting and chunk is not None:
                chunk = first_rows(chunk, 0)
                chunk.skipped = waiting
                yield chunk
        finally:
            self.close()


def first_rows(chunk: Chunk, n: int) -> Chunk:
    """The first `n` examples of a chunk."""
    named, columns = chunk.named, chunk.columns
    if named is not None:
        k = int(named.indptr[n])
        indptr = named.indptr[: n + 1]
        named = Named(indptr, named.buffer, named.spaces[:, :k].copy(), named.names[:, :k].copy(), named.values[:k])
    if columns is not None:
        k = int(columns[0][n])
        columns = (columns[0][: n + 1], columns[1][:k], columns[2][:k])
    return Chunk(
        answers=chunk.answers[:n],
        lines=chunk.lines[:n],
        source=chunk.source,
        weights=None if chunk.weights is None else chunk.weights[:n],
        tags=None if chunk.tags is None else chunk.tags[:n],
        texts={name: Strings(piece.buffer, piece.starts[:n], piece.ends[:n]) for name, piece in chunk.texts.items()},
        named=named,
        columns=columns,
        layout=chunk.layout,
    )
