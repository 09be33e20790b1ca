"""Moves of weights on simplices: θ changes by a multiple of a row, and masses and their sums follow."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Bools, Floats, Ints
from hinged.loops.simplex import EPS, ERROR, FAR, HIGH, LOW, SHIFT, SWEEP, TOTAL, TOUCHES, Row, Simplex
from hinged.rules.tilt import FARTHEST, exponentials

__all__ = ["move"]

SUNK = 1e-130  # of a column's sum: all of it has moved far below the shift


class Move(NamedTuple):
    """What a move makes of each label's masses inside a row."""

    factor: Floats  # what they are multiplied by, where that is the same for the whole row
    inside: Floats  # their sum afterwards
    steady: Bools  # whether all stay within the range of numbers


@compiled(helper=True)
def move(simplex: Simplex, row: Row, g: Floats, touched: Ints, rest: Floats, error: Floats) -> bool:
    """θ[f_j, r] += g_r v_j for touched labels r, whose `rest` and `error` `outside` gave; True if a sweep is due."""
    labels, k, due = simplex.labels, g.shape[0], False
    made = Move(np.ones(k), np.zeros(k), np.ones(k, np.bool_))
    farthest = _follow_range(labels, row, g, touched, made)
    if 4 * touched.shape[0] > k and (row.flat or farthest <= FARTHEST):
        _move_all(simplex, row, g, made)
    else:
        _move_some(simplex, row, g, touched, made)
    for r in touched:
        labels[TOUCHES, r] += 1.0
        if not made.steady[r]:
            made.inside[r] = _come_back(simplex, row.f, r, made.inside[r])
        labels[TOTAL, r] = rest[r] + made.inside[r]
        labels[ERROR, r] = error[r] + 4.0 * EPS * labels[TOTAL, r]
        if labels[TOTAL, r] < SUNK:
            labels[TOUCHES, r] = SWEEP
        due = due or labels[TOUCHES, r] >= SWEEP
    return due


@compiled(helper=True)
def _follow_range(labels: Floats, row: Row, g: Floats, touched: Ints, made: Move) -> float:
    """Follow the bounds of each touched label's θ, and begin `made`; return by how much some θ changes at most."""
    v, furthest = row.v, 0.0
    lowest, highest = v[0], v[0]
    for j in range(v.shape[0]):
        lowest, highest = min(lowest, v[j]), max(highest, v[j])
    for r in touched:
        furthest = max(furthest, abs(g[r]))
        labels[LOW, r] += min(0.0, g[r] * lowest, g[r] * highest)
        labels[HIGH, r] += max(0.0, g[r] * lowest, g[r] * highest)
        made.steady[r] = labels[HIGH, r] - labels[SHIFT, r] <= FAR and labels[LOW, r] - labels[SHIFT, r] >= -FAR
        if row.flat and made.steady[r]:
            made.factor[r] = math.exp(g[r] * v[0])
    return furthest * max(abs(lowest), abs(highest))


@compiled(helper=True)
def _move_all(simplex: Simplex, row: Row, g: Floats, made: Move) -> None:
    """Move all labels in one go, many of them touched: the others are multiplied by 1."""
    k, factor, inside = g.shape[0], made.factor, made.inside
    none, pull = np.zeros(k), np.zeros(k)
    for r in range(k):
        pull[r] = g[r] if made.steady[r] else 0.0
    for j in range(row.f.shape[0]):
        slot, value = simplex.slots[row.f[j]], row.v[j]
        masses, thetas = simplex.mass[slot], simplex.theta[slot]
        if not row.flat:
            exponentials(none, pull, value, factor)
        for r in range(k):
            now = masses[r] * factor[r]
            masses[r] = now
            inside[r] += now
            thetas[r] += g[r] * value


@compiled(helper=True)
def _move_some(simplex: Simplex, row: Row, g: Floats, touched: Ints, made: Move) -> None:
    """Move the touched labels, one after the other."""
    for j in range(row.f.shape[0]):
        slot, value = simplex.slots[row.f[j]], row.v[j]
        masses, thetas = simplex.mass[slot], simplex.theta[slot]
        for r in touched:
            factor = made.factor[r] if row.flat or not made.steady[r] else math.exp(g[r] * value)
            now = masses[r] * factor
            masses[r] = now
            made.inside[r] += now
            thetas[r] += g[r] * value


@compiled(helper=True)
def _come_back(simplex: Simplex, f: Ints, r: int, inside: float) -> float:
    """Compute masses inside a row from θ, once some are out of range; return their sum.

    Where one would overflow, masses stay as they are until the sweep, which comes before the next score.
    """
    labels = simplex.labels
    if labels[HIGH, r] - labels[SHIFT, r] > FAR:
        labels[TOUCHES, r] = SWEEP
        return inside
    total = 0.0
    for j in range(f.shape[0]):
        slot = simplex.slots[f[j]]
        simplex.mass[slot, r] = math.exp(simplex.theta[slot, r] - labels[SHIFT, r])
        total += simplex.mass[slot, r]
    return total
