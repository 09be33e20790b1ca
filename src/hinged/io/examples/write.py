"""Chunks of examples into a file of any format that can hold them; the writers of text formats.

What a format cannot hold is refused with a sentence.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import orjson

from hinged.compiling.arrays import Floats
from hinged.io.atomic import check_folder, open_atomically
from hinged.io.examples.chunk import Answer, Chunk, Strings
from hinged.io.examples.formats import FORMATS, check_format, format_of_name, function_named

__all__ = ["columns_of", "csv", "features_of", "jsonl", "lines", "refuse_own_names", "svmlight", "tsv", "vw", "write"]

OWN = ("label", "labels", "importance", "id")
MARKS = str.maketrans({":": "_", "|": "_"})
LABEL_MARKS = {"vw": "|:", "svmlight": ":#"}  # that end a label
UNFIT = {format: re.compile(rf"\A'|\A\Z|[\s,{marks}]") for format, marks in LABEL_MARKS.items()}  # for a label

Feature = tuple[str, str, str]  # namespace, name, value as it is written


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
def _opened(target: str | os.PathLike[str] | BinaryIO) -> Iterator[BinaryIO]:
    if target == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    elif hasattr(target, "write") and not isinstance(target, str | os.PathLike):
        yield target
    else:
        path = Path(target)
        check_folder(path)
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


# ------------------------------------------------------------------ shared
def features_of(chunk: Chunk) -> Iterator[list[Feature]]:
    """Yield the features of each row; columns are named by their number."""
    values: Floats
    if chunk.numbers:
        yield from _features_of_numbers(chunk)
        return
    if chunk.columns is not None:
        indptr, indices, values = chunk.columns
        names = list(map(str, indices.tolist()))
        spaces = [""] * len(names)
    else:
        named = chunk.named
        assert named is not None  # rows without text or numbered features have named ones
        indptr, values = named.indptr, named.values
        names = Strings(named.buffer, *named.names).decoded()
        spaces = Strings(named.buffer, *named.spaces).decoded()
    features = list(zip(spaces, names, _numbers_as_text(values), strict=True))
    for start, end in pairwise(indptr.tolist()):
        yield features[start:end]


def _features_of_numbers(chunk: Chunk) -> Iterator[list[Feature]]:
    """Yield the numbers of each row by their columns' names, without those that are 0 or missing."""
    texts = {name: _numbers_as_text(np.nan_to_num(values)) for name, values in chunk.numbers.items()}
    for row in zip(*texts.values(), strict=True):
        yield [("", name, value) for name, value in zip(texts, row, strict=True) if value != "0"]


def columns_of(chunk: Chunk, answers: Sequence[Answer], label: str = "label") -> dict[str, Any]:
    """Return the columns of a table: label, importance and id where there are any, then numbers, then fields of text.

    A missing number is None.
    """
    columns: dict[str, Any] = {label: answers}
    if chunk.weights is not None:
        columns["importance"] = chunk.weights.tolist()
    if chunk.tags is not None:
        columns["id"] = chunk.tags
    for name, values in chunk.numbers.items():
        columns[name] = [None if value != value else value for value in values.tolist()]
    return columns | {name: strings.decoded() for name, strings in chunk.texts.items()}


def _numbers_as_text(values: npt.NDArray[np.floating]) -> list[str]:
    """Return the shortest text that reads as the same number.

    Examples
    --------
    >>> _numbers_as_text(np.array([0.1, 1.0, -2.5], np.float32))
    ['0.1', '1', '-2.5']
    """
    known, which = np.unique(values, return_inverse=True)
    texts = [str(int(value)) if value == int(value) and abs(value) < 1e15 else str(value) for value in known]
    return [texts[i] for i in which.tolist()]


def _label_as_text(answer: Any, line: int, format: str) -> str:
    """Return one label, several with commas, or nothing; a label that the format could not give back is refused."""
    labels = answer if isinstance(answer, list) else [] if answer is None else [answer]
    for label in labels:
        if UNFIT[format].search(label):
            raise ValueError(
                f"the label {label!r} of example {line} cannot be written as {format}, where blanks, commas and "
                f"{' '.join(LABEL_MARKS[format])} mean something; rename it, or write jsonl."
            )
    return ",".join(labels)


def _tags(chunk: Chunk) -> list[str]:
    return chunk.tags or [""] * len(chunk)


def _refuse_features(chunk: Chunk, format: str, why: str) -> None:
    if not chunk.texts and not chunk.numbers and len(chunk):
        raise ValueError(f"{chunk.source} holds features, not text. {why}: write jsonl, vw or parquet, not {format}.")


