"""Moving messages of which the assistant is certain, and undoing that."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from hinged.mail.assistant import Assistant
from hinged.mail.memory import MOVED_ON, UNDONE, Move
from hinged.mail.message import Message
from hinged.mail.reading import Show, Skip, Skipped, attempt, messages, names_of, show_nothing
from hinged.mail.sources.source import Place, RejectedError, Source, SourceError, UnclearError, UnreachableError
from hinged.mail.suggestion import Suggestion, Thresholds

__all__ = ["CERTAIN", "Proposal", "Undone", "file_mail", "filing", "inbox_of", "undo"]

#: How sure the assistant must be before it moves a message by itself.
CERTAIN = Thresholds(confidence=0.9, gap=0.1)
#: The server cannot be asked any more: the last move may have happened, and others need not be tried.
CUT_OFF = (UnreachableError, RejectedError)


class Proposal(NamedTuple):
    """A message, its place, the suggestion for it, True if it was moved, and the error if that failed."""

    message: Message
    place: Place
    suggestion: Suggestion
    moved: bool = False
    failed: str = ""


class Undone(NamedTuple):
    """What `undo` did.

    Attributes
    ----------
    back : subjects of the messages that were moved back
    lost : subjects of those that the user has moved since, which stay there
    failed : subjects of those that could not be moved back, and why; the next `undo` tries them again, and if it
        fails with all of them, continues with the batch before
    """

    back: list[str]
    lost: list[str]
    failed: list[tuple[str, str]]


def inbox_of(source: Source, folder: str | None = None) -> str:
    """Return the folder whose messages are to be filed: the given one, else the inbox."""
    folders = source.folders()
    names = [one.name for one in folders]
    if folder is None:
        folder = next((one.name for one in folders if one.use == "inbox"), None)
        if folder is None:
            raise SourceError("this source has no inbox; name a folder.")
    elif folder not in names:
        some = ", ".join(names[:8]) or "none"
        raise SourceError(f"there is no folder {folder!r}; there are {some}{' and others' * (len(names) > 8)}.")
    return folder


def file_mail(
    assistant: Assistant,
    source: Source,
    folder: str,
    *,
    apply: bool = False,
    only: Collection[str] = (),
    show: Show | None = None,
    skip: Skip = lambda skipped: None,
) -> list[Proposal]:
    """Propose a move for every message of a folder of which the assistant is certain; move them if `apply`.

    Each move is recorded before it is made, so that it is never taken for the user's own and `undo` can find it. A
    failed move does not stop the others; `failed` says why. A message that the user moved back is not moved again.

    Parameters
    ----------
    assistant : Assistant
        Its thresholds define what is certain; `CERTAIN` is a good choice.
    source : Source
    folder : folder of the messages
    apply : bool, default False
        Move the messages; otherwise only propose.
    only : target folders that are allowed; all if empty
    skip : function of a `Skipped`, optional
        Called for each message that could not be read.
    """
    return list(filing(assistant, source, folder, apply=apply, only=only, show=show, skip=skip))


def filing(
    assistant: Assistant,
    source: Source,
    folder: str,
    *,
    apply: bool,
    only: Collection[str],
    show: Show | None,
    skip: Skip,
) -> Iterator[Proposal]:
    """Do what `file_mail` does, yielding each proposal, so that moves before a failure can be reported."""
    show = show or show_nothing
    assistant.see_folders(source.folders())
    places, batch = source.places(folder), 0
    moved_before = assistant.memory.moved_out_of(folder)  # if it is here again, the user moved it back
    for done, (place, message) in enumerate(messages(source, places, skip)):
        show("looking", done, len(places))
        suggestion = attempt(place, skip, assistant.suggest, message) or Suggestion()
        target = suggestion.best
        if target in (None, folder) or (only and target not in only) or message.id in moved_before:
            continue
        proposal = Proposal(message, place, suggestion)
        if not apply:
            yield proposal
            continue
        batch, number = _begin(assistant, batch, message, place, str(target))
        try:
            _move(assistant, source, number, message, place, str(target))
        except SourceError as problem:
            yield proposal._replace(failed=str(problem))
            if isinstance(problem, CUT_OFF):
                return
        else:
            yield proposal._replace(moved=True)


def _begin(assistant: Assistant, batch: int, message: Message, place: Place, target: str) -> tuple[int, int]:
    """Record a move; return the number of its batch, a new one if 0 is given, and of the move."""
    with assistant.kept.changing(), assistant.kept.journal.transaction():
        batch = batch or assistant.memory.last_batch() + 1
        return batch, assistant.memory.begin_move(batch, message, place, target)


def _move(assistant: Assistant, source: Source, number: int, message: Message, place: Place, target: str) -> None:
    """Make a recorded move; if it fails, delete the record, unless the move may have happened."""
    memory, journal, changing = assistant.memory, assistant.kept.journal, assistant.kept.changing
    try:
        now = source.move(place, target)
    except (*CUT_OFF, UnclearError):
        raise
    except SourceError:
        with changing(), journal.transaction():
            memory.drop_move(number, message.id, target)
        raise
    with changing(), journal.transaction():
        memory.end_move(number, now, message.id)


def undo(assistant: Assistant, source: Source) -> Undone:
    """Move back what the last `file_mail` moved.

    A message that the user has moved since stays there. One that cannot be moved back does not stop the others; the
    next call tries it again, and if that fails, continues with the `file_mail` before.
    """
    done = Undone([], [], [])
    moves = assistant.memory.moves()
    while moves:
        went_on = _undo(assistant, source, moves, done)
        if done.back or done.lost or not went_on or not all(move.failed for move in moves):
            break
        moves = assistant.memory.moves(before=moves[0].batch)
    return done


def _undo(assistant: Assistant, source: Source, moves: list[Move], done: Undone) -> bool:
    """Move back the messages of one batch and record that in `done`; return False if the source is unreachable."""
    memory, changing, journal = assistant.memory, assistant.kept.changing, assistant.kept.journal
    for move in moves:
        try:
            place, made = _move_back(source, move)
        except SourceError as problem:
            done.failed.append((move.subject, str(problem)))
            if isinstance(problem, CUT_OFF):
                return False
            with changing(), journal.transaction():
                memory.fail_move(move.number)
            continue
        if made:
            (done.lost if place is None else done.back).append(move.subject)
        how = MOVED_ON if place is None else UNDONE
        if place is None and move.place is not None:
            place = Place(move.target, move.place)
        with changing(), journal.transaction():
            memory.drop_move(move.number, move.message, move.target, place, how)
    return True


def _move_back(source: Source, move: Move) -> tuple[Place | None, bool]:
    """Move a message back; return its place before, None if it is gone, and whether the move had been made at all."""
    place = _where(source, move.target, move.place, move.message)
    if place is not None:
        source.move(place, move.origin)
    elif move.place is None:  # the move was interrupted: it did not happen if the message is still there
        return None, _where(source, move.origin, None, move.message) is None
    return place, True


def _where(source: Source, folder: str, key: str | None, message: str) -> Place | None:
    """Return the place of a message in a folder; a kill may have prevented its place from being recorded.

    Raises
    ------
    SourceError
        If the message at that place cannot be read.
    """
    if folder not in names_of(source):
        return None
    skipped = list[Skipped]()
    likely = [place for place in source.places(folder) if key in (None, place.key)]
    found = next((place for place, found in messages(source, likely, skipped.append) if found.id == message), None)
    if found is None and key is not None and skipped:
        raise SourceError(f"it cannot be read: {skipped[0].why}.")
    return found
