"""`hinged mail export`: what was learnt, as a model file or as examples."""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from hinged.cli.mail.opening import Account, State, assistant_of, nothing_learnt, state_of, tell_damaged
from hinged.cli.mail.showing import tell
from hinged.cli.options import AsJson, argument
from hinged.cli.tables import count

__all__ = ["export"]


def export(
    source: Account,
    out: Annotated[Path, argument("OUT", "A file to write: NAME.jsonl for examples, NAME.hinged for the model.")],
    *,
    state: State = None,
    as_json: AsJson = False,
) -> None:
    """Write what was learnt to a file.

    As examples (JSON lines with a folder and the fields of each message, which hinged learn reads) or as a model (which
    hinged.load and hinged predict read). Both contain words of your mail: only you can read the file. If the journal is
    damaged, the readable examples are written, and the others are named.

    Example: hinged mail export ~/Maildir mail.jsonl
    """
    if out.suffix not in (".jsonl", ".hinged"):
        raise typer.BadParameter(f"{out} must end in .jsonl (examples) or .hinged (the model)")
    from hinged.io.atomic import check_folder

    check_folder(out)
    if out.exists():
        raise FileExistsError(f"{out} exists already; remove it first, or name another file.")
    if out.suffix == ".jsonl":
        written = _write_examples(source, state, out)
        tell(f"{count(written, 'example')} written to {out}.", as_json, written=str(out), examples=written)
        return
    with assistant_of(source, state, read_only=True) as assistant:
        if not assistant.kept.labels():
            raise nothing_learnt(source)
        out.touch(mode=0o600)
        assistant.model.notes = {"fields": list(assistant.fields)}
        assistant.model.save(out)
    tell(f"{out} written.", as_json, written=str(out))


def _write_examples(source: str, state: Path | None, out: Path) -> int:
    """Write the examples of a journal without opening the model, which may be damaged too."""
    from hinged.journal import Journal
    from hinged.journal.folder import JOURNAL

    path = state_of(source, state) / JOURNAL
    if not path.exists():
        raise nothing_learnt(source)
    journal, written = Journal(path, read_only=True), 0
    try:
        examples = journal.events(which="dropped = 0 AND kind = 'learn'")
        first = next(examples, None)
        if first is None:
            raise nothing_learnt(source)
        out.touch(mode=0o600)
        sets = bool(journal.ask("SELECT 1 FROM events WHERE kind = 'become' LIMIT 1"))  # then all labels are sets
        with open(out, "w", encoding="utf-8") as file:
            for event in chain([first], examples):
                assert isinstance(event.x, dict)  # the fields of a message, as the assistant stores them
                label = [event.label] if sets and not isinstance(event.label, list) else event.label
                file.write(json.dumps({"label": label, **event.x}, ensure_ascii=False) + "\n")
                written += 1
    finally:
        tell_damaged(journal)
        journal.close()
    return written
