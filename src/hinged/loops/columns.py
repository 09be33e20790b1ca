"""Which columns of the weights make up a label's score: its own one, or those of the sets it belongs to."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats, Ints

__all__ = [
    "NO_ROW_VECTORS",
    "PER_LABEL",
    "PER_SET",
    "Columns",
    "column_coefficients",
    "common_columns",
    "label_scores",
    "n_columns",
    "sq_distance",
]

NO_ROW_VECTORS, PER_LABEL, PER_SET = 0, 1, 2
ROUNDING = 2.0**-48  # sums of net coefficients below this share of their terms are rounding


class Columns(NamedTuple):
    """Which columns of the weights make up a label's score."""

    kind: int  # NO_ROW_VECTORS, PER_LABEL, PER_SET
    indptr: np.ndarray  # int64 (labels + 1,) for PER_SET
    indices: np.ndarray  # int64
    n: int  # columns in all, for PER_SET
    separate: bool  # whether each label has exactly one column, and no two the same
    each: int = 1  # columns of each label, for PER_LABEL: one for each expert


@compiled(helper=True)
def n_columns(columns: Columns, n_labels: int) -> int:
    """Columns of the weights, of one expert."""
    if columns.kind == PER_LABEL:
        return n_labels
    return columns.n


@compiled(helper=True)
def label_scores(columns: Columns, wide: Floats, s: Floats) -> None:
    """Scores of the labels from those of the columns."""
    if columns.kind == PER_LABEL:
        for r in range(s.shape[0]):
            s[r] = wide[r]
    else:
        for r in range(s.shape[0]):
            s[r] = 0.0
            if columns.kind == PER_SET:
                for c in range(columns.indptr[r], columns.indptr[r + 1]):
                    s[r] += wide[columns.indices[c]]


@compiled(helper=True)
def common_columns(columns: Columns, r: int, s: int) -> int:
    """How many columns two labels have in common."""
    if columns.kind == PER_LABEL:
        return 1 if r == s else 0
    common = 0
    if columns.kind == PER_SET:
        for a in range(columns.indptr[r], columns.indptr[r + 1]):
            for b in range(columns.indptr[s], columns.indptr[s + 1]):
                common += columns.indices[a] == columns.indices[b]
    return common


@compiled(helper=True)
def _holds(columns: Ints, c: int) -> bool:
    """Return True if column `c` is one of these few."""
    found = False
    for other in columns:
        found = found or other == c
    return found


@compiled(helper=True)
def column_coefficients(columns: Columns, g: Floats, pivot: int, several: bool, out: Floats, sizes: Floats) -> None:
    """Fill `out` with each set's coefficient, Σ g_r over its labels; a pair within a set leaves it exactly 0.

    Net coefficients sum to 0, so labels may be measured from a pivot, the right one: what both are in cancels before
    anything is rounded. All other coefficients then have one sign. Where `several` labels are right they have both,
    and what is left of a sum after it has cancelled is rounding.
    """
    out[:] = 0.0
    sizes[:] = 0.0
    own = columns.indices[columns.indptr[pivot] : columns.indptr[pivot + 1]]
    for r in range(g.shape[0]):
        if g[r] == 0.0 or r == pivot:
            continue
        sets = columns.indices[columns.indptr[r] : columns.indptr[r + 1]]
        for c in sets:
            if not _holds(own, c):
                out[c] += g[r]
                sizes[c] += abs(g[r])
        for c in own:
            if not _holds(sets, c):
                out[c] -= g[r]
                sizes[c] += abs(g[r])
    if several:
        for c in range(columns.n):
            if abs(out[c]) <= ROUNDING * sizes[c]:
                out[c] = 0.0


@compiled(helper=True)
def sq_distance(columns: Columns, q: float, r: int, s: int) -> float:
    """‖V_r - V_s‖² of the part that multiplies the row itself."""
    if columns.kind == PER_LABEL:
        return 2.0 * q
    alone = common_columns(columns, r, r) + common_columns(columns, s, s) - 2 * common_columns(columns, r, s)
    return q * alone
