"""`hinged scale`: one model, or a model for each key, learnt on Apache Spark."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from hinged.cli.help import Command
from hinged.cli.options import LEARNER, AsJson, Model, argument, learner_settings, names_in, option, takes
from hinged.cli.tables import bold, count, dim, emit, emit_json, percent, say

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["keyed", "learn", "predict", "scale"]

scale = typer.Typer(name="scale", rich_markup_mode=None)

Source = Annotated[str, argument("PATH", "A file or folder of Parquet, JSON lines, CSV or ORC, anywhere Spark reads.")]
Features = Annotated[list[str] | None, option("NAMES", "Columns of features, with commas; guessed if left out.")]
Label = Annotated[str | None, option("NAME", "Column of the label; guessed if left out.")]
Weight = Annotated[str | None, option("NAME", "Column of a row's importance weight.")]
Master = Annotated[str, option("URL", "Where Spark runs: local[N] is N workers here.")]
OnError = Annotated[Literal["stop", "skip"], option("HOW", "stop at a row that cannot be learnt, or skip it.")]
ASIDE = "With --on-error skip, the folder of JSON lines to write such rows to, with what is wrong."
LEARNT: dict[str, Any] = {name: LEARNER[name] for name in ("task", "rule", "C")}


@scale.callback(invoke_without_command=True)
def start(context: typer.Context) -> None:
    """Learn on Apache Spark: one big model, or a model for each key.

    It needs Java 17 and pip install "hinged[scale]". For most data one machine is enough: hinged learn.

    Example: hinged scale learn mail.parquet --model mail.hinged --master "local[4]"
    """
    if context.invoked_subcommand is None:
        emit(context.get_help())


@contextmanager
def _session(master: str) -> Iterator[SparkSession]:
    """A session that ends with the command, unless there was one before."""
    from hinged.scale import local_session
    from hinged.scale.engine import is_running, plainly

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
        ours = not is_running()
        session = local_session(master)
        try:
            with plainly():
                yield session
        finally:
            if ours:
                session.stop()


@scale.command("learn", cls=Command)
@takes(LEARNT)
def learn(
    source: Source,
    *,
    model: Model,
    rounds: Annotated[int, option("N", "How often to go through all rows.", min=1)] = 1,
    mix: Annotated[
        Literal["uniform", "updates", "mistakes"], option("HOW", "What a partition counts for in the mean.")
    ] = "uniform",
    partitions: Annotated[int | None, option("N", "Cut the rows into so many parts; as they are if left out.")] = None,
    features: Features = None,
    label: Label = None,
    weight: Weight = None,
    on_error: OnError = "stop",
    aside: Annotated[str | None, option("PATH", ASIDE, "--rejected")] = None,
    master: Master = "local[*]",
    as_json: AsJson = False,
    **options: Any,
) -> None:
    """Learn one model: each partition learns its rows, and the results are merged after every round.

    If the model file exists, learning goes on from it.

    Example: hinged scale learn mail.parquet --model mail.hinged --rounds 3 --label folder
    """
    from hinged.files import load_learner
    from hinged.files.examples import check_agrees
    from hinged.io.atomic import check_folder
    from hinged.scale import fit, learner_for_frame, read_frame, rejected

    check_folder(model)
    if aside is not None:
        _check_aside(aside, on_error)
    names, settings, began = names_in(features), learner_settings(options), time.perf_counter()
    with _session(master) as spark:
        df = read_frame(spark, source)
        df = df.repartition(partitions) if partitions else df
        df = df.cache() if rounds > 1 else df
        if model.exists():
            learner = load_learner(model)
            check_agrees(learner, options["task"], settings, str(model))
        else:
            learner = learner_for_frame(df, options["task"], settings, features=names, label=label)
        columns: dict[str, Any] = {"features": names, "label": label, "weight": weight}
        left_out = None if aside is None else rejected(df, learner, **columns)  # by what is known before the rounds
        done = fit(df, learner, rounds, **columns, mix=mix, on_error=on_error)
        if left_out is not None:
            left_out.write.json(str(aside))
    learner.save(model)
    seconds = time.perf_counter() - began
    facts: dict[str, Any] = {"model": str(model), "bytes": model.stat().st_size, "estimator": type(learner).__name__}
    facts |= {"rounds": [one._asdict() for one in done.rounds], "unlabelled": done.unlabelled}
    facts |= {"skipped": done.skipped, "fault": done.fault, "total_rounds": learner.n_rounds_, "seconds": seconds}
    (emit_json if as_json else _tell_rounds)(facts)


def _check_aside(aside: str, on_error: str) -> None:
    if on_error != "skip":
        raise typer.BadParameter("--rejected takes the rows that --on-error skip leaves out; use both")
    if Path(aside).exists():
        raise FileExistsError(f"{aside} exists already; name a new folder.")


def _tell_rounds(facts: dict[str, Any]) -> None:
    """Print what came of learning, for people."""
    for number, one in enumerate(facts["rounds"], start=1):
        rate = percent(one["mistakes"] / one["rows"] if one["rows"] else None)
        parts = f"in {count(one['parts'], 'part')}, {one['seconds']:.1f} s"
        say(f"round {number}: {count(one['rows'], 'row')}, {count(one['mistakes'], 'mistake')} ({rate}) {dim(parts)}")
    _tell_left_out(facts["unlabelled"], facts["skipped"], facts["fault"])
    aside = "{estimator}, {total_rounds:,} rounds in all, {seconds:.1f} s".format(**facts)
    say(f"{bold(facts['model'])} {dim(aside)}")


def _tell_left_out(unlabelled: int, skipped: int, fault: str | None) -> None:
    if unlabelled:
        say(f"{count(unlabelled, 'row')} without a label, left out")
    if skipped:
        say(f"{count(skipped, 'row')} skipped; the first: {fault}")


@scale.command("keyed", cls=Command)
@takes(LEARNT)
def keyed(
    source: Source,
    *,
    states: Annotated[str, option("PATH", "The folder of Parquet to write: a row for each key.")],
    key: Annotated[str, option("NAME", "Column of the key: a model is learnt for each.")],
    order: Annotated[list[str], option("NAMES", "Columns by which the rows of a key are sorted.")],
    known: Annotated[str | None, option("PATH", "What an earlier call wrote, to go on from.")] = None,
    features: Features = None,
    label: Label = None,
    weight: Weight = None,
    buckets: Annotated[int | None, option("N", "Partitions by hash of the key.")] = None,
    master: Master = "local[*]",
    as_json: AsJson = False,
    **options: Any,
) -> None:
    """Learn a small model for each key, in one pass over the rows sorted by key.

    Example: hinged scale keyed mail.parquet --key user --order date --states models
    """
    from hinged.scale import learn_keyed, learner_for_frame, read_frame

    orders, names, began = list(names_in(order) or ()), names_in(features), time.perf_counter()
    if Path(states).exists():
        raise FileExistsError(f"{states} exists already; name a new folder, and give the old one with --known.")
    with _session(master) as spark:
        df = read_frame(spark, source)
        before = None if known is None else read_frame(spark, known)
        if names is None:
            names = tuple(name for name in df.columns if name not in (key, *orders))
            names = _of_features(df, names, label, weight)
        learner = learner_for_frame(df, options["task"], learner_settings(options), features=names, label=label)
        asked: dict[str, Any] = {"features": names, "label": label, "weight": weight, "buckets": buckets}
        found = learn_keyed(df, learner, key=key, order=orders, known=before, **asked)
        found.write.parquet(states)
        sums = read_frame(spark, states).selectExpr(
            "count(*) keys", "sum(rows) rows", "sum(unlabelled) unlabelled", "sum(skipped) skipped",
            "sum(length(model)) bytes", "first(problem, true) fault",
        ).first()  # fmt: skip
    facts: dict[str, Any] = {"states": states, "estimator": type(learner).__name__}
    facts |= {} if sums is None else sums.asDict()
    facts["seconds"] = time.perf_counter() - began
    if as_json:
        emit_json(facts)
        return
    what = f"{count(facts['keys'], 'key')}, {count(facts['rows'], 'row')} in all"
    aside = "{bytes:,} bytes of models, {seconds:.1f} s".format(**facts)
    say(f"{bold(states)} {what} {dim(aside)}")
    _tell_left_out(facts["unlabelled"], facts["skipped"], facts["fault"])


def _of_features(df: Any, among: tuple[str, ...], label: str | None, weight: str | None) -> tuple[str, ...]:
    """The columns of features among those that are neither key nor order."""
    from hinged.scale.engine import arrow_schema
    from hinged.scale.reading import columns_of

    schema = arrow_schema(df.select(*among))
    return tuple(columns_of(schema, None, label, weight).of_features())


@scale.command("predict", cls=Command)
def predict(
    source: Source,
    *,
    model: Model,
    output: Annotated[str, option("PATH", "The folder of Parquet to write: all columns, and the answers.")],
    features: Features = None,
    top: Annotated[int | None, option("N", "How many labels a ranking holds; all if left out.", min=1)] = None,
    master: Master = "local[*]",
    as_json: AsJson = False,
) -> None:
    """Add a model's answers to the rows of a file or folder: predictions, rankings, scores and confidence.

    Example: hinged scale predict new.parquet --model mail.hinged --output answers
    """
    from hinged.files import load_learner
    from hinged.scale import predict as answers
    from hinged.scale import read_frame

    learner, began = load_learner(model), time.perf_counter()
    if Path(output).exists():
        raise FileExistsError(f"{output} exists already; name a new folder.")
    with _session(master) as spark:
        answers(read_frame(spark, source), learner, features=names_in(features), top=top).write.parquet(output)
        found = read_frame(spark, output)
        rows, unread = found.count(), found.where("prediction is null").count()
    facts: dict[str, Any] = {"output": output, "rows": rows, "unread": unread, "seconds": time.perf_counter() - began}
    if as_json:
        emit_json(facts)
    else:
        aside = f", of which {unread:,} could not be read" if unread else ""
        say(f"{bold(output)} {count(rows, 'row')}{aside} {dim('{seconds:.1f} s'.format(**facts))}")
