"""What happens in a round on labels or on one constraint: it is judged, counted, and turned into a step."""

from __future__ import annotations

from typing import Any

import numpy as np

from hinged.mercer.functions import compiled, formula
from hinged.mercer.steps import Rule, net_coefficients
from hinged.rules.length import alone, softening

__all__ = ["Constraints", "LabelRounds", "Rounds"]


#: Rounds with a step, and their net coefficients.
Moves = tuple[np.ndarray, np.ndarray]
#: In place of a kernel's numbers, where its values are given.
GIVEN = 0.0, -1


class Rounds:
    """What is recorded of some rounds, and the sums they added to.

    Attributes
    ----------
    flags : int8 (rounds,)
        1 a mistake, 0 right, -1 a label seen for the first time.
    losses : float64 (rounds,)
        The hinge loss of each before its step; 0 where a label is new or there is no rival.
    learnt, updates, gain, sq_norm, penalty : numbers
        Rounds with a weight, rounds with a step; Σλm, the change of ‖ω‖², and Σλ²/4C of the certificate.
    """

    def __init__(self, rule: Rule, n: int, weights: np.ndarray) -> None:
        self.rule, self.weights = rule, weights
        self.flags, self.losses = np.zeros(n, np.int8), np.zeros(n)
        self.learnt, self.updates, self.n_known, self.noted = 0, 0, 0, 0
        self.gain, self.sq_norm, self.penalty = 0.0, 0.0, 0.0

    def entering(self, i: int) -> np.ndarray:
        """The labels whose means a row enters: none, where there are no labels."""
        return np.zeros(0, np.int64)

    def can_run(self, kernel: object) -> bool:
        """Return True if `run` may take the place of `decide`: rule and kernel are built in, and Numba is installed."""
        return self.rule.own is None and formula(kernel) is not None and compiled() is not None

    def _run(
        self,
        first: int,
        kernel: object,
        block: tuple[np.ndarray, np.ndarray, np.ndarray],
        noted: tuple[np.ndarray, ...],
        targets: tuple[np.ndarray, np.ndarray | float],
    ) -> Moves:
        """Let compiled rounds judge and learn a block of rows from `first` on; return the steps they made.

        Parameters
        ----------
        block : X, K(x, x) of its rows, and scores (labels, rows) by what was learnt before them, which are corrected
        noted : as `compiled.Noted` has them, but for the last four
        targets : what the loop reads of the right answers
        """
        loops, rule, (n, k) = compiled(), self.rule, (len(block[0]), len(block[2]))
        shape = GIVEN if kernel is None else formula(kernel)
        assert shape is not None
        caps = float(rule.C), float(rule.margin), bool(rule.uses_weight), float(rule.least_norm)
        numbers = loops.Numbers(rule.words, *caps, bool(rule.learns_new))
        moved, coef, counts, sums = np.zeros(n, np.int64), np.zeros((n, k)), np.zeros(4, np.int64), np.zeros(3)
        counts[loops.KNOWN] = self.n_known
        rows = loops.Block(*block, self.weights[first : first + n])
        loop = loops.label_rounds if isinstance(self, LabelRounds) else loops.constraint_rounds
        loop(loops.Formula(*shape), numbers, rows, *targets, loops.Noted(*noted, moved, coef, counts, sums))
        self.n_known, more, steps, learnt = counts.tolist()
        self.noted += more
        self.learnt += learnt
        self.updates += steps
        self.gain += sums[loops.GAIN]
        self.sq_norm += sums[loops.SQ_NORM]
        self.penalty += sums[loops.PENALTY]
        return moved[:steps], coef[:steps]

    def weigh(self, i: int) -> tuple[float, float]:
        """The weight of a round, and its cap on steps."""
        weight = float(self.weights[i]) if len(self.weights) else 1.0
        return weight, self.rule.C * weight if self.rule.uses_weight else self.rule.C

    def note(self, gain: float, inner: float, sq_move: float, penalty: float) -> None:
        """Enter a step in the certificate."""
        self.updates += 1
        self.gain += gain
        self.sq_norm += 2.0 * inner + sq_move
        self.penalty += penalty


