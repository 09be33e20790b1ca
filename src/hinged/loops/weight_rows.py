"""Moves of rows of weights at their addresses.

A move asks for the rows that the next sum will read, because a sum waits for memory and a move does not.
"""

from __future__ import annotations

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats, Ints
from hinged.native import fetch, segment

__all__ = ["move_pair", "move_rows"]


@compiled(inline=True)
def move_rows(at: Ints, v: Floats, n: int, columns: int, g: Floats, ahead: Ints) -> None:
    """Add v_j g to each row; `at` holds their addresses, all different, and `ahead` as many that will be read next."""
    for j in range(n):
        row, value = segment(at[j], columns, g), v[j]
        for c in range(columns):
            row[c] += value * g[c]
        fetch(ahead[j], columns * g.itemsize)


@compiled(inline=True)
def move_pair(
    at: Ints, v: Floats, n: int, columns: int, up: int, down: int, by: float, ahead: Ints, like: Floats
) -> None:
    """Do the same where g is `by` in column `up`, -by in column `down`, and 0 elsewhere."""
    for j in range(n):
        row, move = segment(at[j], columns, like), v[j] * by
        row[np.uint64(up)] += move
        row[np.uint64(down)] -= move
        fetch(ahead[j], columns * like.itemsize)
