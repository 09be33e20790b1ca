"""`hinged mail demo`: a generated mailbox to try the assistant on."""

from __future__ import annotations

import time
from pathlib import Path
from shlex import quote
from typing import Annotated

from hinged.cli.options import AsJson, argument, option
from hinged.cli.tables import count, emit_json, say

__all__ = ["demo"]


def demo(
    folder: Annotated[Path, argument("DIR", "A new folder for the Maildir.")],
    *,
    messages: Annotated[int, option("N", "How many messages.", min=50)] = 1500,
    folders: Annotated[int, option("N", "How many folders.", min=2, max=15)] = 15,
    seed: Annotated[int, option("N", "Seed of the generator.", min=0)] = 0,
    as_json: AsJson = False,
) -> None:
    """Write a generated Maildir to try the assistant on.

    Most messages are filed, the last thirty are in the inbox; the last one has just arrived.

    Example: hinged mail demo demo-mail
    """
    from hinged.mail.demo import write_demo

    counts = write_demo(folder, messages, folders, seed, end=time.time())
    if as_json:
        emit_json(counts)
        return
    say(f"{count(sum(counts.values()), 'message')} in {count(len(counts), 'folder')} written to {folder}. Now try:")
    for command in ("replay", "learn", "suggest", "file"):
        say(f"    hinged mail {command} {quote(str(folder))}")
