"""What is counted while learning: rounds and mistakes, the certificate's terms, hits by lead over the runner-up."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Bools, Floats, Ints
from hinged.geometry.euclidean import moved_sq_norm

__all__ = [
    "BINS",
    "Book",
    "Ledger",
    "Told",
    "lead_bins",
    "new_ledger",
    "new_notes",
    "new_told",
    "note_lead",
    "note_middle",
    "note_move",
    "note_round",
    "note_rounds",
]

ROUNDS, LEARNT, MISTAKES, UPDATES, NOVEL, LABELS = range(6)
GAIN, SQ_NORM, PENALTY, THRESHOLD, RANKED = range(5)
UNREACHED, ITERATIONS, GAP, COST = range(4)
BINS = 96
FRACTION = (1 << 52) - 1
QUARTER_1, QUARTER_2, QUARTER_3 = (int(np.float64(2.0 ** (q / 4)).view(np.int64)) & FRACTION for q in (1, 2, 3))
FULL_BIN = 1000.0  # counts of a bin are halved here, so that it follows a drifting stream


class Ledger(NamedTuple):
    """Counts and sums, changed in place by the loops."""

    counts: np.ndarray  # int64 (6,): ROUNDS ... LABELS
    sums: np.ndarray  # float64 (5,): GAIN Σλm, SQ_NORM ‖ω‖², PENALTY Σλ²/4C, THRESHOLD between right and wrong, RANKED
    leads: np.ndarray  # float64 (2, BINS): rounds and hits by the winner's lead


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
    return Ledger(np.zeros(6, np.int64), np.zeros(5), np.zeros((2, BINS)))


def new_notes() -> np.ndarray:
    """What a learner may have to report to its user, float64 (4,).

    Rows on which the margin is UNREACHED whatever the weights (simplices only), most ITERATIONS and largest relative
    GAP of a joint step by interior points, COST of all predictions where mistakes have costs.
    """
    return np.zeros(4)


@compiled(helper=True)
def lead_bin(lead: float) -> int:
    """Bin of a lead: 0 for a tie, then four to each doubling from 2⁻¹⁰ on."""
    if not lead > 0.0:
        return 0
    bits = int(np.float64(lead).view(np.int64))  # exponent and fraction: quicker than a logarithm
    fraction = bits & FRACTION
    quarter = int(fraction >= QUARTER_1) + int(fraction >= QUARTER_2) + int(fraction >= QUARTER_3)
    return min(BINS - 1, max(1, 4 * ((bits >> 52) - 1013) + quarter))


@compiled
def lead_bins(leads: Floats) -> Ints:
    """Bins of several leads."""
    bins = np.empty(leads.shape[0], np.int64)
    for i in range(leads.shape[0]):
        bins[i] = lead_bin(leads[i])
    return bins


@compiled(inline=True)
def note_lead(leads: Floats, lead: float, hit: bool) -> None:
    """Count one prediction in its bin."""
    b = lead_bin(lead)
    leads[0, b] += 1.0
    leads[1, b] += 1.0 if hit else 0.0
    if leads[0, b] >= FULL_BIN:
        leads[0, b] *= 0.5
        leads[1, b] *= 0.5


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
def note_rounds(ledger: Ledger, middles: Floats, leads: Floats, hits: Bools) -> None:
    """Count predictions in their bins, and follow the middle between right and wrong."""
    for i in range(middles.shape[0]):
        note_middle(ledger.sums, middles[i])
        note_lead(ledger.leads, leads[i], hits[i])
