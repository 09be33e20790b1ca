"""Results of `hinged evaluate`: tables for people and dicts for JSON, for each kind of result."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import TYPE_CHECKING, Any

from hinged.cli.tables import bold, count, dim, percent, rows_of, say, shorten
from hinged.evaluate.assessment import Assessment, TagAssessment, VectorAssessment

if TYPE_CHECKING:
    from hinged.bounds.watching import Watched

__all__ = ["as_dict", "print_bound", "print_result"]

SHOWN = 20  # labels, tags and confusions in a table
MOMENTS = 8  # at which the bound is shown


@singledispatch
def as_dict(result: Any) -> dict[str, Any]:
    """The figures of a result by name."""
    raise NotImplementedError


@singledispatch
def print_result(result: Any, how: str, note: str = "") -> None:
    """Print the figures of a result, how they were found, and a note on what was read."""
    raise NotImplementedError


def _print_head(n: int, what: str, how: str, seconds: float) -> None:
    say(f"{bold(count(n, what))}, {how} {dim(f'({seconds:.1f} s)')}")


def _print_table(heading: tuple[str, ...], rows: Sequence[tuple[str, ...]], left: int = 1) -> None:
    """Print an aligned table after an empty line."""
    first, *lines = rows_of([heading, *rows], left)
    say("\n" + dim(first))
    for line in lines:
        say(line)


# ------------------------------------------------------------------ labels and label sets
@as_dict.register
def _(result: Assessment) -> dict[str, Any]:
    measures = ("precision", "recall", "f1")
    averages = {kind: {name: getattr(m, name) for name in measures} for kind, m in result.averages().items()}
    return {
        "examples": result.examples,
        "counted": result.counted,
        "mistakes": result.mistakes,
        "accuracy": result.accuracy,
        "top": {str(k): result.top(k) for k in (1, 3, 5)},
        "ranking": None if result.ranking is None else result.ranking._asdict(),
        "unseen": result.unseen,
        "unopposed": result.unopposed,
        "unlabelled": result.unlabelled,
        "skipped": result.skipped,
        "seconds": result.seconds,
        "labels": [vars(score) for score in result.by_label()],
        **averages,
        "confusion": [
            {"label": right, "predicted": says, "times": n}
            for (right, says), n in sorted(result.pairs.items(), key=lambda pair: str(pair[0]))
        ],
    }


@print_result.register
def _(result: Assessment, how: str, note: str = "") -> None:
    _print_head(result.examples, "example", how, result.seconds)
    if result.ranks_sets:
        right = f"{percent(result.accuracy)} ranked without a mistake"
        say(f"{bold(right)}, {result.mistakes:,} of {result.counted:,} with one")
    else:
        mistakes = count(result.mistakes, "mistake")
        say(f"{bold(f'{percent(result.accuracy)} right')}, {mistakes} in {result.counted:,}")
    if (means := result.ranking) is not None:
        say(
            f"average precision {means.average_precision:.3f} · one-error {means.one_error:.3f} · "
            f"ranking loss {means.ranking_loss:.3f} · coverage {means.coverage:.2f}"
        )
    say(f"right label among the {' · '.join(f'best {k} {percent(result.top(k))}' for k in (1, 3, 5))}")
    fate = ", not counted" if "then learnt" in how else ": mistakes, all of them"
    for n, what in (
        (result.unseen, f"with a label that was new to the model{fate}"),
        (result.unopposed, "without a right label, or without a wrong one, not counted"),
        (result.unlabelled, "without a label were left out"),
    ):
        if n:
            say(dim(f"{n:,} {what}"))
    if note:
        say(dim(note))
    _print_labels(result)
    confusions = result.confusions()
    if confusions:
        most = SHOWN // 2
        rows = [(shorten(str(a), 36), shorten(str(b), 36), f"{n:,}") for a, b, n in confusions[:most]]
        _print_table(("was", "taken for", "times"), rows, left=2)
        if len(confusions) > most:
            say(dim(f"… {len(confusions) - most:,} more kinds of confusion; --json has all"))


def _print_labels(result: Assessment) -> None:
    """Print precision and recall of each label, and their means."""
    scores = result.by_label()
    shown = [*scores[:SHOWN], *result.averages().values()]
    cells = [
        (shorten(str(s.label), 40), f"{s.precision:.3f}", f"{s.recall:.3f}", f"{s.f1:.3f}", f"{s.support:,}")
        for s in shown
    ]
    first, *lines = rows_of([("label", "precision", "recall", "F1", "support"), *cells])
    say("\n" + dim(first))
    for line in lines[:-2]:
        say(line)
    if len(scores) > SHOWN:
        say(dim(f"… {len(scores) - SHOWN:,} more labels; --json has all"))
    for line in lines[-2:]:
        say(dim(line))


def print_bound(watched: Watched) -> None:
    """Print mistakes, the dual and the bound at a few moments of the stream."""
    from hinged.bounds.drawing import about

    seen = watched.trace
    say()
    if seen is not None:
        if seen.final is not None:
            proven = about(seen.final.mistakes, seen.final.theorem, len(seen.mistakes))
            say(f"{bold(count(int(seen.mistakes[-1]), 'mistake'))}, {proven}")
        table: list[tuple[str, ...]] = [("examples", "mistakes", "dual", "dual allows", "bound")]
        for moment in watched.moments(MOMENTS):
            dual = "–" if moment["certificate"] is None else f"{moment['certificate']:,.2f}"
            limits = ("–" if moment[name] is None else f"{moment[name]:,.0f}" for name in ("certified", "bound"))
            table.append((f"{moment['rounds']:,}", f"{moment['mistakes']:,}", dual, *limits))
        first, *lines = rows_of(table, left=0)
        say(dim(first))
        for line in lines:
            say(line)
    if watched.why:
        say(watched.why)


# ------------------------------------------------------------------ two labels, numbers, ranks, outliers
@as_dict.register
def _(result: VectorAssessment) -> dict[str, Any]:
    counts = {name: getattr(result, name) for name in ("task", "examples", "unlabelled", "skipped", "seconds")}
    return {**counts, **result.figures()}


@print_result.register
def _(result: VectorAssessment, how: str, note: str = "") -> None:
    _print_head(result.examples, "example", how, result.seconds)
    for name, value in result.figures().items():
        shown = f"{100 * value:.1f} %" if name in ("accuracy", "share outside") else f"{value:.4g}"
        say(f"{name:>24}  {bold(shown)}")
    if result.unlabelled:
        say(f"{count(result.unlabelled, 'example')} without an answer, left out")
    if note:
        say(dim(note))


# ------------------------------------------------------------------ tags
@as_dict.register
def _(result: TagAssessment) -> dict[str, Any]:
    return {
        "sentences": result.sentences,
        "sentences_right": result.whole,
        "tokens": result.tokens,
        "accuracy": result.accuracy,
        "span_f1": result.span_f1,
        "seconds": result.seconds,
        "labels": [
            {name: getattr(s, name) for name in ("label", "precision", "recall", "support")} for s in result.by_tag()
        ],
    }


@print_result.register
def _(result: TagAssessment, how: str, note: str = "") -> None:
    _print_head(result.sentences, "sentence", how, result.seconds)
    say(f"{bold(f'{percent(result.accuracy)} of {result.tokens:,} tokens right')}")
    say(f"{percent(result.whole / max(1, result.sentences))} of the sentences right throughout")
    if result.span_f1 is not None:
        say(f"F1 of spans {percent(result.span_f1)}")
    rows = result.by_tag()
    cells = [
        (shorten(str(s.label), 40), f"{s.precision:.3f}", f"{s.recall:.3f}", f"{s.support:,}") for s in rows[:SHOWN]
    ]
    _print_table(("tag", "precision", "recall", "support"), cells)
    if len(rows) > SHOWN:
        say(dim(f"… {len(rows) - SHOWN:,} more tags; --json has all"))
