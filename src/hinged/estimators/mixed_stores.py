"""Blocks of weights and statistics of several states, put together under common names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hinged.estimators.united import United
from hinged.loops.ledger import LEARNT
from hinged.loops.pages import SEGMENT
from hinged.loops.shares import mass

if TYPE_CHECKING:
    from hinged.estimators.state import ModelState

__all__ = ["Mixed", "late_factors", "merged_store", "squares"]

MIXED_STORES = ("store0", "store1")  # weights and shared vectors; other stores hold statistics


class Mixed(NamedTuple):
    """States that learnt something, what each counts for, and where their names went."""

    states: Sequence[ModelState]
    base: ModelState | None
    shares: np.ndarray  # μ, one for each state
    united: United

    def places(self, i: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Where the features and labels of a state went; None for the base."""
        return self.united.places[len(self.states) if i is None else i]


def late_factors(mixed: Mixed, rounds: int) -> np.ndarray:
    """Return by what the late sums of each state are multiplied."""
    factors = []
    for share, state in zip(mixed.shares, mixed.states, strict=True):
        growth = _growth(state)
        own = mass(growth, float(state.counts[LEARNT]))
        factors.append(share * (mass(growth, float(rounds)) / own if own > 0.0 else 0.0))
    return np.array(factors)


def _growth(state: ModelState) -> float:
    """Return by what later rounds count for more in a mean: where it is one of several that answer."""
    name = "experts.growth" if _answers_by_mean(state) else "growth"
    return float(state.arrays.get(name, np.ones(1))[0])


def _answers_by_mean(state: ModelState) -> bool:
    """Return True if mean weights answer beside the learners of labels; their sums are the last layer."""
    return len(state.arrays.get("experts.shares", ())) > len(state.arrays.get("experts.sums", ()))


def merged_store(mixed: Mixed, store: str, rounds: int) -> dict[str, np.ndarray]:
    """Return the blocks of a store: weights are mixed, statistics are totals."""
    n_labels, n_states = len(mixed.united.names["labels"]), len(mixed.states)
    means = store in MIXED_STORES
    factors = np.array(mixed.shares if means else np.ones(n_states))
    known: list[tuple[int | None, ModelState]] = list(enumerate(mixed.states))
    if not means and mixed.base is not None and n_states > 1:
        known.append((None, mixed.base))
        factors = np.append(factors, 1.0 - n_states)
    entries = [_entries(mixed, store, i, state) for i, state in known]
    likes = [state.arrays[f"{store}.values"] for state in mixed.states]
    layers, dtype = likes[0].shape[1], likes[0].dtype
    late = _late_layers(mixed.states[0], store, layers)
    of_late = late_factors(mixed, rounds) if late else factors
    columns = max([n_labels, *(int(entry[2].max(initial=-1)) + 1 for entry in entries)])
    keys, values = [], []
    for (feature, layer, column, value), factor, late_factor in zip(entries, factors, of_late, strict=False):
        keys.append((feature * layers + layer) * columns + column)
        values.append(value * np.where(np.isin(layer, late), late_factor, factor))
    key, place = np.unique(np.concatenate(keys), return_inverse=True)
    total = np.bincount(place, np.concatenate(values), len(key))
    kept = total != 0.0
    where = key[kept] // (layers * columns), key[kept] // columns % layers, key[kept] % columns
    stride = max(int(state.arrays[f"{store}.stride"][0]) for state in mixed.states)
    return _blocks(store, where, total[kept], layers, columns, stride, dtype)


def _late_layers(state: ModelState, store: str, layers: int) -> list[int]:
    """Return the layers that hold sums for means: the odd ones of averages, the last one beside several learners."""
    if store not in MIXED_STORES:
        return []
    each = max(1, len(state.arrays.get("experts.shares", ()))) if store == "store0" else 1
    if layers == 2 * each:
        return list(range(1, layers, 2))
    return [layers - 1] if _answers_by_mean(state) and store == "store0" else []


def _entries(
    mixed: Mixed, store: str, i: int | None, state: ModelState
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return feature, layer, column and value of all that is not 0 in a store of state i, under the united names."""
    features, labels = mixed.places(i)
    owners, by_label = mixed.united.owners(store, features), mixed.united.by_label(store)
    slots, segments = np.nonzero(state.arrays[f"{store}.held"])
    block, layer, column = np.nonzero(state.arrays[f"{store}.values"])
    value = state.arrays[f"{store}.values"][block, layer, column].astype(np.float64)
    column = column + SEGMENT * segments[block]
    feature = owners[state.arrays[f"{store}.owners"][slots[block]].astype(np.int64)]
    return feature, layer, labels[column] if by_label else column, value


def _blocks(
    store: str,
    where: tuple[np.ndarray, np.ndarray, np.ndarray],
    values: np.ndarray,
    layers: int,
    columns: int,
    stride: int,
    dtype: np.dtype,
) -> dict[str, np.ndarray]:
    """Return the blocks of a store from the places of its values."""
    feature, layer, column = where
    owners, slot = np.unique(feature, return_inverse=True)
    segments = max(1, -(-columns // SEGMENT))
    width = min(columns, SEGMENT) if columns else 1
    held = np.zeros((len(owners), segments), np.bool_)
    held[slot, column // SEGMENT] = True
    numbers = np.cumsum(held.reshape(-1)).reshape(held.shape) - 1
    blocks = np.zeros((int(np.count_nonzero(held)), layers, width), dtype)
    blocks[numbers[slot, column // SEGMENT], layer, column % SEGMENT] = values
    while stride < width:
        stride *= 2
    return {
        f"{store}.owners": owners.astype(np.uint32),
        f"{store}.held": held,
        f"{store}.values": blocks,
        f"{store}.stride": np.array([stride]),
    }


def squares(arrays: dict[str, np.ndarray], n_labels: int) -> np.ndarray:
    """Return the squared length of each label's sum of rows, from the merged sums."""
    total = np.zeros(n_labels)
    if "store4.owners" in arrays:
        _, segments = np.nonzero(arrays["store4.held"])
        block, _, column = np.nonzero(arrays["store4.values"])
        values = arrays["store4.values"][block, 0, column]
        np.add.at(total, column + SEGMENT * segments[block], values * values)
    return total