def _refuse_mixed(chunk: Chunk, format: str) -> None:
    """Refuse a table of numbers beside text, or of numbers, in a format of text alone or features alone."""
    if chunk.numbers and (chunk.texts or format == "lines"):
        beside = "numbers beside text" if chunk.texts else "numbers"
        raise ValueError(f"{chunk.source} holds {beside}, which {format} cannot hold; write jsonl, csv or parquet.")


def _refuse_weights(chunk: Chunk, format: str) -> None:
    if chunk.weights is not None and (chunk.weights != 1.0).any():
        raise ValueError(f"{chunk.source} has importance weights, which {format} cannot hold; write vw or jsonl.")


def refuse_own_names(chunk: Chunk, format: str) -> None:
    """Refuse a column whose name the format gives to something else."""
    for name in (*chunk.numbers, *chunk.texts):
        if name in OWN:
            raise ValueError(f"a column is called {name!r}, which means something else in {format}; rename it.")


def _refuse_late(chunk: Chunk, format: str, columns: list[str]) -> None:
    if columns:
        raise ValueError(
            f"{columns[0]!r} comes first in {chunk.source}:{chunk.lines[0]} or after, when the header of the {format} "
            "file is already written; name all fields with text=, or write jsonl."
        )


# ------------------------------------------------------------------ JSON lines
def jsonl(chunks: Iterable[Chunk], file: BinaryIO) -> None:
    """Write an object a line: label, importance, id, then a key per field, or features by namespace."""
    for chunk in chunks:
        refuse_own_names(chunk, "jsonl")
        columns = columns_of(chunk, chunk.answers)
        if not chunk.texts and not chunk.numbers:
            columns["features"] = map(_nested, features_of(chunk))
        for row in zip(*columns.values(), strict=True):
            file.write(orjson.dumps(dict(zip(columns, row, strict=True)), option=orjson.OPT_APPEND_NEWLINE))


def _nested(features: list[Feature]) -> dict[str, object]:
    """Group features by namespace; those without one stay at the top, unless a namespace has such a name."""
    spaces = {space for space, _, _ in features}
    plain = not any(space == "" and name in spaces for space, name, _ in features)
    found: dict[str, Any] = {}
    for space, name, value in features:
        place = found if space == "" and plain else found.setdefault(space, {})
        place[name] = place.get(name, 0.0) + float(value)  # a feature that comes twice counts twice
    return found


# ------------------------------------------------------------------ tables
def csv(chunks: Iterable[Chunk], file: BinaryIO) -> None:
    """Write columns label (or labels, with | between), importance and id where there are any, then one per field."""
    _table(chunks, file, ",", "csv")


def tsv(chunks: Iterable[Chunk], file: BinaryIO) -> None:
    """Write the columns of csv with tabs between."""
    _table(chunks, file, "\t", "tsv")


def _table(chunks: Iterable[Chunk], file: BinaryIO, delimiter: str, format: str) -> None:
    header: list[str] = []
    for chunk in chunks:
        _refuse_features(chunk, format, "Features are sparse, and a table needs all its columns first")
        refuse_own_names(chunk, format)
        label = header[0] if header else "labels" if chunk.has_sets else "label"
        columns = columns_of(chunk, [_cell_of(answer, label) for answer in chunk.answers], label)
        if not header:
            header = list(columns)
            file.write(_row(header, delimiter))
        _refuse_late(chunk, format, [name for name in columns if name not in header])
        in_order = [columns.get(name, [""] * len(chunk)) for name in header]
        for cells in zip(*in_order, strict=True):
            file.write(_row(cells, delimiter))


def _cell_of(answer: Any, column: str) -> str:
    if not isinstance(answer, list):
        if column == "labels" and "|" in (answer or ""):
            raise ValueError(f"the label {answer!r} holds a |, which separates labels in a table; write jsonl instead.")
        return answer or ""
    if column == "label":
        raise ValueError(f"{answer!r} is a set of labels, after examples with one each; write jsonl instead.")
    return "|".join(_cell_of(label, column) for label in answer)


def _row(values: Iterable[object], delimiter: str) -> bytes:
    """Return a record; its first cell is never empty bytes, so that no record looks like a blank line."""
    special = re.compile(f'[{delimiter}"\n\r]')
    cells = ["" if value is None else str(value) for value in values]
    quoted = ['"' + cell.replace('"', '""') + '"' if special.search(cell) else cell for cell in cells]
    if not quoted[0].strip():
        quoted[0] = f'"{cells[0]}"'
    return (delimiter.join(quoted) + "\n").encode("utf-8", "replace")


