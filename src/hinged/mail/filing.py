"""Moving messages of which the assistant is certain, and undoing that."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from hinged.mail import filed
from hinged.mail.assistant import Assistant, Filed
from hinged.mail.memory import MOVED_ON, UNDONE, Move
from hinged.mail.message import Message
from hinged.mail.reading import Show, Skip, Skipped, attempt, messages, names_of, show_nothing, still_there
from hinged.mail.sources.source import Place, RejectedError, Source, SourceError, UnclearError, UnreachableError
from hinged.mail.suggestion import Suggestion, Thresholds

__all__ = ["CERTAIN", "Proposal", "Undone", "file_mail", "folders_besides", "inbox_of", "make_move", "undo"]

#: How sure the assistant must be before it moves a message by itself.
CERTAIN = Thresholds(confidence=0.9)
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


def folders_besides(assistant: Assistant, source: Source, message: Message, place: Place) -> set[str]:
    """Return the folders to learn from that hold a copy of a message, beside the one at its place."""
    copies = still_there(source, assistant.memory.copies(message.id, place))
    return set(assistant.own_folders(Filed(message, place.folder, place, copies))) - {place.folder}


def file_mail(
    assistant: Assistant,
    source: Source,
    folder: str,
    *,
    apply: bool = False,
    only: Collection[str] = (),
    show: Show | None = None,
    skip: Skip = lambda skipped: None,
    done: list[Proposal] | None = None,
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
    show : function of (what, done, total), optional
    skip : function of a `Skipped`, optional
        Called for each message that could not be read.
    done : list, optional
        Gets each proposal as it is made, so that moves before a failure are known; it is what is returned.
    """
    show, done = show or show_nothing, [] if done is None else done
    assistant.see_folders(source.folders())
    places, batch = source.places(folder), 0
    moved_before = assistant.memory.moved_out_of(folder)  # if it is here again, the user moved it back
    for number, (place, message) in enumerate(messages(source, places, skip)):
        show("looking", number, len(places))
        has = folders_besides(assistant, source, message, place)
        suggestion = attempt(place, skip, assistant.suggest, message, has=has) or Suggestion()
        target = _target(suggestion, folder, only)
        if target is None or message.id in moved_before:
            continue
        proposal = Proposal(message, place, suggestion)
        if not apply:
            done.append(proposal)
            continue
        batch, problem = make_move(assistant, source, proposal, target, batch)
        done.append(proposal._replace(moved=problem is None, failed="" if problem is None else str(problem)))
        if isinstance(problem, CUT_OFF):
            break
    return done


def _target(suggestion: Suggestion, folder: str, only: Collection[str]) -> str | None:
    """Return the folder to move a message to; None if it is there or elsewhere already, or may not go there."""
    best = suggestion.best
    return None if best == folder or suggestion.further or (only and best not in only) else best


def make_move(
    assistant: Assistant, source: Source, proposal: Proposal, target: str, batch: int = 0, promised: bool = False
) -> tuple[int, SourceError | None]:
    """Move a message; return the number of the batch and, if that failed, why.

    The move is recorded before it is made. If it fails, the record is deleted, unless the move may have happened.

    Parameters
    ----------
    assistant : Assistant
    source : Source
    proposal : Proposal
    target : folder to move it to
    batch : number of the batch; 0 for a new one
    promised : True if the move counts for a promise
    """
    message, place = proposal.message, proposal.place
    folders = {target, *folders_besides(assistant, source, message, place)}
    with assistant.kept.writing():
        batch = batch or assistant.memory.last_batch() + 1
        number = assistant.memory.begin_move(batch, message, place, target, folders=folders)
        assistant.log.begin(number, message, proposal.suggestion, promised)
    try:
        now = source.move(place, target)
    except (*CUT_OFF, UnclearError) as problem:
        return batch, problem
    except SourceError as problem:
        with assistant.kept.writing():
            assistant.memory.drop_move(number, message.id, target)
            assistant.log.drop(number)
        return batch, problem
    with assistant.kept.writing():
        assistant.memory.end_move(number, now, message.id)
        assistant.log.made(number)
    return batch, None


def undo(assistant: Assistant, source: Source, numbers: Collection[int] | None = None) -> Undone:
    """Move back what the last `file_mail` moved, or the moves with these numbers (`hinged.mail.filed.Entry.move`).

    A message that the user has moved since stays there. One that cannot be moved back does not stop the others; the
    next call tries it again, and if that fails, continues with the `file_mail` before.
    """
    done = Undone([], [], [])
    if numbers is not None:
        chosen = [move for move in assistant.memory.every_move() if move.is_open and move.number in numbers]
        _undo(assistant, source, chosen[::-1], done)
        return done
    moves = assistant.memory.moves()
    while moves:
        went_on = _undo(assistant, source, moves, done)
        if done.back or done.lost or not went_on or not all(move.failed for move in moves):
            break
        moves = assistant.memory.moves(before=moves[0].batch)
    return done


def _undo(assistant: Assistant, source: Source, moves: list[Move], done: Undone) -> bool:
    """Move back the messages of one batch and record that in `done`; return False if the source is unreachable."""
    memory = assistant.memory
    for move in moves:
        try:
            place, made = _move_back(source, move)
        except SourceError as problem:
            done.failed.append((move.subject, str(problem)))
            if isinstance(problem, CUT_OFF):
                return False
            with assistant.kept.writing():
                memory.fail_move(move.number)
            continue
        if made:
            (done.lost if place is None else done.back).append(move.subject)
        how = MOVED_ON if place is None else UNDONE
        if place is None and move.place is not None:
            place = Place(move.target, move.place)
        with assistant.kept.writing():
            memory.drop_move(move.number, move.message, move.target, place, how)
            if made:
                assistant.log.end(move.number, filed.UNDONE if how == UNDONE else filed.MOVED)
            else:
                assistant.log.drop(move.number)
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
