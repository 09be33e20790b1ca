"""Weights on simplices: one column of masses per label, a row per coordinate that was learnt, and each column's sum.

A label's weights are w = U e^θ / Σ e^θ. Kept are θ, the masses e^(θ - shift) and their sum, so that a round costs
its non-zeros times the labels it touches, whatever the width n. A coordinate never learnt has θ = 0: row 0 stands for
all of them. Two things could spoil the numbers, and both are watched per label:

- Rounding. Masses are multiplied, the sum is updated by differences. A bound on the sum's error is kept with it; where
  it matters the part outside the row is summed again, and after `SWEEP` updates everything is recomputed from θ.
- Range. The shift moves before a mass can overflow; a mass that has sunk below the smallest number comes back from θ.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Bools, Floats, Ints
from hinged.compiling.copying import copy_to
from hinged.loops.simplex_mean import Means, settle_column
from hinged.rules.response import Responses

__all__ = [
    "Row",
    "Simplex",
    "add_masses",
    "claim",
    "draw",
    "expand",
    "mass_inside",
    "measure",
    "missing",
    "outside",
    "sweep",
]

TOTAL, ERROR, SHIFT, LOW, HIGH, TOUCHES = range(6)
EPS = 2.0**-52
SWEEP = 16384.0  # updates of a label after which its column is recomputed
FAR = 600.0  # of exponents from the shift: further out masses leave the range of numbers
NEAR = 300.0  # of the largest exponent from the shift: within this a sweep leaves the shift alone
TINY = 1e-290  # a mass below this is read from its logarithm
PRECISE = 1e-9  # relative error at which the weight outside a row is added up again


class Simplex(NamedTuple):
    """What the loops see of the weights."""

    slots: np.ndarray  # uint32 (coordinates,): row of each coordinate, 0 for one never learnt
    owners: np.ndarray  # uint32 (rows,): coordinate of each row
    theta: np.ndarray  # float64 (rows, columns)
    mass: np.ndarray  # float64 (rows, columns): e^(θ - shift)
    labels: np.ndarray  # float64 (6, columns): TOTAL, ERROR, SHIFT, bounds LOW and HIGH of θ, TOUCHES since a sweep
    marks: np.ndarray  # int64 (rows,): scratch
    used: np.ndarray  # int64 (2,): rows in use besides row 0, marks used
    n: int  # coordinates in all
    radius: float
    signed: bool
    means: Means


class Row(NamedTuple):
    """A row as moves read it."""

    f: np.ndarray  # coordinates
    v: np.ndarray  # their values
    flat: bool  # all values are the same
    lowest: float  # the ends of its range over all coordinates, zeros among them
    highest: float


@compiled(helper=True)
def expand(signed: bool, f: Ints, v: Floats, n: int) -> int:
    """Features to coordinates, in place: themselves, or a pair of opposite values for each; return how many."""
    if not signed:
        return n
    for j in range(n - 1, -1, -1):
        f[2 * j + 1], v[2 * j + 1] = 2 * f[j] + 1, -v[j]
        f[2 * j], v[2 * j] = 2 * f[j], v[j]
    return 2 * n


@compiled(helper=True)
def add_masses(simplex: Simplex, f: Ints, v: Floats, k: int, s: Floats) -> None:
    """s_r = Σ_j v_j mass[f_j, r], in the order of the row; a coordinate outside the space has none."""
    slots, mass = simplex.slots, simplex.mass
    s[:k] = 0.0
    for j in range(f.shape[0]):
        if f[j] < slots.shape[0]:
            slot = np.int64(slots[f[j]])
            row = mass[slot if slot < mass.shape[0] else 0]  # a concurrent writer may have added rows
            value = v[j]
            for r in range(k):
                s[r] += value * row[r]


@compiled(helper=True)
def measure(simplex: Simplex, f: Ints, v: Floats) -> Row:
    """Return the row of these coordinates and values with what is known of its range."""
    n = f.shape[0]
    lowest, highest = 0.0, 0.0
    if 0 < n == simplex.n:
        lowest, highest = v[0], v[0]
    flat = n > 0
    for j in range(n):
        lowest, highest = min(lowest, v[j]), max(highest, v[j])
        flat = flat and v[j] == v[0]
    return Row(f, v, flat, lowest, highest)


@compiled(helper=True)
def missing(simplex: Simplex, f: Ints) -> int:
    """Return how many of a row's coordinates have no slot yet."""
    new = 0
    for j in range(f.shape[0]):
        new += simplex.slots[f[j]] == 0
    return new


