"""`hinged learn`: learn the examples of files, each predicted before it is learnt."""

from __future__ import annotations

import os
import time
from itertools import chain
from pathlib import Path
from signal import Signals
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from hinged.cli.inputs import Inputs, Malformed
from hinged.cli.interrupts import Interrupts
from hinged.cli.options import LEARNER, READING, AsJson, Files, Model, flag, learner_settings, option, takes
from hinged.cli.progress import ProgressLine, size_of
from hinged.cli.tables import aligned, bold, count, dim, emit, emit_json, percent, say

if TYPE_CHECKING:
    from hinged.files.examples import FileLearner
    from hinged.files.stream import Tally

__all__ = ["learn"]

COLUMNS = ("rounds", "since last", "average", "updates", "labels", "features")
WIDTHS = (9, 10, 8, 9, 7, 9)
WORTH_A_SPEED = 1000  # examples; with fewer, most of the time is start-up
STOPPING = "hinged: stopping; what has been learnt is saved. Once more to stop without saving."


@takes(READING, LEARNER)
def learn(
    files: Files = None,
    *,
    model: Model,
    passes: Annotated[int, option("N", "How often to go through the input.", min=1)] = 1,
    fresh: Annotated[bool, flag("--fresh", "Start anew if the model file exists.")] = False,
    as_json: AsJson = False,
    **options: Any,
) -> None:
    """Learn examples from files and write a model.

    Each example is predicted before it is learnt. The table has a row at every power of two: mistakes since the last
    row and on average, steps taken, labels and features seen so far. If the model file exists, learning goes on from
    it. Ctrl-C saves what has been learnt; so does a malformed line in a pipe, which cannot be read again.

    Example: hinged learn mail.jsonl.gz --model mail.hinged
    """
    inputs = Inputs(files, options)
    inputs.aside, inputs.silent = f"the model {model} was not written", as_json
    if passes > 1 and not inputs.can_be_read_again():
        raise typer.BadParameter(f"--passes {passes} needs files; standard input and pipes can be read once")
    settings = learner_settings(options)
    _check_place(model)
    session = Session(inputs, model, options["task"], settings, silent=as_json)
    session.open(fresh)
    with ProgressLine() as progress, Interrupts(STOPPING) as interrupts:
        progress.note("starting; the first run on a machine compiles for a minute or two")
        for _ in range(passes):
            if not session.learn(progress, interrupts):
                break
        inputs.report_skipped()
        session.save(interrupts.exit_code)
    (session.print_json if as_json else session.print_summary)(interrupts.signal)
    raise typer.Exit(interrupts.exit_code)


def _check_place(model: Path) -> None:
    """Raise an error if the model cannot be written, before anything is learnt."""
    folder = model.parent
    if model.is_dir():
        raise IsADirectoryError(f"{model} is a folder; name a file for the model, such as {model / 'model.hinged'}.")
    from hinged.io.atomic import check_folder

    check_folder(model)
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"{folder} may not be written to, so {model.name} cannot be saved there.")