class LabelRounds(Rounds):
    """Rounds on labels: every right label must score above every other one.

    Parameters
    ----------
    indptr, labels : int64 arrays
        The right labels of each row; labels from `n_known` on become known as they appear.
    """

    def __init__(self, rule: Rule, indptr: np.ndarray, labels: np.ndarray, weights: np.ndarray, n_known: int) -> None:
        super().__init__(rule, len(indptr) - 1, weights)
        self.indptr, self.labels, self.n_known = indptr, labels, n_known
        n = len(indptr) - 1
        self.ranks = np.ones(n, np.int32)
        # the first `noted` of these: between right and wrong, the winner's lead, which it was, and whether it was right
        self.middles, self.leads, self.firsts, self.hits = self.predicted = (
            np.zeros(n), np.zeros(n), np.zeros(n, np.int64), np.zeros(n, np.bool_)
        )  # fmt: skip

    def right(self, i: int) -> np.ndarray:
        """The right labels of a row."""
        return self.labels[self.indptr[i] : self.indptr[i + 1]]

    def caps(self) -> tuple[np.ndarray, np.ndarray]:
        """The cap on steps of every round, and its weight."""
        weights = self.weights if len(self.weights) else np.ones(len(self.flags))
        return self.rule.C * (weights if self.rule.uses_weight else np.ones(len(weights))), weights

    def take_in(self, told: dict[str, np.ndarray], n_known: int) -> None:
        """Take over what a program on a device recorded of all rounds; `persistent.COLUMNS` names the columns."""
        self.flags[:], self.ranks[:], self.losses[:] = told["flag"], told["rank"], told["loss"]
        self.n_known = n_known
        weights = self.caps()[1]
        total, moved = told["total"], told["total"] > 0.0
        self.learnt += int((weights > 0.0).sum())
        self.updates += int(moved.sum())
        self.gain += float(total.sum()) * self.rule.margin
        self.sq_norm += float((2.0 * told["inner"] + told["sq_move"]).sum())
        self.penalty += float(told["softened"].sum())
        noted = told["noted"] > 0.0
        self.noted = int(noted.sum())
        for name, to in zip(("middle", "lead", "first", "hit"), self.predicted, strict=True):
            to[: self.noted] = told[name][noted]

    def tell(self, told: Any) -> None:
        """Copy flags, ranks and losses of these rounds to the caller's arrays."""
        told.flags[:], told.ranks[:], told.losses[:] = self.flags, self.ranks, self.losses

    def entering(self, i: int) -> np.ndarray:
        """The labels whose means a row enters."""
        return self.right(i) if self.weigh(i)[0] > 0.0 else self.labels[:0]

    def run(self, first: int, kernel: object, X: np.ndarray, lengths: np.ndarray, scores: np.ndarray) -> Moves:
        """Judge and learn some rows from `first` on, by compiled rounds.

        `lengths` are K(x, x) of the rows, `scores` (labels, rows) by what was learnt before them; they are corrected.
        Without a kernel, X is its Gram matrix of the rows.
        """
        here, more = slice(first, first + len(X)), slice(self.noted, None)
        each = self.flags[here], self.ranks[here], self.losses[here]
        noted = (*each, *(array[more] for array in self.predicted))
        targets = self.indptr[first : first + len(X) + 1], self.labels
        return self._run(first, kernel, (X, lengths, scores), noted, targets)

    def decide(self, i: int, scores: np.ndarray, measure: float | np.ndarray) -> np.ndarray | None:
        """Judge a round and choose its step."""
        right, (weight, C) = self.right(i), self.weigh(i)
        self.learnt += weight > 0.0
        k = self.n_known
        one = int(right[0]) if len(right) == 1 else -1
        novel = not 0 <= one < k if len(right) == 1 else len(right) > 0 and (right.min() < 0 or right.max() >= k)
        if novel:
            self.flags[i], self.ranks[i] = -1, 0
            if weight <= 0.0:
                return None
            self.n_known = max(k, int(right.max()) + 1)
            if not self.rule.learns_new:
                return None
            k = self.n_known
        if not 0 < len(right) < k:
            return None
        s = scores[:k]
        if one >= 0:
            low = one
            own, s[low] = s[low], -np.inf
            rival = int(s.argmax())
            s[low] = own
        else:
            low, rival = _extremes(s, right)
        gap = float(s[low] - s[rival])
        if not novel:
            self._count(i, s, right, gap)
        if weight <= 0.0:
            return None
        if not novel:
            self._note_lead(s, right, low, rival, gap)
        if gap >= self.rule.margin:
            return None
        told = net_coefficients(self.rule, C, s, right, low, rival, _known(measure, k))
        if told is None:
            return None
        g, total, penalty = told
        sq_move = measure * float(g @ g) if isinstance(measure, float) else float(g @ measure[:k, :k] @ g)
        self.note(total * self.rule.margin, float(g @ s), sq_move, penalty)
        return g

    def _count(self, i: int, s: np.ndarray, right: np.ndarray, gap: float) -> None:
        """Write down flag, rank and loss of a round."""
        self.losses[i] = max(0.0, self.rule.margin - gap)
        if gap <= 0.0:
            self.flags[i] = 1
            wrong = np.ones(len(s), np.bool_)
            wrong[right] = False
            self.ranks[i] = 1 + np.count_nonzero(s[wrong] >= s[right].max())

    def _note_lead(self, s: np.ndarray, right: np.ndarray, low: int, rival: int, gap: float) -> None:
        at, self.noted = self.noted, self.noted + 1
        self.middles[at] = 0.5 * float(s[low] + s[rival])
        if gap > 0.0 and len(right) == 1:
            self.leads[at], self.firsts[at], self.hits[at] = gap, right[0], True
            return
        first = int(s.argmax())
        second = np.delete(s, first).max()
        self.leads[at], self.firsts[at], self.hits[at] = s[first] - second, first, (right == first).any()