@compiled(helper=True)
def claim(simplex: Simplex, f: Ints) -> None:
    """Give every coordinate of a row a slot of its own; there must be room."""
    for j in range(f.shape[0]):
        if simplex.slots[f[j]] == 0:
            slot = simplex.used[0] + 1
            simplex.theta[slot] = 0.0
            copy_to(simplex.mass[slot], simplex.mass[0])
            if simplex.means.kept:
                copy_to(simplex.means.gathered[slot], simplex.means.gathered[0])
                copy_to(simplex.means.since[slot], simplex.means.since[0])
            simplex.owners[slot] = f[j]
            simplex.used[0] = slot
            simplex.slots[f[j]] = slot


@compiled(helper=True)
def mass_inside(simplex: Simplex, f: Ints, r: int) -> float:
    """Mass of label `r` inside a row."""
    inside = 0.0
    for j in range(f.shape[0]):
        inside += simplex.mass[simplex.slots[f[j]], r]
    return inside


@compiled(helper=True)
def outside(simplex: Simplex, f: Ints, r: int, inside: float) -> tuple[float, float]:
    """Mass of label `r` outside a row, given that inside it, and a bound on its error."""
    total = simplex.labels[TOTAL, r]
    error = simplex.labels[ERROR, r] + 4.0 * EPS * total
    rest = total - inside
    if f.shape[0] < simplex.n and rest > 0.0 and error <= PRECISE * rest:
        return rest, error
    _mark(simplex, f)
    unlearnt = simplex.n - simplex.used[0]
    for j in range(f.shape[0]):
        unlearnt -= simplex.slots[f[j]] == 0
    rest, lost = unlearnt * simplex.mass[0, r], 0.0
    for i in range(1, simplex.used[0] + 1):
        if simplex.marks[i] != simplex.used[1]:
            rest, lost = _add(rest, lost, simplex.mass[i, r])
    rest += lost
    return rest, 4.0 * EPS * rest


@compiled(helper=True)
def log_outside(simplex: Simplex, f: Ints, r: int) -> float:
    """Log of the same sum from θ, where the masses themselves are too small to be written down."""
    _mark(simplex, f)
    unlearnt = simplex.n - simplex.used[0]
    for j in range(f.shape[0]):
        unlearnt -= simplex.slots[f[j]] == 0
    top = 0.0 if unlearnt > 0 else -math.inf
    for i in range(1, simplex.used[0] + 1):
        if simplex.marks[i] != simplex.used[1]:
            top = max(top, simplex.theta[i, r])
    total = unlearnt * math.exp(-top) if unlearnt > 0 else 0.0
    for i in range(1, simplex.used[0] + 1):
        if simplex.marks[i] != simplex.used[1]:
            total += math.exp(simplex.theta[i, r] - top)
    return top + math.log(total) - simplex.labels[SHIFT, r] if total > 0.0 else -math.inf


@compiled(helper=True)
def _mark(simplex: Simplex, f: Ints) -> None:
    """Mark the slots of a row's coordinates with a number not used before."""
    simplex.used[1] += 1
    for j in range(f.shape[0]):
        simplex.marks[simplex.slots[f[j]]] = simplex.used[1]


@compiled(helper=True)
def _add(total: float, lost: float, x: float) -> tuple[float, float]:
    """Add to a sum of positive numbers, and what rounding took off it to another (Neumaier)."""
    after = total + x
    if total >= x:
        lost += (total - after) + x
    else:
        lost += (x - after) + total
    return after, lost