# ------------------------------------------------------------------ plain lines
def lines(chunks: Iterable[Chunk], file: BinaryIO) -> None:
    """Write label, tab, text: fields are joined by blanks, newlines become blanks; tags are left out."""
    for chunk in chunks:
        _refuse_features(chunk, "lines", "Such a file holds text")
        _refuse_mixed(chunk, "lines")
        _refuse_weights(chunk, "lines")
        fields = zip(*(strings.decoded() for strings in chunk.texts.values()), strict=True)
        for answer, line, pieces in zip(chunk.answers, chunk.lines, fields, strict=True):
            text = " ".join(" ".join(piece for piece in pieces if piece).splitlines())
            file.write(f"{_before_tab(answer, line, text)}\t{text}\n".encode("utf-8", "replace"))


def _before_tab(answer: Answer, line: int, text: str) -> str:
    label: Any = answer or ""
    if isinstance(label, list) or label != label.strip() or re.search(r"[\t\n\r]", label):
        raise ValueError(f"the label {answer!r} of example {line} does not fit before a tab; write jsonl instead.")
    if not label and not text.strip():
        raise ValueError(f"example {line} has neither label nor text, and a blank line is none; write jsonl.")
    return label


# ------------------------------------------------------------------ Vowpal Wabbit
def vw(chunks: Iterable[Chunk], file: BinaryIO) -> None:
    """Write VW's text. Fields of text become namespaces, words features; : and | are replaced, blanks in tags too."""
    for chunk in chunks:
        _refuse_mixed(chunk, "vw")
        weights = ["1"] * len(chunk) if chunk.weights is None else _numbers_as_text(chunk.weights)
        rows = _words(chunk) if chunk.texts else map(_spaces, features_of(chunk))
        for answer, line, weight, tag, row in zip(chunk.answers, chunk.lines, weights, _tags(chunk), rows, strict=True):
            label = _label_as_text(answer, line, "vw")
            weight = weight if label and weight != "1" else ""
            words = filter(None, [label, weight, tag and "'" + _without_marks(tag, "_"), row])
            file.write((" ".join(words) + "\n").encode("utf-8", "replace"))


def _without_marks(text: str, blank: str) -> str:
    """Return a text without the bytes that mean something in VW; `blank` replaces blanks."""
    return blank.join(text.translate(MARKS).split())


def _words(chunk: Chunk) -> Iterator[str]:
    columns = [[_without_marks(text, " ") for text in strings.decoded()] for strings in chunk.texts.values()]
    spaces = [_without_marks(name, "_") for name in chunk.texts]
    for pieces in zip(*columns, strict=True):
        yield " ".join(f"|{space} {piece}".rstrip() for space, piece in zip(spaces, pieces, strict=True))


def _spaces(features: list[Feature]) -> str:
    """Return the features with a bar and a name before each run of one namespace."""
    parts: list[str] = []
    last = None
    for space, name, value in features:
        if not name or re.search(r"[\s:|]", name + space):
            raise ValueError(
                f"the feature {name!r} (namespace {space!r}) cannot be written as vw, where blanks, : and | mean "
                "something; rename it, or write jsonl."
            )
        if space != last:
            parts.append(f"|{space}")
            last = space
        parts.append(name if value == "1" else f"{name}:{value}")
    return " ".join(parts) or "|"


# ------------------------------------------------------------------ svmlight
def svmlight(chunks: Iterable[Chunk], file: BinaryIO) -> None:
    """Write svmlight's text: features must be numbered; an example's tag goes into the comment."""
    for chunk in chunks:
        if chunk.texts:
            raise ValueError(
                f"{chunk.source} holds text, and svmlight only numbered features; write jsonl or vw instead."
            )
        _refuse_weights(chunk, "svmlight")
        for answer, line, tag, row in zip(chunk.answers, chunk.lines, _tags(chunk), features_of(chunk), strict=True):
            words = [_label_as_text(answer, line, "svmlight"), *_numbered(row, line)]
            if tag:
                words.append("# " + " ".join(tag.split()))
            if not words[0] and not row:
                raise ValueError(f"example {line} has neither label nor features, and a blank line is none; write vw.")
            file.write((" ".join(words) + "\n").encode("utf-8", "replace"))


def _numbered(features: list[Feature], line: int) -> list[str]:
    if len({space for space, _, _ in features}) > 1 or not all(n.isascii() and n.isdigit() for _, n, _ in features):
        raise ValueError(
            f"example {line} has features with names, and svmlight wants numbers in one namespace; write vw or jsonl."
        )
    values = {int(name): value for _, name, value in features}
    if len(values) < len(features):
        raise ValueError(f"example {line} has a feature twice, and svmlight takes each once; write vw instead.")
    return [f"{index}:{values[index]}" for index in sorted(values)]
