"""What a command reads: files or standard input as one stream of chunks, and how far it has come."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from typing import TYPE_CHECKING, Any

import typer

from hinged.cli.options import names_in
from hinged.cli.tables import emit

if TYPE_CHECKING:
    from hinged.cli.progress import Foot
    from hinged.io.examples import BadLine, Chunk, Sentence
    from hinged.io.examples.columns import Layout

__all__ = ["Inputs", "Malformed"]

FURTHER = ("weight", "tag", "label_sep", "quote")
SHOWN = 3  # malformed lines of which the message is shown


class Malformed(ValueError):  # noqa: N818
    """Input stopped at a line that cannot be read: the problem, what became of the work so far, what to do."""

    def __init__(self, problem: str, aside: str, hint: str) -> None:
        super().__init__(f"{problem}{f' {aside[:1].upper()}{aside[1:]};' if aside else ''} {hint}.")
        self.problem, self.hint = problem, hint


class Inputs:
    """The files of a command, read one after the other.

    Parameters
    ----------
    files : list of str or None
        Paths; "-", or none at all where something is piped in, is standard input.
    options : dict
        The options of `hinged.cli.options.READING`.

    Attributes
    ----------
    name : str
        What to call them in a sentence.
    examples, skipped : int
        How many have been handed out, and malformed lines left out, so far.
    aside : str
        What to add where the input is refused.
    layout : Layout or None
        Which columns of the file read last were taken for what, where it has columns.
    """

    aside = ""
    layout: Layout | None = None

    def __init__(self, files: list[str] | None, options: dict[str, Any]) -> None:
        if not files:
            if sys.stdin is None or sys.stdin.isatty():
                raise typer.BadParameter("there is nothing to read: name a file, or pipe something in")
            files = ["-"]
        if files.count("-") > 1:
            raise typer.BadParameter("standard input can be read once; give - once")
        self.files = files
        self.name = "standard input" if files == ["-"] else files[0] if len(files) == 1 else f"{len(files)} files"
        self.format: str | None = options["format"]
        self.given = {"text": names_in(options["text"]), "label": options["label"]}
        self.more = {name: options[name] for name in FURTHER if options[name] is not None}
        self.remembered: dict[str, Any] = {}
        self.on_error: str = options["on_error"]
        self.examples = self.skipped = 0
        self.problems: list[str] = []
        for file in files:
            if file != "-" and not os.path.exists(file):
                raise FileNotFoundError(f"there is no file {file}; check its name, or give - to read standard input.")

    def remember(self, model: Any) -> None:
        """Read as the model's first input was read, where the options do not say otherwise."""
        notes = model.notes
        text, label = notes.get("text"), notes.get("label")
        if isinstance(text, list) and all(isinstance(name, str) for name in text):
            self.remembered["text"] = tuple(text)
        if isinstance(label, str):
            self.remembered["label"] = label
        if isinstance(notes.get("label_sep"), str):
            self.more.setdefault("label_sep", notes["label_sep"])

    def note(self, model: Any) -> None:
        """Let a model remember how its input was read."""
        text, label = self.given["text"], self.given["label"]
        read_by = {"text": list(text) if text else None, "label": label, "label_sep": self.more.get("label_sep")}
        model.notes = model.notes | read_by

    def can_be_read_again(self) -> bool:
        """Whether all of it lies on a disk."""
        return all(file != "-" and (os.path.isfile(file) or os.path.isdir(file)) for file in self.files)

    def begin_again(self) -> None:
        """Forget what was counted, before the input is read once more."""
        self.examples = self.skipped = 0
        self.problems = []

    def chunks(self, foot: Foot | None = None, labels: bool = True, plain: bool = False) -> Iterator[Chunk]:
        """Every chunk of every file, in order.

        Parameters
        ----------
        foot : Foot, optional
            Told how many bytes have been read.
        labels : bool
            Whether the label's column must be there.
        plain : bool
            Whether input of no known format is text, a line each.
        """
        from hinged.io.examples import FORMATS, BadLine, read

        sizes = [os.path.getsize(file) if os.path.isfile(file) else 0 for file in self.files]
        before, total = 0, sum(sizes) if all(sizes) else None
        for file, size in zip(self.files, sizes, strict=True):
            format = self.format or _sniffed(file)
            names = dict(self.given)
            if format is not None and FORMATS[format].table:
                names |= {role: name for role, name in self.remembered.items() if not names[role]}
            if not labels:
                names["label"] = self.given["label"]
            lines = "lines" if plain and format is None else None
            with read(file, self.format or lines, on_error=self.on_error, **names, **self.more) as reader:
                try:
                    for chunk in reader:
                        self.layout = chunk.layout
                        self.examples += len(chunk)
                        self.skipped += chunk.skipped
                        yield chunk
                        if foot is not None:
                            foot.show(os.path.basename(self.name), before + reader.progress[0], total)
                except BadLine as problem:
                    raise self._malformed(problem, "lines") from None
                self.problems += map(str, reader.problems)
            before += size

    def _malformed(self, problem: BadLine, what: str) -> Malformed:
        hint = f"--on-error skip leaves such {what} out" if self.on_error == "stop" else "nothing after it can be read"
        return Malformed(str(problem), self.aside, hint)

    def without_labels(self) -> str:
        """What to say of input in which no example has a label."""
        columns = f" It has {', '.join(map(repr, self.layout.columns))}." if self.layout else ""
        found = f"none of the {self.examples:,} examples of {self.name} has a label"
        return f"{found}; name its column or key with --label.{columns}"

    def sentences(self, foot: Foot | None = None, tagged: bool = True) -> Iterator[Sentence]:
        """Every sentence of every file of CoNLL columns or CoNLL-U, in order."""
        from hinged.io.examples import BadLine, read_sentences

        given = [name for name in ("text", "label") if self.given[name]] + list(self.more)
        if self.format is not None or given:
            name = "format" if self.format is not None else given[0].replace("_", "-")
            raise typer.BadParameter(f"--{name} says nothing of tagged sentences; leave it out")
        for file in self.files:
            with read_sentences(file, tagged=tagged, on_error=self.on_error) as reader:
                try:
                    for sentence in reader:
                        self.examples += 1
                        yield sentence
                        if foot is not None and self.examples % 64 == 0:
                            foot.show(os.path.basename(self.name), *reader.progress)
                except BadLine as problem:
                    raise self._malformed(problem, "sentences") from None
                self.skipped += reader.skipped
                self.problems += map(str, reader.problems)

    def report_skipped(self) -> None:
        """Say on stderr how many malformed lines were left out, and show the first."""
        if not self.skipped:
            return
        n = self.skipped
        emit(f"hinged: skipped {n:,} malformed line{'s' if n > 1 else ''}:", err=True)
        for problem in self.problems[:SHOWN]:
            emit(f"  {problem}", err=True)
        if n > SHOWN:
            emit(f"  … and {n - SHOWN:,} more", err=True)

    def check_any(self) -> None:
        """Refuse input without examples."""
        if not self.examples:
            all_bad = f": all {self.skipped:,} lines are malformed" if self.skipped else ""
            raise ValueError(f"{self.name} holds no examples{all_bad}{f'; {self.aside}' if self.aside else ''}.")


def _sniffed(file: str) -> str | None:
    """The format of what a file begins with; None where it cannot be told without taking it."""
    from hinged.io.examples import detect
    from hinged.io.examples.source import Stream, open_stream

    if os.path.isdir(file):
        return "folders"
    if file != "-" and not os.path.isfile(file):
        return None
    with suppress(ValueError, OSError, ImportError, AttributeError):
        head: Any = sys.stdin.buffer
        stream = Stream(BytesIO(head.peek()), "stdin") if file == "-" else open_stream(file)
        try:
            return detect(stream.peek(), file)
        finally:
            stream.close()
    return None