@compiled(helper=True)
def draw(
    simplex: Simplex, row: Row, wanted: Bools, sums_v: Floats, curves: Responses, rest: Floats, error: Floats
) -> None:
    """Fill in the wanted labels' curves, their masses outside the row and bounds on the errors of those.

    `sums_v` holds Σ v mass of each label.
    """
    labels, k, n_wanted = simplex.labels, wanted.shape[0], 0
    for r in range(k):
        n_wanted += wanted[r]
    together = not row.flat and 4 * n_wanted > k  # coordinate by coordinate: a label's own column lies far apart
    inside_of = _gather(simplex, row.f, curves.logs, k if together else 0)
    for r in range(k):
        if not wanted[r]:
            continue
        if row.flat:
            inside = sums_v[r] / row.v[0]
        else:
            inside = inside_of[r] if together else mass_inside(simplex, row.f, r)
        rest[r] = labels[TOTAL, r] - inside
        error[r] = labels[ERROR, r] + 4.0 * EPS * labels[TOTAL, r]
        if not error[r] <= PRECISE * rest[r]:  # called for few labels: a call takes longer than the sums above
            rest[r], error[r] = outside(simplex, row.f, r, inside)
        if row.flat:
            curves.start[r] = _flat_start(simplex, row, r, inside, rest[r])
        else:
            log_rest = math.log(rest[r]) if rest[r] > TINY else log_outside(simplex, row.f, r)
            log_total = math.log(inside + rest[r])
            curves.start[r] = log_rest - log_total
            own, shift = curves.logs[r], labels[SHIFT, r]
            for j in range(row.f.shape[0]):
                own[j] = (own[j] if together else simplex.theta[simplex.slots[row.f[j]], r]) - shift - log_total


@compiled(helper=True)
def _gather(simplex: Simplex, f: Ints, thetas: Floats, k: int) -> Floats:
    """Masses inside a row of the first `k` labels; copies their θ there into `thetas` (labels, coordinates)."""
    inside = np.zeros(k)
    if k > 0:
        for j in range(f.shape[0]):
            masses, own = simplex.mass[simplex.slots[f[j]]], simplex.theta[simplex.slots[f[j]]]
            for r in range(k):
                inside[r] += masses[r]
            for r in range(k):
                thetas[r, j] = own[r]
    return inside


@compiled(helper=True, forceinline=True)
def _flat_start(simplex: Simplex, row: Row, r: int, inside: float, rest: float) -> float:
    """Where the curve of label `r` starts if all values of the row are the same: the log odds of being inside."""
    if min(inside, rest) > 1e-140 and max(inside, rest) < 1e140:
        odds = math.log(inside / rest)
    else:
        log_rest = math.log(rest) if rest > TINY else log_outside(simplex, row.f, r)
        odds = (math.log(inside) if inside > TINY else _log_inside(simplex, row.f, r)) - log_rest
    return odds if row.v[0] > 0.0 else -odds  # a row of one negative value lifts a label by taking weight off itself


@compiled(helper=True)
def _log_inside(simplex: Simplex, f: Ints, r: int) -> float:
    """Log of the mass inside a row, from θ."""
    top = -math.inf
    for j in range(f.shape[0]):
        top = max(top, simplex.theta[simplex.slots[f[j]], r])
    total = 0.0
    for j in range(f.shape[0]):
        total += math.exp(simplex.theta[simplex.slots[f[j]], r] - top)
    return top + math.log(total) - simplex.labels[SHIFT, r]


@compiled
def sweep(simplex: Simplex, k: int) -> None:
    """Recompute, from θ, the columns of the labels that are due."""
    theta, mass, labels = simplex.theta, simplex.mass, simplex.labels
    for r in range(k):
        if labels[TOUCHES, r] < SWEEP:
            continue
        if simplex.means.kept:  # by the masses it was gathered with
            settle_column(simplex.means, mass, simplex.used[0], r)
        low = high = 0.0
        if simplex.used[0] == simplex.n and simplex.n > 0:
            low, high = theta[1, r], theta[1, r]
        for i in range(1, simplex.used[0] + 1):
            low, high = min(low, theta[i, r]), max(high, theta[i, r])
        if abs(high - labels[SHIFT, r]) > NEAR:
            labels[SHIFT, r] = high
        shift = labels[SHIFT, r]
        mass[0, r] = math.exp(min(-shift, FAR))  # of no use where every coordinate is learnt, and only then so large
        total, lost = (simplex.n - simplex.used[0]) * mass[0, r], 0.0
        for i in range(1, simplex.used[0] + 1):
            mass[i, r] = math.exp(theta[i, r] - shift)
            total, lost = _add(total, lost, mass[i, r])
        labels[TOTAL, r] = total + lost
        labels[ERROR, r] = 4.0 * EPS * total
        labels[LOW, r], labels[HIGH, r], labels[TOUCHES, r] = low, high, 0.0
