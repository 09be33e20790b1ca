"""A budget where labels share a vector: what is given up is a round, with all it added."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hinged.mercer.budget import Budget
from hinged.mercer.expansion import Expansion, joined_by
from hinged.mercer.functions import Gaussian, Linear, Polynomial, gram, matrix, squares

if TYPE_CHECKING:
    from hinged.mercer.blocked import Machine, Rounds

__all__ = ["learn_shared_within"]


class _Terms:
    """The terms of an expansion while a block is learnt: past ones, and one for each that a round may add."""

    def __init__(self, held: Expansion, more: np.ndarray, rounds: np.ndarray) -> None:
        past = held.filled
        self.held, self.before = held, held.n
        self.rows = np.concatenate([past.rows, more])
        self.rounds = np.concatenate([past.rounds, rounds])
        self.coef = np.concatenate([past.coef.astype(np.float64), np.zeros((len(more), held.n_outputs))])
        self.kept = np.arange(self.before)

    def add(self, at: np.ndarray, coef: np.ndarray) -> None:
        self.coef[self.before + at] = coef
        self.kept = np.append(self.kept, self.before + at)

    def give_up(self, gone: int) -> None:
        self.kept = self.kept[self.rounds[self.kept] != gone]

    def scores(self, values: np.ndarray) -> np.ndarray:
        return np.asarray(values[:, self.kept] @ self.coef[self.kept])

    def keep(self) -> None:
        rows = self.rows[self.kept]
        self.held.replace(rows, squares(rows), self.coef[self.kept], self.rounds[self.kept])


def learn_shared_within(
    budget: Budget, machine: Machine, X: np.ndarray, rounds: Rounds, n_outputs: int, first_round: int, size: int
) -> None:
    """Learn rows in order, remembering no more rounds than the budget after each of them."""
    sizes = _sizes(machine)
    for first in range(0, len(X), size):
        some = np.ascontiguousarray(X[first : first + size], machine.dtype)
        _learn_block(budget, machine, some, rounds, n_outputs, first, first_round, sizes)


def _learn_block(
    budget: Budget,
    machine: Machine,
    X: np.ndarray,
    rounds: Rounds,
    k: int,
    first: int,
    first_round: int,
    sizes: dict[int, float],
) -> None:
    assert machine.means is not None
    assert machine.shared is not None
    (n, d), numbers = X.shape, first_round + first + np.arange(len(X))
    means, among = machine.means.copy(), gram(machine.kernel, X, squares(X))
    seen, alike = machine.look_ahead(X, means, first, rounds)
    flat = seen.reshape(-1, d)
    shared = _Terms(machine.shared, flat, np.repeat(numbers, k))
    by_shared = matrix(machine.kernel, flat, shared.rows)  # K of each row seen from each label with every term
    own = None if machine.own is None else _Terms(machine.own, X, numbers)
    by_own = None if own is None else np.concatenate([matrix(machine.kernel, X, own.rows[: own.before]), among], axis=1)
    machine.check(by_shared)
    for i in range(n):
        of_labels = machine.label_gram(seen[i], alike[i])
        scores = shared.scores(by_shared[i * k : (i + 1) * k])[alike[i], 0]
        if own is not None and by_own is not None:
            of_labels[np.diag_indices(k)] += among[i, i]
            scores = scores + own.scores(by_own[i : i + 1])[0]
        g = rounds.decide(first + i, scores, of_labels)
        if g is None:
            continue
        full = np.zeros(k)
        full[: len(g)] = g
        joined = joined_by(full, alike[i])
        these = np.flatnonzero(joined)
        if own is None and len(these) == 0:  # nothing tells its labels apart: it left no trace
            continue
        shared.add(i * k + these, joined[these, None])
        if own is not None:
            own.add(np.array([i]), full)
        sizes[int(numbers[i])] = float(full @ of_labels @ full)
        if len(sizes) > budget.size:
            gone = next(iter(sizes)) if budget.drop == "oldest" else min(sizes, key=sizes.__getitem__)
            del sizes[gone]
            for terms in (shared, own):
                if terms is not None:
                    terms.give_up(gone)
    machine.means = means
    for terms in (shared, own):
        if terms is not None:
            terms.keep()


def _sizes(machine: Machine) -> dict[int, float]:
    """The squared length of what each remembered round added, the oldest first."""
    found: dict[int, float] = {}
    for expansion in (machine.own, machine.shared):
        if expansion is None:
            continue
        held, lag = expansion.filled, 0
        coef = held.coef.astype(np.float64)
        while lag < len(held.rounds):  # terms of a round lie side by side
            a = np.flatnonzero(held.rounds[lag:] == held.rounds[: len(held.rounds) - lag])
            if len(a) == 0:
                break
            b, twice = a + lag, 1.0 if lag == 0 else 2.0
            parts = twice * (coef[a] * coef[b]).sum(axis=1) * _paired(machine.kernel, held.rows[a], held.rows[b])
            for t, part in zip(held.rounds[a].tolist(), parts.tolist(), strict=True):
                found[t] = found.get(t, 0.0) + part
            lag += 1
    return dict(sorted(found.items()))


def _paired(kernel: Any, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """K of each row of A with the row of B at its place."""
    A, B = A.astype(np.float64), B.astype(np.float64)
    if isinstance(kernel, Gaussian):
        return np.asarray(np.exp(-kernel.gamma * squares(A - B)))
    if isinstance(kernel, Linear | Polynomial):
        products = np.einsum("ij,ij->i", A, B)[:, None]
        kernel.from_products(products, squares(A), squares(B[:1]))
        return products[:, 0]
    return np.array([matrix(kernel, a[None], b[None])[0, 0] for a, b in zip(A, B, strict=True)])
