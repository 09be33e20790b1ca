"""Evidence in the loops: what is kept of each label as a whole, and the label features made of it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats, Int32s, Ints
from hinged.loops.memory import Paged, longer
from hinged.loops.pages import Store, add_scores, gather
from hinged.rules.gram import AT_ONCE
from hinged.sharing.evidence import BAYES_UNIT, in_direction, less_for_size, more_for_feature, recency

__all__ = [
    "Given",
    "Totals",
    "fill_directions",
    "fill_log_odds",
    "fill_recency",
    "moved_totals",
    "new_totals",
    "note_totals",
    "totals_for",
]


class Totals(NamedTuple):
    """Sums over the rows of each label, (labels,) each."""

    last: np.ndarray  # int64: how many rounds had been learnt after the label's last one; 0 before any
    occurrences: np.ndarray  # int64: features that its rows had, counted row by row
    squares: np.ndarray  # float64: ‖sum of its rows‖²


def new_totals(n_labels: int) -> Totals:
    """Totals of labels without rows."""
    return Totals(np.zeros(n_labels, np.int64), np.zeros(n_labels, np.int64), np.zeros(n_labels))


def totals_for(totals: Totals, n_labels: int) -> Totals:
    """The same totals where there is room for so many labels, else longer ones."""
    return totals if len(totals.last) >= n_labels else Totals(*(longer(array, n_labels) for array in totals))


def moved_totals(totals: Totals, onto: np.ndarray, n_labels: int, sums: Paged) -> Totals:
    """Totals when label r has become, or has joined, label onto[r] (-1: none), whose rows sum up to `sums` now."""
    new, kept = new_totals(max(n_labels, 1)), onto >= 0
    before = Totals(*(array[: len(onto)][kept] for array in totals_for(totals, len(onto))))
    np.maximum.at(new.last, onto[kept], before.last)
    np.add.at(new.occurrences, onto[kept], before.occurrences)
    np.add.at(new.squares, onto[kept], before.squares)
    joined = np.flatnonzero(np.bincount(onto[kept], minlength=n_labels) > 1)
    if len(joined):
        new.squares[joined] = (sums.rows(n_labels)[1][:, joined] ** 2).sum(axis=0)
    return new


@compiled(helper=True, forceinline=True)
def note_totals(totals: Totals, label: int, learnt: int, n: int) -> None:
    """Count a row of n features for a label, the last of `learnt` rounds; its share of ‖sum‖² is noted elsewhere."""
    totals.last[label] = learnt
    totals.occurrences[label] += n


class Given(NamedTuple):
    """A row, as evidence sees it."""

    f: np.ndarray  # int64: features
    v: np.ndarray
    n: int
    q: float  # ‖x‖²
    learnt: int  # rounds before it


@compiled(helper=True)
def fill_directions(given: Given, sums: Store, squares: Floats, wide: Floats, phi: Floats) -> None:
    """How far the row goes along the sum of each label's rows, into `phi`; `wide` is scratch, in whole segments."""
    wide[:] = 0.0
    add_scores(sums, given.f, given.v, given.n, phi.shape[0], wide)
    for r in range(phi.shape[0]):
        phi[r] = in_direction(wide[r], squares[r], given.q)


@compiled(helper=True)
def fill_log_odds(given: Given, counts: Store, occurrences: Ints, counted: Int32s, phi: Floats, stop: Ints) -> None:
    """Naive Bayes' log odds of each label into `phi`; a feature that no label has had says nothing.

    Once `stop[0]` is set, the answer is of no use.
    """
    k, all_occurrences, known = phi.shape[0], 0, 0.0
    for r in range(k):
        all_occurrences += occurrences[r]
        phi[r] = 0.0
    for j in range(given.n):
        if j % AT_ONCE == AT_ONCE - 1 and stop[0] != 0:
            return
        value = np.float64(given.v[j])
        if gather(counts, given.f[j], k, 0, counted):
            seen = 0
            for r in range(k):
                seen += counted[r]
            if seen > 0:
                known += value
                share = seen / max(1, all_occurrences)  # beside a writer, occurrences may be late
                for r in range(k):
                    if counted[r] > 0:
                        phi[r] += value * more_for_feature(counted[r], share)
    for r in range(k):
        phi[r] = BAYES_UNIT * (phi[r] - known * less_for_size(occurrences[r]))


@compiled(helper=True)
def fill_recency(given: Given, last: Ints, phi: Floats) -> None:
    """How lately each label came, into `phi`; a writer beside this reader may have seen it since."""
    length = math.sqrt(given.q)
    for r in range(phi.shape[0]):
        phi[r] = recency(length, max(1, given.learnt + 1 - last[r]))
