"""Types of arrays, for annotations: compiled code reads none of them, mypy and readers do."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bools", "Bytes", "Floats", "Int32s", "Ints"]

Floats: TypeAlias = NDArray[np.floating]  # float64, or float32 where weights are
Ints: TypeAlias = NDArray[np.int64]
Int32s: TypeAlias = NDArray[np.int32]
Bools: TypeAlias = NDArray[np.bool_]
Bytes: TypeAlias = NDArray[np.uint8]
