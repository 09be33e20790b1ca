"""`hinged mail file` and `hinged mail undo`: move messages of which the assistant is certain, and undo that."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from hinged.cli.mail.opening import InFolder, LeastConfidence, LeastGap, LeastScore, Mail, State, known_account, mail_at
from hinged.cli.mail.showing import as_dict, subject_of, tell_skipped, with_skipped
from hinged.cli.options import AsJson, flag, option
from hinged.cli.progress import bar
from hinged.cli.tables import count, dim, emit, emit_json, percent, rows_of, say, shorten, width

if TYPE_CHECKING:
    from hinged.mail.filing import Proposal
    from hinged.mail.reading import Skipped

__all__ = ["file", "undo"]


def file(
    source: Mail,
    *,
    folder: InFolder = None,
    apply: Annotated[bool, flag("--apply", "Move the messages; without it they are only listed.")] = False,
    only: Annotated[list[str] | None, option("NAME", "Move to this folder only; may be repeated.", "--only")] = None,
    min_score: LeastScore = 0.0,
    min_gap: LeastGap = 0.1,
    min_confidence: LeastConfidence = 0.9,
    state: State = None,
    as_json: AsJson = False,
) -> None:
    """Move the messages of which the assistant is certain.

    A dry run unless --apply is given. Every move is recorded first, so that undo can take it back and none is ever
    taken for your own filing. A move that fails is named and does not stop the others; the exit code is 1 then. What
    you move back is not moved again.

    Example: hinged mail file ~/Maildir --apply
    """
    with mail_at(source) as mail, known_account(source, state) as assistant:
        from hinged.mail.filing import filing, inbox_of
        from hinged.mail.sources.source import SourceError
        from hinged.mail.suggestion import Thresholds

        assistant.thresholds = Thresholds(min_score, min_gap, min_confidence)
        skipped: list[Skipped] = []
        done: list[Proposal] = []
        stopped: Exception | None = None
        with bar() as show:
            inbox, targets = inbox_of(mail, folder), only or ()
            try:
                moves = filing(assistant, mail, inbox, apply=apply, only=targets, show=show, skip=skipped.append)
                done.extend(moves)
            except (SourceError, OSError) as problem:  # moves made before are listed all the same
                stopped = problem
        tell_skipped(skipped)
    if as_json:
        _print_as_json(done, skipped)
    else:
        _print([one for one in done if not one.failed], source, apply)
    failed = _tell_failed(done)
    if stopped is not None:
        raise stopped
    if failed:
        raise typer.Exit(1)


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


def _tell_failed(done: Sequence[Proposal]) -> bool:
    """Name the moves that failed; return True if there are any."""
    failed = [one for one in done if one.failed]
    for one in failed:
        what = shorten(subject_of(one.message), 44)
        emit(f"hinged: {what!r} was not moved to {one.suggestion.best}: {one.failed}", err=True)
    return bool(failed)


def undo(source: Mail, *, state: State = None, as_json: AsJson = False) -> None:
    """Undo the moves of the last file --apply.

    Messages that you have moved since stay where you put them. One that cannot be moved back is named, and tried again
    by the next undo; if that fails too, the next undo continues with the run before. Repeated undos go further back.

    Example: hinged mail undo ~/Maildir
    """
    with mail_at(source) as mail, known_account(source, state) as assistant:
        from hinged.mail.filing import undo as move_back

        back, lost, failed = move_back(assistant, mail)
    if as_json:
        facts = {"put_back": back, "not_found": lost, "failed": [{"subject": s, "why": why} for s, why in failed]}
        emit_json(facts)
    else:
        for subject in back:
            say(shorten(subject or "(no subject)", width()))
        gone = f"; {count(len(lost), 'message')} had been moved since" if lost else ""
        say(f"{count(len(back), 'message')} moved back{dim(gone)}")
    for subject, why in failed:
        emit(f"hinged: {shorten(subject or '(no subject)', 44)!r} was not moved back: {why}", err=True)
    if failed:
        raise typer.Exit(1)
