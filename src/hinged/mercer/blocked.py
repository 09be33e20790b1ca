"""Rounds in blocks: one matrix product against the past, then the rounds of the block one after another.

The result is that of plain rounds. A block's scores by all rows learnt before it are one product; a step inside the
block adds its own share to the scores of the rows that follow, before the next of them is looked at.

    scores[r, i] = Σ_j coef[j, r] K(x_j, x_i)  over the past,  + Σ g_r K(x_j, x_i)  over steps j < i of the block
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from hinged.compiling.arrays import Floats
from hinged.mercer.budget import Budget, learn_shared_within, learn_within
from hinged.mercer.expansion import TILE, Expansion, Means, joined_by
from hinged.mercer.functions import Centred, Kernel, compiled, diagonal, formula, gram, lengths, matrix, squares
from hinged.mercer.rounds import Constraints, LabelRounds
from hinged.mercer.sparse import Sparse
from hinged.mercer.sparse_expansion import SparseExpansion
from hinged.mercer.workers import Share, Team, workers

__all__ = ["BLOCK", "Machine"]

Rounds = LabelRounds | Constraints

#: Rounds of a block: wide enough for fast products, narrow enough that corrections inside it stay cheap.
BLOCK, BLOCK_SHARED, WIDEST = 256, 32, 1024

#: Blocks that are scored by what is known while the rounds of one run; two, so that no thread waits for another's tile.
AHEAD = 3

#: Values of rows seen from the means of labels that are made at once.
ROOM = 1 << 18


def block_size(n: int) -> int:
    """Rounds to learn at once where `n` rows are remembered: the longer a product, the more it is worth to widen it.

    Examples
    --------
    >>> [block_size(n) for n in (0, 3000, 8192, 100_000)]
    [256, 256, 512, 1024]
    """
    return min(WIDEST, max(BLOCK, 1 << max(0, n // 16).bit_length() - 1)) if n >= 16 else BLOCK


class Machine:
    """A kernel learner's memory: the labels' own expansions, a shared one, and means of labels, as far as it has them.

    Parameters
    ----------
    kernel : a kernel of `hinged.mercer`, or a function of two matrices
    sharing : "multi", "single" or "hybrid"
        The last two need a kernel that knows labels, `Centred`.
    dtype : float32 or float64
    n_outputs : int
        Labels known from the start, or 1 for a single vector.
    budget : Budget, optional
        How many rows may be remembered.
    device : torch.device, optional
        Where the rows live and the products are computed; None for NumPy on the CPU.
    """

    def __init__(
        self,
        kernel: Kernel,
        sharing: str,
        dtype: np.dtype | type[np.floating],
        n_outputs: int = 0,
        budget: Budget | None = None,
        device: Any = None,
    ) -> None:
        self.kernel = kernel.of_rows if isinstance(kernel, Centred) else kernel
        self.dtype, self.budget, self.device = np.dtype(dtype), budget, device
        self.own = self._expansion(n_outputs) if sharing != "single" else None
        self.shared = self._expansion(1) if sharing != "multi" else None
        self.means = Means(0, n_outputs) if sharing != "multi" else None

    def _expansion(self, n_outputs: int) -> Expansion:
        if self.device is None:
            return Expansion(0, n_outputs, self.dtype)
        from hinged.mercer.tensors import TensorExpansion

        return TensorExpansion(0, n_outputs, self.dtype, self.device)

    @property
    def n_outputs(self) -> int:
        """Labels that have a place, or 1 for a single vector."""
        if self.own is not None:
            return self.own.n_outputs
        assert self.means is not None
        return len(self.means.counts)

    def fit_to(self, n_features: int, n_outputs: int) -> None:
        """Admit wider rows, or more labels."""
        if self.own is not None:
            self.own.fit_to(n_features, n_outputs)
        if self.shared is not None and self.means is not None:
            self.shared.fit_to(n_features, 1)
            self.means = self.means.fitted_to(n_features, n_outputs)

    def merge(self, onto: np.ndarray, n_labels: int) -> None:
        """Merge label r into label onto[r], -1 to drop it; what all labels share stays."""
        if self.own is not None:
            self.own.merge(onto, n_labels)
        if self.means is not None:
            self.means = self.means.merged(onto, n_labels)

    @property
    def n_features(self) -> int:
        """Width of the rows that are kept in full."""
        return max(part.n_features for part in (self.own, self.shared) if part is not None)

    @property
    def sparse(self) -> bool:
        """Return True if rows are kept as `Sparse`."""
        return isinstance(self.own, SparseExpansion)

    @property
    def can_be_sparse(self) -> bool:
        """Return True if rows may be kept as `Sparse`: nothing is subtracted from them, and the kernel is built in."""
        usual = self.means is None and self.budget is None and self.device is None
        return usual and formula(self.kernel) is not None and compiled() is not None

    def make_sparse(self) -> None:
        """Keep rows as `Sparse` from now on; X must be one in every call that follows."""
        if self.own is not None and not self.sparse:
            self.own = SparseExpansion.of(self.own)

    def copy(self) -> Machine:
        """A machine of its own that knows the same: to learn with, or to score with while this one learns."""
        twin = object.__new__(type(self))
        twin.kernel, twin.dtype, twin.budget, twin.device = self.kernel, self.dtype, self.budget, self.device
        twin.own = None if self.own is None else self.own.copy()
        twin.shared = None if self.shared is None else self.shared.copy()
        twin.means = self.means
        return twin

    # ------------------------------------------------------------------ scores
    def scores(self, X: np.ndarray, n_outputs: int, beyond: np.ndarray | None = None, tile: int = TILE) -> np.ndarray:
        """Scores (rows, labels) by what is learnt so far.

        `beyond` are squared norms of what rows hold outside the features that are known; they count in distances.
        """
        out = np.zeros((n_outputs, len(X)))
        beyond = np.zeros(len(X)) if beyond is None else beyond
        means = None if self.means is None else self.means.fitted_to(X.shape[1], n_outputs)
        some = max(1, BLOCK if means is None else ROOM // max(1, means.sums.size))
        with workers(self._work(X, n_outputs)) as team:
            for first in range(0, len(X), some):
                part = slice(first, first + some)
                block = self._rows(X, part)
                if self.own is not None:
                    sq = squares(block) + beyond[part].astype(self.dtype)
                    self.own.add_scores(self.kernel, block, sq, out[:, part], tile, team.share)
                if self.shared is not None and means is not None:
                    seen = (block[:, None, :] - means.values[:n_outputs, : X.shape[1]]).astype(self.dtype)
                    alike = means.alike[:n_outputs]
                    out[:, part] += self._shared_scores(seen, tile, beyond[part], team.share)[alike]
        self.check(out)
        return out.T

    def _rows(self, X: Any, some: slice) -> Any:
        """Some rows as products read them."""
        return X[some] if isinstance(X, Sparse) else np.ascontiguousarray(X[some], self.dtype)

    def _work(self, X: np.ndarray, n_outputs: int, least: int = 0) -> float:
        """Multiplications of scoring rows, with at least so many past ones; a user's own function counts none."""
        if callable(self.kernel):
            return 0.0
        own = 0 if self.own is None else max(least, self.own.n)
        shared = 0 if self.shared is None else n_outputs * max(least, self.shared.n)
        return float(X.size) * (own + shared)

    def _shared_scores(
        self, seen: np.ndarray, tile: int, beyond: float | Floats = 0.0, share: Share = map
    ) -> np.ndarray:
        """Scores (labels, rows) of rows seen from each label's mean, (rows, labels, features)."""
        assert self.shared is not None
        flat = seen.reshape(-1, seen.shape[2])
        out = np.zeros((1, len(flat)))
        sq = squares(flat).reshape(seen.shape[:2]) + np.reshape(beyond, (-1, 1))
        self.shared.add_scores(self.kernel, flat, sq.astype(self.dtype).ravel(), out, tile, share)
        return out.reshape(seen.shape[:2]).T

    def shares(self, x: Any, output: int, beyond: float = 0.0) -> dict[int, float]:
        """What each past round adds to the score of the one row of x, by round; all of them sum to the score."""
        found: dict[int, float] = {}
        seen = [(self.own, output, x)]
        if self.means is not None:
            means = self.means.fitted_to(x.shape[1], output + 1)
            seen.append((self.shared, 0, x - means.values[output, : x.shape[1]]))
        for expansion, column, row in seen:
            if expansion is None or expansion.n == 0 or column >= expansion.n_outputs:
                continue
            held, one = expansion.filled, self._rows(row, slice(1))
            sq = squares(one) + self.dtype.type(beyond)
            values = expansion.values(self.kernel, one, sq)[0].astype(np.float64)
            values *= held.coef[:, column]
            for t, value in zip(held.rounds.tolist(), values.tolist(), strict=True):
                found[t] = found.get(t, 0.0) + value
        return found

    # ------------------------------------------------------------------ learning
    def learn(
        self,
        X: Any,
        rounds: Rounds,
        n_outputs: int,
        first_round: int = 0,
        block: int | None = None,
        tile: int | None = None,
    ) -> None:
        """Learn the rows of X in order; `rounds` decides each of them once."""
        self.fit_to(X.shape[1], n_outputs)
        self._compare_with_past(X)
        if self.budget is not None and self.means is not None:
            learn_shared_within(self.budget, self, X, rounds, n_outputs, first_round, block or BLOCK_SHARED)
            return
        if self.budget is not None and self.own is not None:
            learn_within(self.budget, self.kernel, self.own, X, rounds.decide, first_round, block)
            return
        if self.device is not None and self.means is None:
            from hinged.mercer.tensors import learn_labels, program_for

            program = program_for(rounds, self.device, n_outputs)
            if program is not None:
                own: Any = self.own
                learn_labels(program, own, self.kernel, X, rounds, first_round, block, tile)  # type: ignore[arg-type]
                return
        with workers(self._work(X, n_outputs, len(X) // 8)) as team:
            if rounds.can_run(self.kernel) and self.own is not None and self.means is None:
                self._run_blocks(self.own, X, rounds, n_outputs, block, first_round, tile or TILE, team)
                return
            size = block or (BLOCK if self.means is None else BLOCK_SHARED)
            for first in range(0, len(X), size):
                some = self._rows(X, slice(first, first + size))
                self._learn_block(some, rounds, n_outputs, first, first_round, tile or TILE, team.share)

    def _run_blocks(
        self,
        own: Expansion,
        X: Any,
        rounds: Rounds,
        n_outputs: int,
        size: int | None,
        first_round: int,
        tile: int,
        team: Team,
    ) -> None:
        """Blocks whose rounds are run at once. While they run, the next ones are scored by what was known before."""

        sparse = isinstance(X, Sparse)

        def prepare(first: int, end: int, known: Expansion) -> tuple[Any, ...]:
            some = self._rows(X, slice(first, end))
            sq, scores = squares(some), np.zeros((n_outputs, len(some)))
            along = lengths(self.kernel, some, sq).astype(np.float64)
            known.add_scores(self.kernel, some, sq, scores, tile, team.share)
            return some, sq, along, scores, known.gram(self.kernel, some, sq) if sparse else some

        begun: deque[tuple[int, int, Callable[[], tuple[Any, ...]]]] = deque()
        following = 0
        while begun or following < len(X):
            while following < len(X) and len(begun) < AHEAD:
                many = size or (BLOCK if sparse else block_size(own.n))
                begun.append((following, own.n, team.begin(prepare, following, following + many, own.copy())))
                following += many
            first, known, prepared = begun.popleft()
            some, sq, along, scores, among = prepared()
            own.add_scores(self.kernel, some, sq, scores, tile, start=known)
            self.check(scores)
            moved, coef = rounds.run(first, None if sparse else self.kernel, among, along, scores)
            own.append(some[moved], coef, first_round + first + moved)

    def _compare_with_past(self, X: Any) -> None:
        """Check a user's kernel on a past row and a new one: a single row could not show that K(x, z) ≠ K(z, x)."""
        past = self.shared if self.own is None else self.own
        if formula(self.kernel) is None and self.device is None and len(X) and past is not None and past.n:
            two = np.concatenate([past.filled.rows[-1:], self._rows(X, slice(1))])
            gram(self.kernel, two, squares(two))

    def check(self, *scores: np.ndarray) -> None:
        """Refuse scores, or other numbers, that are not finite."""
        if not all(np.isfinite(some).all() for some in scores):
            raise ValueError(
                f"numbers by kernel={self.kernel!r} left the range of {self.dtype.name}. Scale the rows down, or C and "
                "the targets."
            )

    def _learn_block(
        self,
        X: Any,
        rounds: Rounds,
        n_outputs: int,
        first: int,
        first_round: int,
        tile: int,
        share: Share,
    ) -> None:
        n, sq = len(X), squares(X)
        scores = np.zeros((n_outputs, n))
        among = gram(self.kernel, X, sq) if self.own is None else self.own.gram(self.kernel, X, sq)
        if self.own is not None:
            self.own.add_scores(self.kernel, X, sq, scores, tile, share)
        means = None if self.means is None else self.means.copy()
        if means is not None:
            seen, alike = self.look_ahead(X, means, first, rounds)
            shared = self._shared_scores(seen, tile, share=share)
        else:
            shared = np.zeros((0, n))
        self.check(scores, shared)
        moved, coef, points = [], [], []
        by_round, lengths = scores.T, np.diagonal(among).tolist()
        for i in range(n):
            if means is None:
                g = rounds.decide(first + i, by_round[i], lengths[i])
            else:
                of_labels = self.label_gram(seen[i], alike[i])
                if self.own is not None:
                    of_labels[np.diag_indices(n_outputs)] += among[i, i]
                g = rounds.decide(first + i, scores[:, i] + shared[alike[i], i], of_labels)
            if g is None:
                continue
            moved.append(i)
            full = np.zeros(n_outputs)
            full[: len(g)] = g
            coef.append(full)
            if self.own is not None:
                for r in np.flatnonzero(full):
                    scores[r, i + 1 :] += full[r] * among[i, i + 1 :]
            if means is not None:
                joined = joined_by(full, alike[i])
                these = np.flatnonzero(joined)
                points += [(i, r, joined[r]) for r in these]
                if len(these) and i + 1 < n:
                    values = matrix(self.kernel, seen[i, these], seen[i + 1 :].reshape(-1, X.shape[1]))
                    shared[:, i + 1 :] += (joined[these] @ values).reshape(n - i - 1, -1).T
        self.means = means
        if moved:
            at, by = np.array(moved), np.array(coef)
            if self.own is not None:
                self.own.append(X[at], by, first_round + first + at)
        if self.shared is not None and points:
            at, labels, by = (np.array(part) for part in zip(*points, strict=True))
            self.shared.append(seen[at, labels], by[:, None], first_round + first + at)

    def look_ahead(self, X: np.ndarray, means: Means, first: int, rounds: Rounds) -> tuple[np.ndarray, np.ndarray]:
        """Rows less the labels' means before each of them; the means follow the labels alone, whatever is learnt."""
        k = len(means.counts)
        seen, alike = np.empty((len(X), k, X.shape[1]), self.dtype), np.empty((len(X), k), np.int64)
        for i, x in enumerate(X):
            seen[i], alike[i] = x - means.values, means.alike
            means.enter(x.astype(np.float64), rounds.entering(first + i))
        return seen, alike

    def label_gram(self, seen: np.ndarray, alike: np.ndarray) -> np.ndarray:
        """K among one row's label vectors; labels with equal means are the same vector."""
        values = matrix(self.kernel, seen, seen).astype(np.float64)
        values = 0.5 * (values + values.T)
        exact = diagonal(self.kernel, seen, squares(seen))
        lengths = np.diagonal(values).copy() if exact is None else exact.astype(np.float64)
        np.fill_diagonal(values, lengths)
        values = values[np.ix_(alike, alike)]
        return np.where(alike[:, None] == alike[None, :], lengths[alike][:, None], values)
