"""Types of arrays, for annotations: compiled code reads none of them, mypy and readers do."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

__all__ = ["Bools", "Bytes", "Floats", "Int8s", "Int16s", "Int32s", "Ints", "Uint32s", "Uint64s"]

Shape: TypeAlias = tuple[int, ...]  # numbers, so that mypy knows an element `x[x.shape[0] - 1]` from a part of `x`

Floats: TypeAlias = np.ndarray[Shape, np.dtype[np.floating]]  # float64, or float32 where weights are
Ints: TypeAlias = np.ndarray[Shape, np.dtype[np.int64]]
Int32s: TypeAlias = np.ndarray[Shape, np.dtype[np.int32]]
Int16s: TypeAlias = np.ndarray[Shape, np.dtype[np.int16]]
Int8s: TypeAlias = np.ndarray[Shape, np.dtype[np.int8]]
Uint32s: TypeAlias = np.ndarray[Shape, np.dtype[np.uint32]]
Uint64s: TypeAlias = np.ndarray[Shape, np.dtype[np.uint64]]
Bools: TypeAlias = np.ndarray[Shape, np.dtype[np.bool_]]
Bytes: TypeAlias = np.ndarray[Shape, np.dtype[np.uint8]]
