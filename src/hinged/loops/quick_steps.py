"""The step of a quick round, where one label of at most 64 is right: the bits of steps.py in less time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats
from hinged.loops.experts import Experts
from hinged.loops.metric import Metric, bends, new_direction
from hinged.loops.pages import SEGMENT, Store
from hinged.loops.rows import Rows, Scaling
from hinged.loops.steps import Setting, by_share, price_of_slack
from hinged.native import best_of
from hinged.rules.length import alone, softening
from hinged.rules.taking import OneRight, by_taking
from hinged.rules.words import is_joint, is_one

__all__ = ["COMMON", "Kept", "Lane", "Pair", "Work", "find_pair", "new_work", "take_step"]

STEPS, GAPS, MARGINS, NORMS, COMMON = range(5)
ONE, ALL = np.uint64(1), np.uint64(2**64 - 1)


class Kept(NamedTuple):
    """What of a memory the quick loops need; of one type for all sharing schemes, so that they are compiled once."""

    weights: Store
    scaling: Scaling
    metric: Metric
    experts: Experts


class Lane(NamedTuple):
    """How the weights of at most 64 labels lie in memory. With one segment, a slot is its block.

    Numbers alone: a tuple of arrays that is handed to a function in every round costs more than the function.
    """

    k: int  # labels
    padded: int  # columns that are read of each feature: 8, 16, 32 or 64
    uniform: bool  # all pages are equally wide, and wide enough
    shift: int  # then a feature's weights take 2^shift bytes, for each expert
    in_order: bool  # features have blocks 1, 2, 3 ..., one after the other in memory
    itemsize: int
    n_slots: int  # there is room for fewer than these
    n_blocks: int


class Work(NamedTuple):
    """Scratch arrays."""

    f: np.ndarray  # uint32: the row's features ...
    v: np.ndarray  # ... and values
    d: np.ndarray  # how far weights move for a step of 1: the values, or those in the metric
    places: np.ndarray  # int64 (2 for each expert, longest row): where weights of this row and of the next lie, in turn
    s: np.ndarray  # scores, of the weights' type, 64 for each expert, as are ...
    g: np.ndarray  # ... net coefficients
    labels: np.ndarray  # float64 (5, labels): STEPS ...


class Pair(NamedTuple):
    """The right label and its highest rival, with their scores."""

    y: int
    rival: int
    right: float
    best: float


@compiled(inline=True)
def new_work(rows: Rows, memory: Kept, longest: int) -> Work:
    """Scratch arrays for rows of at most `longest` values."""
    store, v = memory.weights, np.empty(longest + 1, rows.data.dtype)
    dtype, each = store.like.dtype, store.each
    return Work(
        np.empty(longest + 1, np.uint32),
        v,
        new_direction(bends(memory.metric), v),
        np.empty((2 * each, longest + 1), np.int64),
        np.zeros(each * SEGMENT, dtype),
        np.zeros(each * SEGMENT, dtype),
        np.zeros((5, SEGMENT)),
    )


@compiled(inline=True)
def rivals(y: int, k: int) -> np.uint64:
    """A bit for each of `k` labels, 2 to 64, but `y`."""
    return (ALL >> np.uint64(64 - k)) & ~(ONE << np.uint64(y))


@compiled(inline=True)
def find_pair(s: Floats, lane: Lane, y: int) -> Pair:
    """The right label and its highest rival, by these scores."""
    best, rival = best_of(s, lane.padded, rivals(y, lane.k))
    return Pair(y, min(lane.k - 1, rival), np.float64(s[y]), np.float64(best))  # all may have overflowed


@compiled(inline=True)
def _step(setting: Setting, C: float, q: float, pair: Pair, lane: Lane, work: Work) -> tuple[float, float]:
    """Fill labels[STEPS] with the net coefficients of a rule that moves several pairs.

    Return Σλ, and what the dual subtracts for the steps.
    """
    rule, margin, k = setting.words, setting.margin, lane.k
    steps, gaps = work.labels[STEPS, :k], work.labels[GAPS, :k]
    if is_joint(rule) and q + setting.slack > 0.0:
        others = rivals(pair.y, k) & ~(ONE << np.uint64(pair.rival))
        one = OneRight(work.s, lane.padded, k, pair.y, pair.rival, others)
        total = by_taking(one, q + setting.slack, margin, C, steps)
        return total, price_of_slack(setting.slack, steps)
    if is_joint(rule):
        total = alone(rule.length, pair.right - pair.best, 0.0, margin, C)
        steps[:] = 0.0
        steps[pair.y], steps[pair.rival] = total, -total
        return total, 0.0
    margins, norms = work.labels[MARGINS, :k], work.labels[NORMS, :k]
    for r in range(k):
        gaps[r], margins[r], norms[r] = pair.right - np.float64(work.s[r]), margin, 2.0 * q
    return by_share(rule, pair.y, gaps, margins, norms, C, steps)


@compiled(inline=True)
def _measure(q: float, k: int, s: Floats, steps: Floats, g: Floats) -> tuple[float, float]:
    """Round net coefficients to the weights' type, into `g`; return ⟨weights, move⟩ and the move's squared length."""
    inner, sq_move = 0.0, 0.0
    for r in range(k):
        inner += steps[r] * np.float64(s[r])
        g[r] = steps[r]
        sq_move += q * np.float64(g[r]) ** 2
    return inner, sq_move


@compiled(inline=True)
def take_step(
    setting: Setting, C: float, q: float, pair: Pair, lane: Lane, work: Work
) -> tuple[float, float, float, float]:
    """Let the rule choose its step; a rule that moves several pairs fills `work.g`.

    Return Σλ, what the dual subtracts for the steps, ⟨weights, move⟩ and the move's squared length.
    """
    rule, margin, gap, total = setting.words, setting.margin, pair.right - pair.best, 0.0
    penalty, inner, sq_move = 0.0, 0.0, 0.0
    if gap < margin and is_one(rule):
        total = alone(rule.length, gap, 2.0 * q, margin, C)
        penalty = softening(rule.length, total, C)
        inner = total * pair.right - total * pair.best
        sq_move = 2.0 * (q * np.float64(work.s.dtype.type(total)) ** 2)
    elif gap < margin:
        total, penalty = _step(setting, C, q, pair, lane, work)
        inner, sq_move = _measure(q, lane.k, work.s, work.labels[STEPS], work.g)
    return total, penalty, inner, sq_move
