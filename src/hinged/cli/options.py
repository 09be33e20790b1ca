"""Options that commands share, each declared once."""

from __future__ import annotations

import csv
import inspect
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import typer

__all__ = ["LEARNER", "READING", "AsJson", "Files", "Model", "Report"]
__all__ += ["argument", "flag", "learner_settings", "names_in", "option", "takes"]

Command = TypeVar("Command", bound=Callable[..., Any])


def option(metavar: str | None, help: str, *names: str, panel: str | None = None, **more: Any) -> Any:
    """An option: what stands for its value, what it means, its names if not those of the parameter, its heading."""
    return typer.Option(*names, metavar=metavar, help=help, rich_help_panel=panel, **more)


def flag(name: str, help: str, panel: str | None = None) -> Any:
    """An option without a value, of one name: there is no ``--no-name``."""
    return option(None, help, name, panel=panel)


def argument(metavar: str, help: str) -> Any:
    """An argument by place."""
    return typer.Argument(metavar=metavar, help=help)


AsJson = Annotated[bool, flag("--json", "Print the results as JSON.")]
Files = Annotated[list[str] | None, argument("FILE", "What to read; - for standard input.")]
Model = Annotated[Path, option("PATH", "The model file.", "--model", "-m")]
Report = Annotated[Path | None, option("PATH", "Write a page with plots that opens offline.")]

Format = Literal["jsonl", "csv", "tsv", "svmlight", "vw", "lines", "parquet", "arrow", "folders"]
Rule = Literal["perceptron", "pa", "pa1", "pa2", "simperc", "simproj", "conproj", "optimal", "mira", "uniform"]


def _under(panel: str, kind: Any, metavar: str | None, help: str, *names: str) -> Any:
    return Annotated[kind, option(metavar, help, *names, panel=panel)]


_input, _learner, _text = (partial(_under, panel) for panel in ("Input", "Learner", "Text"))

#: How input is read.
READING: dict[str, Any] = {
    "format": _input(
        Format | None,
        "FORMAT",
        "jsonl, csv, tsv, svmlight, vw, parquet, arrow, lines (label, tab, text) or folders (folder = label); "
        "detected by content if left out.",
    ),
    "text": _input(list[str] | None, "NAMES", "Columns or keys of text, separated by commas; guessed if left out."),
    "numbers": _input(
        list[str] | None, "NAMES", "Columns or keys of numbers; with --text or --numbers, no other columns are read."
    ),
    "label": _input(str | None, "NAME", "Column or key of the label; guessed if left out."),
    "weight": _input(str | None, "NAME", "Column or key of an example's importance weight."),
    "tag": _input(str | None, "NAME", "Column or key of an example's identifier."),
    "label_sep": _input(str | None, "TEXT", "The separator of several labels in one cell, such as a comma."),
    "quote": _input(str | None, "CHAR", "The quote character of csv and tsv; '' if quotes are text."),
    "on_error": _input(Literal["stop", "skip"], "HOW", "stop at a malformed line, or skip and count it."),
}

