"""Moves of a pair of labels in rows of weights at their addresses; `native.add_rows` moves all labels.

A move asks for the rows that the next sum will read, because a sum waits for memory and a move does not.
"""

from __future__ import annotations

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats, Ints
from hinged.native import fetch, segment

__all__ = ["move_pair"]


@compiled(inline=True)
def move_pair(
    at: Ints, v: Floats, n: int, columns: int, up: int, down: int, by: float, ahead: Ints, like: Floats
) -> None:
    """Do what `add_rows` does where g is `by` in column `up`, -by in column `down`, and 0 elsewhere."""
    for j in range(n):
        row, move = segment(at[j], columns, like), v[j] * by
        row[np.uint64(up)] += move
        row[np.uint64(down)] -= move
        fetch(ahead[j], columns * like.itemsize)
