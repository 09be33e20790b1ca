"""`hinged mail learn`: learn from where messages are filed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hinged.cli.mail.opening import Mail, State, assistant_of, exit_if_off, mail_at, state_of
from hinged.cli.mail.showing import skipped_as_dict, tell_skipped
from hinged.cli.options import AsJson, option
from hinged.cli.progress import bar
from hinged.cli.tables import bold, count, dim, emit_json, say

__all__ = ["learn"]

BEGIN = "A model file that a new account begins with; its labels are folders."
INTO = "With -, the folder that the message on standard input was put in."


def learn(
    source: Mail,
    *,
    into: Annotated[str | None, option("NAME", INTO, "--into")] = None,
    begin_with: Annotated[Path | None, option("FILE", BEGIN, "--begin-with")] = None,
    state: State = None,
    as_json: AsJson = False,
) -> None:
    """Learn from where messages are filed.

    Reads all folders but inbox, sent mail, drafts, trash, junk and excluded ones, and learns what is new there, in
    order of date. A second run learns nothing, except messages that were moved to another folder. What was learnt is
    on the disk when this ends, and what was learnt so far if it is killed.

    Example: hinged mail learn ~/Maildir
    """
    if (source == "-") != (into is not None):
        raise typer.BadParameter(
            "--into names the folder of the message on standard input; use it with -, and only with it"
        )
    if begin_with is not None:
        from hinged.estimators.files import load
        from hinged.mail.assistant import Assistant

        Assistant(state_of(source, state), model=load(begin_with)).close()
    with mail_at(source) as mail, assistant_of(source, state) as assistant:
        exit_if_off(assistant, "learnt")
        from hinged.mail.assistant import Filed
        from hinged.mail.looking import Look, look
        from hinged.mail.reading import Skipped, messages

        if into is not None:
            skipped: list[Skipped] = []
            found = [Filed(message, into) for _, message in messages(mail, mail.places("stdin"), skipped.append)]
            learnt = assistant.learn(found, skipped.append)
            seen = Look(1, 1, learnt, {}, tuple(skipped))
        else:
            with bar() as show:
                seen = look(assistant, mail, show)
        known = len(assistant.known())
    tell_skipped(seen.skipped)
    if as_json:
        facts = {**seen._asdict(), "known": known, "state": str(state_of(source, state))}
        facts["skipped"] = [skipped_as_dict(one) for one in seen.skipped]
        emit_json(facts)
        return
    for old, new in seen.renamed.items():
        say(f"{old} was renamed to {new}")
    aside = "" if seen.learnt == seen.read else f"; {seen.read - seen.learnt:,} were known"
    say(f"{bold(count(seen.learnt, 'message'))} learnt of {count(seen.folders, 'folder')}{dim(aside)}")
    say(dim(f"{count(known, 'folder')} known, stored in {state_of(source, state)}"))
