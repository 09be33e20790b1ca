"""Columns of Arrow as texts, numbers, labels and features, without a Python object per value where there is a way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from hinged.io.examples.chunk import Named, Strings

__all__ = ["features_column", "is_features", "is_number", "is_string", "named_columns", "numbers_of", "strings_column"]


def is_string(kind: Any) -> bool:
    """Whether a type holds strings, also behind a dictionary."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def is_number(kind: Any) -> bool:
    """Whether a type holds numbers, or true and false."""
    return (
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_decimal(kind)
    )


def is_features(kind: Any) -> bool:
    """Whether a type holds named features: a map name → number, or a list of (space, name, value)."""
    if pa.types.is_map(kind):
        return is_string(kind.key_type) and is_number(kind.item_type)
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind)) or not pa.types.is_struct(kind.value_type):
        return False
    return [field.name for field in kind.value_type] == ["space", "name", "value"]


def strings_column(column: Any) -> Strings:
    """Texts where they lie; a missing one is empty."""
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        column = column.cast(pa.large_string())
    if column.null_count:
        column = column.fill_null("")
    wide = np.int32 if pa.types.is_string(column.type) else np.int64
    _, offsets, data = column.buffers()
    if len(column) == 0 or offsets is None:
        none = np.zeros(len(column), np.int64)
        return Strings(np.zeros(0, np.uint8), none, none)
    places = np.frombuffer(offsets, wide)[column.offset : column.offset + len(column) + 1].astype(np.int64)
    buffer = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    return Strings(buffer, places[:-1], places[1:])


def numbers_of(column: Any, missing: float) -> np.ndarray:
    """Numbers as doubles."""
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    return column.cast(pa.float64(), safe=False).fill_null(missing).to_numpy(zero_copy_only=False)


def named_columns(batch: Any, numbers: list[str], words: list[str]) -> Named:
    """A feature per column: its number under its name, its word under name=word; nulls, zeros and "" are absent."""
    pieces: list[bytes] = [name.encode() for name in numbers]
    which, values = [], []
    for c, name in enumerate(numbers):
        which.append(np.full(len(batch), c))
        values.append(numbers_of(batch.column(name), 0.0))
    for name in words:
        coded = batch.column(name)
        coded = coded if pa.types.is_dictionary(coded.type) else coded.dictionary_encode()
        codes = coded.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
        spelt = coded.dictionary.cast(pa.large_string()).to_pylist()
        blank = np.array([not word for word in spelt] + [True])
        which.append(np.maximum(codes, 0) + len(pieces))
        values.append(np.where(blank[codes], 0.0, 1.0))
        pieces += [f"{name}={word}".encode() for word in spelt]
    ids = np.stack(which, axis=1) if which else np.zeros((len(batch), 0), np.int64)
    amounts = np.stack(values, axis=1) if values else np.zeros((len(batch), 0))
    there = amounts != 0.0
    ends = np.cumsum([0, *map(len, pieces)])
    names = np.stack([ends[ids[there]], ends[ids[there] + 1] if pieces else ends[ids[there]]])
    return Named(
        np.concatenate([[0], np.cumsum(there.sum(axis=1))]).astype(np.int64),
        np.frombuffer(bytearray(b"".join(pieces)), np.uint8),
        np.zeros_like(names),
        names,
        amounts[there].astype(np.float32),
    )


def features_column(column: Any) -> Named:
    """The rows of a column of features; names are copied once, so that all is one buffer."""
    there = column.is_valid().to_numpy(zero_copy_only=False)
    offsets = column.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
    lengths = np.diff(offsets) * there
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    chosen = pa.array(np.repeat(offsets[:-1] - indptr[:-1], lengths) + np.arange(indptr[-1]))
    inner = [column.keys, column.items] if pa.types.is_map(column.type) else column.values.flatten()
    inner = [child.take(chosen) for child in inner]
    names = strings_column(inner[-2])
    spaces = strings_column(inner[0]) if len(inner) == 3 else None
    buffer = np.concatenate([names.buffer, spaces.buffer]) if spaces else names.buffer.copy()
    placed = np.stack([names.starts, names.ends])
    with np.errstate(over="ignore"):  # inf is refused by who asks
        values = numbers_of(inner[-1], 0.0).astype(np.float32)
    return Named(
        indptr,
        buffer,
        np.stack([spaces.starts, spaces.ends]) + len(names.buffer) if spaces else np.zeros_like(placed),
        placed,
        values,
    )
