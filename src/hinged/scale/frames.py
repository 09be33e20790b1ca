"""Frames from files and folders, and a new learner that suits a frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hinged.files.examples import TASKS, FileLearner, labelled, new_learner
from hinged.scale.engine import arrow_schema, needs_spark
from hinged.scale.reading import columns_of, examples_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["learner_for_frame", "read_frame"]

FIRST = 100  # rows by which a learner is chosen
#: What the name of a file ends with → the format that Spark reads.
ENDINGS = {".parquet": "parquet", ".jsonl": "json", ".json": "json", ".csv": "csv", ".orc": "orc"}


@needs_spark
def read_frame(spark: SparkSession, path: str) -> DataFrame:
    """Return the rows of a file or folder of Parquet, JSON lines, CSV or ORC, by how its name ends; else of Parquet."""
    name = Path(path.rstrip("/"))
    ending = next((part for part in reversed(name.suffixes) if part in ENDINGS), ".parquet")
    reader = spark.read.format(ENDINGS[ending])
    if ENDINGS[ending] == "csv":
        reader = reader.option("header", True).option("inferSchema", True).option("multiLine", True)
    return reader.load(path)


@needs_spark
def learner_for_frame(
    df: DataFrame,
    task: str | None = None,
    settings: Mapping[str, Any] | None = None,
    *,
    features: str | Sequence[str] | None = None,
    label: str | None = None,
) -> FileLearner:
    """Return a new learner that suits the first rows of a frame, as `hinged learn` chooses one for a file.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
    task : "classify", "rank", "binary", "regress" or "ordinal", optional
        By default "rank" where labels are lists, else "classify".
    settings : mapping, optional
        Settings of the learner.
    features, label : as in `fit`
    """
    columns = columns_of(arrow_schema(df), features, label)
    batches = df.select(*columns.read()).limit(FIRST).toArrow().combine_chunks().to_batches()
    given = dict(settings or {})
    if not batches:
        raise ValueError("the frame has no rows, so there is nothing to learn.")
    chunk = labelled(examples_of(batches[0], columns))
    if columns.vector is None:
        return new_learner(chunk, task, given)
    return TASKS[task or ("rank" if chunk.has_sets else "classify")](**given)
