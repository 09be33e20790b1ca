"""Writers of the text formats: JSON lines, CSV, TSV, plain lines, VW's text and svmlight's.

What a format cannot hold is refused with a sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import orjson

from hinged.io.examples.chunk import Answer, Chunk, Strings

__all__ = ["csv", "features_of", "jsonl", "lines", "svmlight", "tsv", "vw"]

OWN = ("label", "labels", "importance", "id")
MARKS = str.maketrans({":": "_", "|": "_"})

Feature = tuple[str, str, str]  # namespace, name, value as it is written


# ------------------------------------------------------------------ shared
def features_of(chunk: Chunk) -> Iterator[list[Feature]]:
    """Yield the features of each row; columns are named by their number."""
    if chunk.columns is not None:
        indptr, indices, values = chunk.columns
        names = list(map(str, indices.tolist()))
        spaces = [""] * len(names)
    else:
        named: Any = chunk.named
        indptr, values = named.indptr, named.values
        names = Strings(named.buffer, *named.names).decoded()
        spaces = Strings(named.buffer, *named.spaces).decoded()
    features = list(zip(spaces, names, _numbers_as_text(values), strict=True))
    for start, end in pairwise(indptr.tolist()):
        yield features[start:end]


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


def _label_as_text(answer: Any, line: int, forbidden: str, format: str) -> str:
    """Return one label, several with commas, or nothing; a label that the format could not give back is refused."""
    labels = [] if answer is None else answer if isinstance(answer, list) else [answer]
    for label in labels:
        if not label or any(c in forbidden or c.isspace() for c in label) or "," in label or label[0] == "'":
            raise ValueError(
                f"the label {label!r} of example {line} cannot be written as {format}, where blanks, commas and "
                f"{' '.join(forbidden)} mean something; rename it, or write jsonl."
            )
    return ",".join(labels)


def _tags(chunk: Chunk) -> list[str]:
    return chunk.tags or [""] * len(chunk)


def _refuse_features(chunk: Chunk, format: str, why: str) -> None:
    if not chunk.texts and len(chunk):
        raise ValueError(f"{chunk.source} holds features, not text. {why}: write jsonl, vw or parquet, not {format}.")


def _refuse_weights(chunk: Chunk, format: str) -> None:
    if chunk.weights is not None and (chunk.weights != 1.0).any():
        raise ValueError(f"{chunk.source} has importance weights, which {format} cannot hold; write vw or jsonl.")


def _refuse_own_names(chunk: Chunk, format: str) -> None:
    for name in chunk.texts:
        if name in OWN:
            raise ValueError(f"a field of text is called {name!r}, which means something else in {format}; rename it.")


# ------------------------------------------------------------------ JSON lines
def jsonl(chunks: Iterable[Chunk], file: BinaryIO) -> None:
    """Write an object a line: label, importance, id, then a key per field, or features by namespace."""
    for chunk in chunks:
        _refuse_own_names(chunk, "jsonl")
        columns: dict[str, Iterable[Any]] = {"label": chunk.answers}
        if chunk.weights is not None:
            columns["importance"] = chunk.weights.tolist()
        if chunk.tags is not None:
            columns["id"] = chunk.tags
        columns |= {name: strings.decoded() for name, strings in chunk.texts.items()}
        if not chunk.texts:
            columns["features"] = map(_nested, features_of(chunk))
        for row in zip(*columns.values(), strict=True):
            file.write(orjson.dumps(dict(zip(columns, row, strict=True)), option=orjson.OPT_APPEND_NEWLINE))


def _nested(features: list[Feature]) -> dict[str, Any]:
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
        _refuse_own_names(chunk, format)
        several = any(isinstance(answer, list) for answer in chunk.answers)
        label = header[0] if header else "labels" if several else "label"
        columns = {label: [_cell_of(answer, label) for answer in chunk.answers]}
        if chunk.weights is not None:
            columns["importance"] = list(map(str, chunk.weights.tolist()))
        if chunk.tags is not None:
            columns["id"] = chunk.tags
        columns |= {name: strings.decoded() for name, strings in chunk.texts.items()}
        if not header:
            header = list(columns)
            file.write(_row(header, delimiter))
        if late := [name for name in columns if name not in header]:
            raise ValueError(
                f"{late[0]!r} comes first in {chunk.source}:{chunk.lines[0]} or after, when the header of the {format} "
                "file is already written; name all fields with text=, or write jsonl."
            )
        for cells in zip(*(columns.get(name, [""] * len(chunk)) for name in header), strict=True):
            file.write(_row(list(cells), delimiter))


def _cell_of(answer: Any, column: str) -> str:
    if answer is None:
        return ""
    if isinstance(answer, str):
        if column == "labels" and "|" in answer:
            raise ValueError(f"the label {answer!r} holds a |, which separates labels in a table; write jsonl instead.")
        return answer
    if column == "label":
        raise ValueError(f"{answer!r} is a set of labels, after examples with one each; write jsonl instead.")
    return "|".join(_cell_of(label, column) for label in answer)


def _row(cells: list[str], delimiter: str) -> bytes:
    """Return a record; its first cell is never empty bytes, so that no record looks like a blank line."""
    quoted = [
        '"' + cell.replace('"', '""') + '"' if any(c in cell for c in (delimiter, '"', "\n", "\r")) else cell
        for cell in cells
    ]
    if not quoted[0].strip():
        quoted[0] = f'"{cells[0]}"'
    return (delimiter.join(quoted) + "\n").encode("utf-8", "replace")


# ------------------------------------------------------------------ plain lines
def lines(chunks: Iterable[Chunk], file: BinaryIO) -> None:
    """Write label, tab, text: fields are joined by blanks, newlines become blanks; tags are left out."""
    for chunk in chunks:
        _refuse_features(chunk, "lines", "Such a file holds text")
        _refuse_weights(chunk, "lines")
        fields = zip(*(strings.decoded() for strings in chunk.texts.values()), strict=True)
        for answer, line, pieces in zip(chunk.answers, chunk.lines, fields, strict=True):
            text = " ".join(" ".join(piece for piece in pieces if piece).splitlines())
            file.write(f"{_before_tab(answer, line, text)}\t{text}\n".encode("utf-8", "replace"))


def _before_tab(answer: Answer, line: int, text: str) -> str:
    label: Any = answer or ""
    if isinstance(label, list) or label != label.strip() or any(c in label for c in "\t\n\r"):
        raise ValueError(f"the label {answer!r} of example {line} does not fit before a tab; write jsonl instead.")
    if not label and not text.strip():
        raise ValueError(f"example {line} has neither label nor text, and a blank line is none; write jsonl.")
    return label


# ------------------------------------------------------------------ Vowpal Wabbit
def vw(chunks: Iterable[Chunk], file: BinaryIO) -> None:
    """Write VW's text. Fields of text become namespaces, words features; : and | are replaced, blanks in tags too."""
    for chunk in chunks:
        weights = [""] * len(chunk) if chunk.weights is None else _numbers_as_text(chunk.weights)
        rows = _words(chunk) if chunk.texts else map(_spaces, features_of(chunk))
        for answer, line, weight, tag, row in zip(chunk.answers, chunk.lines, weights, _tags(chunk), rows, strict=True):
            label = _label_as_text(answer, line, "|:", "vw")
            before = [label, weight] if label and weight not in ("", "1") else [label] if label else []
            if tag:
                before.append("'" + "_".join(tag.translate(MARKS).split()))
            file.write((" ".join([*before, row]) + "\n").encode("utf-8", "replace"))


def _words(chunk: Chunk) -> Iterator[str]:
    columns = [[" ".join(text.translate(MARKS).split()) for text in s.decoded()] for s in chunk.texts.values()]
    spaces = ["_".join(name.translate(MARKS).split()) for name in chunk.texts]
    for pieces in zip(*columns, strict=True):
        yield " ".join(f"|{space} {piece}".rstrip() for space, piece in zip(spaces, pieces, strict=True))


def _spaces(features: list[Feature]) -> str:
    """Return the features with a bar and a name before each run of one namespace."""
    parts: list[str] = []
    last = None
    for space, name, value in features:
        if not name or any(c in ":|" or c.isspace() for c in name + space):
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
            words = [_label_as_text(answer, line, ":#", "svmlight"), *_numbered(row, line)]
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
