"""What rows are labelled with: the right labels of each, and how much it counts for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Ints

__all__ = ["Lesson", "Targets", "right_labels", "weight_of"]


class Targets(NamedTuple):
    """The right labels of each row (-1: a label not met before), and the rows' weights (none: all 1)."""

    indptr: np.ndarray  # int64 (rows + 1,)
    labels: np.ndarray  # int64
    weights: np.ndarray  # float64 (rows,) or (0,)

    def part(self, some: slice) -> Targets:
        """Views of some of the rows."""
        return Targets(self.indptr[some.start : some.stop + 1], self.labels, self.weights[some])


class Lesson(NamedTuple):
    """The answer to a row."""

    relevant: Ints  # the right labels
    weight: float
    is_new: bool  # one of them was not known: there was no prediction to note


@compiled(helper=True)
def right_labels(targets: Targets, i: int) -> Ints:
    """The right labels of row `i`."""
    return targets.labels[targets.indptr[i] : targets.indptr[i + 1]]


@compiled(helper=True)
def weight_of(targets: Targets, i: int) -> float:
    """The weight of row `i`."""
    return targets.weights[i] if targets.weights.shape[0] > 0 else 1.0