#: Settings of a learner; what is not given has the default of the learner.
LEARNER: dict[str, Any] = {
    "task": _learner(
        Literal["classify", "rank", "binary", "regress", "ordinal", "outliers", "sequence"] | None,
        "TASK",
        "classify (one right label each), rank (a set of them), binary (two labels), regress (a number), ordinal "
        "(a rank), outliers (no answers needed) or sequence (a tag for each token of CoNLL files); classify or "
        "rank, by the labels, if left out.",
    ),
    "rule": _learner(
        Literal[Rule, "auto"] | None,
        "RULE",
        "How far to move: perceptron, pa, pa1, pa2, simperc, simproj, conproj, optimal, mira, uniform, or auto "
        "(optimal for labels and ranks, else pa1); optimal for text, auto for columns by default.",
    ),
    "C": _learner(
        str | None,
        "NUMBER",
        "Longest step: small for noisy labels, inf for the plain step, auto for several side by side; 1 for text, auto "
        "for columns by default.",
        "--C",
    ),
    "epsilon": _learner(
        str | None,
        "NUMBER",
        "Errors up to this size are ignored (regress); auto, the default, is a tenth of the targets' deviation.",
    ),
    "target_scaling": _learner(
        Literal["auto", "standard", "none"] | None,
        "HOW",
        "The targets of regress: standard (learnt in units of their deviation so far), none, or auto (the default: "
        "standard, unless --scaling none is given).",
    ),
    "order": _learner(
        list[str] | None, "NAMES", "The ranks from low to high, separated by commas; their natural order if left out."
    ),
    "radius": _learner(str | None, "NUMBER", "Radius of the ball outside which a row is an outlier, or learn."),
    "max_radius": _learner(float | None, "NUMBER", "The largest radius, with --radius learn."),
    "cost": _learner(
        str | None,
        "HOW",
        "What wrong labels cost: tree (steps between labels such as work/tax; tree:. for other separators), or a "
        "CSV file of right, answered, cost; what it does not name costs 1.",
    ),
    "constraint": _learner(
        Literal["prediction", "max-loss", "additive"] | None,
        "WHICH",
        "With costs and for sequences, what a step acts on: prediction, max-loss; additive for sequences alone.",
    ),
    "sharing": _learner(
        Literal["multi", "single", "hybrid"] | None,
        "HOW",
        "multi (weights for each label), single (shared by all) or hybrid (both); hybrid for text, multi for "
        "columns by default.",
    ),
    "features": _learner(
        Literal["first", "frequency", "distance", "tfidf", "evidence"] | None,
        "WHICH",
        "Label features of shared weights: first, frequency, distance, tfidf, or evidence (the default for text).",
    ),
    "geometry": _learner(
        Literal["euclidean", "entropy", "adaptive"] | None,
        "WHICH",
        "euclidean (steps add up, the default), entropy (steps multiply) or adaptive (a feature moves less the more it "
        "has moved); for columns only.",
    ),
    "half_life": _learner(
        str | None,
        "ROUNDS",
        "For streams that drift: rounds after which what was learnt counts for half; statistics:50 for means and "
        "deviations alone, weights:1000 for weights alone; for columns only.",
    ),
    "kernel": _learner(
        str | None,
        "NAME",
        "fourier (512 random features of the Gaussian kernel; fourier:128 for another number), products (of every two "
        "values of a row, in 2^18 hashed columns; products:16 for 2^16), or gaussian (on rows that it scales, and "
        "remembers; gaussian:0.5 for a gamma and rows as they are); for columns only.",
    ),
    "margin": _learner(float | None, "NUMBER", "By how much the right label must win, 1 by default."),
    "novel": _learner(
        Literal["learn", "skip"] | None,
        "HOW",
        "learn the example that brings a new label (the default), or skip it: the label becomes known, no more.",
    ),
    "scaling": _learner(
        Literal["auto", "idf", "standard", "mixed", "none"] | None,
        "HOW",
        "idf (by how rare a feature has been so far), standard (columns to mean 0 and deviation 1 so far), mixed (each "
        "feature by how many rows have it), none, or auto (by the first row); idf for text, auto for columns by "
        "default.",
    ),
    "normalize": _learner(
        bool | None,
        None,
        "Divide each row by its length; by default yes for text, and for columns that are scaled by idf.",
        "--normalize/--no-normalize",
    ),
    "average": _learner(
        bool | None,
        None,
        "Answer with the mean of all weights so far; by default no for text, while columns with --C auto let it answer "
        "beside the others.",
        "--average/--no-average",
    ),
    "bias": _learner(
        str | None,
        "NUMBER",
        "Value of a constant feature, 0 for none, auto for one as large as a column; 0 for text, auto for columns by "
        "default.",
    ),
    "class_weight": _learner(
        list[str] | None, "LABEL=W", "Weight of a label's examples, 1 by default; repeat it for other labels."
    ),
    "words": _text(str | None, "RUNS", "Runs of words that are features: 1-2, or none; 1-1 by default."),
    "chars": _text(str | None, "RUNS", "Runs of characters within words that are features: 3-5; none by default."),
    "values": _text(
        Literal["binary", "counts", "log"] | None,
        "HOW",
        "What a repeated word counts: binary (once, the default), counts, log.",
    ),
    "lowercase": _text(bool | None, None, "Read A as a; yes by default.", "--lowercase/--no-lowercase"),
    "field_limit": _text(
        int | None, "NUMBER", "A longer field weighs as much as one of this many words, 36 by default; 0 for no limit."
    ),
    "bits": _text(int | None, "NUMBER", "Hash words into 2 to that power columns, instead of a vocabulary that grows."),
    "seed": _text(int | None, "NUMBER", "Seed of the hash, 0 by default."),
    "signed": _text(bool | None, None, "Let hashed words that collide cancel; no by default.", "--signed/--no-signed"),
}


