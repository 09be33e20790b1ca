"""Answers of a model as columns of a data frame, and the rows that have none."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from hinged.estimators.label_learner import LabelLearner
from hinged.estimators.regressor import Regressor
from hinged.estimators.state import ModelState
from hinged.files.answers import Answers
from hinged.files.examples import FileLearner, task_of
from hinged.scale.engine import arrow_schema, check_names, needs_spark
from hinged.scale.mixing import begun_with
from hinged.scale.reading import Columns, Fault, columns_of, faults_of, fresh, read_batch
from hinged.scale.teaching import check_learner, teach_batch

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructType

__all__ = ["predict", "rejected"]


class Asked(NamedTuple):
    """What each worker needs to answer."""

    model: FileLearner
    state: bytes
    columns: Columns
    top: int | None
    schema: pa.Schema  # of the answers
    plain: bool  # whether labels are text or numbers as they are; else they are written out


@needs_spark
def predict(
    df: DataFrame, model: FileLearner, *, features: str | Sequence[str] | None = None, top: int | None = None
) -> DataFrame:
    """Return the rows of a data frame with what a model says of them, in new columns.

    A learner of labels adds `prediction`, `ranking` (labels from best to worst), `scores` (in that order) and
    `confidence`; for a `Ranker`, `prediction` is a list. Others add `prediction` and, but for a `Regressor`, `score`.
    The new columns are null in rows that cannot be read. Labels that are neither all strings nor all whole numbers are
    written out.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        Batch or streaming.
    model : a learner that has learnt something
    features : name or list of names, optional
        As in `fit`; by default the columns that the model was taught, where it knows their names.
    top : int, optional
        How many labels `ranking` and `scores` hold; all by default.
    """
    from pyspark.sql.types import StructType

    check_learner(model)
    if top is not None and (isinstance(top, bool) or not isinstance(top, int) or top < 1):
        raise ValueError(f"top must be a whole number of at least 1, or None; got top={top!r}.")
    check_names(df.columns)
    state = model.get_state()
    schema = arrow_schema(df)
    columns = columns_of(schema, _taught(model, schema, features), needs_label=False)
    added, plain = _added(model)
    if taken := [field.name for field in added if field.name in df.columns]:
        raise ValueError(f"the frame has a column {taken[0]!r} already, which predictions would bring; rename it.")
    whole = StructType([*df.schema.fields, *added])
    from pyspark.sql.pandas.types import to_arrow_schema

    asked = Asked(fresh(model), state.to_bytes(), columns, top, to_arrow_schema(added), plain)
    return df.mapInArrow(partial(_predict_part, asked), whole)


def _taught(model: FileLearner, schema: pa.Schema, features: Any) -> Any:
    """Return the features given, else those that the model was taught and the frame has."""
    if features is not None:
        return features
    notes = model.notes
    known = [name for name in (*notes.get("numbers", ()), *notes.get("fields", ())) if name in schema.names]
    return known or None


def _added(model: FileLearner) -> tuple[StructType, bool]:
    """Return the new columns, and whether labels are values of theirs as they are."""
    from pyspark.sql import types as t

    labels = set(map(type, model.known_labels()))
    label: DataType = t.LongType() if labels == {int} else t.StringType()
    plain = labels <= {int} or labels <= {str}
    if isinstance(model, Regressor):
        return t.StructType([t.StructField("prediction", t.DoubleType())]), True
    if not isinstance(model, LabelLearner):
        return t.StructType([t.StructField("prediction", label), t.StructField("score", t.DoubleType())]), plain
    best = t.ArrayType(label) if task_of(model) == "rank" else label
    fields = {
        "prediction": best,
        "ranking": t.ArrayType(label),
        "scores": t.ArrayType(t.DoubleType()),
        "confidence": t.DoubleType(),
    }
    return t.StructType([t.StructField(name, kind) for name, kind in fields.items()]), plain


# ------------------------------------------------------------------ on the engine
def _predict_part(asked: Asked, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Answer the rows of one partition."""
    import pyarrow as pa

    model: Any = None
    n = 0
    for batch in batches:
        if model is None:
            model = asked.model.set_state(ModelState.from_bytes(asked.state))
        read = read_batch(model, batch.select(asked.columns.read()), asked.columns, n + 1, grow=False)
        n += len(batch)
        found: list[dict[str, Any] | None] = [None] * len(batch)
        if len(read.kept):
            for at, said in zip(read.kept.tolist(), _said(model, read.rows, asked), strict=True):
                found[at] = said
        columns = [pa.array([one and one[f.name] for one in found], f.type) for f in asked.schema]
        names = [*batch.schema.names, *asked.schema.names]
        yield pa.RecordBatch.from_arrays([*batch.columns, *columns], names=names)


