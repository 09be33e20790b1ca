"""The mean of weights on a simplex over all rounds, kept lazily although every weight changes with the sum.

A weight is mass / sum, and the mass stays where its coordinate is not touched. So each label keeps A, the sum over the
rounds of 1 / sum, and each coordinate what it has gathered up to the moment when A was B:

    Σ_t w_t = gathered + mass (A - B)

settled whenever the mass changes; a round costs its non-zeros times the labels it touches, as before. A forgets small
terms next to large ones, so where the sum has grown a lot the label's whole column is settled and A restarts at 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats, Ints

__all__ = [
    "Means",
    "add_mean_scores",
    "grown",
    "kept_means",
    "mean_weights",
    "new_means",
    "renumbered",
    "restored_means",
    "settle_column",
    "settle_row",
    "watch_sum",
]

SUM, COUNTED, LEAST = range(3)
GROWN = 1e4  # of a column's sum since A began: at this factor A has lost four digits


class Means(NamedTuple):
    """What is kept with a simplex for its mean; empty where no mean is kept."""

    gathered: np.ndarray  # float64 (rows, columns): Σ mass / sum over the rounds, up to B
    since: np.ndarray  # float64 (rows, columns): B
    labels: np.ndarray  # float64 (3, columns): SUM is A, over COUNTED rounds; the LEAST sum of masses since A was 0
    kept: bool


def new_means(rows: int, columns: int, kept: bool) -> Means:
    """Nothing gathered yet."""
    shape = (rows, columns) if kept else (0, 0)
    labels = np.zeros((3, shape[1]))
    labels[LEAST] = np.inf
    return Means(np.zeros(shape), np.zeros(shape), labels, kept)


@compiled(helper=True)
def settle_row(simplex: Any, totals: Floats, f: Ints, touched: Ints, rounds: int) -> None:
    """Before a move: let the touched labels gather, in the row's coordinates, all that `rounds` rounds brought."""
    means, mass, slots = simplex.means, simplex.mass, simplex.slots
    labels = means.labels
    for r in touched:
        labels[SUM, r] += (rounds - labels[COUNTED, r]) / totals[r]
        labels[COUNTED, r] = rounds
        labels[LEAST, r] = min(labels[LEAST, r], totals[r])
    for j in range(f.shape[0]):
        slot = slots[f[j]]
        gathered, since, masses = means.gathered[slot], means.since[slot], mass[slot]
        for r in touched:
            gathered[r] += masses[r] * (labels[SUM, r] - since[r])
            since[r] = labels[SUM, r]


@compiled(helper=True)
def watch_sum(simplex: Any, totals: Floats, touched: Ints) -> None:
    """After a move: settle the columns of labels whose sums have grown a lot."""
    for r in touched:
        if totals[r] > GROWN * simplex.means.labels[LEAST, r]:
            settle_column(simplex.means, simplex.mass, simplex.used[0], r)


@compiled
def settle_column(means: Means, mass: Floats, used: int, r: int) -> None:
    """Let a label gather everywhere what is in A, and restart A at 0; row 0 stands for coordinates never learnt."""
    for i in range(used + 1):
        means.gathered[i, r] += mass[i, r] * (means.labels[SUM, r] - means.since[i, r])
        means.since[i, r] = 0.0
    means.labels[SUM, r], means.labels[LEAST, r] = 0.0, np.inf


@compiled(helper=True)
def add_mean_scores(simplex: Any, totals: Floats, f: Ints, v: Floats, rounds: int, s: Floats) -> None:
    """s_r = Σ_j v_j of the mean weight at f_j, for weights of sum 1."""
    means, mass, slots = simplex.means, simplex.mass, simplex.slots
    k = s.shape[0]
    now = np.empty(k)
    for r in range(k):
        now[r] = means.labels[SUM, r] + (rounds - means.labels[COUNTED, r]) / totals[r]
    s[:] = 0.0
    for j in range(f.shape[0]):
        if f[j] < slots.shape[0]:
            slot = slots[f[j]]
            gathered, since, masses, value = means.gathered[slot], means.since[slot], mass[slot], v[j] / rounds
            for r in range(k):
                s[r] += value * (gathered[r] + masses[r] * (now[r] - since[r]))


def mean_weights(simplex: Any, totals: np.ndarray, rounds: int, labels: slice) -> np.ndarray:
    """Mean weights of some labels at every coordinate, (labels, coordinates)."""
    means, n = simplex.means, int(simplex.used[0]) + 1
    now = means.labels[SUM, labels] + (rounds - means.labels[COUNTED, labels]) / totals[labels]
    sums = means.gathered[:n, labels] + simplex.mass[:n, labels] * (now - means.since[:n, labels])
    rows = (simplex.radius / rounds) * sums.T
    weights = np.repeat(rows[:, :1], len(simplex.slots), axis=1)
    weights[:, simplex.owners[1:n]] = rows[:, 1:]
    return weights


# ------------------------------------------------------------------ room, labels, files
def grown(means: Means, rows: int, columns: int) -> Means:
    """Room for so many more coordinates and labels."""
    if not means.kept:
        return means
    shape = [(0, rows), (0, columns)]
    labels = np.pad(means.labels, [(0, 0), (0, columns)])
    labels[LEAST, means.labels.shape[1] :] = np.inf
    return Means(np.pad(means.gathered, shape), np.pad(means.since, shape), labels, True)


def renumbered(means: Means, mass: np.ndarray, used: int, onto: np.ndarray, columns: int) -> Means:
    """Return what label r gathered as that of label onto[r], -1 to drop it."""
    if not means.kept:
        return means
    kept = np.flatnonzero(onto >= 0)
    if len(np.unique(onto[kept])) < len(kept):
        raise ValueError(
            "with geometry='entropy' the mean weights of two labels say nothing of those of both together; "
            "got average=True. Remove one of the labels, or learn without average."
        )
    after = new_means(len(means.gathered), columns, True)
    for r in kept.tolist():
        settle_column(means, mass, used, r)
        after.gathered[:, onto[r]] = means.gathered[:, r]
        after.labels[COUNTED, onto[r]] = means.labels[COUNTED, r]
    return after


def kept_means(means: Means, rows: int, columns: int) -> dict[str, np.ndarray]:
    """Plain arrays for a file."""
    if not means.kept:
        return {}
    arrays = {"gathered": means.gathered[:rows], "since": means.since[:rows], "labels": means.labels}
    return {f"means.{name}": array[:, :columns].copy() for name, array in arrays.items()}


def restored_means(arrays: dict[str, np.ndarray], rows: int, columns: int) -> Means:
    """Return what such arrays hold, after checking it."""
    found: dict[str, np.ndarray] = {}
    for name, n in (("gathered", rows), ("since", rows), ("labels", 3)):
        kept = arrays[f"means.{name}"]
        if kept.dtype != np.float64 or kept.shape != (n, columns) or np.isnan(kept).any() or (kept < 0.0).any():
            raise ValueError(f"its means ({name}) are damaged")
        found[name] = kept.copy()
    return Means(found["gathered"], found["since"], found["labels"], True)
