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

from hinged.loops.columns import Columns
from hinged.loops.costs import counted_cost, round_loss
from hinged.loops.direct import Direct
from hinged.loops.explain import Share, row_contributions, shared_contributions
from hinged.loops.hearing import LONG, apart, hear, pieces
from hinged.loops.labels import CURSOR, FULL, NARROW, STOP, STOPPED, SUMS, UNTIL, VECTORS, WEIGHTS, Targets, learn
from hinged.loops.ledger import COST, LABELS, LEARNT, MISTAKES, NOVEL, Told, new_told
from hinged.loops.rows import LARGEST_VALUE, Rows, longest_row, read_row, scale_rows
from hinged.loops.scoring import score
from hinged.loops.shared import fill_features, support
from hinged.loops.state import LabelMemory
from hinged.rules.words import INTERIOR, JOINT
from hinged.tasks.labels import extremes, rank_of_best

__all__ = ["LabelModel", "part_of"]

#: A row's features and values as the user's own label features should see them.
Describe = Callable[[np.ndarray, np.ndarray], Any]

learn_direct, score_direct = Direct(learn), Direct(score)


#: Operations by which a label feature is worked out.
PER_LABEL_FEATURE = 32


def _usual(kind: Hashable, *args: Any) -> None:
    learn(*args)


def _alone(kind: Hashable, *args: Any) -> None:
    apart(learn, args, args[-1][STOP:])


