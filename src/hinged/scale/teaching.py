"""A batch of rows taught to a learner: what it refuses is named row by row, and the others are learnt all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hinged.estimators.label_learner import LabelLearner
from hinged.files.examples import FileLearner, OneVector
from hinged.scale.reading import Columns, Fault, read_batch

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Taught", "check_learner", "teach_batch"]


class Taught(NamedTuple):
    """What a batch taught."""

    rows: int
    unlabelled: int
    faults: list[Fault]


def check_learner(model: object) -> None:
    """Refuse what cannot learn rows of a data frame."""
    if not isinstance(model, LabelLearner | OneVector):
        given = "a class; make one of it" if isinstance(model, type) else f"a {type(model).__name__}"
        raise TypeError(f"rows of a frame are learnt by learners such as hinged.TextClassifier(); got {given}.")


def teach_batch(model: FileLearner, batch: pa.RecordBatch, columns: Columns, first: int, skip: bool = True) -> Taught:
    """Teach a learner the rows of a batch in order, the first of which is row `first` of its partition.

    Without `skip`, nothing is learnt behind a row that cannot be read or learnt.
    """
    read = read_batch(model, batch, columns, first, grow=True)
    if read.faults and not skip:
        return Taught(0, read.unlabelled, read.faults)
    n = len(read.kept)
    if n == 0:
        return Taught(0, read.unlabelled, read.faults)
    try:
        model.partial_fit(read.rows, read.answers, sample_weight=read.weights)
    except (TypeError, ValueError) as problem:  # and nothing has changed
        if n == 1:
            refused = Fault(first + int(read.kept[0]), str(problem).rstrip("."))
            return Taught(0, read.unlabelled, sorted([*read.faults, refused]))
    else:
        return Taught(n, read.unlabelled, read.faults)
    half = int(read.kept[n // 2])
    one = teach_batch(model, batch.slice(0, half), columns, first, skip)
    if one.faults and not skip:
        return one
    two = teach_batch(model, batch.slice(half), columns, first + half, skip)
    return Taught(one.rows + two.rows, one.unlabelled + two.unlabelled, one.faults + two.faults)
