"""`hinged mail log`: what the assistant filed, when, how sure it was, and what became of it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hinged.cli.mail.opening import Mail, State, assistant_of, known_account, mail_at, time_of, utc
from hinged.cli.mail.showing import tell
from hinged.cli.options import AsJson, flag, option
from hinged.cli.tables import bold, count, dim, emit, emit_json, percent, rows_of, say, shorten, width, width_of

if TYPE_CHECKING:
    from hinged.mail import Assistant
    from hinged.mail.filed import Entry

__all__ = ["log"]

DELIVERED = "mail_digests"  # name of the journal's note of the days whose digest was delivered
SINCE = "Only what was filed since a date (2026-11-01), or in the last days (7d)."
DIGEST = "Print a mail that lists what was filed on one day."
DELIVER = "Put that mail into the inbox, once a day."


def log(
    source: Mail,
    *,
    since: Annotated[str | None, option("DATE", SINCE)] = None,
    digest: Annotated[bool, flag("--digest", DIGEST)] = False,
    deliver: Annotated[bool, flag("--deliver", DELIVER)] = False,
    day: Annotated[str | None, option("DATE", "The day of the digest; today if left out.")] = None,
    state: State = None,
    as_json: AsJson = False,
) -> None:
    """List the messages that were filed by watch --right and file --apply: when, where, how sure, what became of them.

    A message that you moved since, or that undo moved back, was wrong; one that was left alone for a week was right.

    Example: hinged mail log ~/Maildir --since 2026-11-01
    """
    if (digest or deliver) and since is not None:
        raise typer.BadParameter("a digest is of one day; use --day in place of --since")
    if not (digest or deliver) and day is not None:
        raise typer.BadParameter("--day is for --digest and --deliver; use --since")
    if deliver:
        _deliver(source, state, _day(day), as_json)
        return
    with assistant_of(source, state, read_only=True) as assistant:
        if digest:
            from hinged.mail.digest import digest as digest_of

            emit(digest_of(_of_day(assistant, _day(day)), _day(day), source).decode().rstrip("\n"))
            return
        entries = assistant.log.entries(None if since is None else time_of(since, days=True))
        facts = [_as_dict(assistant, one) for one in entries]
        promise, alarm = assistant.log.promise(), assistant.log.last_alarm()
    if as_json:
        emit_json(facts)
        return
    _print(entries, facts)
    if promise is not None:
        paused = f"; paused until {promise.to_wait} more messages have come" if promise.is_paused else ""
        say(dim(f"Filing by itself is to be right {100 * promise.right:g} % of the time{paused}."))
    if alarm is not None:
        say(f"Not kept on {utc(alarm.at)}: {alarm.wrong} of the {alarm.filed} messages filed until then were wrong.")


def _as_dict(assistant: Assistant, one: Entry) -> dict[str, object]:
    from hinged.mail.filed import FATES

    return {
        "number": one.move.number,
        "at": None if one.at is None else utc(one.at),
        "message": one.move.message,
        "from": one.sender,
        "subject": one.move.subject,
        "origin": one.move.origin,
        "folder": one.move.target,
        "confidence": one.sure,
        "promised": one.promised,
        "fate": FATES[one.fate],
        "became": assistant.log.what_became(one),
    }


def _print(entries: Sequence[Entry], facts: Sequence[dict[str, object]]) -> None:
    rows, room = [], min(24, width() // 5)
    for one, told in zip(entries, facts, strict=True):
        when = "" if one.at is None else f"{datetime.fromtimestamp(one.at):%Y-%m-%d %H:%M}"
        sure = "" if one.sure is None else percent(one.sure, 0)
        folder, became = (shorten(text, room) for text in (one.move.target, str(told["became"])))
        rows.append((f"#{one.move.number}", when, folder, became, sure))
    for one, line in zip(entries, rows_of(rows, left=4), strict=True):
        say(f"{line}  {dim(shorten(one.move.subject or '(no subject)', max(8, width() - width_of(line) - 2)))}")
    wrong = sum(one.is_wrong for one in entries)
    say(f"{bold(count(len(entries), 'message'))} filed, {wrong or 'none'} of them wrong")


def _day(text: str | None) -> date:
    return datetime.fromtimestamp(time.time() if text is None else time_of(text, "--day")).date()


def _of_day(assistant: Assistant, day: date) -> list[Entry]:
    return [one for one in assistant.log.entries() if one.at and datetime.fromtimestamp(one.at).date() == day]


def _deliver(source: str, state: Path | None, day: date, as_json: bool) -> None:
    """Put the digest of a day into the inbox, unless there is nothing to list or it was delivered before."""
    with mail_at(source) as mail, known_account(source, state) as assistant:
        from hinged.mail.digest import digest
        from hinged.mail.filing import inbox_of

        before: list[str] = assistant.kept.journal.get(DELIVERED, [])
        entries, inbox = _of_day(assistant, day), inbox_of(mail)
        if not entries or str(day) in before:
            why = "its digest was delivered before" if entries else "nothing was filed then"
            tell(f"No digest of {day} was delivered: {why}.", as_json, delivered=False, day=str(day))
            return
        mail.deliver(inbox, digest(entries, day, source))
        with assistant.kept.writing():
            assistant.kept.journal.put(DELIVERED, [*before, str(day)])
    tell(f"The digest of {day} is in {inbox}.", as_json, delivered=True, day=str(day))
