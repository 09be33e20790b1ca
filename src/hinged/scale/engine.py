"""Apache Spark where it is there: imported when it is used, and missed in one sentence."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import wraps
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["arrow_schema", "is_running", "local_session", "needs_spark"]

Given = ParamSpec("Given")
Answer = TypeVar("Answer")

#: A session of this machine alone: nothing listens but on the loopback.
LOCAL = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
}


def needs_spark(function: Callable[Given, Answer]) -> Callable[Given, Answer]:
    """Decorator of functions that use Spark: where it is missing, they say how to install it."""

    @wraps(function)
    def checked(*args: Given.args, **more: Given.kwargs) -> Answer:
        for package in ("pyspark", "pyarrow", "google.protobuf"):
            if not _is_there(package):
                name = package.rpartition(".")[2]
                raise ImportError(
                    f'hinged.scale needs {name}, which is not installed; run: pip install "hinged[scale]".'
                )
        return function(*args, **more)

    return checked


def _is_there(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # of the package around it
        return False


@needs_spark
def local_session(master: str = "local[*]", folder: Path | None = None, **more: str) -> SparkSession:
    """Return a Spark session on this machine, whose workers run this Python.

    Parameters
    ----------
    master : str, default "local[*]"
        Where Spark runs; "local[2]" is two workers here. For a cluster of others, make your own session.
    folder : Path, optional
        Where Spark keeps its tables and scratch files; its own choice by default.
    **more : settings of Spark, with "__" for "."
    """
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = LOCAL | {name.replace("__", "."): value for name, value in more.items()}
    if folder is not None:
        settings |= {"spark.sql.warehouse.dir": str(folder / "warehouse"), "spark.local.dir": str(folder)}
    builder: Any = SparkSession.builder.master(master)
    for name, value in settings.items():
        builder = builder.config(name, value)
    session: SparkSession = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


@needs_spark
def is_running() -> bool:
    """Return True if this process has a Spark session."""
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession() is not None


def arrow_schema(df: DataFrame) -> pa.Schema:
    """Return the columns of a data frame with the types that workers are given."""
    from pyspark.sql.pandas.types import to_arrow_schema

    zone: dict[str, Any] = {"timezone": "UTC"} if "timezone" in signature(to_arrow_schema).parameters else {}
    found: Any = to_arrow_schema(df.schema, **zone)
    return found
