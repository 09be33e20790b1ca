"""What the commands do for two labels, numbers, ranks and outliers: print answers, and how good they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from hinged.cli.tables import emit

if TYPE_CHECKING:
    from hinged.cli.inputs import Inputs
    from hinged.evaluate.verdict import Verdict

__all__ = ["judges_vectors", "print_answers", "print_verdict"]

VECTOR_TASKS = ("binary", "regress", "ordinal", "outliers")


def print_answers(learner: Any, inputs: Inputs, top: int | None, confidence: bool, as_json: bool) -> None:
    """A line each: the label, the number, or 1 and -1 for inside and outside."""
    from hinged.cli.progress import Foot
    from hinged.evaluate.verdict import said_of

    if top is not None or confidence:
        raise typer.BadParameter("--top and --confidence are for rankings of labels; this model gives one answer")
    with Foot() as foot:
        for chunk in inputs.chunks(foot, labels=False):
            answers, scores = said_of(learner, chunk)
            foot.clear()
            if not as_json:
                emit("\n".join(f"{a:.6g}" if isinstance(a, float) else str(a) for a in answers))
                continue
            for i, said in enumerate(answers):
                about: dict[str, Any] = {"file": chunk.source, "line": int(chunk.lines[i])}
                if chunk.tags and chunk.tags[i]:
                    about["tag"] = chunk.tags[i]
                emit(json.dumps(about | {"answer": said, "score": float(scores[i])}, ensure_ascii=False))
    inputs.report_skipped()
    inputs.check_any()


def judges_vectors(task: str | None, model: Path | None) -> bool:
    """Whether one of these is to be judged: the task says so, or the model is one."""
    if model is None:
        return task in VECTOR_TASKS
    from hinged.evaluate.examples import load_learner
    from hinged.evaluate.vector_tasks import is_vector

    return is_vector(load_learner(model, sentences=True))


def print_verdict(
    inputs: Inputs,
    task: str | None,
    model: Path | None,
    settings: dict[str, Any],
    holdout: float | None,
    passes: int,
    report: Path | None,
    as_json: bool,
) -> None:
    """Judge a model, or one while it learns, and print the measures of its task."""
    if report is not None:
        raise typer.BadParameter("--report draws pages for rankings of labels; leave it out for this task")
    verdict, how = _judged(inputs, task, model, settings, holdout, passes)
    inputs.report_skipped()
    inputs.check_any()
    if verdict is None or not verdict.examples:
        raise ValueError(
            f"none of the {inputs.examples:,} examples of {inputs.name} could be judged; "
            "name the column or key of the answers with --label."
        )
    if as_json:
        about = {"how": how, "task": verdict.task, "examples": verdict.examples, "unlabelled": verdict.unlabelled}
        about |= {"skipped": verdict.skipped, "seconds": verdict.seconds, **verdict.figures()}
        emit(json.dumps(about, indent=2, ensure_ascii=False))
        return
    from hinged.cli.tables import bold, count, dim, say

    say(f"{bold(count(verdict.examples, 'example'))}, {how} {dim(f'({verdict.seconds:.1f} s)')}")
    for name, value in verdict.figures().items():
        shown = f"{100 * value:.1f} %" if name in ("accuracy", "share outside") else f"{value:.4g}"
        say(f"{name:>24}  {bold(shown)}")
    if verdict.unlabelled:
        say(f"{count(verdict.unlabelled, 'example')} without an answer, left out")


def _judged(
    inputs: Inputs, task: str | None, path: Path | None, settings: dict[str, Any], holdout: float | None, passes: int
) -> tuple[Verdict | None, str]:
    from hinged.cli.progress import Foot
    from hinged.evaluate.examples import check_agrees, load_learner
    from hinged.evaluate.stream import learn_stream, learner_for, spread
    from hinged.evaluate.verdict import judge

    with Foot() as foot:
        if path is not None:
            learner = load_learner(path)
            check_agrees(learner, task, settings, str(path))
            inputs.remember(learner)
            return judge(learner, inputs.chunks(foot), learns=False), "judged by a model that learnt nothing from them"
        if holdout is None:
            learner, chunks = learner_for(inputs.chunks(foot), task, settings)
            how = "each judged, then learnt"
            return (None if learner is None else judge(learner, chunks, learns=True)), how
        learner = None
        for _ in range(passes):
            inputs.begin_again()
            chunks = iter(spread(inputs.chunks(foot), holdout, kept=False))
            if learner is None:
                learner, chunks = learner_for(chunks, task, settings)
            if learner is not None:
                for _tally in learn_stream(learner, chunks):
                    pass
        inputs.begin_again()
        kept = spread(inputs.chunks(foot), holdout, kept=True)
        return (None if learner is None else judge(learner, kept, learns=False)), "kept from learning, then judged"
