"""A bound on what is remembered: when one row too many has made a step, one of them is given up."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from hinged.mercer.expansion import Expansion
from hinged.mercer.functions import diagonal, gram, matrix, squares

__all__ = ["Budget", "check_budget", "learn_within", "resolve_budget"]

DROPS = ("oldest", "smallest", "project")
BLOCK = 128
#: How much of the longest direction a direction must have to be told from rounding, where rows nearly repeat.
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


def resolve_budget(budget: Any) -> Budget | None:
    """A budget given as one, or as a number of rows; None for none."""
    return budget if budget is None or isinstance(budget, Budget) else Budget(budget)


def check_budget(budget: Budget | None, sharing: Any) -> None:
    """Refuse what a shared vector cannot do."""
    if budget is not None and budget.drop == "project" and sharing != "multi":
        raise ValueError(
            f"drop='project' is for sharing='multi'; got sharing={sharing!r}. Use drop='smallest', or 'oldest'."
        )


def learn_within(
    budget: Budget,
    kernel: Any,
    own: Expansion,
    X: np.ndarray,
    decide: Any,
    first_round: int,
    block: int | None = None,
) -> None:
    """Learn rows in order, remembering no more than the budget after each round."""
    size = block or BLOCK
    for first in range(0, len(X), size):
        _learn_block(budget, kernel, own, X[first : first + size], decide, first, first_round)


def _learn_block(
    budget: Budget, kernel: Any, own: Expansion, X: np.ndarray, decide: Any, first: int, first_round: int
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


def _lengths(kernel: Any, rows: np.ndarray, sq: np.ndarray) -> np.ndarray:
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