class LabelModel(LabelMemory):
    """Weights, statistics and counts of one learner on labels, and the calls that teach and ask it."""

    # ------------------------------------------------------------------ learning
    def learn(
        self,
        rows: Rows,
        targets: Targets,
        labels: Sequence[Hashable],
        delay: int = 0,
        describe: Describe | None = None,
        advance: Callable[[int], None] | None = None,
    ) -> Told:
        """Learn rows in order; return what is told of each round.

        `labels` are all labels after these rows; `advance(n)` is told of rounds done.
        """
        n = len(rows.indptr) - 1
        told, cursor = new_told(n), np.zeros(CURSOR, np.int64)
        with self.lock:
            longest = longest_row(rows)
            self._fit_to(len(labels), n)
            if self.functions:
                self._learn_singly(rows, targets, labels, delay, describe, advance, longest, told)
                return told
            for part in pieces(rows.indptr, self._per_value(len(labels)), delay, advance):
                cursor[UNTIL] = part.stop
                self._run(rows, targets, labels, delay, longest, told, cursor, None, advance)
        return told

    def _per_value(self, n_labels: int) -> int:
        """Operations that a value of a row takes, roughly."""
        if not self.plan.parts:
            return 1 + n_labels
        joint = n_labels * n_labels // 2 if self.setting.words.combine in (JOINT, INTERIOR) else 0
        return 1 + len(self.plan.parts) * (PER_LABEL_FEATURE * n_labels + joint)

    def _learn_singly(
        self,
        rows: Rows,
        targets: Targets,
        labels: Sequence[Hashable],
        delay: int,
        describe: Describe | None,
        advance: Callable[[int], None] | None,
        longest: int,
        told: Told,
    ) -> None:
        """Row by row, because the user's own label features must be asked about each."""
        n, counts, flags = len(told.flags), self.ledger.counts, told.flags
        for t in range(n + delay):
            if delay > 0 and t < n:
                some, theirs = part_of(rows, targets, slice(t, t + 1))
                self.notes[COST] += self._judge(some, theirs, labels, describe, told.part(slice(t, t + 1)))
            i = t - delay
            if i >= 0:
                some, theirs = part_of(rows, targets, slice(i, i + 1))
                explicit = self._explicit(some, labels[: int(counts[LABELS])], describe, grow=True)
                so_far = self.notes[COST]
                now, cursor = new_told(1) if delay > 0 else told.part(slice(i, i + 1)), np.zeros(CURSOR, np.int64)
                cursor[UNTIL] = 1
                self._run(some, theirs, labels, 0, longest, now, cursor, explicit)
                if delay > 0:  # what counts is the prediction, not what the model would say by now
                    self.notes[COST] = so_far
                    counts[MISTAKES] += int(flags[i] == 1) - int(now.flags[0] == 1)
                    counts[NOVEL] += int(flags[i] == -1) - int(now.flags[0] == -1)
                if advance is not None:
                    advance(1)

    def _judge(
        self, rows: Rows, targets: Targets, labels: Sequence[Hashable], describe: Describe | None, told: Told
    ) -> float:
        """Judge one row by the current weights; return its cost."""
        k = int(self.ledger.counts[LABELS])
        right = targets.labels[targets.indptr[0] : targets.indptr[1]]
        if len(right) and (right.min() < 0 or right.max() >= k):
            told.flags[0] = -1
            return 0.0
        if len(right) == 0 or len(right) == k:
            told.ranks[0] = 1
            return 0.0
        scores = self.score(rows, labels[:k], describe, current=True)[0]
        is_right = np.isin(np.arange(k), right)
        low, rival = extremes(scores, right, is_right)
        gap = scores[right[low]] - scores[rival]
        told.flags[0], told.ranks[0] = gap <= 0.0, rank_of_best(scores, right, is_right)
        told.losses[0] = round_loss(self.setting, self.costs, scores, right[0], gap)
        return counted_cost(self.costs, scores, right[0]) if len(self.costs.rho) else 0.0

    def _run(
        self,
        rows: Rows,
        targets: Targets,
        labels: Sequence[Hashable],
        delay: int,
        longest: int,
        told: Told,
        cursor: np.ndarray,
        explicit: tuple[np.ndarray, np.ndarray] | None,
        advance: Callable[[int], None] | None = None,
    ) -> None:
        """Learn rows up to `cursor[UNTIL]`; `advance(0)` is called before a long one, and in it where a signal came."""
        columns = self._columns_of(labels)
        call = learn_direct if len(rows.indptr) == 2 and self.own is None else _usual
        if delay == 0 and longest * self._per_value(len(labels)) > LONG and cursor[UNTIL] - cursor[0] == 1:
            call = _alone
            if advance is not None:
                advance(0)
        while True:
            call(
                self.kind,
                rows,
                targets,
                delay,
                self.setting,
                self.own,
                self.costs,
                columns,
                self._scaling(),
                self.stores[WEIGHTS].store,
                self._parts(labels, explicit),
                self.ledger,
                self.notes,
                longest,
                len(labels),
                told,
                cursor,
            )
            if cursor[1] == FULL:
                which, slots, blocks = int(cursor[2]), int(cursor[3]), int(cursor[4])
                alone = which == WEIGHTS and self.plan.per_label and not self.plan.parts  # as `fast_forward` needs them
                self.stores[which].make_room(slots, blocks, self._width(which, len(labels)), len(rows.indices), alone)
            elif cursor[1] == NARROW:
                which = int(cursor[2])
                self.stores[which].widen(int(cursor[3]), self._width(which, len(labels)))
            elif cursor[1] == STOPPED:
                hear()
                if advance is not None:
                    advance(0)
                cursor[STOP] = 0
            else:
                return
            cursor[1] = 0

    # ------------------------------------------------------------------ reading
    def score(
        self, rows: Rows, labels: Sequence[Hashable], describe: Describe | None = None, current: bool = False
    ) -> np.ndarray:
        """Scores (rows, labels) by the weights learnt so far; by their mean where one is kept, unless `current`."""
        n = len(rows.indptr) - 1
        if not len(labels) or not n:
            return np.zeros((n, len(labels)))
        held = [paged.view for paged in self.stores]  # keeps the pages alive while they are read
        if current or self.mean_depth != 2:
            return self._score(rows, labels, describe, held, 0)
        return self.mean_of(partial(self._score, rows, labels, describe, held))

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
        return now + (without - now) / self.mean_over

    def _score(
        self, rows: Rows, labels: Sequence[Hashable], describe: Describe | None, held: Any, mean_over: int
    ) -> np.ndarray:
        n = len(rows.indptr) - 1
        out, stop = np.zeros((n, len(labels))), np.zeros(1, np.int64)
        longest = longest_row(rows)
        columns, scaling, counts = self._columns_of(labels), self._scaling(), self.ledger.counts
        if not self.functions:
            parts, per_value = self._parts(labels, None, held), self._per_value(len(labels))
            common = (columns, scaling, held[0][0], parts, counts, mean_over, longest)
            for part in pieces(rows.indptr, per_value):
                args = (Rows(rows.indptr[part.start : part.stop + 1], *rows[1:]), *common, out[part], stop)
                if longest * per_value > LONG and part.stop - part.start == 1:
                    apart(score, args, stop)
                    while stop[0]:  # somebody heard a signal and goes on all the same
                        hear()
                        stop[0] = 0
                        apart(score, args, stop)
                elif n == 1:
                    score_direct(self.kind, *args)
                else:
                    score(*args)
            return out
        for i in range(n):
            one = Rows(rows.indptr[i : i + 2], rows.indices, rows.data)
            explicit = self._explicit(one, labels, describe, grow=False)
            parts = self._parts(labels, explicit, held)
            score(one, columns, scaling, held[0][0], parts, counts, mean_over, longest, out[i : i + 1], stop)
        return out

    def read(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Features and scaled values of one row; feature 0 is the bias, column c is feature c + 1."""
        longest = int(rows.indptr[1] - rows.indptr[0])
        f, v = np.empty(longest + 1, np.int64), np.empty(longest + 1, rows.data.dtype)
        n, _q = read_row(rows, 0, self._scaling(), int(self.ledger.counts[LEARNT]), f, v)
        return f[:n], v[:n]

    def columns_of(self, labels: Sequence[Hashable]) -> Columns:
        """Which of the vectors that multiply the row itself each label reads."""
        return self._columns_of(labels)

    def scaled(self, rows: Rows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Compressed rows (indptr, columns, values) as a learner that starts from zero reads them, for theory.

        Each row is scaled by the counts of the rows before it, which this model counts but does not learn; the constant
        feature comes last.
        """
        n, room = len(rows.indptr) - 1, len(rows.data) + len(rows.indptr) - 1
        indptr, columns, values = np.zeros(n + 1, np.int64), np.empty(room, np.int64), np.empty(room)
        self._fit_to(int(self.ledger.counts[LABELS]), n)
        scale_rows(rows, self._scaling(), longest_row(rows), self.n_features, indptr, columns, values)
        return indptr, columns[: indptr[-1]], values[: indptr[-1]]

    def label_features(
        self, row: Rows, labels: Sequence[Hashable], describe: Describe | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Features on which some φ of one row differs from 0, and φ (parts, features, labels), before it is learnt."""
        explicit = self._explicit(row, labels, describe, grow=True) if self.functions else None
        self._fit_to(len(labels), 1)
        f, v = self.read(row)
        parts = self._parts(labels, explicit)
        assert parts is not None
        room = len(f) + len(parts.ids) + int(self.stores[SUMS].store.used[0]) + 1
        fs, vs = np.empty(room, np.int64), np.empty(room)
        m = support(parts, f, v, len(f), fs, vs)
        phi, work = np.zeros((len(parts.kinds), m, len(labels))), np.zeros(len(labels))
        fill_features(parts, fs, vs, 0, m, int(self.ledger.counts[LEARNT]), self._scaling().df, phi, work)
        return fs[:m], phi

    # ------------------------------------------------------------------ what learners ask of every model
    all_or_nothing = fixed_space = False

    @property
    def counts(self) -> np.ndarray:
        """Rounds, mistakes and the like; see `hinged.loops.ledger`."""
        return self.ledger.counts

    def explain(
        self, rows: Rows, labels: Sequence[Hashable] = (), at: int = 0, describe: Describe | None = None
    ) -> list[Share]:
        """What the features of one row, and label features of the user's own, add to the score of label `at`."""
        found: list[Share] = []

        def values(mean_over: int) -> np.ndarray:
            now = self._shares(rows, labels, at, describe, mean_over)
            if not found:
                found.extend(Share(feature, 0.0, own) for own, feature in now)
            return np.array([now.get((share.named, share.feature), 0.0) for share in found])

        total = self.mean_of(values).tolist()
        return [share._replace(value=value) for share, value in zip(found, total, strict=True)]

    def _shares(
        self, rows: Rows, labels: Sequence[Hashable], at: int, describe: Describe | None, mean_over: int
    ) -> dict[tuple[bool, Hashable], float]:
        """Shares by feature, and by whether the feature is one of the user's own; `mean_over` as in `mean_of`."""
        held, k, counts, scaling = [paged.view for paged in self.stores], len(labels), self.counts, self._scaling()
        columns = self._columns_of(labels)
        ids, values = row_contributions(rows, columns, scaling, held[WEIGHTS][0], counts, mean_over, k, at)
        found: dict[tuple[bool, Hashable], float] = {}
        for f, value in zip(ids.tolist(), values.tolist(), strict=True):
            found[False, f] = value
        if self.plan.parts:
            explicit = self._explicit(rows, labels, describe, False) if self.functions else None
            parts, own_names = self._parts(labels, explicit, held), list(self.names)
            ids, values = shared_contributions(rows, scaling, parts, counts, mean_over, k, at)
            for f, value in zip(ids.tolist(), values.tolist(), strict=True):
                key: tuple[bool, Hashable] = (True, own_names[f - 1]) if self.functions else (False, f)
                found[key] = found.get(key, 0.0) + value
        return found

    def _explicit(
        self, rows: Rows, labels: Sequence[Hashable], describe: Describe | None, grow: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """Ask the user's own label features about one row, for every label; features that are new get a place."""
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


def _checked(phi: Any, most: float) -> Mapping[Hashable, float]:
    """What a user's label features returned, if it is a dict of finite numbers."""
    if not isinstance(phi, Mapping):
        raise TypeError(f"label features must return a dict of feature → value; got {phi!r}.")
    for name, value in phi.items():
        if not isinstance(value, Real | np.number) or not abs(float(value)) <= most:
            raise ValueError(
                f"label features must return finite numbers up to {most:g}; got {name!r}: {value!r}. Scale them."
            )
    return phi


def part_of(rows: Rows, targets: Targets, part: slice) -> tuple[Rows, Targets]:
    """Some of the rows, with their targets."""
    bounds = slice(part.start, part.stop + 1)
    return (
        Rows(rows.indptr[bounds], rows.indices, rows.data),
        Targets(targets.indptr[bounds], targets.labels, targets.weights[part]),
    )
