"""Writers for examples of features: VW's text and svmlight's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import BinaryIO

from hinged.io.examples.chunk import Chunk
from hinged.io.examples.writers.pieces import Feature, features_of, labels_as_text, numbers_as_text, texts_of

__all__ = ["svmlight", "vw"]

MARKS = str.maketrans({":": "_", "|": "_"})


def vw(chunks: Iterable[Chunk], file: BinaryIO) -> None:
    """VW's text. Of texts, each field is a namespace and each word a feature, : and | replaced; a tag's blanks too."""
    for chunk in chunks:
        weights = [""] * len(chunk) if chunk.weights is None else numbers_as_text(chunk.weights)
        tags = chunk.tags or [""] * len(chunk)
        rows = _words(chunk) if chunk.texts else map(_spaces, features_of(chunk))
        for answer, line, weight, tag, row in zip(chunk.answers, chunk.lines, weights, tags, rows, strict=True):
            label = labels_as_text(answer, line, "|:", "vw")
            before = [label, weight] if label and weight not in ("", "1") else [label] if label else []
            if tag:
                before.append("'" + "_".join(tag.translate(MARKS).split()))
            file.write((" ".join([*before, row]) + "\n").encode("utf-8", "replace"))


def _words(chunk: Chunk) -> Iterable[str]:
    columns = [[" ".join(text.translate(MARKS).split()) for text in texts_of(s)] for s in chunk.texts.values()]
    spaces = ["_".join(name.translate(MARKS).split()) for name in chunk.texts]
    for pieces in zip(*columns, strict=True):
        yield " ".join(f"|{space} {piece}".rstrip() for space, piece in zip(spaces, pieces, strict=True))


def _spaces(features: list[Feature]) -> str:
    """The features after a bar for each run of one namespace."""
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


def svmlight(chunks: Iterable[Chunk], file: BinaryIO) -> None:
    """svmlight's text: features must be numbered; an example's tag goes into the comment."""
    for chunk in chunks:
        if chunk.texts:
            raise ValueError(
                f"{chunk.source} holds text, and svmlight only numbered features; write jsonl or vw instead."
            )
        if chunk.weights is not None and (chunk.weights != 1.0).any():
            raise ValueError(
                f"{chunk.source} has importance weights, and svmlight no place for them; write vw or jsonl."
            )
        tags = chunk.tags or [""] * len(chunk)
        for answer, line, tag, row in zip(chunk.answers, chunk.lines, tags, features_of(chunk), strict=True):
            words = [labels_as_text(answer, line, ":#", "svmlight"), *_numbered(row, line)]
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
