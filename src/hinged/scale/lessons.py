"""A small model of one of many keys: a snapshot, and the lessons since, so that an event costs what it touches.

A lesson is a row with its answer, one line of JSON. Learning is putting it behind the others; the weights come about
when they are asked for, and are those of learning all lessons in one go, to the last bit. Where lessons outgrow a share
of the snapshot they are learnt, and a new snapshot takes their place.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
import orjson

from hinged.estimators.label_learner import LabelLearner
from hinged.estimators.ranker import Ranker
from hinged.estimators.regressor import Regressor
from hinged.estimators.state import ModelState
from hinged.io.frames import CONTEXTS
from hinged.scale.reading import Columns, fresh

__all__ = ["Lesson", "Lessons", "Unread", "lesson_of", "row_of"]

L = TypeVar("L", bound=Any)
MAGIC = b"hinged-lessons 1\n"
#: Bytes of packed lessons that are kept whatever the size of the snapshot, and the share of it that they may have.
LEAST, SHARE = 1 << 14, 1.0


class Lesson(NamedTuple):
    """A row with its answer; the row as a text, a vector, or a mapping from names."""

    x: Any
    y: Any
    weight: float | None = None


class Lessons(NamedTuple):
    """What is kept of one key's model.

    Attributes
    ----------
    snapshot : bytes
        Of the state before the lessons; empty where there is none.
    log : bytes
        The lessons since, as zstd frames.
    n_log, n_rows : int
        How many lessons the log has, and how many were ever given.

    Examples
    --------
    >>> import hinged
    >>> kept = Lessons().after([Lesson("tax form", "work"), Lesson("cake", "home"), Lesson("tax", "work")] * 3)
    >>> kept = Lessons.from_bytes(kept.to_bytes())
    >>> kept.n_rows, kept.learner(hinged.TextClassifier()).predict_one("a tax question")
    (9, 'work')
    """

    snapshot: bytes = b""
    log: bytes = b""
    n_log: int = 0
    n_rows: int = 0

    # ------------------------------------------------------------------ as bytes
    def to_bytes(self) -> bytes:
        """Return all of it as one value to be stored."""
        head = b"".join(n.to_bytes(8, "little") for n in (len(self.snapshot), self.n_log, self.n_rows))
        return MAGIC + head + self.snapshot + self.log

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Return what `to_bytes` gave; a ValueError says that the bytes are none, or cut short."""
        body = memoryview(data)[len(MAGIC) :]
        if not data.startswith(MAGIC) or len(body) < 24:
            raise ValueError("these bytes are not the model of a key; give what to_bytes() returned.")
        size, n_log, n_rows = (int.from_bytes(body[at : at + 8], "little") for at in (0, 8, 16))
        if len(body) < 24 + size:
            raise ValueError("the model of a key is cut short.")
        return cls(body[24 : 24 + size].tobytes(), body[24 + size :].tobytes(), n_log, n_rows)

    # ------------------------------------------------------------------ lessons
    def after(self, lessons: Iterable[Lesson]) -> Self:
        """Return the model after more lessons; it costs what these take."""
        lines = [orjson.dumps(list(lesson)) for lesson in lessons]
        if not lines:
            return self
        frame = CONTEXTS.packing.compress(b"\n".join(lines))
        return self._replace(log=self.log + frame, n_log=self.n_log + len(lines), n_rows=self.n_rows + len(lines))

    def lessons(self) -> Iterator[Lesson]:
        """Yield the lessons since the snapshot."""
        import zstandard

        left = self.log
        while left:
            frame = CONTEXTS.unpacking.decompressobj()
            try:
                lines = frame.decompress(left)
            except zstandard.ZstdError as problem:
                raise ValueError(f"the lessons of a key are damaged ({problem}).") from problem
            if not frame.eof:
                raise ValueError("the lessons of a key are cut short.")
            yield from (Lesson(*orjson.loads(line)) for line in lines.split(b"\n"))
            left = frame.unused_data

    @property
    def is_due(self) -> bool:
        """Return True if a snapshot should take the place of the lessons."""
        return len(self.log) > max(LEAST, SHARE * len(self.snapshot))

    def learner(self, model: L) -> L:
        """Return a learner of the settings of `model` that has learnt everything; it can be saved like any other.

        A lesson that the learner refuses is left out, the same ones each time.
        """
        learner: L = fresh(model)
        if self.snapshot:
            learner.set_state(ModelState.from_bytes(self.snapshot))
        elif model.notes:
            learner.notes = model.notes
        _teach(learner, list(self.lessons()))
        return learner

    def compacted(self, model: L) -> Self:
        """Return the same with a snapshot in place of the lessons."""
        learner = self.learner(model)
        return self._replace(snapshot=_state(learner), log=b"", n_log=0)

    @classmethod
    def of(cls, learner: L) -> Self:
        """Return what is kept of a learner, so that a key goes on from it: of a loaded model, for example."""
        return cls(learner.get_state().to_bytes(), b"", 0, learner.n_rounds_)


