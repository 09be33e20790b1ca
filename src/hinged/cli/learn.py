"""`hinged learn`: a model learns the examples of files, each a test before it is a lesson."""

from __future__ import annotations

import json
import os
import time
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hinged.cli.inputs import Inputs, Malformed
from hinged.cli.options import LEARNER, READING, AsJson, Files, Model, learner_settings, takes
from hinged.cli.tables import emit

if TYPE_CHECKING:
    from hinged.evaluate.stream import Tally

__all__ = ["learn"]

COLUMNS = ("rounds", "since last", "average", "updates", "labels", "features")
WIDTHS = (9, 10, 8, 9, 7, 9)
WORTH_A_SPEED = 1000  # examples; of fewer, starting up is most of the time
STOPPING = "hinged: stopping; what has been learnt is saved. Once more to stop without saving."


@takes(READING, LEARNER)
def learn(
    files: Files = None,
    *,
    model: Model,
    passes: Annotated[int, typer.Option(min=1, metavar="N", help="How often to go through the input.")] = 1,
    fresh: Annotated[bool, typer.Option("--fresh", help="Start anew where the model file exists.")] = False,
    as_json: AsJson = False,
    **options: Any,
) -> None:
    """Learn examples from files and write a model.

    Each example is a test before it is a lesson. A row of the table comes at every power of two: mistakes since the
    last row and on average, steps taken, labels and features met so far. Where the model file exists, learning goes on
    from it. Ctrl-C saves what has been learnt; so does a malformed line in a pipe, which cannot be read again.

    Example: hinged learn mail.jsonl.gz --model mail.hinged
    """
    from hinged.cli.interrupts import Interrupts
    from hinged.cli.lean import import_lean
    from hinged.cli.progress import Foot

    inputs = Inputs(files, options)
    inputs.aside = f"the model {model} was not written"
    if passes > 1 and not inputs.can_be_read_again():
        raise typer.BadParameter(f"--passes {passes} needs files; standard input and pipes can be read once")
    settings, task = learner_settings(options), options["task"]
    _check_place(model)
    import_lean()
    from hinged.evaluate.examples import check_agrees
    from hinged.evaluate.stream import Tally, learn_stream, learner_for
    from hinged.evaluate.tagging import is_tagger, learn_sentences, tagger_for
    from hinged.loops.hearing import Stopped

    learner = _existing(model, fresh)
    resumed = learner is not None
    if learner is not None:
        check_agrees(learner, task, settings, str(model))
        inputs.remember(learner)
    tags = task == "sequence" or is_tagger(learner)
    table, began = Table(as_json), time.perf_counter()
    ends: list[Tally] = []
    with Foot() as foot, Interrupts(STOPPING) as interrupts:
        foot.note("starting; the first run on a machine compiles for a minute or two")
        tally = Tally()
        for _ in range(passes):
            inputs.begin_again()
            chunks: Any = interrupts.while_going(inputs.sentences(foot) if tags else inputs.chunks(foot))
            if learner is None:
                learner, chunks = tagger_for(chunks, settings) if tags else learner_for(chunks, task, settings)
                if learner is None:
                    break
                inputs.note(learner)
            before = getattr(learner, "n_rounds_", 0)
            try:
                for now in (learn_sentences if tags else learn_stream)(learner, chunks, tally, interrupts.going):
                    foot.clear()
                    table.show(now)
                    tally = now
            except Stopped:  # while a loop was compiled that is used elsewhere
                pass
            except Malformed as problem:
                raise _kept(problem, inputs, learner, before, model) from None
            ends.append(tally)
            if not interrupts.going():
                break
        inputs.report_skipped()
        if learner is None or not tally.rounds:
            _refuse(inputs, interrupts.exit_code, model)
        if not tally.features:
            raise ValueError(
                f"none of the {inputs.examples:,} examples of {inputs.name} has a word or another feature, so {model} "
                "was not written; name the columns of text with --text."
            )
        learner.save(model)
    seconds = time.perf_counter() - began
    _summarize(learner, model, inputs, ends, table, resumed, seconds, interrupts.signal, as_json)
    raise typer.Exit(interrupts.exit_code)


def _check_place(model: Path) -> None:
    """Refuse a place where no model can be written before anything is learnt."""
    folder = model.parent
    if model.is_dir():
        raise IsADirectoryError(f"{model} is a folder; name a file for the model, such as {model / 'model.hinged'}.")
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no folder {folder} to save {model.name} in; make it first.")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"{folder} may not be written to, so {model.name} cannot be saved there.")


def _existing(path: Path, fresh: bool) -> Any:
    """The model to go on with; None where there is none, or a fresh one is wanted. Other files are never replaced."""
    if not path.exists():
        return None
    if fresh:
        from hinged.io import read

        read(path)
        return None
    from hinged.evaluate.examples import load_learner

    return load_learner(path, sentences=True)