def _said(model: Any, rows: Any, asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield the answer to each row, by column."""

    def written(label: Hashable) -> Any:
        return label if asked.plain else str(label)

    if isinstance(model, Regressor):
        yield from ({"prediction": value} for value in model.predict(rows).tolist())
    elif not isinstance(model, LabelLearner):
        scores = model.decision_function(rows).tolist()
        for label, score in zip(model.predict(rows).tolist(), scores, strict=True):
            yield {"prediction": written(label), "score": score}
    else:
        said = model.scored(rows)
        sets = task_of(model) == "rank"
        above = said.scores > said.threshold if sets else None
        answers = Answers(list(said.labels), said.scores, above, said.confidence)
        for i in range(len(said.scores)):
            ranking = answers.ranking(i, asked.top)
            best = [written(label) for label in answers.predicted(i)]
            yield {
                "prediction": best if sets else best[0],
                "ranking": [written(label) for label, _ in ranking],
                "scores": [score for _, score in ranking],
                "confidence": float(answers.confidence[i]),
            }


@needs_spark
def rejected(
    df: DataFrame,
    model: FileLearner | None = None,
    *,
    features: str | Sequence[str] | None = None,
    label: str | None = None,
    weight: str | None = None,
) -> DataFrame:
    """Return the rows that `fit` with on_error="skip" leaves out, with a column `problem`: to be written aside.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
    model : a linear learner, optional
        As `fit` is given it. Then rows that it refuses are among them, a third label of a `BinaryClassifier` for
        example: each partition is learnt to find them. Without, those are that cannot be read.
    features, label, weight : as in `fit`

    Examples
    --------
    ``hinged.scale.rejected(df, model).write.json("rejected")``
    """
    columns = columns_of(arrow_schema(df), features, label, weight)
    check_names(df.columns)
    fields = ", ".join([*(f"`{field.name}` {field.dataType.simpleString()}" for field in df.schema), "problem string"])
    if model is not None:
        check_learner(model)
        state = begun_with(df.select(*columns.read()), model, columns).to_bytes()
        return df.mapInArrow(partial(_reject_part, columns, fresh(model), state), fields)
    width = None
    if columns.vector is not None:
        first = df.select(columns.vector).where(f"size(`{columns.vector}`) > 0").first()
        width = None if first is None else len(first[0])
    return df.mapInArrow(partial(_unread_part, columns, width), fields)


def _reject_part(
    columns: Columns, model: FileLearner, state: bytes, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of one partition that cannot be learnt."""
    learner: FileLearner | None = None
    for batch in batches:
        learner = learner or model.set_state(ModelState.from_bytes(state))
        yield _aside(batch, teach_batch(learner, batch.select(columns.read()), columns, 0).faults)


def _unread_part(columns: Columns, width: int | None, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of one partition that cannot be read."""
    for batch in batches:
        yield _aside(batch, faults_of(batch.select(columns.read()), columns, 0, width))


def _aside(batch: pa.RecordBatch, faults: list[Fault]) -> pa.RecordBatch:
    """Return the rows of a batch that are faults, with what is wrong with them."""
    import pyarrow as pa

    problems = {fault.row: fault.problem for fault in reversed(faults)}  # the first of several
    rows = sorted(problems)
    kept = batch.take(pa.array(rows, pa.int64()))
    said = pa.array([problems[row] for row in rows], pa.string())
    return pa.RecordBatch.from_arrays([*kept.columns, said], names=[*batch.schema.names, "problem"])
