"""One big model on many machines: each learns a part of the rows, and the parts are merged after every round.

Iterative parameter mixing (McDonald, Hall and Mann, 2010) with Spark's `mapInArrow`: an epoch for each partition, from
the same base; then `hinged.estimators.merging`. What comes back from a partition is one row: its state as bytes, or a
sentence that says what was wrong. Only when all parts are there, and all are sound, does anything change.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from hinged.estimators.beginning import begin
from hinged.estimators.merging import WEIGHTS, merge
from hinged.estimators.state import ModelState
from hinged.estimators.united import check_mergeable
from hinged.files.examples import FileLearner
from hinged.scale.engine import arrow_schema, check_names, needs_spark
from hinged.scale.reading import Columns, Fault, columns_of, fresh, note_columns, read_batch
from hinged.scale.teaching import check_learner, teach_batch

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

__all__ = ["Fitted", "Round", "begun_with", "fit"]

L = TypeVar("L", bound=Any)
FIRST = 1000  # rows among which one must be sound, to begin with
FAN_IN = 16  # neighbouring partitions whose states are merged on one worker
OUT = "part int, parts int, state binary, rows long, unlabelled long, skipped long, fault_row long, problem string"


class Round(NamedTuple):
    """What one round over all rows came to.

    Attributes
    ----------
    rows : rows learnt
    mistakes : rows that were predicted wrongly when they came, by the model of their partition
    updates : rows that took a step
    parts : partitions that learnt something
    seconds : from the first row read to the merged model
    """

    rows: int
    mistakes: int
    updates: int
    parts: int
    seconds: float


class Fitted(NamedTuple):
    """What `fit` came to.

    Attributes
    ----------
    model : the learner that was given, which now knows all rows
    rounds : list of Round
    unlabelled, skipped : rows of one round without a label, and rows that could not be read
    fault : the first of these in the lowest partition, as a sentence; None where there is none
    """

    model: Any
    rounds: list[Round]
    unlabelled: int
    skipped: int
    fault: str | None


@needs_spark
def fit(
    df: DataFrame,
    model: L,
    rounds: int = 1,
    *,
    features: str | Sequence[str] | None = None,
    label: str | None = None,
    weight: str | None = None,
    classes: Iterable[Hashable] | None = None,
    mix: str = "uniform",
    on_error: str = "stop",
) -> Fitted:
    """Teach a learner all rows of a data frame, a part on each worker, merged after each round.

    One partition gives the model that `partial_fit` on the rows in their order gives, bit for bit. More give the mean
    of several; docs/scale.md says what that costs. Cache the frame where there are several rounds. Where this fails,
    the model stays as it was.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
    model : a linear learner, new or to go on with
    rounds : int, default 1
        How often to go through all rows.
    features : name or list of names, optional
        Columns of strings and of numbers, or one column of vectors or of maps name → number. By default all strings and
        numbers but the label, names and dates.
    label, weight : name of a column, optional
        By default the label is the first column that is called like one; there are no weights.
    classes : labels to make known first, optional
    mix : "uniform", "updates" or "mistakes", default "uniform"
        What a part counts for; see `merge` of a learner.
    on_error : "stop" or "skip", default "stop"
        Whether a row that cannot be read stops it all, or is counted and left out; `rejected` returns such rows.
    """
    if mix not in WEIGHTS:
        raise ValueError(f"mix must be one of {', '.join(WEIGHTS)}; got mix={mix!r}.")
    if isinstance(rounds, bool) or not isinstance(rounds, int) or rounds < 1:
        raise ValueError(f"rounds must be a whole number of at least 1; got rounds={rounds!r}.")
    if on_error not in ("stop", "skip"):
        raise ValueError(f"on_error must be 'stop' or 'skip'; got on_error={on_error!r}.")
    check_learner(model)
    columns = columns_of(arrow_schema(df), features, label, weight)
    check_names(columns.read())
    df = df.select(*columns.read())
    state = begun_with(df, model, columns, classes)
    check_mergeable([state])
    done: list[Round] = []
    found: list[dict[str, Any]] = []
    for _ in range(rounds):
        began = time.perf_counter()
        found = _learnt_parts(df, model, state, columns, mix, on_error)
        states = [ModelState.from_bytes(row["state"]) for row in found if row["state"] is not None]
        after = merge(states, state, mix) if states else state
        done.append(_round(state, after, found, time.perf_counter() - began))
        state = after
    model.set_state(state)
    faults = [f"row {row['fault_row']} of partition {row['part']}: {row['problem']}" for row in found if row["problem"]]
    unlabelled, skipped = (sum(row[name] for row in found) for name in ("unlabelled", "skipped"))
    return Fitted(model, done, unlabelled, skipped, faults[0] if faults else None)


def begun_with(df: DataFrame, model: L, columns: Columns, classes: Iterable[Hashable] | None = None) -> ModelState:
    """Return the state that all parts begin with: the model's, or what the first sound row decides."""
    if model.__sklearn_is_fitted__():
        base = fresh(model).set_state(model.get_state())
    else:
        base = fresh(model)
        if model.notes:
            base.notes = model.notes
        note_columns(base, columns)
        _begin(base, df.limit(FIRST).toArrow().combine_chunks().to_batches(), columns)
    if classes is not None:
        base.declare(classes)
    return base.get_state()


