"""The input of a command: files or standard input as one stream of chunks, with progress."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from io import BufferedReader, BytesIO
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from hinged.cli.options import names_in
from hinged.cli.tables import emit

if TYPE_CHECKING:
    from hinged.cli.progress import ProgressLine
    from hinged.files.examples import Examples, FileLearner
    from hinged.files.sentences import SentenceChunk
    from hinged.io.examples import Chunk
    from hinged.io.examples.columns import Layout
    from hinged.io.examples.conll import Sentence

__all__ = ["Inputs", "Malformed"]

COLUMNS = ("text", "numbers")
FURTHER = ("weight", "tag", "label_sep", "quote")
SHOWN = 3  # malformed lines of which the message is shown
AT_ONCE = 256  # sentences in a batch
FIRST_BATCHES = (1, 2, 4, 8, 16, 32, 64, 128)  # sizes, so that the first results come early
Batch = TypeVar("Batch", "Chunk", "SentenceChunk")


class Malformed(ValueError):  # noqa: N818
    """A malformed line: the problem, what happened to the work so far, and what to do."""

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
        What messages call the input.
    examples, skipped : int
        Examples read and malformed lines left out so far.
    aside : str
        What an error message adds when the input is refused.
    layout : Layout or None
        How the columns of the last file were read, if it has columns.
    silent : bool
        Say nothing of what is read.
    model : learner or None
        The model that reads it, where there is one before the first chunk.
    """

    aside = ""
    silent = False
    model: FileLearner | None = None
    layout: Layout | None = None

    def __init__(self, files: list[str] | None, options: Mapping[str, Any]) -> None:
        self.files = files = _readable(files)
        self.name = "standard input" if files == ["-"] else files[0] if len(files) == 1 else f"{len(files)} files"
        self.format: str | None = options["format"]
        columns = {name: names_in(options[name]) for name in COLUMNS}
        self.given = {**columns, "label": options["label"]}
        self.more = {name: options[name] for name in FURTHER if options[name] is not None}
        self.remembered: dict[str, Any] = {}
        self.on_error: str = options["on_error"]
        self.examples = self.skipped = 0
        self.problems: list[str] = []

    def remember(self, model: FileLearner) -> None:
        """Read as the model's first input was read, unless options say otherwise."""
        notes = model.notes
        text, label = notes.get("text"), notes.get("label")
        if notes.get("numbers"):
            self.remembered |= {"numbers": tuple(notes["numbers"]), "text": tuple(notes["fields"]) or None}
        elif isinstance(text, list) and all(isinstance(name, str) for name in text):
            self.remembered["text"] = tuple(text)
        if isinstance(label, str):
            self.remembered["label"] = label
        if isinstance(notes.get("label_sep"), str):
            self.more.setdefault("label_sep", notes["label_sep"])

    def note(self, model: FileLearner) -> None:
        """Store in a model how its input was read."""
        text, label = self.given["text"], self.given["label"]
        read_by = {"text": list(text) if text else None, "label": label, "label_sep": self.more.get("label_sep")}
        model.notes = model.notes | read_by

    def can_be_read_again(self) -> bool:
        """Return True if all inputs are files or folders."""
        return all(file != "-" and (os.path.isfile(file) or os.path.isdir(file)) for file in self.files)

    def begin_again(self) -> None:
        """Reset the counts before the input is read again."""
        self.examples = self.skipped = 0
        self.problems = []

    def batches(self, task: str | None, progress: ProgressLine | None = None) -> Iterator[Examples]:
        """The examples with their answers, in order: sentences for the task "sequence", else chunks."""
        return self.sentences(progress) if task == "sequence" else self.chunks(progress)

    def chunks(self, progress: ProgressLine | None = None, labels: bool = True, plain: bool = False) -> Iterator[Chunk]:
        """Every chunk of every file, in order.

        Parameters
        ----------
        progress : ProgressLine, optional
            Shows how many bytes have been read.
        labels : bool
            The column of the label must exist.
        plain : bool
            Read input of no known format as text, one example a line.
        """
        from hinged.io.examples import read

        sizes = [os.path.getsize(file) if os.path.isfile(file) else 0 for file in self.files]
        before, total = 0, sum(sizes) if all(sizes) else None
        for file, size in zip(self.files, sizes, strict=True):
            format, names = self._way_to_read(file, labels, plain)
            how = {"on_error": self.on_error, **names, **self.more}
            with read(file, format, **how) as reader, self._refusing("lines"):
                for chunk in reader:
                    first, self.layout = self.layout is None, chunk.layout
                    if first and self.model is not None:
                        self.tell(self.model, progress)
                    self.skipped += chunk.skipped
                    yield self._counted(chunk)
                    self._show(progress, before + reader.progress[0], total)
            self.problems += map(str, reader.problems)
            before += size

    def _way_to_read(self, file: str, labels: bool, plain: bool) -> tuple[str | None, dict[str, Any]]:
        """The format of a file, None where its reader detects it, and the names of its columns."""
        from hinged.io.examples import FORMATS

        format, names = self.format or _sniffed(file), dict(self.given)
        if format is not None and FORMATS[format].table:
            names |= self._remembered_names()
        if not labels:
            names["label"] = self.given["label"]
        return self.format or ("lines" if plain and format is None else None), names

    def _remembered_names(self) -> dict[str, Any]:
        """The names that the model remembers, but for those given by options; columns count as given together."""
        settled = {role for role, name in self.given.items() if name}
        if not settled.isdisjoint(COLUMNS):
            settled.update(COLUMNS)
        return {role: name for role, name in self.remembered.items() if role not in settled}

    def _counted(self, batch: Batch) -> Batch:
        self.examples += len(batch)
        return batch

    def _show(self, progress: ProgressLine | None, done: int, total: int | None) -> None:
        if progress is not None:
            progress.show(os.path.basename(self.name), done, total)

    @contextmanager
    def _refusing(self, what: str) -> Iterator[None]:
        """Say of a malformed line how such lines (`what`) can be left out."""
        from hinged.io.examples import BadLine

        try:
            yield
        except BadLine as problem:
            skip = self.on_error == "stop"
            hint = f"--on-error skip leaves such {what} out" if skip else "nothing after it can be read"
            raise Malformed(str(problem), self.aside, hint) from None

    def tell(self, model: FileLearner, progress: ProgressLine | None) -> None:
        """Say on stderr what is read of a table, and how it is scaled; not where JSON says so."""
        from hinged.files.reading import reading

        if self.layout is not None and not self.silent:
            if progress is not None:
                progress.clear()
            emit(f"reading {self.name}: {reading(model, self.layout)}", err=True)

    def without_labels(self) -> str:
        """The error message for input in which no example has a label."""
        columns = f" It has {', '.join(map(repr, self.layout.columns))}." if self.layout else ""
        found = f"none of the {self.examples:,} examples of {self.name} has a label"
        return f"{found}; name its column or key with --label.{columns}"

    def sentences(
        self, progress: ProgressLine | None = None, tagged: bool = True, at_once: int | None = None
    ) -> Iterator[SentenceChunk]:
        """Every sentence of every file of CoNLL columns or CoNLL-U, in order.

        Batches hold `at_once` sentences, or more and more, so that the first results come early.
        """
        from hinged.io.examples import read_sentences

        asked = {"format": self.format, **{role: name or None for role, name in self.given.items()}, **self.more}
        given = [name.replace("_", "-") for name, value in asked.items() if value is not None]
        if given:
            raise typer.BadParameter(f"--{given[0]} does not apply to tagged sentences; leave it out")
        sizes = chain(FIRST_BATCHES, repeat(AT_ONCE)) if at_once is None else repeat(at_once)
        for file in self.files:
            reading = read_sentences(file, tagged=tagged, on_error=self.on_error)
            with reading as reader, self._refusing("sentences"):
                for batch in self._in_batches(reader, sizes):
                    yield self._counted(batch)
                    self._show(progress, *reader.progress)
            self.skipped += reader.skipped
            self.problems += map(str, reader.problems)

    def _in_batches(self, reader: Iterator[Sentence], sizes: Iterator[int]) -> Iterator[SentenceChunk]:
        """Yield sentences in batches; a malformed line raises after those before it."""
        from hinged.files.sentences import SentenceChunk
        from hinged.io.examples import BadLine

        batch, size, problem = SentenceChunk([], self.name), next(sizes), None
        try:
            for sentence in reader:
                batch.sentences.append(sentence)
                if len(batch) == size:
                    yield batch
                    batch, size = SentenceChunk([], self.name), next(sizes)
        except BadLine as found:
            problem = found
        if len(batch):
            yield batch
        if problem is not None:
            raise problem

    def report_skipped(self) -> None:
        """Report on stderr how many malformed lines were left out, with the first of them."""
        if not self.skipped:
            return
        n = self.skipped
        emit(f"hinged: skipped {n:,} malformed line{'s' if n > 1 else ''}:", err=True)
        for problem in self.problems[:SHOWN]:
            emit(f"  {problem}", err=True)
        if n > SHOWN:
            emit(f"  … and {n - SHOWN:,} more", err=True)

    def check_any(self) -> None:
        """Raise ValueError if there was no example."""
        if not self.examples:
            all_bad = f": all {self.skipped:,} lines are malformed" if self.skipped else ""
            raise ValueError(f"{self.name} holds no examples{all_bad}{f'; {self.aside}' if self.aside else ''}.")


