"""The centre of a ball, learnt from rows; kept as a multiple of a vector, so that a sparse row costs its non-zeros."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from operator import attrgetter
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import DTypeLike

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats, Int32s, Ints
from hinged.loops.base import Model, check_arrays, restored_ledger
from hinged.loops.direct import Direct
from hinged.loops.explain import Share
from hinged.loops.hearing import pieces
from hinged.loops.ledger import LEARNT, MISTAKES, ROUNDS, UPDATES
from hinged.loops.memory import longer
from hinged.loops.rows import USUAL_SQUARE, USUAL_SQUARE_SINGLE, Rows
from hinged.loops.steps import Setting
from hinged.native import borrowed
from hinged.rules.length import alone
from hinged.tasks.uniclass import radius

__all__ = ["Ball", "UniclassModel"]

SCALE, SQ_NORM, HEIGHT, LARGEST, SINCE, WIDTH = range(6)
# The multiple is folded into the vector before the vector, which is the centre over it, leaves the range of its type.
LEAST_SCALE, LEAST_SCALE_SINGLE = 1e-60, 1e-20
REFRESH = 4096  # updates after which ‖c‖² is summed anew
SHORT = 1e-3  # seconds after which a reader tries again to get a ball
Answer = TypeVar("Answer")


@compiled(helper=True)
def _apart(indices: Int32s, data: Floats, v: Floats, numbers: Floats) -> tuple[float, float]:
    """‖x - c‖² and ‖x‖² of one row."""
    # columns outside the row add what ‖c‖² has beyond the row's columns; nothing where the row has them all
    scale = numbers[SCALE]
    apart, met, q = 0.0, 0.0, 0.0
    others = numbers[WIDTH]
    for j in range(data.shape[0]):
        x = np.float64(data[j])
        if x == 0.0:  # as if it were not there: dense and sparse rows are the same rows
            continue
        others -= 1.0
        c = scale * np.float64(v[indices[j]]) if indices[j] < v.shape[0] else 0.0
        apart += (x - c) * (x - c)
        met += c * c
        q += x * x
    if others > 0.0:
        apart += max(0.0, numbers[SQ_NORM] - met)
    return apart, q


@compiled(helper=True)
def _refresh(v: Floats, numbers: Floats) -> None:
    """Fold the multiple into the vector, and sum ‖c‖² anew."""
    total = 0.0
    for i in range(v.shape[0]):
        v[i] *= numbers[SCALE]
        total += np.float64(v[i]) * np.float64(v[i])
    numbers[SCALE], numbers[SQ_NORM], numbers[SINCE] = 1.0, total, 0.0


@compiled(helper=True)
def _learn_row(
    indices: Int32s,
    data: Floats,
    length: int,
    C: float,
    weight: float,
    centre: tuple[Floats, Floats, Ints],
    largest: float,
) -> float:
    """Learn one row: c += τ (x - c)/‖x - c‖ where it lies outside, with the height h of a radius to be learnt.

    Return its loss; -1, and nothing has changed, where ‖x‖² is not below `largest`.
    """
    v, numbers, counts = centre
    apart, q = _apart(indices, data, v, numbers)
    if not q < largest:
        return -1.0
    height = numbers[HEIGHT]
    distance = math.sqrt(apart + height * height)
    loss = max(0.0, distance - numbers[LARGEST])
    counts[ROUNDS] += 1
    counts[MISTAKES] += loss > 0.0
    if weight <= 0.0:
        return loss
    counts[LEARNT] += 1
    if loss > 0.0:
        counts[UPDATES] += 1
        a = min(1.0, alone(length, 0.0, 1.0, loss, C * weight) / distance)  # c ← (1 - a) c + a x
        keep = 1.0 - a
        least = LEAST_SCALE if v.itemsize == 8 else LEAST_SCALE_SINGLE
        if numbers[SCALE] * keep < least:
            _refresh(v, numbers)
            if keep < least:
                v[:] = 0.0
                numbers[SQ_NORM], keep = 0.0, 1.0
        numbers[SCALE] *= keep
        scale = numbers[SCALE]
        share, sq_norm = a / scale, keep * keep * numbers[SQ_NORM]
        for j in range(data.shape[0]):  # ‖c‖² of the vector as it is stored, rounded: distances are read from it
            before = scale * np.float64(v[indices[j]])
            v[indices[j]] += v.dtype.type(share * data[j])
            after = scale * np.float64(v[indices[j]])
            sq_norm += (after - before) * (after + before)
        numbers[SQ_NORM] = max(0.0, sq_norm)
        numbers[HEIGHT] *= 1.0 - a
        numbers[SINCE] += 1.0
        if numbers[SINCE] >= REFRESH:
            _refresh(v, numbers)
    return loss


@compiled
def _learn_dense(indices: Int32s, x: Floats, length: int, C: float, v: Floats, numbers: Floats, counts: Ints) -> float:
    """Learn one dense row; `indices` are all its columns."""
    largest = USUAL_SQUARE if x.itemsize == 8 else USUAL_SQUARE_SINGLE
    return _learn_row(indices, x, length, C, 1.0, (v, numbers, counts), largest)


@compiled
def _learn(
    rows: Rows,
    weights: Floats,
    length: int,
    C: float,
    uses_weight: bool,
    centre: tuple[Floats, Floats, Ints],
    losses: Floats,
) -> None:
    """Learn rows in order; `centre` is its vector, its numbers and the counts."""
    rows, centre = borrowed((rows, centre))
    for i in range(losses.shape[0]):
        weight = weights[i] if weights.shape[0] > 0 else 1.0
        if weight > 0.0 and not uses_weight:
            weight = 1.0
        row = slice(rows.indptr[i], rows.indptr[i + 1])
        losses[i] = _learn_row(rows.indices[row], rows.data[row], length, C, weight, centre, math.inf)


@compiled
def _distances(rows: Rows, v: Floats, numbers: Floats, out: Floats) -> None:
    rows, v, numbers = borrowed((rows, v, numbers))
    for i in range(out.shape[0]):
        row = slice(rows.indptr[i], rows.indptr[i + 1])
        out[i] = math.sqrt(_apart(rows.indices[row], rows.data[row], v, numbers)[0])


class Ball(NamedTuple):
    """What a reader sees: a centre, as a multiple of a vector, and a radius."""

    v: np.ndarray
    numbers: np.ndarray
    n_features: int

    @property
    def center(self) -> np.ndarray:
        """The centre (features,)."""
        return (self.numbers[SCALE] * self.v[: self.n_features]).astype(self.v.dtype)

    @property
    def radius(self) -> float:
        """The radius by now."""
        return float(radius(self.numbers[LARGEST], self.numbers[HEIGHT]))

    def distances(self, rows: Rows) -> np.ndarray:
        """How far each row lies from the centre."""
        out = np.zeros(len(rows.indptr) - 1)
        for part in pieces(rows.indptr):
            _distances(Rows(rows.indptr[part.start : part.stop + 1], *rows[1:]), self.v, self.numbers, out[part])
        return out


learn_direct = Direct(_learn_dense)


class UniclassModel(Model):
    """A centre, a radius and counts.

    Parameters
    ----------
    dtype : float32 or float64
        Of the centre.
    setting : Setting
        The rule.
    largest : float
        The radius, or the largest it may be.
    learns_radius : bool
    """

    unkept = "lock", "turns"

    def __init__(self, dtype: DTypeLike, setting: Setting, largest: float, learns_radius: bool) -> None:
        super().__init__()
        self.dtype, self.setting = np.dtype(dtype), setting
        self.v = np.zeros(0, self.dtype)
        self.numbers = np.array([1.0, 0.0, largest if learns_radius else 0.0, largest, 0.0, 0.0])
        self.turns = [0]  # odd while a writer is at work: the vector and its multiple must be read together
        self.before: Ball | None = None  # while many rows are learnt, the ball before them
        self.n_features = 0
        self.columns = np.zeros(0, np.int32)

    def widen(self, n_features: int) -> None:
        """Admit columns up to `n_features`."""
        if n_features > self.n_features:
            with self._turn():
                self.n_features = n_features
                self.v = longer(self.v, n_features)
                self.columns = np.arange(n_features, dtype=np.int32)
                self.numbers[WIDTH] = n_features

    @property
    def sizes(self) -> tuple[int]:
        """Features that are known."""
        return (self.n_features,)

    def cut(self, n_features: int) -> None:
        """Forget the features after those; nothing may have been learnt of them."""
        with self._turn():
            self.n_features = n_features
            self.numbers[WIDTH] = n_features

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """A writer's turn."""
        with self.lock:
            self.turns[0] += 1
            try:
                yield
            finally:
                self.turns[0] += 1

    def ask(self, question: Callable[[Ball], Answer]) -> Answer:
        """Return `question(ball)` for a consistent ball.

        Where a writer was at work meanwhile, the question is asked again: of the ball before the rows that are being
        learnt if these are many, else of a copy that is made once the writer is done.
        """
        turn = self.turns[0]
        if turn % 2 == 0:
            with np.errstate(over="ignore", invalid="ignore"):
                answer = question(Ball(self.v, self.numbers, self.n_features))
            if self.turns[0] == turn:
                return answer
        while (ball := self.before) is None:
            if self.lock.acquire(timeout=SHORT):
                try:
                    ball = self._copied()
                finally:
                    self.lock.release()
                break
        return question(ball)

    def _copied(self) -> Ball:
        return Ball(self.v.copy(), self.numbers.copy(), self.n_features)

    def learn(
        self, rows: Rows, weights: np.ndarray, advance: Callable[[int], None] | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Learn rows in order; return each round's flag and loss. `advance(n)` is called with the rounds done."""
        losses = np.zeros(len(rows.indptr) - 1)
        words, C, _, uses_weight, *_ = self.setting
        many = len(losses) > 1 and rows.indptr[-1] - rows.indptr[0] >= len(
            self.v
        )  # then a copy costs little in comparison
        with self._turn():
            self.before = self._copied() if many else None
            try:
                for part in pieces(rows.indptr, advance=advance):
                    some = Rows(rows.indptr[part.start : part.stop + 1], *rows[1:])
                    centre = (self.v, self.numbers, self.ledger.counts)
                    _learn(some, weights[part], words.length, C, uses_weight, centre, losses[part])
            finally:
                self.before = None
        return (losses > 0.0).astype(np.int8), losses

    def learn_dense(self, x: np.ndarray) -> float:
        """Learn one dense row of full width; return its loss, or -1 where it was refused."""
        with self.lock:
            self.turns[0] += 1
            try:
                length, C, counts = self.setting.words.length, self.setting.C, self.ledger.counts
                return learn_direct(self.dtype, self.columns, x, length, C, self.v, self.numbers, counts)
            finally:
                self.turns[0] += 1

    # ------------------------------------------------------------------ what learners ask of every model
    @property
    def dual(self) -> float:
        """This task has no certificate: NaN."""
        return math.nan

    def explain(self, rows: Rows, labels: Sequence[Hashable] = (), at: int = 0, describe: object = None) -> list[Share]:
        """What sets one row apart: x - centre by feature; their squares sum to the squared distance."""
        apart: dict[int, float] = dict(enumerate((-self.ask(attrgetter("center")).astype(np.float64)).tolist()))
        for column, value in zip(rows.indices.tolist(), rows.data.tolist(), strict=True):
            apart[column] = apart.get(column, 0.0) + value
        return [Share(column + 1, value) for column, value in apart.items()]

    def copy(self) -> Self:
        """A model of its own that knows the same."""
        twin = object.__new__(type(self))
        twin.__setstate__(deepcopy(self.__getstate__()))
        return twin

    # ------------------------------------------------------------------ keeping
    def arrays(self) -> dict[str, np.ndarray]:
        """Everything learnt, as plain arrays, without the room for more."""
        return {"counts": self.ledger.counts, "numbers": self.numbers, "v": self.v[: self.n_features]}

    def restore(self, arrays: dict[str, np.ndarray], names: object, n_labels: int) -> None:
        """Load what `arrays` describe after checking it; the arrays are copied."""
        ledger = restored_ledger(arrays, ("counts",))
        expected = {"numbers": (self.numbers.shape, np.float64), "v": (arrays["v"].shape[:1], self.dtype)}
        check_arrays(arrays, expected)
        numbers = arrays["numbers"]
        if numbers[WIDTH] != len(arrays["v"]) or numbers[SCALE] <= 0.0:
            raise ValueError("its counts are damaged")
        self.widen(len(arrays["v"]))
        self.ledger, self.v, self.numbers = ledger, arrays["v"].copy(), numbers.copy()

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.turns = [0]
