"""`hinged mail sieve`: pins and sure senders as a script for the mail server."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hinged.cli.mail.opening import Mail, State, assistant_of, exit_if_off, mail_at
from hinged.cli.options import AsJson, option
from hinged.cli.tables import count, emit, emit_json, tell_some

if TYPE_CHECKING:
    from hinged.mail import Assistant
    from hinged.mail.sieve import SieveRule
    from hinged.mail.sources.source import Source

__all__ = ["sieve"]

RIGHT = "How often mail of a sender must be right in one folder: 19/20, 0.95 or 95%."
INTO = "Write the rules into this script, between two marks; the rest of it stays as it is."
SEPARATOR = "What the server writes between the levels of a folder's name; found out if left out."


def sieve(
    source: Mail,
    *,
    right: Annotated[str, option("SHARE", RIGHT)] = "19/20",
    into: Annotated[Path | None, option("FILE", INTO)] = None,
    separator: Annotated[str | None, option("TEXT", SEPARATOR)] = None,
    state: State = None,
    as_json: AsJson = False,
) -> None:
    """Write pins and sure senders as a Sieve script, for a server that files mail while no assistant runs.

    Pins come first, then senders whose mail so far was surely for one folder. Pins to folders that are gone are left
    out, and named. Nothing is sent to the server.

    Example: hinged mail sieve ~/Maildir --into hinged.sieve
    """
    from hinged.mail.promise import share_of
    from hinged.mail.sieve import script_with

    if source == "-":
        raise typer.BadParameter("the rules are for folders of an account; name its mail in place of -")
    share, into = share_of(right), None if into is None else into.resolve()  # a link stays one
    script = _read(into)
    with mail_at(source) as mail, assistant_of(source, state, read_only=True) as assistant:
        exit_if_off(assistant, "written")
        rules = _rules(assistant, mail, share, separator)
    usable = [rule for rule in rules if not rule.objection]
    whole = script_with(usable, script)
    if into is not None:
        from hinged.io.atomic import open_atomically

        with open_atomically(into, durable=True, mode=None if into.exists() else 0o600) as file:
            file.write(whole.encode("utf-8", "surrogateescape"))
    if as_json:
        facts = [{**rule._asdict(), "left_out": rule.objection} for rule in rules]
        emit_json({"rules": facts, "written": None if into is None else str(into)})
    elif into is None:
        emit(whole.rstrip("\n"))
    left_out = dict.fromkeys(rule.objection for rule in rules if rule.objection)
    tell_some([f"{why}, so it is left out" for why in left_out], "{} are left out", "rule")
    kinds = Counter(rule.kind for rule in usable)
    pins, where = sum(kinds[kind] for kind in ("address", "list", "domain")), "" if into is None else f" to {into}"
    emit(f"hinged: {count(pins, 'pin')} and {count(kinds['sender'], 'sure sender')} written{where}.", err=True)


def _read(path: Path | None) -> str:
    """Return the user's script; a new one is empty."""
    if path is None:
        return ""
    from hinged.io.atomic import check_folder

    check_folder(path)
    return path.read_bytes().decode("utf-8", "surrogateescape") if path.exists() else ""


def _rules(assistant: Assistant, mail: Source, share: float, separator: str | None) -> list[SieveRule]:
    """Return the rules, with folders by their names on the server; name the pins to folders that are gone."""
    from hinged.mail.senders import senders_and_folders, sure_senders
    from hinged.mail.sieve import rules_of

    folders = mail.folders()
    assistant.see_folders(folders)
    there, usable = {folder.name for folder in folders}, set(assistant.folders())

    def theirs(folder: str) -> str:
        return mail.name_on_server(folder) if separator is None else folder.replace("/", separator)

    pins = assistant.pins()
    gone = {who: folder for who, folder in pins.items() if folder not in there}
    tell_some(
        [f"mail from {who} is pinned to {folder}, which is gone" for who, folder in gone.items()],
        "{} to folders that are gone",
        "pin",
    )
    sure = [
        (one.address, theirs(one.folder))
        for one in sure_senders(senders_and_folders(assistant), share)
        if one.folder in usable and pins.keys().isdisjoint((one.address, f"@{one.address.rpartition('@')[2]}"))
    ]
    return rules_of({who: theirs(folder) for who, folder in pins.items() if who not in gone}, sure)