def _kept(problem: Malformed, inputs: Inputs, learner: Any, before: int, model: Path) -> Malformed:
    """What to say at a malformed line; what was learnt from a pipe until then is saved, because it cannot come again.

    From files nothing is: the line can be mended and the same command run again, without learning anything twice.
    """
    from hinged.cli.tables import count

    learnt = getattr(learner, "n_rounds_", 0) - before
    if inputs.can_be_read_again() or not learnt:
        return problem
    learner.save(model)
    return Malformed(
        problem.problem, f"{model} was saved with {count(learnt, 'example')} learnt before it", problem.hint
    )


def _refuse(inputs: Inputs, exit_code: int, model: Path) -> None:
    if exit_code:
        emit(f"hinged: nothing was learnt yet; {model} was not written.", err=True)
        raise typer.Exit(exit_code)
    inputs.check_any()
    raise ValueError(inputs.without_labels())


class Table:
    """Rows as they come."""

    def __init__(self, silent: bool) -> None:
        from hinged.evaluate.stream import Tally

        self.silent, self.last = silent, Tally()
        self.rows: list[dict[str, Any]] = []

    def show(self, tally: Tally) -> None:
        """Print a row, unless nothing happened since the last."""
        if tally.rounds == self.last.rounds:
            self.last = tally
            return
        since = tally.since(self.last).rate
        if not self.silent:
            self._print(tally, since)
        self.rows.append(
            {
                "rounds": tally.rounds,
                "mistakes": tally.mistakes,
                "since_last": since,
                "average": tally.rate,
                "updates": tally.updates,
                "labels": tally.labels,
                "features": tally.features,
            }
        )
        self.last = tally

    def _print(self, tally: Tally, since: float | None) -> None:
        from hinged.cli.tables import aligned, dim, percent, say

        if not self.rows:
            say(dim(aligned(COLUMNS, WIDTHS)))
        counts = f"{tally.updates:,}", f"{tally.labels:,}", f"{tally.features:,}"
        say(aligned((f"{tally.rounds:,}", percent(since), percent(tally.rate), *counts), WIDTHS))


def _summarize(
    learner: Any,
    path: Path,
    inputs: Inputs,
    ends: list[Tally],
    table: Table,
    resumed: bool,
    seconds: float,
    signal: int | None,
    as_json: bool,
) -> None:
    from signal import Signals

    from hinged.cli.progress import size_of
    from hinged.cli.tables import bold, count, dim, percent, say
    from hinged.evaluate.stream import Tally

    final = ends[-1]
    passes = [now.since(before) for before, now in zip(chain([Tally()], ends), ends, strict=False)]
    size = path.stat().st_size
    if as_json:
        result = {
            "model": str(path),
            "bytes": size,
            "estimator": type(learner).__name__,
            "resumed": resumed,
            "stopped_by": None if signal is None else Signals(signal).name,
            **{name: value for name, value in final._asdict().items() if name != "seconds"},
            "unlabelled": passes[-1].unlabelled,
            "skipped": passes[-1].skipped,
            "columns": inputs.layout and inputs.layout._asdict(),
            "rate": final.rate,
            "passes": [{"rounds": p.rounds, "mistakes": p.mistakes, "rate": p.rate} for p in passes],
            "total_rounds": learner.n_rounds_,
            "certificate": learner.dual_,
            "seconds": seconds,
            "rows": table.rows,
        }
        emit(json.dumps(result, indent=2))
        return
    say()
    speed = f" ({final.rounds / seconds:,.0f} a second, reading included)" if final.rounds >= WORTH_A_SPEED else ""
    say(f"{bold(count(final.rounds, 'example'))} learnt in {seconds:.1f} s{dim(speed)}")
    for number, one in enumerate(passes, start=1):
        which = f" in pass {number}" if len(passes) > 1 else ""
        apart = [f"{count(one.novel, 'example')} with a label that was new"] if one.novel else []
        apart += (
            [f"{count(one.unopposed, 'example')} without a right label, or without a wrong one"]
            if one.unopposed
            else []
        )
        aside = f"; not counted: {' and '.join(apart)}" if apart else ""
        if number > 1:
            aside = "; these examples had been learnt before"
        share = f" ({percent(one.rate)} of {one.counted:,})" if one.counted else ""
        say(f"{bold(count(one.mistakes, 'mistake') + which)}{share}{dim(aside)}")
    if passes[-1].unlabelled:
        say(f"{count(passes[-1].unlabelled, 'example')} without a label, left out")
    if inputs.layout:
        say(dim(str(inputs.layout)))
    goes_on = f", {learner.n_rounds_:,} rounds in all" if resumed else ""
    say(f"{bold(str(path))} {dim(f'{size_of(size)}, {type(learner).__name__}{goes_on}')}")
