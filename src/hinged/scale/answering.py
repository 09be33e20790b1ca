"""What the models of keys say of new rows, each of its own key's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from hinged.estimators.label_learner import LabelLearner
from hinged.estimators.regressor import Regressor
from hinged.files.examples import FileLearner
from hinged.scale.engine import arrow_schema, needs_spark, quoted
from hinged.scale.keyed import KNOWN, ORDER, ROW, as_rows, by_key, check_keyed, check_known, sorted_rows
from hinged.scale.lessons import Lessons, Unread, row_of
from hinged.scale.reading import Columns, columns_of, fresh, note_columns
from hinged.scale.teaching import check_learner

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

__all__ = ["predict_keyed"]

ANSWER = "prediction string, score double, ranking array<string>, scores array<double>, confidence double"
TOGETHER = 1000  # rows of answers


class Asked(NamedTuple):
    """What each worker needs to answer for keys."""

    model: FileLearner
    columns: Columns
    key: pa.DataType
    id: pa.DataType
    top: int | None


class Answer(NamedTuple):
    """What a model says of a row; all null where it says nothing."""

    prediction: str | None = None
    score: float | None = None
    ranking: list[str] | None = None
    scores: list[float] | None = None
    confidence: float | None = None


@needs_spark
def predict_keyed(
    df: DataFrame,
    known: DataFrame,
    model: FileLearner,
    *,
    key: str,
    id: str,
    features: str | Sequence[str] | None = None,
    top: int | None = None,
    buckets: int | None = None,
) -> DataFrame:
    """Return what each row's own model says of it: `key` and `id`, `prediction`, `score`, `ranking`, `scores` and
    `confidence`.

    They are null where nothing is known of the key yet, or the row cannot be read. Labels are written out as strings.
    `ranking` holds them from best to worst, `scores` in that order, and `score` is that of the prediction, which for a
    `Ranker` is the best label. A learner of two labels has no ranking, a `Regressor` a number alone.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
    known : pyspark.sql.DataFrame
        What `learn_keyed` or `keyed_models` returned.
    model : a learner of the same settings
    key : name of the column of keys, in both frames
    id : name of a column that identifies a row, to join the answers with what else is known of it
    features : as in `fit`
    top : int, optional
        How many labels `ranking` and `scores` hold; all by default.
    buckets : as in `learn_keyed`
    """
    check_learner(model)
    if top is not None and (isinstance(top, bool) or not isinstance(top, int) or top < 1):
        raise ValueError(f"top must be a whole number of at least 1, or None; got top={top!r}.")
    check_keyed(df, key, [id], buckets)
    check_known(df, known, key)
    schema = arrow_schema(df)
    columns = columns_of(schema, features, needs_label=False, aside=[key, id])
    rows = as_rows(df, key, [id], columns)
    asked = Asked(fresh(model), columns, schema.field(key).type, schema.field(id).type, top)
    note_columns(asked.model, columns)
    kinds = [f"{quoted([name])[0]} {df.schema[name].dataType.simpleString()}" for name in (key, id)]
    return sorted_rows(rows, known, key, buckets).mapInArrow(partial(_answer, asked), ", ".join([*kinds, ANSWER]))


# ------------------------------------------------------------------ on the engine
def _answer(asked: Asked, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Answer the sorted rows of one bucket."""
    done: list[tuple[Any, ...]] = []
    for key, rows in by_key(batches):
        learner: Any = None
        for row in rows:
            if row[KNOWN] is not None:
                learner = _learner_of(key, row[KNOWN], asked.model)
                continue
            (at,) = row[ORDER].values()
            done.append((key, at, *_said(learner, row_of(row[ROW], asked.columns), asked.top)))
            if len(done) == TOGETHER:
                yield _table(asked, done)
                done = []
    if done:
        yield _table(asked, done)


def _learner_of(key: Any, data: bytes, model: FileLearner) -> Any:
    try:
        return Lessons.from_bytes(data).learner(model)
    except ValueError as problem:
        raise ValueError(f"the model of the key {key!r} cannot answer: {problem}") from problem


def _table(asked: Asked, done: list[tuple[Any, ...]]) -> pa.RecordBatch:
    import pyarrow as pa

    labels, numbers = pa.list_(pa.string()), pa.list_(pa.float64())
    kinds = (asked.key, asked.id, pa.string(), pa.float64(), labels, numbers, pa.float64())
    arrays = [pa.array(column, kind) for column, kind in zip(zip(*done, strict=True), kinds, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, names=["key", "id", *Answer._fields])


def _said(learner: Any, x: Any, top: int | None) -> Answer:
    """Return what a learner says of one row."""
    if learner is None or not learner.__sklearn_is_fitted__() or isinstance(x, Unread):
        return Answer()
    try:
        if isinstance(learner, LabelLearner):
            said = learner.scored_one(x)
            if not said.labels:
                return Answer()
            order = list(said.order(0, top))
            ranking, scores = [str(said.labels[i]) for i in order], [float(said.scores[0, i]) for i in order]
            return Answer(ranking[0], scores[0], ranking, scores, float(said.confidence[0]))
        X = [x]
        if isinstance(learner, Regressor):
            value = float(learner.predict(X)[0])
            return Answer(str(value), value)
        return Answer(str(learner.predict(X)[0]), float(learner.decision_function(X)[0]))
    except (TypeError, ValueError):
        return Answer()