def _begin(base: Any, first: list[pa.RecordBatch], columns: Columns) -> None:
    """Let a learner begin with the first row that it can learn."""
    if not first:
        raise ValueError("the frame has no rows, so there is nothing to learn.")
    (batch,) = first
    read = read_batch(base, batch, columns, 1, grow=True)
    faults = read.faults
    for at in read.kept.tolist():
        one = read_batch(base, batch.slice(at, 1), columns, at + 1, grow=True)
        try:
            begin(base, one.rows, one.answers)
        except (TypeError, ValueError) as problem:
            faults = [*faults, Fault(at + 1, str(problem).rstrip("."))]
        else:
            return
    why = f"; row {faults[0].row}: {faults[0].problem}" if faults else ""
    raise ValueError(f"none of the first {FIRST:,} rows can be learnt: they lack a label or features{why}.")


def _round(before: ModelState, after: ModelState, found: list[dict[str, Any]], seconds: float) -> Round:
    _, _, mistakes, updates, *_ = (after.counts - before.counts).tolist()
    rows = sum(row["rows"] for row in found)
    return Round(rows, mistakes, updates, sum(row["parts"] for row in found), seconds)


# ------------------------------------------------------------------ on the engine
def _learnt_parts(
    df: DataFrame, model: FileLearner, state: ModelState, columns: Columns, mix: str, on_error: str
) -> list[dict[str, Any]]:
    """Return what groups of partitions came to, merged on the workers, in order."""
    from pyspark.sql import functions as f

    base = state.to_bytes()
    parts = df.mapInArrow(partial(_learn_part, fresh(model), base, columns, on_error), OUT)
    groups = parts.repartition(f.expr(f"part div {FAN_IN}"))  # how many parts there are is not known before they ran
    parts = groups.mapInArrow(partial(_merge_part, base, mix), OUT)
    found = sorted(parts.toArrow().to_pylist(), key=lambda row: row["part"])
    for row in found:
        if row["fault_row"] is not None and on_error == "stop":
            raise ValueError(
                f"row {row['fault_row']} of partition {row['part']} cannot be learnt: {row['problem']}. "
                "Mend it, or leave such rows out with on_error='skip'."
            )
        if row["problem"] is not None and row["fault_row"] is None:  # not of a row
            raise ValueError(f"partition {row['part']} cannot be learnt: {row['problem']}")
    return found


def _learn_part(
    model: FileLearner, base: bytes, columns: Columns, on_error: str, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Learn the rows of one partition from the base on; yield one row, or nothing for an empty partition."""
    from pyspark import TaskContext

    context = TaskContext.get()
    part = 0 if context is None else context.partitionId()
    learner: Any = None
    n, rows, unlabelled, skipped = 0, 0, 0, 0
    first: Fault | None = None
    try:
        for batch in batches:
            if learner is None:
                learner = model.set_state(ModelState.from_bytes(base))
            taught = teach_batch(learner, batch, columns, n + 1, skip=on_error == "skip")
            n, rows, unlabelled = n + len(batch), rows + taught.rows, unlabelled + taught.unlabelled
            skipped, first = skipped + len(taught.faults), first or next(iter(taught.faults), None)
            if first is not None and on_error == "stop":
                break
    except (TypeError, ValueError) as problem:  # of all rows
        yield _out(part, 0, None, rows, unlabelled, 0, None, str(problem))
        return
    if learner is not None:
        state = learner.get_state().to_bytes() if rows else None
        yield _out(part, int(rows > 0), state, rows, unlabelled, skipped, *(first or (None, None)))


def _merge_part(base: bytes, mix: str, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Merge the states of some partitions to one, in order."""
    found = sorted((row for batch in batches for row in batch.to_pylist()), key=lambda row: row["part"])
    if not found:
        return
    states = [ModelState.from_bytes(row["state"]) for row in found if row["state"] is not None]
    wrong = [row for row in found if row["problem"] is not None]
    worst = min(wrong, key=lambda row: row["fault_row"] is not None, default=None)  # what is wrong with all rows first
    parts, unlabelled, rows, skipped = (
        sum(row[name] for row in found) for name in ("parts", "unlabelled", "rows", "skipped")
    )
    part = (worst or found[0])["part"]
    fault = (worst["fault_row"], worst["problem"]) if worst else (None, None)
    try:
        state = merge(states, ModelState.from_bytes(base), mix).to_bytes() if states else None
    except ValueError as problem:
        state, fault = None, (None, str(problem))
    yield _out(part, parts, state, rows, unlabelled, skipped, *fault)


def _out(*values: object) -> pa.RecordBatch:
    import pyarrow as pa

    kinds = (pa.int32(), pa.int32(), pa.binary(), pa.int64(), pa.int64(), pa.int64(), pa.int64(), pa.string())
    names = [field.split()[0] for field in OUT.split(", ")]
    arrays = [pa.array([value], kind) for value, kind in zip(values, kinds, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, names=names)