class Constraints(Rounds):
    """Rounds with one constraint: two labels (0 and 1), or numbers to come within `epsilon` of."""

    def __init__(self, rule: Rule, targets: np.ndarray, weights: np.ndarray, epsilon: float | None = None) -> None:
        super().__init__(rule, len(targets), weights)
        self.targets, self.epsilon = targets, epsilon

    def run(self, first: int, kernel: object, X: np.ndarray, lengths: np.ndarray, scores: np.ndarray) -> Moves:
        """Judge and learn some rows from `first` on, by compiled rounds; as for labels."""
        here, none = slice(first, first + len(X)), np.zeros(0)
        predicted = none, none, np.zeros(0, np.int64), np.zeros(0, np.bool_)
        noted = self.flags[here], np.zeros(0, np.int32), self.losses[here], *predicted
        epsilon = -1.0 if self.epsilon is None else float(self.epsilon)
        targets = self.targets[here].astype(np.float64, copy=False), epsilon
        return self._run(first, kernel, (X, lengths, scores), noted, targets)

    def decide(self, i: int, scores: np.ndarray, measure: float | np.ndarray) -> np.ndarray | None:
        """Judge a round and choose its step."""
        score, target, (weight, C) = float(scores[0]), float(self.targets[i]), self.weigh(i)
        self.learnt += weight > 0.0
        if self.epsilon is None:
            side, margin = (1.0 if target > 0.0 else -1.0), self.rule.margin
        else:
            side = 1.0 if target > score else -1.0
            margin = side * target - self.epsilon
        gap = side * score
        self.losses[i] = max(0.0, margin - gap)
        self.flags[i] = gap <= 0.0 if self.epsilon is None else self.losses[i] > 0.0
        if weight <= 0.0:
            return None
        norm = measure if measure >= self.rule.least_norm else 0.0
        step = alone(self.rule.words.length, gap, norm, margin, C)
        if step <= 0.0:
            return None
        self.note(step * margin, step * gap, step * step * norm, softening(self.rule.words.length, step, C))
        return np.array([side * step])


def _known(measure: float | np.ndarray, k: int) -> float | np.ndarray:
    """K(x, x), or the Gram matrix of the known labels."""
    return measure if isinstance(measure, float) else measure[:k, :k]


def _extremes(s: np.ndarray, right: np.ndarray) -> tuple[int, int]:
    """The lowest right label and the highest wrong one; ties go to the lowest index."""
    ordered = np.sort(right)
    low = int(ordered[s[ordered].argmin()])
    others = s.copy()
    others[right] = -np.inf
    return low, int(others.argmax())