def takes(*groups: dict[str, Any]) -> Callable[[Command], Command]:
    """Decorator that adds groups of options to a command, which gets them by name in ``**options``."""

    def declare(command: Command) -> Command:
        signature = inspect.signature(command, eval_str=True)
        own = [p for p in signature.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
        shared = [_parameter(name, kind) for group in groups for name, kind in group.items()]
        parameters = sorted([*own, *shared], key=lambda parameter: parameter.kind)  # keyword-only ones last
        command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        return command

    return declare


def _parameter(name: str, kind: Any) -> inspect.Parameter:
    default = "stop" if name == "on_error" else None
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)


def learner_settings(options: dict[str, Any]) -> dict[str, Any]:
    """The settings of a learner that were given, as its class takes them."""
    given = {name: options[name] for name in LEARNER if name != "task" and options.get(name) not in (None, [])}
    return {name: CONVERTERS[name](value) if name in CONVERTERS else value for name, value in given.items()}


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


def _number(text: str, given: str, wanted: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{wanted}; got {given!r}") from None


def _number_or(word: str, name: str, given: str) -> float | str:
    return given if given == word else _number(given, given, f"--{name} is a number or {word}")


def _weighted(given: str) -> tuple[str, float]:
    label, _, weight = given.rpartition("=")
    return label, _number(weight, given, "--class-weight takes label=weight, such as spam=2")


def _half_life(given: str) -> Any:
    """``1000``, or ``statistics:50`` and ``weights:1000`` for one of the two alone."""
    from hinged.geometry import HalfLife

    what, colon, rounds = given.rpartition(":")
    if what not in ("", "statistics", "weights") or (colon and not what):
        raise typer.BadParameter(f"--half-life is a number of rounds, statistics:50 or weights:1000; got {given!r}")
    number = _number(rounds, given, "--half-life takes rounds, such as 1000 or statistics:50")
    return HalfLife(**{what: number}) if what else number


def _kernel(given: str) -> Any:
    """``fourier``, ``products`` or ``gaussian``; ``fourier:128``, ``products:16``, ``gaussian:0.5`` with a number."""
    from hinged.mercer import Fourier, Gaussian, Products

    name, _, number = given.partition(":")
    if name == "gaussian":
        return Gaussian(_number(number, given, "--kernel gaussian takes a gamma, such as 0.5") if number else "scale")
    kinds: dict[str, type[Fourier | Products]] = {"fourier": Fourier, "products": Products}
    if name not in kinds:
        raise typer.BadParameter(f"--kernel is fourier:128, products:16, gaussian:0.5 or a name alone; got {given!r}")
    n = int(number) if number.isdecimal() else number
    return kinds[name](n) if number else kinds[name]()  # type: ignore[arg-type]


def _cost(given: str) -> Any:
    """``tree``, ``tree:.``, or a file of costs."""
    kind, _, separator = given.partition(":")
    if kind == "tree":
        from hinged.tasks.cost import Tree

        return Tree(separator or "/")
    with open(given, encoding="utf-8", newline="") as file:
        return dict(_priced(csv.reader(file), given))


def _priced(lines: Iterable[list[str]], name: str) -> Iterator[tuple[tuple[str, str], float]]:
    """The pairs of labels of a file, each with its cost; the first line may name the columns."""
    for number, line in enumerate(lines, start=1):
        try:
            right, answered, cost = line
            yield (right, answered), float(cost)
        except ValueError:
            if number > 1 and line:
                wanted = f"{name}:{number}: expected right, answered, cost"
                raise typer.BadParameter(f"{wanted}; got {','.join(line)!r}") from None


#: From the value of an option to that of the learner's setting, where they differ.
CONVERTERS: dict[str, Callable[[Any], Any]] = {
    "words": partial(_runs, "words"),
    "chars": partial(_runs, "chars"),
    "cost": _cost,
    "kernel": _kernel,
    "half_life": _half_life,
    "order": names_in,
    **{name: partial(_number_or, "auto", name) for name in ("C", "bias", "epsilon")},
    "radius": partial(_number_or, "learn", "radius"),
    **dict.fromkeys(("scaling", "target_scaling"), lambda given: None if given == "none" else given),
    "field_limit": lambda given: given or None,
    "class_weight": lambda given: dict(map(_weighted, given)),
}
