"""A bound on what is remembered: when one row too many has made a step, one row is dropped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from hinged.mercer.expansion import Expansion, joined_by
from hinged.mercer.functions import Gaussian, Linear, Polynomial, RowKernel, diagonal, gram, matrix, squares

if TYPE_CHECKING:
    from hinged.mercer.blocked import Machine, Rounds

__all__ = ["Budget", "check_budget", "learn_shared_within", "learn_within", "resolve_budget"]

DROPS = ("oldest", "smallest", "project")
BLOCK = 128
#: How much of the longest direction a direction must have to be distinguished from rounding, where rows nearly repeat.
RIDGE = {"float64": 1e-10, "float32": 1e-5}
#: Shares of a row above which rows nearly repeat, and solving for them is no longer to be trusted.
TAME = 10.0


@dataclass(frozen=True)
class Budget:
    """At most `size` rows are remembered, so memory and the time of a round stay bounded on endless streams.

    Parameters
    ----------
    size : int, default 1000
        Rows, at least 1; where labels share a vector, rounds, each with the rows it was seen as.
    drop : "smallest", "oldest" or "project", default "smallest"
        Which row goes: the one whose removal moves the weights least, ‖c‖² K(x, x), or the one learnt first. "project"
        drops the same row as "smallest" and spreads it over those that stay: of all sums over them the result is
        nearest to the weights before, so it moves them no further than "smallest" would, and never makes them longer.
        It costs O(size³) a removal, and is for sharing="multi".

    Examples
    --------
    >>> Budget(200)
    Budget(size=200, drop='smallest')
    """

    size: int = 1000
    drop: str = "smallest"

    def __post_init__(self) -> None:
        if isinstance(self.size, bool) or not isinstance(self.size, Integral) or self.size < 1:
            raise ValueError(f"a budget must be a whole number of at least 1; got {self.size!r}. Try 1000.")
        if self.drop not in DROPS:
            raise ValueError(f"drop must be one of {', '.join(DROPS)}; got drop={self.drop!r}.")


def resolve_budget(budget: Budget | int | None) -> Budget | None:
    """A budget given as one, or as a number of rows; None for none."""
    return budget if budget is None or isinstance(budget, Budget) else Budget(budget)


def check_budget(budget: Budget | None, sharing: object) -> None:
    """Refuse what a shared vector cannot do."""
    if budget is not None and budget.drop == "project" and sharing != "multi":
        raise ValueError(
            f"drop='project' is for sharing='multi'; got sharing={sharing!r}. Use drop='smallest', or 'oldest'."
        )


def learn_within(
    budget: Budget,
    kernel: RowKernel,
    own: Expansion,
    X: np.ndarray,
    decide: Callable[[int, np.ndarray, float], np.ndarray | None],
    first_round: int,
    block: int | None = None,
) -> None:
    """Learn rows in order, remembering no more than the budget after each round."""
    size = block or BLOCK
    for first in range(0, len(X), size):
        _learn_block(budget, kernel, own, X[first : first + size], decide, first, first_round)


def _learn_block(
    budget: Budget,
    kernel: RowKernel,
    own: Expansion,
    X: np.ndarray,
    decide: Callable[[int, np.ndarray, float], np.ndarray | None],
    first: int,
    first_round: int,
) -> None:
    X = np.ascontiguousarray(X, own.dtype)
    held, n = own.filled, len(X)
    before = len(held.rows)
    rows, sq = np.concatenate([held.rows, X]), np.concatenate([held.squares, squares(X)])
    # values[i, j]: K of row i of the block with row j of those remembered, then of the block
    among = gram(kernel, X, sq[before:])
    if budget.drop == "project":
        every = gram(kernel, rows, sq)
        values = every[before:]
    else:
        values = np.concatenate([matrix(kernel, X, held.rows, sq[before:], held.squares), among], axis=1)
    if not np.isfinite(values).all():
        raise ValueError(f"numbers by kernel={kernel!r} left the range of {own.dtype.name}. Scale the rows down.")
    coef = np.zeros((before + n, own.n_outputs))
    coef[:before] = held.coef
    lengths = np.concatenate([_lengths(kernel, held.rows, held.squares), np.diagonal(among)])
    kept = np.arange(before)
    for i in range(n):
        scores = values[i, kept] @ coef[kept] if len(kept) else np.zeros(own.n_outputs)
        g = decide(first + i, scores, float(among[i, i]))
        if g is None:
            continue
        coef[before + i, : len(g)] = g
        kept = np.append(kept, before + i)
        if len(kept) > budget.size:
            place = 0 if budget.drop == "oldest" else int(((coef[kept] ** 2).sum(axis=1) * lengths[kept]).argmin())
            gone, kept = kept[place], np.delete(kept, place)
            if budget.drop == "project" and len(kept):
                coef[kept] += _projected(every[np.ix_(kept, kept)], every[kept, gone])[:, None] * coef[gone]
    rounds = np.concatenate([held.rounds, first_round + first + np.arange(n)])
    own.replace(rows[kept], sq[kept], coef[kept], rounds[kept])


def _lengths(kernel: RowKernel, rows: np.ndarray, sq: np.ndarray) -> np.ndarray:
    """K(x, x) of each row."""
    known = diagonal(kernel, rows, sq)
    if known is not None:
        return known
    return np.array([matrix(kernel, row[None], row[None])[0, 0] for row in rows], rows.dtype)


def _projected(among: np.ndarray, onto: np.ndarray) -> np.ndarray:
    """Coefficients of the nearest sum over some rows to one row, given their inner products."""
    G, b = among.astype(np.float64), onto.astype(np.float64)
    try:
        found = np.linalg.solve(G, b)
    except np.linalg.LinAlgError:
        found = np.full(len(b), np.inf)
    if np.abs(found).max() <= TAME:
        return found
    values, vectors = np.linalg.eigh(G)  # rows nearly repeat: leave out directions that are rounding
    some = values > RIDGE[among.dtype.name] * max(values[-1], 0.0)
    return np.asarray((vectors[:, some] / values[some]) @ (vectors[:, some].T @ b))


# ------------------------------------------------------------------ where labels share a vector, rounds are dropped
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
        _learn_shared_block(budget, machine, some, rounds, n_outputs, first, first_round, sizes)


def _learn_shared_block(
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
        if own is None and len(these) == 0:  # its labels have equal vectors, so the step changes nothing
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


def _paired(kernel: RowKernel, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """K of each row of A with the row of B at its place."""
    A, B = A.astype(np.float64), B.astype(np.float64)
    if isinstance(kernel, Gaussian):
        return np.asarray(np.exp(-kernel.coefficient * squares(A - B)))
    if isinstance(kernel, Linear | Polynomial):
        products = np.einsum("ij,ij->i", A, B)[:, None]
        kernel.from_products(products, squares(A), squares(B[:1]))
        return products[:, 0]
    return np.array([matrix(kernel, a[None], b[None])[0, 0] for a, b in zip(A, B, strict=True)])
