"""Scores without learning."""

from __future__ import annotations

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats, Ints
from hinged.loops.ledger import LEARNT
from hinged.loops.round import FROM_ZERO, NO_MORE, Example, Memory, describe, new_example, only_learnt, read
from hinged.loops.round import score as score_row
from hinged.loops.rows import Rows
from hinged.native import borrowed

__all__ = ["score"]


@compiled
def score(rows: Rows, memory: Memory, counts: Ints, mean_over: int, longest: int, out: Floats, stop: Ints) -> None:
    """Scores of every known label for every row, into `out` (rows, labels); nothing is learnt or counted.

    By the mean weights of `mean_over` rounds; by the current weights where that is 0. Once `stop[0]` is set, `out` is
    of no use.
    """
    rows, memory, counts, out, stop = borrowed(rows), borrowed(memory), borrowed(counts), borrowed(out), borrowed(stop)
    x = new_example(rows, memory, longest, out.shape[1], NO_MORE)
    _score_rows(rows, memory, counts[LEARNT], mean_over, x, out, stop)


@compiled(helper=True)
def _score_rows(rows: Rows, memory: Memory, learnt: int, mean_over: int, x: Example, out: Floats, stop: Ints) -> None:
    for i in range(out.shape[0]):
        row = only_learnt(memory, read(rows, i, memory, learnt, x), x)
        describe(memory, row, learnt, FROM_ZERO, out.shape[1], x, stop)
        score_row(memory, row, mean_over, out[i], x)
        if stop[0] != 0:
            return
