"""Options that the commands of the mail assistant share, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["Account", "Apart", "InFolder", "LeastConfidence", "LeastGap", "LeastScore", "Mail", "State"]

Mail = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="Where the mail lies: a Maildir, an mbox file or a folder of either, imaps://user@host, or - for one "
        "message on standard input.",
    ),
]
Account = Annotated[
    str, typer.Argument(metavar="SOURCE", help="The mail whose assistant is meant; the mail itself is not touched.")
]
State = Annotated[
    Path | None,
    typer.Option(
        "--state",
        metavar="DIR",
        help="Where the assistant keeps what it knows; found by the name of SOURCE if left out.",
    ),
]
InFolder = Annotated[
    str | None,
    typer.Option("--folder", metavar="NAME", help="The folder whose messages are meant; the inbox if left out."),
]
Apart = Annotated[
    list[str] | None,
    typer.Option("--exclude", metavar="NAME", help="Leave out this folder and those below it; may be given again."),
]
LeastScore = Annotated[
    float, typer.Option("--min-score", metavar="NUMBER", help="Say nothing unless the best folder scores above this.")
]
LeastGap = Annotated[
    float, typer.Option("--min-gap", metavar="NUMBER", help="Say nothing unless it leads the runner-up by this much.")
]
LeastConfidence = Annotated[
    float, typer.Option("--min-confidence", metavar="SHARE", help="Say nothing unless it is right with this chance.")
]
