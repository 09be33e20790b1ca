"""`hinged mail file` and `hinged mail undo`: move messages of which the assistant is certain, and undo that."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from hinged.cli.mail.opening import (
    InFolder,
    LeastConfidence,
    LeastGap,
    LeastScore,
    Mail,
    State,
    known_account,
    mail_at,
    time_of,
)
from hinged.cli.mail.showing import as_dict, subject_of, tell_skipped, with_skipped
from hinged.cli.options import AsJson, flag, option
from hinged.cli.progress import bar
from hinged.cli.tables import count, dim, emit, emit_json, percent, rows_of, say, shorten, width

if TYPE_CHECKING:
    from hinged.mail import Assistant
    from hinged.mail.filing import Proposal
    from hinged.mail.reading import Skipped

__all__ = ["file", "undo"]

RIGHT = "Move only what is right this often, as watch --right does: 19/20, 0.95 or 95%."


def file(
    source: Mail,
    *,
    folder: InFolder = None,
    apply: Annotated[bool, flag("--apply", "Move the messages; without it they are only listed.")] = False,
    only: Annotated[list[str] | None, option("NAME", "Move to this folder only; may be repeated.", "--only")] = None,
    min_score: LeastScore = 0.0,
    min_gap: LeastGap = 0.0,
    min_confidence: LeastConfidence = 0.9,
    right: Annotated[str | None, option("SHARE", RIGHT)] = None,
    state: State = None,
    as_json: AsJson = False,
) -> None:
    """Move the messages of which the assistant is certain.

    A dry run unless --apply is given. Every move is recorded first, so that undo can take it back and none is ever
    taken for your own filing. A move that fails is named and does not stop the others; the exit code is 1 then. What
    you move back is not moved again. With --right it moves what watch --right would have moved.

    Example: hinged mail file ~/Maildir --apply
    """
    share = _share(right, min_gap, min_confidence)
    with mail_at(source) as mail, known_account(source, state) as assistant:
        from hinged.mail.filing import file_mail, inbox_of
        from hinged.mail.self_filing import SelfFiling, file_by_promise
        from hinged.mail.sources.source import SourceError
        from hinged.mail.suggestion import Thresholds

        sure = (min_gap, min_confidence) if share is None else ()
        assistant.thresholds = Thresholds(min_score, *sure)
        skipped: list[Skipped] = []
        done: list[Proposal] = []
        stopped: Exception | None = None
        with bar() as show:
            inbox, skip, some = inbox_of(mail, folder), skipped.append, only or ()
            try:
                if share is None:
                    file_mail(assistant, mail, inbox, apply=apply, only=some, show=show, skip=skip, done=done)
                else:
                    filing = SelfFiling(assistant, mail, share, apply=apply)
                    file_by_promise(filing, inbox, only=some, show=show, skip=skip, done=done)
            except (SourceError, OSError) as problem:  # moves made before are listed all the same
                stopped = problem
        tell_skipped(skipped)
    if as_json:
        _print_as_json(done, skipped)
    else:
        _print([one for one in done if not one.failed], source, apply)
    failed = _tell_failed(
        [(one.message.subject, f"to {one.suggestion.best}", one.failed) for one in done if one.failed]
    )
    if stopped is not None:
        raise stopped
    if failed:
        raise typer.Exit(1)


def _share(right: str | None, min_gap: float, min_confidence: float) -> float | None:
    """Return how often filing is to be right; None if that was not said."""
    from hinged.mail.filing import CERTAIN
    from hinged.mail.promise import share_of

    if right is not None and (min_gap, min_confidence) != (CERTAIN.gap, CERTAIN.confidence):
        raise typer.BadParameter("--right decides what is sure enough; leave out --min-gap and --min-confidence")
    return None if right is None else share_of(right)


def _print_as_json(done: Sequence[Proposal], skipped: Sequence[Skipped]) -> None:
    moves = [
        {**as_dict(one.message, one.suggestion, one.place.key), "moved": one.moved, "failed": one.failed}
        for one in done
    ]
    emit_json(with_skipped(moves, skipped, moved=False, failed=""))


def _print(done: Sequence[Proposal], source: str, apply: bool) -> None:
    rows, room = [], min(30, width() // 3)
    for one in done:
        subject = shorten(subject_of(one.message), width() - room - 11)
        rows.append((subject, shorten(str(one.suggestion.best), room), percent(one.suggestion.confidence, 0)))
    for line in rows_of(rows, left=2):
        say(line)
    if not apply:
        say(f"{count(len(rows), 'message')} would be moved; --apply moves them.")
    else:
        undo_it = f"; hinged mail undo {quote(source)} moves them back" if rows else ""
        say(f"{count(len(rows), 'message')} moved{undo_it}.")


def _tell_failed(failed: Sequence[tuple[str, str, str]]) -> bool:
    """Name the moves that failed (the message, to where, and why); return True if there are any."""
    for subject, where, why in failed:
        emit(f"hinged: {shorten(subject or '(no subject)', 44)!r} was not moved {where}: {why}", err=True)
    return bool(failed)


def undo(
    source: Mail,
    *,
    message: Annotated[str | None, option("ID", "Only this message: its number in the log, or its Message-ID.")] = None,
    day: Annotated[str | None, option("DATE", "All that was filed on a day, such as 2026-11-19.")] = None,
    every: Annotated[bool, flag("--all", "All that was ever filed.")] = False,
    state: State = None,
    as_json: AsJson = False,
) -> None:
    """Undo the moves of the last file --apply, or the last message that watch --right filed; or those that are named.

    Messages that you have moved since stay where you put them. One that cannot be moved back is named, and tried again
    by the next undo; if that fails too, the next undo continues with the run before. Repeated undos go further back.

    Example: hinged mail undo ~/Maildir --day 2026-11-19
    """
    if (message is not None) + (day is not None) + every > 1:
        raise typer.BadParameter("--message, --day and --all exclude each other")
    with mail_at(source) as mail, known_account(source, state) as assistant:
        from hinged.mail.filing import undo as move_back

        named = message is not None or day is not None or every
        back, lost, failed = move_back(assistant, mail, _numbers(assistant, message, day) if named else None)
    if as_json:
        facts = {"put_back": back, "not_found": lost, "failed": [{"subject": s, "why": why} for s, why in failed]}
        emit_json(facts)
    else:
        for subject in back:
            say(shorten(subject or "(no subject)", width()))
        gone = f"; {count(len(lost), 'message')} had been moved since" if lost else ""
        say(f"{count(len(back), 'message')} moved back{dim(gone)}")
    if _tell_failed([(subject, "back", why) for subject, why in failed]):
        raise typer.Exit(1)


def _numbers(assistant: Assistant, message: str | None, day: str | None) -> set[int]:
    """Return the numbers of the moves that can be undone: of a message, of a day, or all."""
    entries = [one for one in assistant.log.entries() if one.move.is_open]
    if message is not None:
        name = message.strip("<>#")
        entries = [one for one in entries if name in (one.move.message, str(one.move.number))]
    elif day is not None:
        begin = time_of(day, "--day")
        end = (datetime.fromtimestamp(begin) + timedelta(days=1)).timestamp()
        entries = [one for one in entries if one.at is not None and begin <= one.at < end]
    if not entries:
        raise ValueError("nothing that was filed and can be moved back is meant by that; hinged mail log lists it.")
    return {one.move.number for one in entries}
