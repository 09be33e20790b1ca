"""`hinged evaluate`: how well a model does, held-out or while it learns."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from hinged.cli.inputs import Inputs
from hinged.cli.options import LEARNER, READING, AsJson, Files, Report, flag, learner_settings, option, takes
from hinged.cli.progress import ProgressLine
from hinged.cli.tables import emit_json, say

if TYPE_CHECKING:
    from hinged.bounds.watching import Watched
    from hinged.files.examples import FileLearner
    from hinged.files.judging import Judged

__all__ = ["evaluate"]

FINISHED, HELD_OUT = "judged by a model that learnt nothing from them", "kept from learning, then judged"
PROGRESSIVE = "each judged, then learnt"
MODEL = "Judge this model, which learns nothing from the input."
HOLDOUT = "Hold out this share, evenly spread, and judge by it at the end."
BOUND = "Show the most mistakes that are proven possible, as the stream runs."


@takes(READING, LEARNER)
def evaluate(
    files: Files = None,
    *,
    model: Annotated[Path | None, option("PATH", MODEL, "--model", "-m")] = None,
    holdout: Annotated[float | None, option("SHARE", HOLDOUT)] = None,
    passes: Annotated[int, option("N", "How often to learn the rest, with --holdout.", min=1)] = 1,
    report: Report = None,
    bound: Annotated[bool, flag("--bound", BOUND)] = False,
    as_json: AsJson = False,
    **options: Any,
) -> None:
    """Judge a model, or a learner while it learns.

    With a model, on examples it was not taught. Without, a fresh one is tested on each example before it learns it; or
    it learns most of them and is judged on the rest (--holdout). Shown are accuracy, whether the right label is among
    the best 1, 3 and 5, precision and recall of each label, and which labels are confused; for label sets the ranking
    metrics.

    Example: hinged evaluate mail.jsonl.gz --rule optimal --report mail.html
    """
    inputs = Inputs(files, options)
    inputs.silent = as_json
    plan = JudgingPlan(options["task"], learner_settings(options), model, holdout, passes, report, bound)
    _check_options(inputs, plan)
    from hinged.cli.results import print_bound, print_result

    found = _judged(inputs, plan)
    if report is not None:
        _write_report(report, found, os.path.basename(inputs.name))
    if as_json:
        emit_json(_facts(found, inputs, report))
        return
    print_result(found.result, found.how)
    if found.watched is not None:
        print_bound(found.watched)
    if report is not None:
        say(f"\nReport  {report}")


class JudgingPlan(NamedTuple):
    """What to judge, and how: a finished model, a new one on held-out examples, or a new one while it learns."""

    task: str | None
    settings: dict[str, object]
    model: Path | None
    holdout: float | None
    passes: int
    report: Path | None
    bound: bool


class Found(NamedTuple):
    """The learner, its assessment, in which way it was judged, and its bound if asked for."""

    learner: FileLearner | None
    result: Judged | None
    how: str
    watched: Watched | None = None


def _check_options(inputs: Inputs, plan: JudgingPlan) -> None:
    """Refuse options that contradict each other, before anything is read."""
    if plan.holdout is not None:
        _check_holdout(inputs, plan, plan.holdout)
    elif plan.passes > 1:
        raise typer.BadParameter(f"--passes {plan.passes} goes with --holdout; else each example is judged once")
    if plan.report is not None:
        from hinged.io.atomic import check_folder

        check_folder(plan.report)
    if plan.bound and (plan.model or plan.holdout):
        other = "--model" if plan.model else "--holdout"
        raise typer.BadParameter(f"--bound is for a new learner that is judged while it learns; leave {other} out")


def _check_holdout(inputs: Inputs, plan: JudgingPlan, share: float) -> None:
    if plan.model is not None:
        raise typer.BadParameter("--holdout makes a new model, and --model judges a finished one; give one of them")
    if not 0 < share < 1:
        raise typer.BadParameter(f"--holdout is a share between 0 and 1, such as 0.2; got {share:g}")
    if not inputs.can_be_read_again():
        raise typer.BadParameter("--holdout reads the input twice and needs files; pipes can be read once")


def _check_task(plan: JudgingPlan) -> None:
    """Refuse options that the task has no use for."""
    given = [name for name, value in {"--report": plan.report, "--bound": plan.bound}.items() if value]
    if given and plan.task not in (None, "classify", "rank"):
        what = "sequences" if plan.task == "sequence" else "this task"
        raise typer.BadParameter(f"{given[0]} is for rankings of labels; leave it out for {what}")


def _judged(inputs: Inputs, plan: JudgingPlan) -> Found:
    """Judge as planned; input without any example that could be judged is refused."""
    from hinged.files.examples import check_agrees, load_learner, task_of

    judge_it: Callable[[Inputs, JudgingPlan, ProgressLine], Found] = _progressive if plan.holdout is None else _held_out
    if plan.model is not None:
        learner = load_learner(plan.model)
        check_agrees(learner, plan.task, plan.settings, str(plan.model))
        inputs.remember(learner)
        inputs.model = learner
        plan, judge_it = plan._replace(task=task_of(learner)), partial(_finished, learner)
    _check_task(plan)
    with ProgressLine() as progress:
        found = judge_it(inputs, plan, progress)
    inputs.report_skipped()
    inputs.check_any()
    if found.result is not None and found.result.examples:
        return found
    if plan.holdout is None:
        raise ValueError(inputs.without_labels())
    raise ValueError(
        f"{inputs.name} has too few examples with a label to hold out a share of {plan.holdout:g}: some must be "
        "learnt, and some judged."
    )


def _finished(learner: FileLearner, inputs: Inputs, plan: JudgingPlan, progress: ProgressLine) -> Found:
    """Judge a model on examples it was not taught."""
    from hinged.files.judging import judge

    return Found(learner, judge(learner, inputs.batches(plan.task, progress), keep=plan.report is not None), FINISHED)


def _progressive(inputs: Inputs, plan: JudgingPlan, progress: ProgressLine) -> Found:
    """Judge a new learner on each example before it learns it."""
    from hinged.files.judging import judge
    from hinged.files.stream import learner_for

    learner, chunks = learner_for(inputs.batches(plan.task, progress), plan.task, plan.settings)
    if learner is None:
        return Found(None, None, PROGRESSIVE)
    inputs.tell(learner, progress)
    keep = plan.report is not None
    if not plan.bound:
        return Found(learner, judge(learner, chunks, learns=True, keep=keep), PROGRESSIVE)
    from hinged.bounds.watching import Beginning
    from hinged.estimators.label_learner import LabelLearner

    assert isinstance(learner, LabelLearner)  # other tasks are refused before
    kept = Beginning()
    result = judge(learner, kept.of(learner, chunks), learns=True, keep=keep)  # type: ignore[arg-type]
    return Found(learner, result, PROGRESSIVE, kept.trace(learner) if result.examples else None)


def _held_out(inputs: Inputs, plan: JudgingPlan, progress: ProgressLine) -> Found:
    """Let a new learner learn most examples, and judge it on the others."""
    from hinged.files.judging import judge
    from hinged.files.stream import learn_stream, learner_for, spread

    share = plan.holdout or 0.0
    learner: FileLearner | None = None
    for _ in range(plan.passes):
        inputs.begin_again()
        chunks = spread(inputs.batches(plan.task, progress), share, kept=False)
        if learner is None:
            learner, chunks = learner_for(chunks, plan.task, plan.settings)
            if learner is None:
                return Found(None, None, HELD_OUT)
            inputs.tell(learner, progress)
        for _ in learn_stream(learner, chunks):
            pass
    assert learner is not None  # there is one pass at least
    inputs.begin_again()
    kept = spread(inputs.batches(plan.task, progress), share, kept=True)
    return Found(learner, judge(learner, kept, keep=plan.report is not None), HELD_OUT)


def _facts(found: Found, inputs: Inputs, report: Path | None) -> dict[str, object]:
    """Everything that was found, as `--json` prints it."""
    from hinged.files.reading import chosen

    assert found.result is not None  # input without examples is refused before

    return {
        "how": found.how,
        **found.result.as_dict(),
        "bound": found.watched and found.watched.as_dict(),
        "report": report and str(report),
        "columns": inputs.layout and inputs.layout._asdict(),
        "settings": found.learner and chosen(found.learner),
    }


def _write_report(path: Path, found: Found, name: str) -> None:
    from hinged.evaluate.assessment import Assessment
    from hinged.evaluate.assessment_page import write_assessment

    assert isinstance(found.result, Assessment)  # other tasks are refused before
    more = ""
    if found.watched is not None:
        from hinged.bounds.drawing import bound_section

        more = bound_section(found.watched)
    write_assessment(path, found.result, found.learner, name, found.how, more)
