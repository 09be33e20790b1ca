"""`hinged mail demo`: a generated mailbox to try the assistant on."""

from __future__ import annotations

import json
import time
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from hinged.cli.options import AsJson
from hinged.cli.tables import emit

__all__ = ["demo"]


def demo(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder for the Maildir.")],
    *,
    messages: Annotated[int, typer.Option(min=50, metavar="N", help="How many messages.")] = 1500,
    folders: Annotated[int, typer.Option(min=2, max=15, metavar="N", help="How many folders.")] = 15,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Seed of the generator.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Write a generated Maildir to try the assistant on.

    Most messages are filed, the last thirty are in the inbox; the last one has just arrived.

    Example: hinged mail demo demo-mail
    """
    from hinged.mail.demo import write_demo

    counts = write_demo(folder, messages, folders, seed, end=time.time())
    if as_json:
        emit(json.dumps(counts, indent=2))
        return
    from hinged.cli.tables import count, say

    say(f"{count(sum(counts.values()), 'message')} in {count(len(counts), 'folder')} written to {folder}. Now try:")
    for command in ("replay", "learn", "suggest", "file"):
        say(f"    hinged mail {command} {quote(str(folder))}")
