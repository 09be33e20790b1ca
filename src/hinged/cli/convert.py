"""`hinged convert`: examples from one format to another."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from hinged.cli.inputs import Inputs
from hinged.cli.options import READING, AsJson, Format, argument, option, takes
from hinged.cli.progress import ProgressLine, size_of
from hinged.cli.tables import emit, emit_json

if TYPE_CHECKING:
    from hinged.io.examples import Chunk

__all__ = ["convert"]


@takes(READING)
def convert(
    source: Annotated[str, argument("IN", "What to read; - for standard input.")],
    target: Annotated[str, argument("OUT", "The output; - for standard output. .gz and .zst are compressed.")],
    *,
    to: Annotated[Format | None, option("FORMAT", "The format to write; by the name of OUT if left out.")] = None,
    as_json: AsJson = False,
    **options: object,
) -> None:
    """Convert examples from one format to another.

    Memory does not grow with the file. It is an error if the format of OUT cannot hold something; nothing is left out.

    Example: hinged convert mail.csv mail.jsonl.gz
    """
    inputs = Inputs([source], options)
    inputs.aside = "nothing was written"
    _check_target(source, target, to, as_json)
    from hinged.io.examples import write

    began = time.perf_counter()
    with ProgressLine() as progress:
        written = write(_some(inputs, progress), target, to)
    inputs.report_skipped()
    seconds = time.perf_counter() - began
    size = os.path.getsize(target) if os.path.isfile(target) else 0
    if as_json:
        facts = {"examples": written, "skipped": inputs.skipped, "target": target, "bytes": size, "seconds": seconds}
        emit_json(facts)
    else:
        where = "standard output" if target == "-" else f"{target} ({size_of(size)})"
        emit(f"{written:,} examples from {inputs.name} to {where} in {seconds:.1f} s", err=True)


def _check_target(source: str, target: str, to: str | None, as_json: bool) -> None:
    if target == "-":
        if to is None:
            raise typer.BadParameter("standard output has no file name to infer the format from; give --to")
        if as_json:
            raise typer.BadParameter("--json and the examples cannot both go to standard output; name a file")
    elif os.path.exists(target) and os.path.exists(source) and os.path.samefile(source, target):
        raise typer.BadParameter(f"{target} is the input itself; write to another file")


def _some(inputs: Inputs, progress: ProgressLine) -> Iterator[Chunk]:
    """The chunks; without any it is an error, so that no empty output is written."""
    yield from inputs.chunks(progress)
    inputs.check_any()
