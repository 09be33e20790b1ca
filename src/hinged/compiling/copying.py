"""Copying arrays in compiled code."""

from __future__ import annotations

from hinged.compiling.arrays import Floats, Ints
from hinged.compiling.decorator import compiled

__all__ = ["copy_to"]


@compiled(helper=True)
def copy_to(out: Floats | Ints, values: Floats | Ints) -> None:
    """Copy as many values as `out` holds. `out[:] = values` would compile the text of an error message for a second.

    Examples
    --------
    >>> import numpy as np
    >>> out = np.zeros(2)
    >>> copy_to(out, np.array([1.0, 2.0, 3.0]))
    >>> out.tolist()
    [1.0, 2.0]
    """
    for i in range(out.shape[0]):
        out[i] = values[i]
