"""Results of `hinged evaluate` as tables for people, for each kind of result."""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING

from hinged.cli.tables import bold, count, dim, percent, rows_of, say, say_table, shorten
from hinged.evaluate.assessment import Assessment, TagAssessment, VectorAssessment

if TYPE_CHECKING:
    from hinged.bounds.watching import Watched

__all__ = ["print_bound", "print_result"]

SHOWN = 20  # labels, tags and confusions in a table
MOMENTS = 8  # at which the bound is shown


@singledispatch
def print_result(result: object, how: str) -> None:
    """Print the figures of a result, and how they were found."""
    raise NotImplementedError


def _print_head(n: int, what: str, how: str, seconds: float) -> None:
    say(f"{bold(count(n, what))}, {how} {dim(f'({seconds:.1f} s)')}")


def _say_more(n: int, shown: int, what: str) -> None:
    """Say how many of `n` are not shown, if there are such."""
    if n > shown:
        say(dim(f"… {n - shown:,} more {what}; --json has all"))


# ------------------------------------------------------------------ labels and label sets
@print_result.register
def _(result: Assessment, how: str) -> None:
    _print_head(result.examples, "example", how, result.seconds)
    _print_accuracy(result)
    if (means := result.ranking) is not None:
        say(
            f"average precision {means.average_precision:.3f} · one-error {means.one_error:.3f} · "
            f"ranking loss {means.ranking_loss:.3f} · coverage {means.coverage:.2f}"
        )
    say(f"right label among the {' · '.join(f'best {k} {percent(result.top(k))}' for k in (1, 3, 5))}")
    counted_as = ", not counted" if "then learnt" in how else ": mistakes, all of them"
    asides = {
        f"with a label that was new to the model{counted_as}": result.unseen,
        "without a right label, or without a wrong one, not counted": result.unopposed,
        "without a label were left out": result.unlabelled,
    }
    for line in [f"{n:,} {what}" for what, n in asides.items() if n]:
        say(dim(line))
    _print_labels(result)
    _print_confusions(result)


def _print_accuracy(result: Assessment) -> None:
    if result.ranks_sets:
        right = f"{percent(result.accuracy)} ranked without a mistake"
        say(f"{bold(right)}, {result.mistakes:,} of {result.counted:,} with one")
    else:
        mistakes = count(result.mistakes, "mistake")
        say(f"{bold(f'{percent(result.accuracy)} right')}, {mistakes} in {result.counted:,}")


def _print_labels(result: Assessment) -> None:
    """Print precision and recall of each label, and their means."""
    scores = result.by_label()
    shown = [*scores[:SHOWN], *result.averages().values()]
    cells = [
        (shorten(str(s.label), 40), f"{s.precision:.3f}", f"{s.recall:.3f}", f"{s.f1:.3f}", f"{s.support:,}")
        for s in shown
    ]
    first, *lines, macro, weighted = rows_of([("label", "precision", "recall", "F1", "support"), *cells])
    say("\n" + "\n".join([dim(first), *lines]))
    _say_more(len(scores), SHOWN, "labels")
    say(dim(macro))
    say(dim(weighted))


def _print_confusions(result: Assessment) -> None:
    """Print which labels were taken for which, the most frequent first."""
    confusions, most = result.confusions(), SHOWN // 2
    if confusions:
        say()
        rows = [(shorten(str(a), 36), shorten(str(b), 36), f"{n:,}") for a, b, n in confusions[:most]]
        say_table(("was", "taken for", "times"), rows, left=2)
        _say_more(len(confusions), most, "kinds of confusion")


def print_bound(watched: Watched) -> None:
    """Print mistakes, the dual and the bound at a few moments of the stream."""
    from hinged.bounds.drawing import about

    seen = watched.trace
    say()
    if seen is not None and seen.final is not None:
        proven = about(seen.final.mistakes, seen.final.theorem, int(seen.rounds[-1]))
        say(f"{bold(count(int(seen.mistakes[-1]), 'mistake'))}, {proven}")
    if seen is not None:
        formats = {"rounds": ",", "mistakes": ",", "certificate": ",.2f", "certified": ",.0f", "bound": ",.0f"}
        rows = [
            ["–" if moment[name] is None else format(moment[name], how) for name, how in formats.items()]
            for moment in watched.moments(MOMENTS)
        ]
        say_table(("examples", "mistakes", "dual", "dual allows", "bound"), rows, left=0)
    if watched.why:
        say(watched.why)


# ------------------------------------------------------------------ two labels, numbers, ranks, outliers
@print_result.register
def _(result: VectorAssessment, how: str) -> None:
    _print_head(result.examples, "example", how, result.seconds)
    for name, value in result.figures().items():
        shown = f"{100 * value:.1f} %" if name in ("accuracy", "share outside") else f"{value:.4g}"
        say(f"{name:>24}  {bold(shown)}")
    if result.unlabelled:
        say(f"{count(result.unlabelled, 'example')} without an answer, left out")


# ------------------------------------------------------------------ tags
@print_result.register
def _(result: TagAssessment, how: str) -> None:
    _print_head(result.sentences, "sentence", how, result.seconds)
    say(f"{bold(f'{percent(result.accuracy)} of {result.tokens:,} tokens right')}")
    say(f"{percent(result.whole / max(1, result.sentences))} of the sentences right throughout")
    if result.span_f1 is not None:
        say(f"F1 of spans {percent(result.span_f1)}")
    rows = result.by_tag()
    cells = [
        (shorten(str(s.label), 40), f"{s.precision:.3f}", f"{s.recall:.3f}", f"{s.support:,}") for s in rows[:SHOWN]
    ]
    say()
    say_table(("tag", "precision", "recall", "support"), cells)
    _say_more(len(rows), SHOWN, "tags")