def _state(learner: Any) -> bytes:
    return learner.get_state().to_bytes() if learner.__sklearn_is_fitted__() else b""


def _teach(learner: Any, lessons: list[Lesson]) -> None:
    """Teach a learner lessons in order, but for those that it refuses."""
    if not lessons:
        return
    try:
        _teach_all(learner, lessons)
    except (TypeError, ValueError):  # of one of them, and nothing has changed
        for lesson in lessons:
            try:
                _teach_all(learner, [lesson])
            except (TypeError, ValueError):
                continue


def _teach_all(learner: Any, lessons: list[Lesson]) -> None:
    rows = [lesson.x for lesson in lessons]
    X = np.array(rows) if isinstance(rows[0], list) else rows
    weights = None if lessons[0].weight is None else [lesson.weight for lesson in lessons]
    learner.partial_fit(X, [lesson.y for lesson in lessons], sample_weight=weights)


# ------------------------------------------------------------------ rows of a frame
def lesson_of(row: Mapping[str, Any], columns: Columns, model: Any) -> Lesson | str | None:
    """Return a row of a frame as a lesson; None where it has no answer, a sentence where it cannot be read."""
    y = None if columns.label is None else row[columns.label]
    if y is None and columns.label is not None:
        return None
    x = row_of(row, columns)
    if isinstance(x, Unread):
        return x
    weight = None if columns.weight is None else _number(row[columns.weight])
    if columns.weight is not None and (weight is None or weight < 0):
        return f"the weight in column {columns.weight!r} is not a finite number of at least 0"
    if not all(isinstance(one, str | int | float) and one == one for one in (y if isinstance(y, list) else [y])):
        return f"the label in column {columns.label!r} is not a string or a number"
    if isinstance(model, Regressor) and _number(y) is None:
        return f"the answer in column {columns.label!r} is not a finite number"
    if isinstance(model, LabelLearner):
        if isinstance(model, Ranker):
            y = y if isinstance(y, list) else [y]
        elif isinstance(y, list):
            return f"column {columns.label!r} holds {len(y)} labels; expected one"
    return Lesson(x, y, weight)


def row_of(row: Mapping[str, Any], columns: Columns) -> Any:
    """Return the features of a row as learners take them, or a sentence where there are none."""
    if columns.vector is not None:
        vector = [_number(value) for value in row[columns.vector] or ()]
        sound = vector and None not in vector
        return vector if sound else Unread(f"column {columns.vector!r} holds no vector of finite numbers")
    if columns.named is not None:
        named = {name: _number(value) for name, value in row[columns.named] or ()}
        wrong = Unread(f"column {columns.named!r} holds a value that is not a finite number")
        return wrong if None in named.values() else named
    if len(columns.texts) == 1 and not columns.numbers:
        return row[columns.texts[0]] or ""
    texts: dict[str, Any] = {name: row[name] or "" for name in columns.texts}
    numbers = {name: _number(row[name]) for name in columns.numbers if row[name] is not None}
    for name, value in numbers.items():
        if value is None:
            return Unread(f"the value in column {name!r} is not a finite number")
    return texts | numbers


class Unread(str):
    """A sentence, where a text of a row could be one too."""


def _number(value: Any) -> float | None:
    """Return a finite number, or None."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) and not isinstance(value, str) else None
