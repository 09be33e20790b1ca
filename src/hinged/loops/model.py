"""Calls into the loops: learning rows, answering rows, asking the user's own label features.

One writer at a time (a lock sees to it); any number of readers beside it, each on the memory it took hold of. A reader
may see an update half written, never memory that is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from numbers import Real
from typing import Any

import numpy as np

from hinged.loops.direct import Direct
from hinged.loops.explain import Share, row_contributions, row_features, shared_contributions
from hinged.loops.hearing import LONG, apart, hear, pieces
from hinged.loops.labels import VECTORS, WEIGHTS, Targets, learn
from hinged.loops.ledger import LABELS, Book, Told, new_told
from hinged.loops.pages import SEGMENT
from hinged.loops.prototypes import fast_forward
from hinged.loops.quick_steps import Kept
from hinged.loops.round import (
    BLOCKS,
    CURSOR,
    DELAY,
    DONE,
    FULL,
    NARROW,
    NEXT,
    PAGE_TO_WIDEN,
    REASON,
    SLOTS,
    STOP,
    STOPPED,
    UNTIL,
    WHICH,
)
from hinged.loops.row_scaler import scale_rows
from hinged.loops.rows import LARGEST_VALUE, Rows, part_of
from hinged.loops.scoring import score
from hinged.loops.shares import mass
from hinged.loops.side_by_side import forward_side_by_side
from hinged.loops.state import Explicit, LabelMemory, Views
from hinged.rules.words import is_interior, is_joint, is_own
from hinged.sharing.evidence import NAMES

__all__ = ["LabelModel"]

#: A row's features and values as the user's own label features should see them.
Describe = Callable[[np.ndarray, np.ndarray], Any]

learn_direct, score_direct = Direct(learn), Direct(score)
UNSTOPPED = np.zeros(1, np.int64)  # of a short row, which nothing stops

#: Operations by which a label feature is worked out.
PER_LABEL_FEATURE = 32
#: Rows after which a quick loop has paid for its call, and the most that the general loop learns before the next call.
ENOUGH, MOST = 32, 256


def _usual(kind: Hashable, *args: Any) -> None:
    learn(*args)


def _alone(kind: Hashable, *args: Any) -> None:
    apart(learn, args, args[-1][STOP:])


class LabelModel(LabelMemory):
    """Weights, statistics and counts of one learner on labels, and the calls that teach and ask it."""

    # ------------------------------------------------------------------ learning
    def learn_one(self, rows: Rows, targets: Targets, labels: Sequence[Hashable]) -> None:
        """`learn` for one row, without its outcome; for models that ask no label features of the user's own."""
        with self.lock:
            self._fit_to(len(labels), 1)
            book, cursor = Book(self.ledger, self.notes, self.unread), np.zeros(CURSOR, np.int64)
            for cursor[UNTIL] in self._up_to_renewals(0, 1):
                self._run(rows, targets, labels, self.longest(rows), book, cursor, None)

    def learn(
        self,
        rows: Rows,
        targets: Targets,
        labels: Sequence[Hashable],
        delay: int = 0,
        describe: Describe | None = None,
        advance: Callable[[int], None] | None = None,
    ) -> Told:
        """Learn rows in order; return the outcome of each round.

        `labels` are all labels after these rows; `advance(n)` is called as rounds are done.
        """
        n = len(rows.indptr) - 1
        longest, told = self.longest(rows), new_told(n)
        with self.lock:
            self._fit_to(len(labels), n)
            book, cursor = Book(self.ledger, self.notes, told), np.zeros(CURSOR, np.int64)
            if self.functions:
                self._learn_singly(rows, targets, labels, delay, describe, advance, told)
                return told
            cursor[DELAY] = delay
            for part in pieces(rows.indptr, self.per_raw_value(self._per_value(len(labels))), delay, advance):
                for cursor[UNTIL] in self._up_to_renewals(part.start, part.stop):
                    if self._has_quick_loop(n, delay):
                        self._take_turns(rows, targets, labels, longest, book, cursor, advance)
                    else:
                        self._run(rows, targets, labels, longest, book, cursor, None, advance)
        return told

    def _has_quick_loop(self, n: int, delay: int) -> bool:
        """Return True if a quick loop can learn the common ones of `n` rows; one row is not worth compiling it."""
        if n == 1 or delay > 0 or not self.plan.per_label or self.plan.parts:
            return False
        rule = self.setting.words
        return not (self.average or len(self.costs.rho) or is_interior(rule) or is_own(rule))

    def _take_turns(
        self,
        rows: Rows,
        targets: Targets,
        labels: Sequence[Hashable],
        longest: int,
        book: Book,
        cursor: np.ndarray,
        advance: Callable[[int], None] | None,
    ) -> None:
        """Learn rows up to `cursor[UNTIL]`, those of the common kind by a quick loop and others by the general one.

        Going from one to the other takes as long as learning some rows. So where the quick loop soon meets a row that
        it cannot learn, the general one goes on for more and more rows.
        """
        until, few = int(cursor[UNTIL]), 1
        while True:
            begin = int(cursor[NEXT])
            self._forward(rows, targets, labels, longest, book, cursor)
            if cursor[NEXT] == until:
                return
            few = 1 if cursor[NEXT] - begin >= ENOUGH else min(2 * few, MOST)
            cursor[UNTIL] = min(until, int(cursor[NEXT]) + few)
            self._run(rows, targets, labels, longest, book, cursor, None, advance)
            cursor[UNTIL] = until

    def _forward(
        self,
        rows: Rows,
        targets: Targets,
        labels: Sequence[Hashable],
        longest: int,
        book: Book,
        cursor: np.ndarray,
    ) -> None:
        """Learn rows of the common kind, up to the first that is not."""
        memory = self._memory(labels, None)
        kept = Kept(memory.weights, memory.scaling, memory.metric, memory.experts)
        if not 1 < self.counts[LABELS] <= SEGMENT or kept.weights.table.shape[1] > 1:
            return
        if self.each > 1:
            forward_side_by_side(rows, targets, self.setting, kept, book, longest, cursor)
        else:
            fast_forward(rows, targets, self.setting, kept, book, longest, cursor)

    def _values(self, rows: Rows) -> int:
        """How many values the rows have once they are read."""
        made = self.feature_map
        return len(rows.data) if made is None else sum(map(made.values, np.diff(rows.indptr).tolist()))

    def _per_value(self, n_labels: int) -> int:
        """Operations that a value of a row takes once it is read, roughly."""
        if not self.plan.parts:
            return 1 + n_labels * self.each
        joint = n_labels * n_labels // 2 if is_joint(self.setting.words) else 0
        return 1 + len(self.plan.parts) * (PER_LABEL_FEATURE * n_labels + joint)

    def _learn_singly(
        self,
        rows: Rows,
        targets: Targets,
        labels: Sequence[Hashable],
        delay: int,
        describe: Describe | None,
        advance: Callable[[int], None] | None,
        told: Told,
    ) -> None:
        """Row by row, because the user's own label features must be computed for each."""

        def run(i: int, begin: int, grow: bool) -> None:
            """One row by itself; with a delay of 1 it is predicted in round 0 and learnt in round 1."""
            one = slice(i, i + 1)
            row, target = part_of(rows, one), targets.part(one)
            explicit = self._explicit(row, labels[: self._asked_about(target, learns=grow)], describe, grow)
            cursor = np.zeros(CURSOR, np.int64)
            cursor[[NEXT, UNTIL, DELAY]] = begin, begin + 1, min(delay, 1)
            book = Book(self.ledger, self.notes, told.part(one))
            self._run(row, target, labels, self.longest(row), book, cursor, explicit)

        n = len(told.flags)
        for t in range(n + delay):
            if delay > 0 and t < n:
                run(t, 0, grow=False)
            if t >= delay:
                run(t - delay, min(delay, 1), grow=True)
                if advance is not None:
                    advance(1)

    def _asked_about(self, target: Targets, learns: bool) -> int:
        """How many labels a round on one row scores: those known, and where it `learns` new ones, those too."""
        known = int(self.counts[LABELS])
        if not (learns and self.setting.learns_new) or (len(target.weights) and target.weights[0] == 0.0):
            return known
        right = target.labels[target.indptr[0] : target.indptr[1]]
        return max(known, int(right.max(initial=-1)) + 1)

    def _run(
        self,
        rows: Rows,
        targets: Targets,
        labels: Sequence[Hashable],
        longest: int,
        book: Book,
        cursor: np.ndarray,
        explicit: Explicit | None,
        advance: Callable[[int], None] | None = None,
    ) -> None:
        """Learn rows up to `cursor[UNTIL]`; `advance(0)` is called before a long one, and in it after a signal."""
        n_labels = len(labels)
        call = learn_direct if len(rows.indptr) == 2 and self.own is None else _usual
        long = longest * self._per_value(n_labels) > LONG
        if long and cursor[DELAY] == 0 and cursor[UNTIL] - cursor[NEXT] == 1:
            call = _alone
            if advance is not None:
                advance(0)
        problem = self._problem()
        while True:
            memory = self._memory(labels, explicit)
            call(self.kind, rows, targets, problem, memory, book, longest, n_labels, cursor)
            reason = cursor[REASON]
            if reason == DONE:
                return
            which = int(cursor[WHICH])
            if reason == FULL:
                plain = self.plan.per_label and not self.plan.parts
                alone = which == WEIGHTS and plain  # as `fast_forward` needs them
                room = (int(cursor[SLOTS]), int(cursor[BLOCKS]), self._width(which, n_labels))
                self.stores[which].make_room(*room, self._values(rows), alone)
            elif reason == NARROW:
                self.stores[which].widen(int(cursor[PAGE_TO_WIDEN]), self._width(which, n_labels))
            elif reason == STOPPED:
                hear()
                if advance is not None:
                    advance(0)
                cursor[STOP] = 0
            cursor[REASON] = DONE

    # ------------------------------------------------------------------ reading
    def score(
        self, rows: Rows, labels: Sequence[Hashable], describe: Describe | None = None, current: bool = False
    ) -> np.ndarray:
        """Scores (rows, labels) by the weights learnt so far; with `average`, by their mean unless `current`."""
        n = len(rows.indptr) - 1
        if not len(labels) or not n:
            return np.zeros((n, len(labels)))
        now = self._now()
        held = [paged.view for paged in now.stores]  # keeps the pages alive while they are read
        ask = now._score if now.metric.fading.weights == 0.0 else partial(now._steadily, now._score)
        if now.has_mean or (now.average and not current):
            return now.mean_of(partial(ask, rows, labels, describe, held))
        return ask(rows, labels, describe, held, 0)

    def mean_of(self, ask: Callable[[int], np.ndarray]) -> np.ndarray:
        """What `ask(rounds)` says of the mean weights w - late / rounds; without a mean, `ask(0)` of the current ones.

        Beside a writer, moves younger than `rounds` would count many times over. Then w - late is asked for first,
        then w, and the rounds are read last: each move counts for something between nothing and the whole of it.
        """
        rounds = self.mean_over
        answer = ask(rounds)
        if rounds == 0 or rounds == self.mean_over:
            return answer
        without, now = ask(1), ask(0)
        return now + (without - now) / mass(self.experts.growth if self.has_mean else 1.0, float(self.mean_over))

    def _score(
        self, rows: Rows, labels: Sequence[Hashable], describe: Describe | None, held: Views, mean_over: int
    ) -> np.ndarray:
        n, longest, per_value = len(rows.indptr) - 1, self.longest(rows), self._per_value(len(labels))
        counts, out = self._counts_here(), np.zeros((n, len(labels)))
        long = longest * per_value > LONG
        if n == 1 and not (self.functions or long):
            short = rows, self._memory(labels, None, held), counts, mean_over, longest, out, UNSTOPPED
            score_direct(self.kind, *short)
            return out
        stop = np.zeros(1, np.int64)
        memory = None if self.functions else self._memory(labels, None, held)
        singly = (slice(i, i + 1) for i in range(n))
        for part in singly if self.functions else pieces(rows.indptr, self.per_raw_value(per_value)):
            some = Rows(rows.indptr[part.start : part.stop + 1], *rows[1:])
            now = memory or self._memory(labels, self._explicit(some, labels, describe, grow=False), held)
            args = (some, now, counts, mean_over, longest, out[part], stop)
            if not self.functions and long and part.stop - part.start == 1:
                apart(score, args, stop)
                while stop[0]:  # a signal's handler returned: go on
                    hear()
                    stop[0] = 0
                    apart(score, args, stop)
            else:
                score(*args)
        return out

    def explain(
        self, rows: Rows, labels: Sequence[Hashable] = (), at: int = 0, describe: Describe | None = None
    ) -> list[Share]:
        """What the features of one row, and label features of the user's own, add to the score of label `at`."""
        self.check_explains()
        found: list[Share] = []
        model = self._now()

        def values(mean_over: int) -> np.ndarray:
            now = model._shares(rows, labels, at, describe, mean_over)
            if not found:
                found.extend(Share(feature, 0.0, own) for own, feature in now)
            return np.array([now.get((share.named, share.feature), 0.0) for share in found])

        total = model.mean_of(values).tolist()
        return [share._replace(value=value) for share, value in zip(found, total, strict=True)]

    def _shares(
        self, rows: Rows, labels: Sequence[Hashable], at: int, describe: Describe | None, mean_over: int
    ) -> dict[tuple[bool, Hashable], float]:
        """Shares by feature, and by whether the feature is one of the user's own; `mean_over` as in `mean_of`."""
        held = [paged.view for paged in self.stores]
        explicit = self._explicit(rows, labels, describe, grow=False) if self.functions else None
        memory, n_labels = self._memory(labels, explicit, held), len(labels)
        before, (ids, values) = self._learnt_here, self.read(rows)
        own = row_contributions(memory, ids, values, mean_over, n_labels, at) * self._left_since(before)
        found: dict[tuple[bool, Hashable], float] = {
            (False, f): value for f, value in zip(ids.tolist(), own.tolist(), strict=True)
        }
        if memory.parts is not None:
            places, phi = row_features(rows, memory, self.counts, n_labels)
            names, kinds = list(self.names), [f"evidence:{NAMES[code]}" for code in self.plan.evidence]
            shared = shared_contributions(memory.parts, places, phi, mean_over, at)
            for place, value in zip(places.tolist(), shared.tolist(), strict=True):
                key: tuple[bool, Hashable] = (False, place - len(kinds))
                if self.functions or place < len(kinds):
                    key = (True, names[place - 1] if self.functions else kinds[place])
                found[key] = found.get(key, 0.0) + value
        return found

    def scaled(self, rows: Rows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Compressed rows (indptr, columns, values) as a learner that starts from zero reads them, for theory.

        Each row is scaled by the counts of the rows before it, which this model counts but does not learn; the constant
        feature comes last.
        """
        n, room = len(rows.indptr) - 1, self._values(rows) + len(rows.indptr) - 1
        out = Rows(np.zeros(n + 1, np.int64), np.empty(room, np.int64), np.empty(room))
        self._fit_to(int(self.counts[LABELS]), n)
        scale_rows(rows, self._scaling(), self.longest(rows), self.n_weights, 0, np.zeros(0), out)
        return out.indptr, out.indices[: out.indptr[-1]], out.data[: out.indptr[-1]]

    def label_features(
        self, rows: Rows, labels: Sequence[Hashable], describe: Describe | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Places at which some φ of one row differs from 0, and φ (parts, places, labels), before it is learnt."""
        explicit = self._explicit(rows, labels, describe, grow=True) if self.functions else None
        self._fit_to(len(labels), 1)
        places, phi = row_features(rows, self._memory(labels, explicit), self.counts, len(labels))
        return places, phi

    def _explicit(self, rows: Rows, labels: Sequence[Hashable], describe: Describe | None, grow: bool) -> Explicit:
        """Compute the user's own label features of one row, for every label; with `grow`, new features get a place."""
        assert describe is not None
        x = describe(*self.read(rows))
        most = LARGEST_VALUE[self.dtype.name] ** 2
        functions = [part.function for part in self.plan.parts if part.function]
        answers = [[_checked(function(x, label), most) for label in labels] for function in functions]
        seen = dict.fromkeys(name for answer in answers for phi in answer for name in phi)
        if grow:
            for name in seen:
                self.names.setdefault(name, len(self.names) + 1)
            self.stores[VECTORS].fit_to(len(self.names) + 1, len(self.plan.parts))
        known = [name for name in seen if name in self.names]
        ids = np.array([self.names[name] for name in known], np.int64)
        values = [[[phi.get(name, 0.0) for phi in answer] for name in known] for answer in answers]
        return ids, np.array(values, np.float64).reshape(len(answers), len(known), len(labels))


def _checked(phi: object, most: float) -> Mapping[Hashable, float]:
    """Return what a user's label features returned, if it is a dict of finite numbers."""
    if not isinstance(phi, Mapping):
        raise TypeError(f"label features must return a dict of feature → value; got {phi!r}.")
    for name, value in phi.items():
        if not isinstance(value, Real | np.number) or not abs(float(value)) <= most:
            raise ValueError(
                f"label features must return finite numbers up to {most:g}; got {name!r}: {value!r}. Scale them."
            )
    return phi
