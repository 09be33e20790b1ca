"""`hinged mail watch`: suggest folders for new messages and learn from filed ones, as they arrive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hinged.cli.interrupts import Interrupts
from hinged.cli.mail.opening import InFolder, LeastConfidence, LeastGap, LeastScore, Mail, State, assistant_of, mail_at
from hinged.cli.mail.showing import as_dict, print_suggestion, skipped_as_dict, subject_of, tell_skipped
from hinged.cli.options import AsJson, flag
from hinged.cli.tables import dim, emit, emit_json, say

if TYPE_CHECKING:
    from hinged.mail.watching import Event

__all__ = ["watch"]

KEYWORDS = "Set the best folder as a keyword on each new message (IMAP)."
STOPPING = "hinged: stopping; what has been learnt is kept."


def watch(
    source: Mail,
    *,
    folder: InFolder = None,
    keywords: Annotated[bool, flag("--keywords", KEYWORDS)] = False,
    min_score: LeastScore = 0.0,
    min_gap: LeastGap = 0.0,
    min_confidence: LeastConfidence = 0.0,
    state: State = None,
    as_json: AsJson = False,
) -> None:
    """Suggest folders for each new message and learn from each that is filed, until stopped.

    Whichever program files a message, its folder is learnt, once per folder. Nothing is moved; keywords are removed
    once the message is filed. If the server is unreachable, connecting is tried again. Ctrl-C stops.

    Example: hinged mail watch imaps://jane@imap.example.org/
    """
    if source == "-":
        raise typer.BadParameter("a message on standard input cannot be watched; name the mail it comes from")
    with mail_at(source) as mail, assistant_of(source, state) as assistant, Interrupts(STOPPING) as interrupts:
        from hinged.mail.filing import inbox_of
        from hinged.mail.suggestion import Thresholds
        from hinged.mail.watching import Stopped, Watcher

        if assistant.is_off:
            emit("hinged: the assistant is off, so nothing is watched; hinged mail on switches it on.", err=True)
            raise typer.Exit
        assistant.thresholds = Thresholds(min_score, min_gap, min_confidence)
        inbox = inbox_of(mail, folder)
        tell = _print_as_json if as_json else _print
        watcher = Watcher(assistant, mail, inbox, tell, keywords=keywords, going=interrupts.going)
        where = source.partition("?")[0]
        emit(f"hinged: watching {where}; new messages in {inbox} get suggestions. Ctrl-C stops.", err=True)
        for _ in interrupts.while_going(watcher.moments()):
            try:
                watcher.turn()
            except Stopped:
                break
    raise typer.Exit(interrupts.exit_code)


def _print(event: Event) -> None:
    from hinged.mail.reading import Skipped
    from hinged.mail.watching import Away, Back, MessageLearnt, Suggested

    if isinstance(event, Suggested):
        if event.suggestion.candidates:
            print_suggestion(event.message, event.suggestion)
    elif isinstance(event, MessageLearnt):
        say(f"{dim('learnt')}  {event.folder}  {dim(subject_of(event.message))}")
    elif isinstance(event, Skipped):
        tell_skipped([event])
    elif isinstance(event, Away):
        emit(f"hinged: {event.sentence} Trying again.", err=True)
    elif isinstance(event, Back):
        emit("hinged: connected again.", err=True)
    else:
        say(f"{event.old} was renamed to {event.new}")


def _print_as_json(event: Event) -> None:
    """Print one object per line, flushed at once."""
    from hinged.mail.reading import Skipped
    from hinged.mail.watching import MessageLearnt, Suggested

    name = "learnt" if isinstance(event, MessageLearnt) else type(event).__name__.lower()
    facts: dict[str, object] = {"event": name}
    if isinstance(event, Suggested):
        facts |= as_dict(event.message, event.suggestion, event.place.key)
    elif isinstance(event, MessageLearnt):
        facts |= {"message": event.message.id, "subject": event.message.subject, "folder": event.folder}
    elif isinstance(event, Skipped):
        facts |= skipped_as_dict(event)
    else:
        facts |= event._asdict()
    emit_json(facts, one_line=True)