class Session:
    """One run of `hinged learn`: the learner, its file, and the counts after each pass.

    Parameters
    ----------
    inputs : Inputs
    path : Path
        The model file.
    task, settings
        Of a new learner.
    silent : bool
        Print no rows.
    """

    def __init__(self, inputs: Inputs, path: Path, task: str | None, settings: dict[str, object], silent: bool) -> None:
        from hinged.files.stream import Tally

        self.inputs, self.path, self.task, self.settings = inputs, path, task, settings
        self.learner: FileLearner | None = None
        self.table = ProgressTable(silent)
        self.tally = Tally()
        self.ends: list[Tally] = []
        self.resumed = False
        self.began = self.seconds = 0.0

    def open(self, fresh: bool) -> None:
        """Load the model to go on with, if there is one; a file that is no model is never replaced."""
        from hinged.files.examples import check_agrees, load_learner, task_of
        from hinged.io import read

        if self.path.exists() and fresh:
            read(self.path)
        elif self.path.exists():
            self.learner, self.resumed = load_learner(self.path), True
            check_agrees(self.learner, self.task, self.settings, str(self.path))
            self.task = task_of(self.learner)
            self.inputs.remember(self.learner)
            self.inputs.model = self.learner
        self.began = time.perf_counter()

    def learn(self, progress: ProgressLine, interrupts: Interrupts) -> bool:
        """Go through the input once; return True if another pass may follow."""
        from hinged.files.stream import learn_stream, learner_for
        from hinged.loops.hearing import Stopped

        self.inputs.begin_again()
        chunks = interrupts.while_going(self.inputs.batches(self.task, progress))
        if self.learner is None:
            self.learner, chunks = learner_for(chunks, self.task, self.settings)
            if self.learner is None:
                return False
            self.inputs.note(self.learner)
            self.inputs.tell(self.learner, progress)
        before = getattr(self.learner, "n_rounds_", 0)
        try:
            for now in learn_stream(self.learner, chunks, self.tally, interrupts.going):
                progress.clear()
                self.table.show(now)
                self.tally = now
        except Stopped:  # a signal came while a loop was compiled
            pass
        except Malformed as problem:
            raise self._kept(problem, before) from None
        self.ends.append(self.tally)
        return interrupts.going()

    def _kept(self, problem: Malformed, before: int) -> Malformed:
        """Save what was learnt from a pipe before a malformed line, because a pipe cannot be read again.

        With files nothing is saved: the line can be fixed and the command run again, without learning anything twice.
        """
        learnt = getattr(self.learner, "n_rounds_", 0) - before
        if self.inputs.can_be_read_again() or not learnt or self.learner is None:
            return problem
        self.learner.save(self.path)
        aside = f"the model {self.path} was saved with {count(learnt, 'example')} learnt before it"
        return Malformed(problem.problem, aside, problem.hint)

    def save(self, exit_code: int) -> None:
        """Write the model; it is an error if nothing was learnt."""
        if self.learner is None or not self.tally.rounds:
            self._refuse(exit_code)
        if not self.tally.features:
            raise ValueError(
                f"none of the {self.inputs.examples:,} examples of {self.inputs.name} has a word or another feature, "
                f"so {self.path} was not written; name the columns of text with --text."
            )
        self.learner.save(self.path)
        self.seconds = time.perf_counter() - self.began

    def _refuse(self, exit_code: int) -> NoReturn:
        if exit_code:
            emit(f"hinged: nothing was learnt yet; {self.path} was not written.", err=True)
            raise typer.Exit(exit_code)
        self.inputs.check_any()
        raise ValueError(self.inputs.without_labels())

    # ------------------------------------------------------------------ results
    def passes(self) -> list[Tally]:
        """The counts of each pass by itself."""
        from hinged.files.stream import Tally

        return [now.since(before) for before, now in zip(chain([Tally()], self.ends), self.ends, strict=False)]

    def print_json(self, signal: int | None) -> None:
        """Print the result as JSON."""
        from hinged.files.reading import chosen

        assert self.learner is not None  # `save` refuses to go on without
        final, passes, layout = self.ends[-1], self.passes(), self.inputs.layout
        result = {
            "model": str(self.path),
            "bytes": self.path.stat().st_size,
            "estimator": type(self.learner).__name__,
            "resumed": self.resumed,
            "stopped_by": None if signal is None else Signals(signal).name,
            **{name: value for name, value in final._asdict().items() if name != "seconds"},
            "unlabelled": passes[-1].unlabelled,
            "skipped": passes[-1].skipped,
            "columns": layout and layout._asdict(),
            "settings": chosen(self.learner),
            "rate": final.rate,
            "passes": [{"rounds": p.rounds, "mistakes": p.mistakes, "rate": p.rate} for p in passes],
            "total_rounds": self.learner.n_rounds_,
            "certificate": self.learner.dual_,
            "seconds": self.seconds,
            "rows": self.table.rows,
        }
        emit_json(result)

    def print_summary(self, signal: int | None) -> None:
        """Print the result for people."""
        assert self.learner is not None  # `save` refuses to go on without
        rounds, passes = self.ends[-1].rounds, self.passes()
        speed = f" ({rounds / self.seconds:,.0f} a second, reading included)" if rounds >= WORTH_A_SPEED else ""
        say(f"\n{bold(count(rounds, 'example'))} learnt in {self.seconds:.1f} s{dim(speed)}")
        for number, one in enumerate(passes, start=1):
            _print_pass(one, number, len(passes))
        if passes[-1].unlabelled:
            say(f"{count(passes[-1].unlabelled, 'example')} without a label, left out")
        size = size_of(self.path.stat().st_size)
        goes_on = f", {self.learner.n_rounds_:,} rounds in all" if self.resumed else ""
        say(f"{bold(str(self.path))} {dim(f'{size}, {type(self.learner).__name__}{goes_on}')}")


def _print_pass(one: Tally, number: int, passes: int) -> None:
    which = f" in pass {number}" if passes > 1 else ""
    share = f" ({percent(one.rate)} of {one.counted:,})" if one.counted else ""
    aside = "; these examples had been learnt before" if number > 1 else _not_counted(one)
    say(f"{bold(count(one.mistakes, 'mistake') + which)}{share}{dim(aside)}")


def _not_counted(one: Tally) -> str:
    """Which examples of a pass were not counted, and why."""
    reasons = {"with a label that was new": one.novel, "without a right label, or without a wrong one": one.unopposed}
    apart = [f"{count(n, 'example')} {why}" for why, n in reasons.items() if n]
    return f"; not counted: {' and '.join(apart)}" if apart else ""


class ProgressTable:
    """The rows printed while a model learns."""

    def __init__(self, silent: bool) -> None:
        from hinged.files.stream import Tally

        self.silent, self.last = silent, Tally()
        self.rows: list[dict[str, Any]] = []

    def show(self, tally: Tally) -> None:
        """Print a row, unless nothing happened since the last one."""
        if tally.rounds != self.last.rounds:
            since = tally.since(self.last).rate
            if not self.silent:
                self._print(tally, since)
            counts = {name: getattr(tally, name) for name in ("updates", "labels", "features")}
            rates = {"since_last": since, "average": tally.rate}
            self.rows.append({"rounds": tally.rounds, "mistakes": tally.mistakes, **rates, **counts})
        self.last = tally

    def _print(self, tally: Tally, since: float | None) -> None:
        if not self.rows:
            say(dim(aligned(COLUMNS, WIDTHS)))
        counts = f"{tally.updates:,}", f"{tally.labels:,}", f"{tally.features:,}"
        say(aligned((f"{tally.rounds:,}", percent(since), percent(tally.rate), *counts), WIDTHS))
