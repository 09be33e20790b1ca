"""What `hinged mail watch` and `hinged mail run` print when something happens."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hinged.cli.mail.showing import as_dict, print_suggestion, skipped_as_dict, subject_of, tell_skipped
from hinged.cli.tables import dim, emit, emit_json, say

if TYPE_CHECKING:
    from hinged.mail.watching import Event

__all__ = ["STOPPING", "print_event", "print_event_as_json"]


STOPPING = "hinged: stopping; what has been learnt is kept."
#: Names of events in JSON that are not those of their classes.
NAMES = {"MessageLearnt": "learnt", "MessageFiled": "filed", "PromiseBroken": "broken", "PageAt": "page"}


def print_event(event: Event, account: str = "") -> None:
    """Print an event for people; with the account if there are several."""
    from hinged.mail.filed import PromiseBroken
    from hinged.mail.reading import Skipped
    from hinged.mail.watching import Away, Back, MessageFiled, MessageLearnt, Suggested

    where = f"{account}: " if account else ""
    if isinstance(event, Suggested):
        if event.suggestion.candidates:
            print_suggestion(event.message, event.suggestion)
    elif isinstance(event, MessageLearnt):
        say(f"{dim('learnt')}  {', '.join(event.folders)}  {dim(subject_of(event.message))}")
    elif isinstance(event, MessageFiled):
        done = f"failed ({event.failed})" if event.failed else "filed"
        say(f"{dim(done)}   {event.suggestion.best}  {dim(subject_of(event.message))}")
    elif isinstance(event, Skipped):
        tell_skipped([event])
    elif isinstance(event, PromiseBroken):
        emit(f"hinged: {where}{event}.", err=True)
    elif isinstance(event, Away):
        emit(f"hinged: {where}{event.sentence} Trying again.", err=True)
    elif isinstance(event, Back):
        emit(f"hinged: {where}connected again.", err=True)
    else:
        say(f"{event.old} was renamed to {event.new}")


def print_event_as_json(event: NamedTuple, **more: object) -> None:
    """Print an event as one object on a line, flushed at once; `more` are further fields of it."""
    from hinged.mail.reading import Skipped
    from hinged.mail.watching import MessageFiled, MessageLearnt, Suggested

    kind = type(event).__name__
    facts: dict[str, object] = {"event": NAMES.get(kind, kind.lower()), **more}
    if isinstance(event, Suggested | MessageFiled):
        facts |= as_dict(event.message, event.suggestion, event.place.key)
        if isinstance(event, MessageFiled):
            facts["failed"] = event.failed
    elif isinstance(event, MessageLearnt):
        facts |= {"message": event.message.id, "subject": event.message.subject}
        facts |= {"folder": event.folder, "folders": event.folders}
    elif isinstance(event, Skipped):
        facts |= skipped_as_dict(event)
    else:
        facts |= event._asdict()
    emit_json(facts, one_line=True)
