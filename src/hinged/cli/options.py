"""Options that commands share, each declared once."""

from __future__ import annotations

import csv
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import typer

__all__ = ["LEARNER", "READING", "AsJson", "Files", "Model", "learner_settings", "names_in", "takes"]

Command = TypeVar("Command", bound=Callable[..., Any])

INPUT, LEARNS, TEXT = "Input", "Learner", "Text"

AsJson = Annotated[bool, typer.Option("--json", help="Print the results as JSON.")]
Files = Annotated[list[str] | None, typer.Argument(metavar="FILE", help="What to read; - for standard input.")]
Model = Annotated[Path, typer.Option("--model", "-m", metavar="PATH", help="The model file.")]

Format = Literal["jsonl", "csv", "tsv", "svmlight", "vw", "lines", "parquet", "arrow", "folders"]
Rule = Literal["perceptron", "pa", "pa1", "pa2", "simperc", "simproj", "conproj", "optimal", "mira", "uniform"]


def _option(kind: Any, *names: str, panel: str, help: str, **more: Any) -> Any:
    return Annotated[kind, typer.Option(*names, help=help, rich_help_panel=panel, **more)]


#: How input is read.
READING: dict[str, Any] = {
    "format": _option(
        Format | None,
        panel=INPUT,
        metavar="FORMAT",
        help="jsonl, csv, tsv, svmlight, vw, parquet, arrow, lines (label, tab, text) or folders (folder = label); "
        "found out by the content if left out.",
    ),
    "text": _option(
        list[str] | None,
        panel=INPUT,
        metavar="NAMES",
        help="Columns or keys that hold text, with commas between; guessed if left out.",
    ),
    "label": _option(str | None, panel=INPUT, metavar="NAME", help="Column or key of the label; guessed if left out."),
    "weight": _option(str | None, panel=INPUT, metavar="NAME", help="Column or key of an example's importance weight."),
    "tag": _option(str | None, panel=INPUT, metavar="NAME", help="Column or key of an example's own name."),
    "label_sep": _option(
        str | None, panel=INPUT, metavar="TEXT", help="What separates several labels in one cell, such as a comma."
    ),
    "quote": _option(
        str | None,
        panel=INPUT,
        metavar="CHAR",
        help="What may surround cells of csv and tsv; '' where quotes are text.",
    ),
    "on_error": _option(
        Literal["stop", "skip"],
        panel=INPUT,
        metavar="HOW",
        help="stop at a malformed line, or skip and count it.",
    ),
}

#: Settings of a learner; what is not given is left to its own default.
LEARNER: dict[str, Any] = {
    "task": _option(
        Literal["classify", "rank", "binary", "regress", "ordinal", "outliers", "sequence"] | None,
        panel=LEARNS,
        metavar="TASK",
        help="classify (one right label each), rank (a set of them), binary (two labels), regress (a number), "
        "ordinal (a rank), outliers (no answers needed) or sequence (a tag for each token of CoNLL files); "
        "classify or rank, by the labels, if left out.",
    ),
    "rule": _option(
        Rule | None,
        panel=LEARNS,
        metavar="RULE",
        help="How far to move: perceptron, pa, pa1, pa2, simperc, simproj, conproj, optimal, mira or uniform; "
        "optimal for text, pa1 for columns by default.",
    ),
    "C": _option(
        float | None,
        "--C",
        panel=LEARNS,
        metavar="NUMBER",
        help="Longest step, 1 by default: small for noisy labels, inf for the plain step.",
    ),
    "epsilon": _option(
        float | None,
        panel=LEARNS,
        metavar="NUMBER",
        help="Errors up to this size are none (regress); 0.1 by default.",
    ),
    "order": _option(
        list[str] | None,
        panel=LEARNS,
        metavar="NAMES",
        help="The ranks from low to high, with commas between; their natural order if left out.",
    ),
    "radius": _option(
        str | None, panel=LEARNS, metavar="NUMBER", help="Radius of the ball that holds what is no outlier, or learn."
    ),
    "max_radius": _option(
        float | None, panel=LEARNS, metavar="NUMBER", help="The largest it may grow to, with --radius learn."
    ),
    "cost": _option(
        str | None,
        panel=LEARNS,
        metavar="HOW",
        help="What wrong labels cost: tree (steps between labels such as work/tax; tree:. for other separators), or a "
        "CSV file of right, answered, cost; what it does not name costs 1.",
    ),
    "constraint": _option(
        Literal["prediction", "max-loss", "additive"] | None,
        panel=LEARNS,
        metavar="WHICH",
        help="With costs and for sequences, what a step acts on: prediction, max-loss; additive for sequences alone.",
    ),
    "sharing": _option(
        Literal["multi", "single", "hybrid"] | None,
        panel=LEARNS,
        metavar="HOW",
        help="multi (weights of each label's own), single (shared by all) or hybrid (both); "
        "hybrid for text, multi for columns by default.",
    ),
    "features": _option(
        Literal["first", "frequency", "distance", "tfidf"] | None,
        panel=LEARNS,
        metavar="WHICH",
        help="Label features of shared weights: first, frequency (the default, for text from 40 %), distance, tfidf.",
    ),
    "geometry": _option(
        Literal["euclidean", "entropy"] | None,
        panel=LEARNS,
        metavar="WHICH",
        help="euclidean (steps add up, the default) or entropy (steps multiply); for columns only.",
    ),
    "margin": _option(
        float | None, panel=LEARNS, metavar="NUMBER", help="By how much the right label must win, 1 by default."
    ),
    "scaling": _option(
        Literal["idf", "none"] | None,
        panel=LEARNS,
        metavar="HOW",
        help="idf (by how rare a feature has been so far) or none; idf for text, none for columns by default.",
    ),
    "normalize": _option(
        bool | None,
        "--normalize/--no-normalize",
        panel=LEARNS,
        help="Divide each row by its length; yes for text, no for columns by default.",
    ),
    "average": _option(
        bool | None,
        "--average/--no-average",
        panel=LEARNS,
        help="Answer with the mean of all weights so far; no by default.",
    ),
    "bias": _option(
        float | None, panel=LEARNS, metavar="NUMBER", help="Value of a constant feature, 0 (none) by default."
    ),
    "class_weight": _option(
        list[str] | None,
        panel=LEARNS,
        metavar="LABEL=W",
        help="Weight of a label's examples, 1 by default; give it again for other labels.",
    ),
    "words": _option(
        str | None, panel=TEXT, metavar="RUNS", help="Runs of words that are features: 1-2, or none; 1-1 by default."
    ),
    "chars": _option(
        str | None,
        panel=TEXT,
        metavar="RUNS",
        help="Runs of characters within words that are features: 3-5; none by default.",
    ),
    "values": _option(
        Literal["binary", "counts", "log"] | None,
        panel=TEXT,
        metavar="HOW",
        help="What a repeated word counts: binary (once, the default), counts, log.",
    ),
    "lowercase": _option(bool | None, "--lowercase/--no-lowercase", panel=TEXT, help="Take A for a; yes by default."),
    "field_limit": _option(
        int | None,
        panel=TEXT,
        metavar="NUMBER",
        help="Longer fields weigh as much as one of so many words, 36 by default; 0 for no limit.",
    ),
    "bits": _option(
        int | None,
        panel=TEXT,
        metavar="NUMBER",
        help="Hash words into 2 to that power columns, instead of a vocabulary that grows.",
    ),
    "seed": _option(int | None, panel=TEXT, metavar="NUMBER", help="Seed of the hash, 0 by default."),
    "signed": _option(
        bool | None,
        "--signed/--no-signed",
        panel=TEXT,
        help="Let hashed words that collide cancel; no by default.",
    ),
}