def _readable(files: list[str] | None) -> list[str]:
    """The files to read, or standard input where none is named; files that do not exist are refused."""
    if not files and (sys.stdin is None or sys.stdin.isatty()):
        raise typer.BadParameter("there is nothing to read: name a file, or pipe something in")
    files = files or ["-"]
    if files.count("-") > 1:
        raise typer.BadParameter("standard input can be read once; give - once")
    for file in files:
        if file != "-" and not os.path.exists(file):
            raise FileNotFoundError(f"there is no file {file}; check its name, or give - to read standard input.")
    return files


def _waiting() -> bytes:
    """The bytes of standard input that wait to be read; they are not consumed."""
    piped = sys.stdin.buffer
    return piped.peek() if isinstance(piped, BufferedReader) else b""


def _sniffed(file: str) -> str | None:
    """The format by the first bytes of a file; None if they cannot be read without being consumed."""
    from hinged.io.examples import detect
    from hinged.io.examples.source import ByteStream, open_stream

    if os.path.isdir(file):
        return "folders"
    if file != "-" and not os.path.isfile(file):
        return None
    with suppress(ValueError, OSError, ImportError, AttributeError):
        stream = ByteStream(BytesIO(_waiting()), "stdin") if file == "-" else open_stream(file)
        try:
            return detect(stream.peek(), file)
        finally:
            stream.close()
    return None
