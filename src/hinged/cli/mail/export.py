"""`hinged mail export`: what was learnt, as a model file or as examples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from hinged.cli.mail.opening import assistant_of
from hinged.cli.mail.options import Account, State
from hinged.cli.mail.showing import tell
from hinged.cli.options import AsJson

__all__ = ["export"]


def export(
    source: Account,
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="A file to write: NAME.jsonl for examples, NAME.hinged for the model.")
    ],
    *,
    state: State = None,
    as_json: AsJson = False,
) -> None:
    """Write what was learnt to a file.

    As examples (JSON lines with a folder and the fields of each message, which hinged learn reads) or as a model (which
    hinged.load and hinged predict read). Either holds words of your mail: only you may read the file.

    Example: hinged mail export ~/Maildir mail.jsonl
    """
    if out.suffix not in (".jsonl", ".hinged"):
        raise typer.BadParameter(f"{out} must end in .jsonl (examples) or .hinged (the model)")
    if not out.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {out.parent} to write {out.name} in; make it first.")
    if out.exists():
        raise FileExistsError(f"{out} exists already; remove it first, or name another file.")
    with assistant_of(source, state, read_only=True) as assistant:
        if not assistant.kept.labels():
            raise ValueError(f"nothing was learnt from {source} yet; begin with: hinged mail learn {source}.")
        out.touch(mode=0o600)
        if out.suffix == ".hinged":
            assistant.model._notes = {"fields": list(assistant.fields)}
            assistant.model.save(out)
        else:
            with open(out, "w", encoding="utf-8") as file:
                for event in assistant.kept.journal.examples():
                    file.write(json.dumps({"label": event.label, **event.x}, ensure_ascii=False) + "\n")
    tell(f"{out} written.", as_json, written=str(out))