def takes(*groups: dict[str, Any]) -> Callable[[Command], Command]:
    """Let a command take groups of options: its ``**options`` gets them by name."""

    def declare(command: Command) -> Command:
        signature = inspect.signature(command, eval_str=True)
        own = [p for p in signature.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
        shared = [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default="stop" if name == "on_error" else None
            )
            for group in groups
            for name, kind in group.items()
        ]
        after = [p for p in own if p.kind is inspect.Parameter.KEYWORD_ONLY]
        before = [p for p in own if p.kind is not inspect.Parameter.KEYWORD_ONLY]
        command.__signature__ = signature.replace(parameters=[*before, *after, *shared])  # type: ignore[attr-defined]
        return command

    return declare


def learner_settings(options: dict[str, Any]) -> dict[str, Any]:
    """The settings of a learner that were given, as its class takes them."""
    given = {name: options[name] for name in LEARNER if name != "task" and options.get(name) is not None}
    for name in ("words", "chars"):
        if name in given:
            given[name] = _runs(name, given[name])
    if "cost" in given:
        given["cost"] = _cost(given["cost"])
    if "order" in given:
        given["order"] = names_in(given["order"])
    if "radius" in given and given["radius"] != "learn":
        try:
            given["radius"] = float(given["radius"])
        except ValueError:
            raise typer.BadParameter(f"--radius is a number or learn; got {given['radius']!r}") from None
    if given.get("scaling") == "none":
        given["scaling"] = None
    if given.get("field_limit") == 0:
        given["field_limit"] = None
    if "class_weight" in given:
        given["class_weight"] = dict(map(_weighted, given["class_weight"]))
        if not given["class_weight"]:
            del given["class_weight"]
    return given


def names_in(given: list[str] | None) -> tuple[str, ...] | None:
    """Names given one by one or with commas between."""
    names = tuple(name.strip() for piece in given or () for name in piece.split(",") if name.strip())
    return names or None


def _runs(name: str, given: str) -> tuple[int, int] | None:
    """``1-2`` as (1, 2), ``2`` as (2, 2), ``none`` as None."""
    if given == "none":
        return None
    shortest, _, longest = given.partition("-")
    try:
        return int(shortest), int(longest or shortest)
    except ValueError:
        raise typer.BadParameter(f"--{name} takes shortest-longest, such as 1-2, or none; got {given!r}") from None


def _weighted(given: str) -> tuple[str, float]:
    label, _, weight = given.rpartition("=")
    try:
        return label, float(weight)
    except ValueError:
        raise typer.BadParameter(f"--class-weight takes label=weight, such as spam=2; got {given!r}") from None


def _cost(given: str) -> Any:
    """``tree``, ``tree:.``, or a file of costs."""
    kind, _, separator = given.partition(":")
    if kind == "tree":
        from hinged.tasks.cost import Tree

        return Tree(separator or "/")
    costs = {}
    with open(given, encoding="utf-8", newline="") as file:
        for number, line in enumerate(csv.reader(file), start=1):
            try:
                right, answered, cost = line
                costs[right, answered] = float(cost)
            except ValueError:
                if number > 1 and line:  # the first line may name the columns
                    raise typer.BadParameter(
                        f"{given}:{number}: expected right, answered, cost; got {','.join(line)!r}"
                    ) from None
    return costs
