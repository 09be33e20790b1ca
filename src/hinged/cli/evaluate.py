"""`hinged evaluate`: how well a model does, held-out or while it learns."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hinged.cli.inputs import Inputs
from hinged.cli.options import LEARNER, READING, AsJson, Files, learner_settings, takes
from hinged.cli.tables import emit

if TYPE_CHECKING:
    from hinged.bounds.watching import Watched
    from hinged.evaluate.assessment import Assessment
    from hinged.io.examples.columns import Layout

__all__ = ["evaluate"]

SHOWN = 20  # labels and confusions in the table
MOMENTS = 8  # at which the bound is shown


@takes(READING, LEARNER)
def evaluate(
    files: Files = None,
    *,
    model: Annotated[
        Path | None,
        typer.Option("--model", "-m", metavar="PATH", help="Judge this model, which learns nothing from the input."),
    ] = None,
    holdout: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Keep that share from learning, evenly spread; judge by it at the end."),
    ] = None,
    passes: Annotated[int, typer.Option(min=1, metavar="N", help="How often to learn the rest, with --holdout.")] = 1,
    report: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Write a page with plots that opens offline.")
    ] = None,
    bound: Annotated[
        bool, typer.Option("--bound", help="Show the most mistakes that are proven possible, as the stream runs.")
    ] = False,
    as_json: AsJson = False,
    **options: Any,
) -> None:
    """Judge a model, or a learner while it learns.

    With a model, on examples it was not taught. Without, a fresh one is tested on each example before it learns it; or
    it learns most of them and is judged on the rest (--holdout). Shown are accuracy, whether the right label is among
    the best 1, 3 and 5, precision and recall of each label, and what is taken for what; for label sets the ranking
    metrics.

    Example: hinged evaluate mail.jsonl.gz --rule optimal --report mail.html
    """
    from hinged.cli.lean import import_lean
    from hinged.cli.progress import Foot

    inputs = Inputs(files, options)
    settings, task = learner_settings(options), options["task"]
    _check_options(inputs, model, holdout, passes, report)
    if bound and (model is not None or holdout is not None):
        other = "--holdout" if model is None else "--model"
        raise typer.BadParameter(f"--bound speaks of a learner judged while it learns from zero; leave {other} out")
    import_lean()
    from hinged.cli.tagging import judges_tags, print_judged

    if judges_tags(task, model):
        return print_judged(inputs, model, settings, holdout, passes, report, as_json)
    from hinged.cli.vectors import judges_vectors, print_verdict

    if judges_vectors(task, model):
        return print_verdict(inputs, task, model, settings, holdout, passes, report, as_json)
    watched = None
    with Foot() as foot:
        if model is not None:
            learner, result = _judged(model, inputs, task, settings, foot, report is not None)
            how = "judged by a model that learnt nothing from them"
        elif holdout is not None:
            learner, result = _held_out(inputs, task, settings, holdout, passes, foot, report is not None)
            how = "kept from learning, then judged"
        else:
            learner, result, watched = _progressive(inputs, task, settings, foot, report is not None, bound)
            how = "each judged, then learnt"
    inputs.report_skipped()
    inputs.check_any()
    if learner is None or not result.examples:
        raise ValueError(inputs.without_labels())
    if report is not None:
        from hinged.evaluate.assessment_page import write_assessment

        more = ""
        if watched is not None:
            from hinged.bounds.drawing import bound_section

            more = bound_section(watched)
        write_assessment(report, result, learner, os.path.basename(inputs.name), how, more)
    if as_json:
        columns = {"columns": inputs.layout and inputs.layout._asdict()}
        emit(json.dumps(_as_dict(result, how, report, watched) | columns, indent=2, ensure_ascii=False))
    else:
        _print(result, how, report, watched, inputs.layout)


def _check_options(inputs: Inputs, model: Path | None, holdout: float | None, passes: int, report: Path | None) -> None:
    if holdout is not None:
        if model is not None:
            raise typer.BadParameter("--holdout makes a new model, and --model judges a finished one; give one of them")
        if not 0 < holdout < 1:
            raise typer.BadParameter(f"--holdout is a share between 0 and 1, such as 0.2; got {holdout:g}")
        if not inputs.can_be_read_again():
            raise typer.BadParameter("--holdout reads the input twice and needs files; pipes can be read once")
    elif passes > 1:
        raise typer.BadParameter(f"--passes {passes} goes with --holdout; else each example is judged once")
    if report is not None and not report.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {report.parent} to write {report.name} in; make it first.")


def _judged(
    path: Path, inputs: Inputs, task: str | None, settings: dict[str, Any], foot: Any, keep: bool
) -> tuple[Any, Assessment]:
    from hinged.evaluate.assess import assess
    from hinged.evaluate.examples import check_agrees, load_learner

    learner = load_learner(path)
    check_agrees(learner, task, settings, str(path))
    inputs.remember(learner)
    return learner, assess(learner, inputs.chunks(foot), keep)


def _progressive(
    inputs: Inputs, task: str | None, settings: dict[str, Any], foot: Any, keep: bool, bound: bool
) -> tuple[Any, Assessment, Watched | None]:
    from hinged.evaluate.assess import assess_progressively
    from hinged.evaluate.assessment import Assessment
    from hinged.evaluate.stream import learner_for

    learner, chunks = learner_for(inputs.chunks(foot), task, settings)
    if learner is None:
        return None, Assessment(False), None
    if not bound:
        return learner, assess_progressively(learner, chunks, keep), None
    from hinged.bounds.watching import Beginning

    kept = Beginning()
    result = assess_progressively(learner, kept.of(learner, chunks), keep)
    return learner, result, kept.trace(learner) if result.examples else None


def _held_out(
    inputs: Inputs, task: str | None, settings: dict[str, Any], share: float, passes: int, foot: Any, keep: bool
) -> tuple[Any, Assessment]:
    from hinged.evaluate.assess import assess
    from hinged.evaluate.stream import learn_stream, learner_for, spread

    learner: Any = None
    for _ in range(passes):
        inputs.begin_again()
        chunks = spread(inputs.chunks(foot), share, kept=False)
        if learner is None:
            learner, chunks = learner_for(chunks, task, settings)
        if learner is not None:
            for _ in learn_stream(learner, chunks):
                pass
    inputs.begin_again()
    result = assess(learner, spread(inputs.chunks(foot), share, kept=True), keep) if learner is not None else None
    if result is None or not result.examples:
        raise ValueError(
            f"{inputs.name} has too few examples with a label to hold out a share of {share:g}: "
            "some must be learnt, and some judged."
        )
    return learner, result


def _as_dict(result: Assessment, how: str, report: Path | None, watched: Watched | None) -> dict[str, Any]:
    ranking = result.ranking
    macro, weighted = result.averages().values()
    return {
        "how": how,
        "examples": result.examples,
        "counted": result.counted,
        "mistakes": result.mistakes,
        "accuracy": result.accuracy,
        "top": {str(k): result.top(k) for k in (1, 3, 5)},
        "ranking": None if ranking is None else ranking._asdict(),
        "unseen": result.unseen,
        "unopposed": result.unopposed,
        "unlabelled": result.unlabelled,
        "skipped": result.skipped,
        "seconds": result.seconds,
        "labels": [vars(score) for score in result.by_label()],
        "macro": {name: getattr(macro, name) for name in ("precision", "recall", "f1")},
        "weighted": {name: getattr(weighted, name) for name in ("precision", "recall", "f1")},
        "confusion": [
            {"label": right, "predicted": says, "times": n}
            for (right, says), n in sorted(result.pairs.items(), key=lambda pair: str(pair[0]))
        ],
        "bound": None if watched is None else watched.as_dict(),
        "report": None if report is None else str(report),
    }


def _print(result: Assessment, how: str, report: Path | None, watched: Watched | None, layout: Layout | None) -> None:
    from hinged.cli.tables import bold, count, dim, percent, rows_of, say, shorten

    say(f"{bold(count(result.examples, 'example'))}, {how} {dim(f'({result.seconds:.1f} s)')}")
    if result.ranks_sets:
        _print_ranking(result)
    else:
        mistakes = count(result.mistakes, "mistake")
        say(f"{bold(f'{percent(result.accuracy)} right')}, {mistakes} in {result.counted:,}")
    tops = " · ".join(f"best {k} {percent(result.top(k))}" for k in (1, 3, 5))
    say(f"right label among the {tops}")
    if result.unseen:
        say(dim(f"{result.unseen:,} with a label that was new to the model{_fate(how)}"))
    if result.unopposed:
        say(dim(f"{result.unopposed:,} without a right label, or without a wrong one, not counted"))
    if result.unlabelled:
        say(dim(f"{result.unlabelled:,} without a label were left out"))
    if layout:
        say(dim(str(layout)))
    _print_labels(result)
    confusions = result.confusions()
    if confusions:
        table = [
            ("was", "taken for", "times"),
            *((shorten(str(a), 36), shorten(str(b), 36), f"{n:,}") for a, b, n in confusions[: SHOWN // 2]),
        ]
        lines = rows_of(table, left=2)
        say("\n" + dim(lines[0]))
        for line in lines[1:]:
            say(line)
        if len(confusions) > SHOWN // 2:
            say(dim(f"… {len(confusions) - SHOWN // 2:,} more kinds of confusion; --json has all"))
    if watched is not None:
        _print_bound(watched)
    if report is not None:
        say(f"\nReport  {report}")


def _fate(how: str) -> str:
    return ", not counted" if "then learnt" in how else ": mistakes, all of them"


def _print_ranking(result: Assessment) -> None:
    from hinged.cli.tables import bold, percent, say

    ranking = result.ranking
    right = f"{percent(result.accuracy)} ranked without a mistake"
    say(f"{bold(right)}, {result.mistakes:,} of {result.counted:,} with one")
    if ranking is not None:
        say(
            f"average precision {ranking.average_precision:.3f} · one-error {ranking.one_error:.3f} · "
            f"ranking loss {ranking.ranking_loss:.3f} · coverage {ranking.coverage:.2f}"
        )


def _print_labels(result: Assessment) -> None:
    from hinged.cli.tables import dim, rows_of, say, shorten

    scores = result.by_label()
    shown = [*scores[:SHOWN], *result.averages().values()]
    table = [
        ("label", "precision", "recall", "F1", "support"),
        *(
            (shorten(str(s.label), 40), f"{s.precision:.3f}", f"{s.recall:.3f}", f"{s.f1:.3f}", f"{s.support:,}")
            for s in shown
        ),
    ]
    lines = rows_of(table)
    say("\n" + dim(lines[0]))
    for line in lines[1 : len(lines) - 2]:
        say(line)
    if len(scores) > SHOWN:
        say(dim(f"… {len(scores) - SHOWN:,} more labels; --json has all"))
    for line in lines[-2:]:
        say(dim(line))


def _print_bound(watched: Watched) -> None:
    from hinged.bounds.drawing import about
    from hinged.cli.tables import bold, count, dim, rows_of, say

    say()
    seen = watched.trace
    if seen is not None:
        if seen.final is not None:
            proven = about(seen.final.mistakes, seen.final.theorem, len(seen.mistakes))
            say(f"{bold(count(int(seen.mistakes[-1]), 'mistake'))}, {proven}")

        def cell(value: float | None) -> str:
            return "–" if value is None else f"{value:,.0f}"

        table = [("examples", "mistakes", "dual", "dual allows", "bound")]
        for moment in watched.moments(MOMENTS):
            dual = "–" if moment["certificate"] is None else f"{moment['certificate']:,.2f}"
            allowed, most = cell(moment["certified"]), cell(moment["bound"])
            table.append((f"{moment['rounds']:,}", f"{moment['mistakes']:,}", dual, allowed, most))
        lines = rows_of(table, left=0)
        say(dim(lines[0]))
        for line in lines[1:]:
            say(line)
    if watched.why:
        say(watched.why)
