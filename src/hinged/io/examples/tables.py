"""Rows of a table as named features: numbers by the name of their column, words as name=word."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from hinged.io.examples.chunk import Named
from hinged.io.examples.marks import read_word

__all__ = ["features_of_cells", "trimmed_numbers"]

SPACE, TAB, EQUALS = 32, 9, 61
LARGEST = float(np.finfo(np.float32).max)


def features_of_cells(
    data: np.ndarray, cells: np.ndarray, names: list[str], numbers: list[int], words: list[int]
) -> tuple[Named, np.ndarray]:
    """Features of the columns `numbers` and `words` of each row, and which column is no number (-1: all are).

    Empty cells and zeros are absent.

    Examples
    --------
    >>> data, cells = np.array(list(b"1.5,red "), np.uint8), np.array([[[0, 3], [4, 7]]])
    >>> named, faults = features_of_cells(data, cells, ["size", "colour"], [0], [1])
    >>> [named.buffer[a:b].tobytes() for a, b in named.names.T], named.values, faults
    ([b'size', b'colour=red'], array([1.5, 1. ], dtype=float32), array([-1]))
    """
    encoded = [name.encode() for name in names]
    ends = np.cumsum([len(name) for name in encoded])
    header = np.frombuffer(bytearray(b"".join(encoded)), np.uint8)
    places = np.stack([ends - [len(name) for name in encoded], ends])
    indptr, spans, values, buffer, faults = _features(
        data, cells, header, places, np.array(numbers, np.int64), np.array(words, np.int64)
    )
    return Named(indptr, buffer, np.zeros_like(spans), spans, values), faults


@njit(cache=True, nogil=True)
def _features(b: Any, cells: Any, header: Any, places: Any, numbers: Any, words: Any) -> Any:
    rows, columns = len(cells), len(numbers) + len(words)
    size = len(header)
    for r in range(rows):
        for c in words:
            size += places[1, c] - places[0, c] + 1 + cells[r, c, 1] - cells[r, c, 0]
    buffer = np.empty(size, np.uint8)
    buffer[: len(header)] = header
    free = len(header)
    indptr = np.zeros(rows + 1, np.int64)
    spans = np.empty((2, rows * columns), np.int64)
    values = np.empty(rows * columns, np.float32)
    faults = np.full(rows, -1, np.int64)
    k = 0
    for r in range(rows):
        for c in numbers:
            value, sound = _trimmed_number(b, cells[r, c, 0], cells[r, c, 1], 0.0)
            if not sound or not abs(value) <= LARGEST:
                faults[r] = c
            elif value != 0.0:
                spans[0, k], spans[1, k], values[k] = places[0, c], places[1, c], value
                k += 1
        for c in words:
            if cells[r, c, 0] < cells[r, c, 1]:
                spans[0, k] = free
                for i in range(places[0, c], places[1, c]):
                    buffer[free] = header[i]
                    free += 1
                buffer[free] = EQUALS
                free += 1
                for i in range(cells[r, c, 0], cells[r, c, 1]):
                    buffer[free] = b[i]
                    free += 1
                spans[1, k], values[k] = free, 1.0
                k += 1
        indptr[r + 1] = k
    return indptr, spans[:, :k].copy(), values[:k].copy(), buffer, faults


@njit(cache=True, nogil=True)
def trimmed_numbers(b: Any, cells: Any, c: int, empty: float) -> tuple[Any, Any]:
    """Column `c` as numbers, `empty` where a cell is, and whether each is one."""
    values = np.empty(len(cells), np.float64)
    sound = np.empty(len(cells), np.bool_)
    for r in range(len(cells)):
        values[r], sound[r] = _trimmed_number(b, cells[r, c, 0], cells[r, c, 1], empty)
    return values, sound


@njit(cache=True)
def _trimmed_number(b: Any, start: int, end: int, empty: float) -> tuple[float, bool]:
    while start < end and (b[start] == SPACE or b[start] == TAB):
        start += 1
    while start < end and (b[end - 1] == SPACE or b[end - 1] == TAB):
        end -= 1
    if start == end:
        return empty, True
    return read_word(b, start, end)
