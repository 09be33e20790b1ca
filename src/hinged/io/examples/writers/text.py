"""Writers for examples of text: JSON lines (which hold features too), CSV, TSV, plain lines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, BinaryIO

import orjson

from hinged.io.examples.chunk import Chunk
from hinged.io.examples.writers.pieces import features_of, texts_of

__all__ = ["csv", "jsonl", "lines", "tsv"]

OWN = ("label", "importance", "id")


def jsonl(chunks: Iterable[Chunk], file: BinaryIO) -> None:
    """An object a line: label, importance, id, then a key per field, or features by namespace."""
    for chunk in chunks:
        rows = _own_columns(chunk)
        if chunk.texts:
            _refuse_own_names(chunk.texts, "jsonl")
            for name, strings in chunk.texts.items():
                for row, text in zip(rows, texts_of(strings), strict=True):
                    row[name] = text
        else:
            for row, features in zip(rows, features_of(chunk), strict=True):
                row["features"] = _nested(features)
        file.write(b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows))


def _own_columns(chunk: Chunk) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [{"label": answer} for answer in chunk.answers]
    if chunk.weights is not None:
        for row, weight in zip(rows, chunk.weights.tolist(), strict=True):
            row["importance"] = weight
    if chunk.tags is not None:
        for row, tag in zip(rows, chunk.tags, strict=True):
            row["id"] = tag
    return rows


def _nested(features: list[tuple[str, str, str]]) -> dict[str, Any]:
    """Features by namespace; those without one at the top, unless a namespace has such a name."""
    spaces = {space for space, _, _ in features}
    plain = not any(space == "" and name in spaces for space, name, _ in features)
    found: dict[str, Any] = {}
    for space, name, value in features:
        place = found if space == "" and plain else found.setdefault(space, {})
        place[name] = place.get(name, 0.0) + float(value)  # a feature that comes twice counts twice
    return found


def csv(chunks: Iterable[Chunk], file: BinaryIO) -> None:
    """Columns label (or labels, with | between), importance and id where there are any, then one per field."""
    _table(chunks, file, ",", "csv")


def tsv(chunks: Iterable[Chunk], file: BinaryIO) -> None:
    """As csv, with tabs between."""
    _table(chunks, file, "\t", "tsv")


def _table(chunks: Iterable[Chunk], file: BinaryIO, delimiter: str, format: str) -> None:
    header: list[str] = []
    for chunk in chunks:
        _refuse_features(chunk, format, "Features are sparse, and a table needs all its columns first")
        _refuse_own_names(chunk.texts, format)
        if not header:
            several = any(isinstance(answer, list) for answer in chunk.answers)
            extra = [("importance", chunk.weights), ("id", chunk.tags)]
            header = ["labels" if several else "label", *(name for name, there in extra if there is not None)]
            header += chunk.texts
            file.write(_row(header, delimiter))
        columns: dict[str, list[str]] = {header[0]: [_cell_of(answer, header[0]) for answer in chunk.answers]}
        if chunk.weights is not None:
            columns["importance"] = list(map(str, chunk.weights.tolist()))
        if chunk.tags is not None:
            columns["id"] = chunk.tags
        columns |= {name: texts_of(strings) for name, strings in chunk.texts.items()}
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
    """A record; the first cell is never empty bytes, so that no record looks like a blank line."""
    quoted = [
        '"' + cell.replace('"', '""') + '"' if any(c in cell for c in (delimiter, '"', "\n", "\r")) else cell
        for cell in cells
    ]
    if not quoted[0].strip():
        quoted[0] = f'"{cells[0]}"'
    return (delimiter.join(quoted) + "\n").encode("utf-8", "replace")


def lines(chunks: Iterable[Chunk], file: BinaryIO) -> None:
    """Label, tab, text: fields are joined by blanks, newlines become blanks; tags are left out."""
    for chunk in chunks:
        _refuse_features(chunk, "lines", "Such a file holds text")
        if chunk.weights is not None and (chunk.weights != 1.0).any():
            raise ValueError(f"{chunk.source} has importance weights, and lines have no place for them; write jsonl.")
        columns = [texts_of(strings) for strings in chunk.texts.values()]
        for answer, line, pieces in zip(chunk.answers, chunk.lines, zip(*columns, strict=True), strict=True):
            text = " ".join(" ".join(piece for piece in pieces if piece).splitlines())
            label: Any = answer or ""
            if isinstance(label, list) or label != label.strip() or any(c in label for c in "\t\n\r"):
                raise ValueError(
                    f"the label {answer!r} of example {line} does not fit before a tab; write jsonl instead."
                )
            if not label and not text.strip():
                raise ValueError(f"example {line} has neither label nor text, and a blank line is none; write jsonl.")
            file.write(f"{label}\t{text}\n".encode("utf-8", "replace"))


def _refuse_features(chunk: Chunk, format: str, why: str) -> None:
    if not chunk.texts and len(chunk):
        raise ValueError(f"{chunk.source} holds features, not text. {why}: write jsonl, vw or parquet, not {format}.")


def _refuse_own_names(texts: dict[str, Any], format: str) -> None:
    for name in texts:
        if name in (*OWN, "labels"):
            raise ValueError(f"a field of text is called {name!r}, which means something else in {format}; rename it.")
