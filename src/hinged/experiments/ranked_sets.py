"""Real sets whose targets are ranks."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import numpy as np

from hinged.experiments.datasets import folder

__all__ = ["ordinal_sets"]

NOT_RANKS = {"boston"}  # its target is a real number; bostonhousing_ord has the same rows in five ranks


def ordinal_sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Name → (rows, ranks) of every set in the folder `ordinal` whose target is a rank; ranks count from 0.

    Columns of words become a column of zeros and ones for each word.
    """
    files = sorted(folder("ordinal").glob("*.csv.gz"))
    return {name: _read(path) for path in files if (name := path.name.removesuffix(".csv.gz")) not in NOT_RANKS}


def _read(path: Path) -> tuple[np.ndarray, np.ndarray]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        head, *lines = csv.reader(file)
    target = head.index("response") if "response" in head else len(head) - 1
    table = list(zip(*lines, strict=True))
    ranks = np.array(table.pop(target), float)
    columns: list[np.ndarray] = []
    for cells in table:
        try:
            columns.append(np.array(cells, float))
        except ValueError:
            columns += [np.array([cell == word for cell in cells], float) for word in sorted(set(cells))]
    return np.column_stack(columns), np.searchsorted(np.unique(ranks), ranks)
