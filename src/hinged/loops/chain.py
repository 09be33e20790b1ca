"""A sequence learner's memory, and the calls that learn and answer.

One writer at a time holds the lock; any number of readers work concurrently, each on the arrays it took.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike

from hinged.loops.base import check_arrays, dual_of, restored_metric, seen_of
from hinged.loops.explain import Share
from hinged.loops.hearing import hear, pieces
from hinged.loops.ledger import LABELS, LEARNT, MISTAKES, NOVEL, Told, new_told
from hinged.loops.memory import longer
from hinged.loops.metric import EUCLIDEAN, adaptive_of, new_metric, widened
from hinged.loops.rows import LEAST_NORM, LEAST_NORM_SINGLE
from hinged.loops.sequence import COST, MAX_LOSS, ChainLearner, Lessons, Wish, learn
from hinged.loops.tokens import Answer, Chain, Sentences, answer

__all__ = ["Answer", "ChainModel", "part_of"]

VECTOR = 8  # tags are padded to whole vectors of so many
AT_FIRST = 1 << 26  # bytes of weights to make room for at once: untouched zeros are free
NO_TABLE, NOT_GIVEN = np.zeros((0, 0)), np.zeros(0)
LARGEST_TABLE = 1 << 32  # bytes that the search by errors may take
Asked = Callable[[np.ndarray, np.ndarray], float]


class ChainModel:
    """Weights of features and of transitions, counts and the certificate's terms.

    Parameters
    ----------
    dtype : float32 or float64
        Of the features' weights; those of transitions are float64.
    wish : Wish
        The rule and its constraints.
    rho : float64 array (tags, tags)
        Costs by position, empty for the number of errors.
    average : bool
        True to keep the sums for mean weights.
    adaptive : float
        r of a metric that learns; 0 for the Euclidean one.
    """

    metric = EUCLIDEAN  # of a model pickled when there was no other

    def __init__(
        self,
        dtype: DTypeLike,
        wish: Wish,
        rho: np.ndarray = NO_TABLE,
        average: bool = False,
        adaptive: float = 0.0,
    ) -> None:
        self.dtype = np.dtype(dtype)
        self.rho = rho
        self.depth = 2 if average else 1
        self.wish = self._with_least(wish)
        self.view = Chain(
            np.zeros(1, np.int32),
            np.zeros((self.depth, 1, VECTOR), self.dtype),
            np.zeros((self.depth, VECTOR, VECTOR)),
            np.ones(1, np.int64),
        )
        self.counts, self.sums = np.zeros(6, np.int64), np.zeros(COST + 1)
        self.marks = np.zeros(1, np.int32)
        self.metric = new_metric(adaptive)
        self.n_features = 0
        self.lock = threading.RLock()

    def _with_least(self, wish: Wish) -> Wish:
        return wish._replace(least_norm=LEAST_NORM if self.dtype.itemsize == 8 else LEAST_NORM_SINGLE)

    def ask(self, wish: Wish, rho: np.ndarray) -> None:
        """Change the rule and its constraints."""
        self.wish, self.rho = self._with_least(wish), rho

    # ------------------------------------------------------------------ growth
    def declare(self, n_tags: int) -> None:
        """Make tags known before any of their sentences came."""
        with self.lock:
            self._fit_tags(n_tags)
            self.counts[LABELS] = n_tags

    def widen(self, n_features: int) -> None:
        """Admit features up to `n_features`."""
        if n_features > self.n_features:
            self.view = self.view._replace(slots=longer(self.view.slots, n_features))
            self.marks = longer(self.marks, n_features)
            self.metric = widened(self.metric, n_features)
            self.n_features = n_features  # last: readers go by it

    def _fit_tags(self, n_tags: int) -> None:
        width = self.view.W.shape[2]
        if n_tags > width:
            wider = -(-max(n_tags, width + width // 2 if width > VECTOR else 0) // VECTOR) * VECTOR
            self._lay_out(self.view.W.shape[1], wider)

    def _lay_out(self, rows: int, width: int) -> None:
        """Copies of the weights with room for more; readers keep what they hold."""
        old = self.view
        W, T = np.zeros((self.depth, rows, width), self.dtype), np.zeros((self.depth, width, width))
        used, before = int(old.used[0]), old.W.shape[2]
        W[:, :used, :before] = old.W[:, :used]
        T[:, :before, :before] = old.T
        self.view = old._replace(W=W, T=T)

    # ------------------------------------------------------------------ learning
    def learn(
        self,
        sentences: Sentences,
        tags: np.ndarray,
        order: np.ndarray,
        weights: np.ndarray,
        n_tags: int,
        cost: Asked | None = None,
        delay: int = 0,
        advance: Callable[[int], None] | None = None,
    ) -> Told:
        """Learn sentences in that order; return flag, rank and loss of each; the rank is that of the right sequence.

        `n_tags` is how many there are after these sentences; `cost` is a user's function of the right and
        another sequence of tags; `advance(n)` is called with the number of rounds done.
        """
        n = len(order)
        told = new_told(n)
        with self.lock:
            self._check_table(sentences, order, n_tags)
            self._fit_tags(n_tags)
            if cost is not None or delay > 0:
                self._learn_singly(Lessons(sentences, tags, order, weights), n_tags, cost, delay, advance, told)
                return told
            ends = np.concatenate([[0], np.cumsum(_sizes(sentences)[order])])
            for part in pieces(ends, n_tags, advance=advance):
                self._run(Lessons(sentences, tags, order[part], weights), n_tags, NOT_GIVEN, told.part(part))
        return told

    def _run(self, lessons: Lessons, n_tags: int, given: np.ndarray, told: Told) -> None:
        cursor = np.zeros(2, np.int64)
        while True:
            chain = self.view
            learner = ChainLearner(self.wish, self.rho, chain, self.counts, self.sums, self.marks, self.metric)
            learn(lessons, learner, given, n_tags, told, cursor)
            if cursor[0] == len(lessons.order):
                return
            rows = int(chain.used[0]) + int(cursor[1])
            room = min(self.n_features + 1, AT_FIRST // (chain.W.shape[2] * self.dtype.itemsize * self.depth))
            self._lay_out(max(rows, 2 * chain.W.shape[1], room, 256), chain.W.shape[2])

    def _learn_singly(
        self,
        lessons: Lessons,
        n_tags: int,
        cost: Asked | None,
        delay: int,
        advance: Callable[[int], None] | None,
        told: Told,
    ) -> None:
        """Learn one by one: a user's cost function is called for each, or answers come late."""
        sentences, tags, order, weights = lessons
        counts, sums, n = self.counts, self.sums, len(order)
        judged = np.zeros(n)

        def run(i: int, weight: np.ndarray, told: Told) -> float:
            """Run one round; return its cost."""
            one, right = part_of(sentences, order[i]), tags[sentences.ends[order[i]] : sentences.ends[order[i] + 1]]
            given = self._asked(one, right, weight, cost)
            before = sums[COST]
            self._run(Lessons(one, right, np.zeros(1, np.int64), weight), n_tags, given, told)
            return float(sums[COST] - before)

        for t in range(n + delay):
            if delay > 0 and t < n:  # what counts is the prediction, by the weights of its moment
                kept, spent = counts.copy(), sums[COST]
                judged[t] = run(t, np.zeros(1), told.part(slice(t, t + 1)))
                counts[:], sums[COST] = kept, spent
            i = t - delay
            if i < 0:
                continue
            now, spent = new_told(1) if delay > 0 else told.part(slice(i, i + 1)), sums[COST]
            run(i, weights[order[i] : order[i] + 1], now)
            if delay > 0:
                counts[MISTAKES] += int(told.flags[i] == 1) - int(now.flags[0] == 1)
                counts[NOVEL] += int(told.flags[i] == -1) - int(now.flags[0] == -1)
                sums[COST] = spent + judged[i]
            if advance is not None:
                advance(1)
            hear()

    def _asked(self, one: Sentences, right: np.ndarray, weight: np.ndarray, cost: Asked | None) -> np.ndarray:
        """Costs of the best sequences of one sentence, by a user's function; none where nothing is learnt or counted.

        The sequences are over the tags of the round: those known, and new ones where the sentence is learnt.
        """
        known = int(self.counts[LABELS])
        is_new = bool(right.min() < 0 or right.max() >= known)
        is_learnt = self.wish.learns_new and (len(weight) == 0 or weight[0] > 0.0)
        if cost is None or (is_new and not is_learnt):
            return NOT_GIVEN
        given, k = np.zeros(self.wish.n_best), max(known, int(right.max()) + 1)
        _, listed, _, found = self.answer(one, k, self.wish.n_best, current=True)
        for j in range(int(found[0])):
            given[j] = 0.0 if (listed[j] == right).all() else cost(right, listed[j])
        return given

    def _check_table(self, sentences: Sentences, order: np.ndarray, n_tags: int) -> None:
        if self.wish.constraint == MAX_LOSS:
            longest = int(np.diff(sentences.ends)[order].max(initial=0))
            if longest * (longest + 1) * max(n_tags, VECTOR) * 2 > LARGEST_TABLE:
                raise ValueError(
                    f"constraint='max-loss' searches over tokens² x tags, 4 GiB at most; got a sentence of {longest} "
                    f"tokens with {n_tags} tags. Split it, or use constraint='additive'."
                )

    # ------------------------------------------------------------------ answers
    def answer(self, sentences: Sentences, k: int, m: int, current: bool = False) -> Answer:
        """Emissions, and the `m` best sequences of each sentence (none for 0), over the first `k` tags.

        By the mean weights where an average is kept, unless `current` asks for the last ones.
        """
        chain, n, tokens = self.view, len(sentences.ends) - 1, int(sentences.ends[-1])
        E, tags = np.empty((tokens, chain.W.shape[2])), np.zeros((m, tokens), np.int64)
        tops, found = np.zeros((m, n)), np.zeros(n, np.int64)
        ends, mean = np.concatenate([[0], np.cumsum(_sizes(sentences))]), self.depth == 2 and not current
        for part in pieces(ends, k * max(1, m)):
            some, a, b = several(sentences, part)
            out = Answer(E[a:b], np.zeros((m, b - a), np.int64), np.zeros((m, part.stop - part.start)), found[part])
            answer(chain, some, k, self.counts, mean, m, out)
            tags[:, a:b], tops[:, part] = out.tags, out.scores
        return Answer(E[:, :k], tags, tops, found)

    def rows(self, features: np.ndarray, k: int) -> np.ndarray:
        """Weights of features, (features, tags): the mean ones where an average is kept."""
        chain = self.view
        known = np.where(features < len(chain.slots), features, 0)
        slots = np.where(features < len(chain.slots), chain.slots[known], 0)
        slots = np.where(slots < chain.W.shape[1], slots, 0)
        return self._mean(chain.W[:, slots, :k])

    def transitions(self, k: int) -> np.ndarray:
        """Weights of transitions, [previous, current]: the mean ones where an average is kept."""
        return self._mean(self.view.T[:, :k, :k])

    def _mean(self, layers: np.ndarray) -> np.ndarray:
        """The current values of some weights, or their mean where an average is kept; rounds are read last."""
        late = layers[-1].copy()
        now = layers[0].astype(np.float64)
        rounds = int(self.counts[LEARNT])
        return now - late / rounds if self.depth == 2 and rounds else now

    @property
    def dual(self) -> float:
        """The dual certificate, Σ λ m - ½‖ω‖² (less Σ λ²/4C for pa2)."""
        return dual_of(self.sums)

    # ------------------------------------------------------------------ what learners ask of every model
    functions = ()
    all_or_nothing = fixed_space = False

    def explain(self, sentence: Sentences, position: int, k: int, at: int) -> list[Share]:
        """What the features of one token add to the emission of tag `at`, of the first `k`."""
        first, last = sentence.indptr[position : position + 2].tolist()
        features = sentence.features[first:last]
        ones = len(sentence.values) == 0
        values = np.ones(last - first) if ones else sentence.values[first:last].astype(np.float64)
        return list(map(Share, features.tolist(), (values * self.rows(features, k)[:, at]).tolist()))

    # ------------------------------------------------------------------ keeping
    @property
    def sizes(self) -> tuple[int, int]:
        """Tags and features that are known."""
        return int(self.counts[LABELS]), self.n_features

    def cut(self, n_tags: int, n_features: int) -> None:
        """Forget tags and features that came after so many; nothing may have been learnt of them."""
        self.counts[LABELS], self.n_features = n_tags, n_features

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything learnt, as plain arrays, without the room for more."""
        k, used = int(self.counts[LABELS]), int(self.view.used[0])
        return {
            "slots": self.view.slots[: self.n_features],
            "weights": self.view.W[:, :used, :k],
            "transitions": self.view.T[:, :k, :k],
            "counts": self.counts,
            "sums": self.sums,
            **seen_of(self.metric, self.n_features),
        }

    def restore(self, arrays: dict[str, np.ndarray], names: Sequence[Hashable], n_tags: int) -> None:
        """Load what `arrays` describe after checking it; the arrays are copied."""
        slots, W, T = arrays["slots"], arrays["weights"], arrays["transitions"]
        counts, sums = arrays["counts"], arrays["sums"]
        check_arrays(arrays, {"counts": (self.counts.shape, np.int64), "sums": (self.sums.shape, np.float64)})
        if (counts < 0).any():
            raise ValueError("its counts are damaged")
        if counts[LABELS] != n_tags or T.shape != (self.depth, n_tags, n_tags) or T.dtype != np.float64:
            raise ValueError("its transitions do not fit its tags")
        if W.ndim != 3 or W.shape[1] < 1 or W.shape[::2] != (self.depth, n_tags) or W.dtype != self.dtype:
            raise ValueError("its weights do not fit its tags")
        if not np.isfinite(W).all() or not np.isfinite(T).all() or W[:, 0].any():
            raise ValueError("its weights are damaged")
        held = slots[slots > 0] if slots.dtype == np.int32 and slots.ndim == 1 else None
        if held is None or (slots < 0).any() or len(np.unique(held)) != len(held) or held.max(initial=0) >= W.shape[1]:
            raise ValueError("its features point outside of it")
        self.metric = restored_metric(self.metric, arrays, len(slots))
        self.counts, self.sums = counts.copy(), sums.copy()
        self._fit_tags(n_tags)
        self._lay_out(W.shape[1], self.view.W.shape[2])
        self.view.W[:, :, :n_tags], self.view.T[:, :n_tags, :n_tags] = W, T
        self.view = self.view._replace(slots=np.zeros(1, np.int32), used=np.array([W.shape[1]], np.int64))
        self.widen(len(slots))
        self.view.slots[: len(slots)] = slots

    def copy(self) -> Self:
        """A model of its own that knows the same."""
        twin = object.__new__(type(self))
        twin.__setstate__(self.__getstate__())
        return twin

    def __getstate__(self) -> dict[str, Any]:
        with self.lock:
            arrays = {name: array.copy() for name, array in self.arrays().items()}
            settings = (self.dtype, self.wish, self.rho, self.depth == 2, adaptive_of(self.metric))
            return {"settings": settings, "arrays": arrays}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(*state["settings"])  # type: ignore[misc]
        self.restore(state["arrays"], (), int(state["arrays"]["counts"][LABELS]))


def part_of(sentences: Sentences, i: int) -> Sentences:
    """One sentence by itself."""
    return several(sentences, slice(i, i + 1))[0]


def several(sentences: Sentences, part: slice) -> tuple[Sentences, int, int]:
    """Some of the sentences, and where their tokens begin and end."""
    ends = sentences.ends[part.start : part.stop + 1]
    a, b = int(ends[0]), int(ends[-1])
    first, last = int(sentences.indptr[a]), int(sentences.indptr[b])
    values = sentences.values[first:last] if len(sentences.values) else sentences.values
    indptr = sentences.indptr[a : b + 1] - first
    return Sentences(ends - a, indptr, sentences.features[first:last], values), a, b


def _sizes(sentences: Sentences) -> np.ndarray:
    """Tokens and features of each sentence."""
    return np.diff(sentences.ends) + np.diff(sentences.indptr[sentences.ends])
