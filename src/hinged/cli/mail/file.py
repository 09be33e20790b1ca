"""`hinged mail file` and `hinged mail undo`: move what is certain enough, and put it back."""

from __future__ import annotations

import json
from shlex import quote
from typing import Annotated, Any

import typer

from hinged.cli.mail.opening import known_account, mail_at
from hinged.cli.mail.options import InFolder, LeastConfidence, LeastGap, LeastScore, Mail, State
from hinged.cli.options import AsJson
from hinged.cli.tables import emit

__all__ = ["file", "undo"]


def file(
    source: Mail,
    *,
    folder: InFolder = None,
    apply: Annotated[bool, typer.Option("--apply", help="Move the messages; without it they are only listed.")] = False,
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="NAME", help="Move to this folder alone; may be given again.")
    ] = None,
    min_score: LeastScore = 0.0,
    min_gap: LeastGap = 0.1,
    min_confidence: LeastConfidence = 0.9,
    state: State = None,
    as_json: AsJson = False,
) -> None:
    """Move the messages of which the assistant is certain.

    A dry run unless --apply is given. Every move is written down first, so that undo can take it back and none is ever
    taken for your own filing. A move that fails is named and does not stop the others; the exit code is 1 then. What
    you put back is not moved again.

    Example: hinged mail file ~/Maildir --apply
    """
    with mail_at(source) as mail, known_account(source, state) as assistant:
        from hinged.cli.mail.showing import as_dict, subject_of, tell_skipped, with_skipped
        from hinged.cli.progress import bar
        from hinged.cli.tables import count, percent, rows_of, say, shorten, width
        from hinged.mail.filing import filing, inbox_of
        from hinged.mail.reading import Skipped
        from hinged.mail.sources.source import SourceError
        from hinged.mail.suggestion import Thresholds

        assistant.thresholds = Thresholds(min_score, min_gap, min_confidence)
        skipped: list[Skipped] = []
        how: dict[str, Any] = {"apply": apply, "only": only or (), "skip": skipped.append}
        done, stopped = [], None
        with bar() as show:
            try:
                for one in filing(assistant, mail, inbox_of(mail, folder), show=show, **how):
                    done.append(one)
            except (SourceError, OSError) as problem:  # what was moved before is listed all the same
                stopped = problem
        tell_skipped(skipped)
    failed = [one for one in done if one.failed]
    if as_json:
        moves = [
            {**as_dict(one.message, one.suggestion, one.place.key), "moved": one.moved, "failed": one.failed}
            for one in done
        ]
        moves = with_skipped(moves, skipped, moved=False, failed="")
        emit(json.dumps(moves, indent=2, ensure_ascii=False))
    else:
        rows = []
        for one in done:
            if not one.failed:
                sure = percent(one.suggestion.confidence, 0)
                room = min(30, width() // 3)
                subject = shorten(subject_of(one.message), width() - room - 11)
                rows.append((subject, shorten(str(one.suggestion.best), room), sure))
        for line in rows_of(rows, left=2) if rows else ():
            say(line)
        if not apply:
            say(f"{count(len(rows), 'message')} would be moved; --apply moves them.")
        else:
            undo_it = f"; hinged mail undo {quote(source)} puts them back" if rows else ""
            say(f"{count(len(rows), 'message')} moved{undo_it}.")
    for one in failed:
        what = shorten(subject_of(one.message), 44)
        emit(f"hinged: {what!r} was not moved to {one.suggestion.best}: {one.failed}", err=True)
    if stopped is not None:
        raise stopped
    if failed:
        raise typer.Exit(1)


def undo(source: Mail, *, state: State = None, as_json: AsJson = False) -> None:
    """Put back what the last file --apply moved.

    Messages that you moved on meanwhile stay where you put them. One that cannot be put back is named, and tried again
    by the next undo, which goes on to the run before where that fails once more. Once more undoes the run before that.

    Example: hinged mail undo ~/Maildir
    """
    with mail_at(source) as mail, known_account(source, state) as assistant:
        from hinged.cli.tables import count, dim, say, shorten, width
        from hinged.mail.filing import undo as put_back

        back, lost, failed = put_back(assistant, mail)
    if as_json:
        facts = {"put_back": back, "not_found": lost, "failed": [{"subject": s, "why": why} for s, why in failed]}
        emit(json.dumps(facts, indent=2, ensure_ascii=False))
    else:
        for subject in back:
            say(shorten(subject or "(no subject)", width()))
        gone = f"; {count(len(lost), 'message')} had been moved on" if lost else ""
        say(f"{count(len(back), 'message')} put back{dim(gone)}")
    for subject, why in failed:
        emit(f"hinged: {shorten(subject or '(no subject)', 44)!r} was not put back: {why}", err=True)
    if failed:
        raise typer.Exit(1)
