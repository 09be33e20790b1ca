"""Apache Spark where it is there: imported when it is used, and missed in one sentence."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

__all__ = [
    "arrow_schema",
    "check_names",
    "is_running",
    "local_session",
    "needs_spark",
    "plainly",
    "quoted",
    "settings_for",
]

Given = ParamSpec("Given")
Answer = TypeVar("Answer")

#: Where the master is on this machine, nothing listens but on the loopback.
LOCAL = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
}
QUIET = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
MASTER = re.compile(r"local(\[(\d+|\*)(, *\d+)?\]|-cluster\[\d+, *\d+, *\d+\])?|(spark|k8s)://.+|yarn")
#: What an exception says in the text of a worker's traceback, or behind Java's name of its class.
SAID = re.compile(r"^\s*(?:[\w.]*(?:Error|Exception)): (.+)$", re.MULTILINE)


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
        Where Spark runs; "local[2]" is two workers here. Of a cluster, spark://host:7077 for example, the settings are
        Spark's own; its workers need this package, and PYSPARK_PYTHON where their Python lies elsewhere.
    folder : Path, optional
        Where Spark keeps its tables and scratch files; its own choice by default.
    **more : settings of Spark, with "__" for "."

    Raises
    ------
    OSError
        If there is no Java.
    ValueError
        If Spark cannot start there.
    """
    if not MASTER.fullmatch(master):
        raise ValueError(f"master must be local[N], local[*], spark://HOST:PORT, k8s://… or yarn; got {master!r}.")
    from pyspark.sql import SparkSession

    if not is_running():
        _check_java()
    if master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = settings_for(master, more)
    if folder is not None:
        settings |= {"spark.sql.warehouse.dir": str(folder / "warehouse"), "spark.local.dir": str(folder)}
    builder: Any = SparkSession.builder.master(master)
    for name, value in settings.items():
        builder = builder.config(name, value)
    with plainly(f"Spark cannot start with master {master}: "):
        session: SparkSession = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def settings_for(master: str, more: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of a session: of the loopback where all of it is here, of a cluster what that has."""
    here = LOCAL if master.startswith("local") else {}
    return here | QUIET | {name.replace("__", "."): value for name, value in more.items()}


def _check_java() -> None:
    """Say what is missing before Spark says it in Java's words."""
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java", path=os.path.join(home, "bin") if home else None) is None:
        where = f"in JAVA_HOME, which is {home}" if home else "on the PATH"
        raise OSError(
            f"Spark needs Java 17, and there is no java {where}; on Debian: apt install openjdk-17-jre-headless."
        )


@contextmanager
def plainly(before: str = "") -> Iterator[None]:
    """Raise what Spark raises as a ValueError of one sentence: without the traces of workers, of Java and of plans."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JError, PySparkException) as problem:
        raise ValueError(before + _in_a_sentence(problem)) from problem


def _in_a_sentence(problem: Exception) -> str:
    """Return what an exception of Spark says.

    Examples
    --------
    >>> _in_a_sentence(ValueError("[PATH_NOT_FOUND] Path does not exist: file:/mail. SQLSTATE: 42K03\\n'Project"))
    'Path does not exist: file:/mail.'
    >>> _in_a_sentence(ValueError("Traceback (most recent call last):\\nValueError: it is damaged.\\n\\n\\tat org.x"))
    'it is damaged.'
    """
    text = str(problem)
    said = SAID.findall(text)
    one = said[-1] if said and ("Traceback" in text or "\tat " in text) else text.strip().partition("\n")[0]
    return re.sub(r"^\[[A-Z_.0-9]+\] |\s*SQLSTATE: \w+\s*$", "", one).strip() or type(problem).__name__


@needs_spark
def is_running() -> bool:
    """Return True if this process has a Spark session."""
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession() is not None


def arrow_schema(df: DataFrame) -> pa.Schema:
    """Return the columns of a data frame with the types that workers are given."""
    from pyspark.sql.pandas.types import to_arrow_schema

    if not hasattr(df, "schema"):
        raise TypeError(f"df must be a data frame of Spark; got a {type(df).__name__}.")
    zone: dict[str, Any] = {"timezone": "UTC"} if "timezone" in signature(to_arrow_schema).parameters else {}
    found: Any = to_arrow_schema(df.schema, **zone)
    return found


def quoted(names: Iterable[str]) -> list[str]:
    """Return names of columns as Spark takes them, dots in them included.

    Examples
    --------
    >>> quoted(["label", "my.text"])
    ['`label`', '`my.text`']
    """
    return [f"`{name.replace('`', '``')}`" for name in names]


def check_names(names: Iterable[str]) -> None:
    """Refuse names that Spark's `mapInArrow` takes for fields of structures.

    Examples
    --------
    >>> check_names(["label", "my.text"])
    Traceback (most recent call last):
    ...
    ValueError: the column 'my.text' has a dot in its name, which Spark reads as a field of a structure; rename it.
    """
    for name in names:
        if "." in name:
            raise ValueError(
                f"the column {name!r} has a dot in its name, which Spark reads as a field of a structure; rename it."
            )
