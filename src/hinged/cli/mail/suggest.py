"""`hinged mail suggest`: ranked folders for messages that are not filed yet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hinged.cli.mail.opening import (
    InFolder,
    LeastConfidence,
    LeastGap,
    LeastScore,
    Mail,
    State,
    absolute,
    assistant_of,
    mail_at,
    state_of,
    time_of,
)
from hinged.cli.mail.showing import as_dict, print_suggestion, tell_skipped, with_skipped
from hinged.cli.options import AsJson, flag, option
from hinged.cli.tables import emit, emit_json

if TYPE_CHECKING:
    from hinged.cli.mail.last_list import Listed
    from hinged.mail import Message, Place, Source
    from hinged.mail.reading import Skipped

__all__ = ["suggest"]

SINCE = "Only messages since a date (2026-11-01), or of the last days (7d)."
BEST = "Print nothing but the best folder of each message, or an empty line: for procmail and Sieve."


def suggest(
    source: Mail,
    *,
    folder: InFolder = None,
    top: Annotated[int, option("K", "How many folders to suggest.", min=1)] = 3,
    since: Annotated[str | None, option("DATE", SINCE)] = None,
    latest: Annotated[int | None, option("N", "Only the last N messages.", "--latest", "--limit", min=1)] = None,
    min_score: LeastScore = 0.0,
    min_gap: LeastGap = 0.0,
    min_confidence: LeastConfidence = 0.0,
    best: Annotated[bool, flag("--best", BEST)] = False,
    state: State = None,
    as_json: AsJson = False,
) -> None:
    """Suggest folders for the messages of the inbox.

    Best first, with the confidence in the first, and the reasons for each. Nothing is moved, marked or learnt; accept
    moves a message by its number. With - the message on standard input is read, for sieve and procmail.

    Example: hinged mail suggest ~/Maildir --latest 5
    """
    if best and as_json:
        raise typer.BadParameter("--best prints names alone; leave out --json, or --best")
    begin = 0.0 if since is None else time_of(since, days=True)
    with mail_at(source) as mail, assistant_of(source, state, read_only=True) as assistant:
        from hinged.cli.mail.last_list import Listed
        from hinged.mail.filing import folders_besides, inbox_of
        from hinged.mail.reading import Skipped, one_message
        from hinged.mail.suggestion import Thresholds

        assistant.thresholds = Thresholds(min_score, min_gap, min_confidence)
        inbox = inbox_of(mail, folder)
        if source != "-":
            assistant.see_folders(mail.folders())
        found, skipped, listed = [], list[Skipped](), list[Listed]()
        for place, message in _chosen(mail, inbox, begin, latest, skipped):
            suggestion = None
            with one_message(place, skipped.append):
                has = folders_besides(assistant, mail, message, place)
                suggestion = assistant.suggest(message, top, why=not best, has=has)
            if suggestion is None:
                continue
            folders = [one.folder for one in suggestion.candidates]
            listed.append(Listed(place.key, message.id, message.subject or "(no subject)", folders))
            number = None if source == "-" else len(listed)
            if best:
                emit(folders[0] if folders else "")
            elif as_json:
                found.append({"number": number, **as_dict(message, suggestion, place.key)})
            else:
                print_suggestion(message, suggestion, number)
        if as_json:
            emit_json(with_skipped(found, skipped, number=None))
        tell_skipped(skipped)
        if not as_json and not listed and not skipped:
            emit(f"hinged: there is no message {'since then ' if since else ''}in that folder.", err=True)
    if source != "-":
        _keep(source, state, inbox, listed)


def _chosen(
    mail: Source, inbox: str, begin: float, latest: int | None, skipped: list[Skipped]
) -> Iterator[tuple[Place, Message]]:
    """Yield the last messages of a folder that are not older than `begin`; one without a date counts as new."""
    from hinged.mail.reading import messages

    places = mail.places(inbox)
    if begin == 0.0:
        yield from messages(mail, places[-latest:] if latest else places, skipped.append)
        return
    new = [
        (place, message)
        for place, message in messages(mail, places, skipped.append)
        if message.date is None or message.date >= begin
    ]
    yield from new[-latest:] if latest else new


def _keep(source: str, state: Path | None, inbox: str, listed: list[Listed]) -> None:
    """Store the list for `hinged mail accept`."""
    from hinged.cli.mail.last_list import LastList, save

    try:
        save(LastList(absolute(source), absolute(str(state_of(source, state))), inbox, listed, []))
    except OSError as problem:
        emit(f"hinged: hinged mail accept cannot be used with this list, which cannot be stored: {problem}.", err=True)
