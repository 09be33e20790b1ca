"""What is counted while learning: rounds and mistakes, the certificate's terms, how likely a prediction is right."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Bools, Floats, Ints
from hinged.geometry.euclidean import moved_sq_norm
from hinged.loops.confidence import learn_lead, new_odds

__all__ = [
    "Book",
    "Ledger",
    "Told",
    "kept_ledger",
    "moved_ledger",
    "new_ledger",
    "new_notes",
    "new_told",
    "note_middle",
    "note_move",
    "note_round",
    "note_rounds",
]

ROUNDS, LEARNT, MISTAKES, UPDATES, NOVEL, LABELS = range(6)
GAIN, SQ_NORM, PENALTY, THRESHOLD, RANKED = range(5)
UNREACHED, ITERATIONS, GAP, COST = range(4)


class Ledger(NamedTuple):
    """Counts and sums, changed in place by the loops."""

    counts: np.ndarray  # int64 (6,): ROUNDS ... LABELS
    sums: np.ndarray  # float64 (5,): GAIN Σλm, SQ_NORM ‖ω‖², PENALTY Σλ²/4C, THRESHOLD between right and wrong, RANKED
    odds: np.ndarray  # float64 (8,): of a prediction to be right, by its lead (`hinged.loops.confidence`) ...
    records: np.ndarray  # ... and float64 (labels,): by its label, relative to those


class Told(NamedTuple):
    """The outcome of each round, written by the loops before the round's update."""

    flags: np.ndarray  # int8 (rounds,): 1 a mistake, 0 right, -1 a new label
    ranks: np.ndarray  # int32 (rounds,): rank, from 1, of the best right label
    losses: np.ndarray  # float64 (rounds,): hinge loss; 0 where a label is new or there is no rival

    def part(self, some: slice) -> Told:
        """Views of some of the rounds."""
        return Told(self.flags[some], self.ranks[some], self.losses[some])


class Book(NamedTuple):
    """Everything a call writes besides the weights."""

    ledger: Ledger
    notes: np.ndarray  # as `new_notes` has them
    told: Told


def new_told(n: int) -> Told:
    """Room for the outcomes of `n` rounds."""
    return Told(np.zeros(n, np.int8), np.zeros(n, np.int32), np.zeros(n))


def new_ledger() -> Ledger:
    """An empty ledger."""
    return Ledger(np.zeros(6, np.int64), np.zeros(5), new_odds(), np.zeros(1))


def kept_ledger(ledger: Ledger) -> dict[str, np.ndarray]:
    """What a file keeps of a label learner's ledger."""
    kept = ledger._replace(records=ledger.records[: ledger.counts[LABELS]])
    return {f"ledger.{name}": array for name, array in kept._asdict().items()}


def moved_ledger(ledger: Ledger, onto: Ints, n_labels: int) -> Ledger:
    """A copy in which label r has become label onto[r], -1 for none; labels that join have the mean of their records.

    Examples
    --------
    >>> ledger = new_ledger()._replace(records=np.array([1.0, 2.0, 3.0]))
    >>> moved_ledger(ledger, np.array([-1, 0, 0]), 1).records.tolist()
    [2.5]
    """
    counts, kept = ledger.counts.copy(), onto >= 0
    counts[LABELS] = n_labels
    sums, joined = np.zeros((2, max(n_labels, 1)))
    np.add.at(sums, onto[kept], ledger.records[: len(onto)][kept])
    np.add.at(joined, onto[kept], 1.0)
    return Ledger(counts, ledger.sums.copy(), ledger.odds.copy(), sums / np.maximum(joined, 1.0))


def new_notes() -> np.ndarray:
    """What a learner may have to report to its user, float64 (4,).

    Rows on which the margin is UNREACHED whatever the weights (simplices only), most ITERATIONS and largest relative
    GAP of a joint step by interior points, COST of all predictions where mistakes have costs.
    """
    return np.zeros(4)


@compiled(helper=True)
def note_middle(sums: Floats, middle: float) -> None:
    """Follow the middle between the lowest right label and the highest wrong one, over the last 200 rounds or so."""
    sums[RANKED] += 1.0
    sums[THRESHOLD] += (middle - sums[THRESHOLD]) / min(sums[RANKED], 200.0)


@compiled(helper=True)
def note_move(ledger: Ledger, gain: float, penalty: float, inner: float, sq_move: float) -> None:
    """Count a move in the certificate: Σλm, what the dual subtracts, ⟨ω, move⟩ and the move's squared length."""
    ledger.counts[UPDATES] += 1
    ledger.sums[GAIN] += gain
    ledger.sums[PENALTY] += penalty
    ledger.sums[SQ_NORM] = moved_sq_norm(ledger.sums[SQ_NORM], inner, sq_move)


@compiled(helper=True)
def note_round(counts: Ints, flag: int, learnt: bool) -> None:
    """Count a round and its outcome; `learnt` unless its weight is 0."""
    counts[MISTAKES] += flag == 1
    counts[NOVEL] += flag == -1
    counts[ROUNDS] += 1
    counts[LEARNT] += learnt


@compiled
def note_rounds(ledger: Ledger, middles: Floats, leads: Floats, firsts: Ints, hits: Bools) -> None:
    """Learn from predictions how likely others are right, and follow the middle between right and wrong."""
    for i in range(middles.shape[0]):
        note_middle(ledger.sums, middles[i])
        learn_lead(ledger.odds, ledger.records, leads[i], firsts[i], hits[i])
