"""Filing by itself: messages that a promise allows are moved as they arrive, and what becomes of them is recorded."""

from __future__ import annotations

import time
from collections.abc import Collection

from hinged.journal.codec import label_to_text
from hinged.mail.assistant import Assistant
from hinged.mail.filed import GONE, KEPT, MOVED, Entry
from hinged.mail.filing import CUT_OFF, Proposal, make_move
from hinged.mail.memory import ASIDE
from hinged.mail.message import Message
from hinged.mail.promise import FEW, TRIED, Promise
from hinged.mail.reading import Show, Skip, attempt, messages, show_nothing
from hinged.mail.sources.source import Place, Source, SourceError
from hinged.mail.suggestion import Suggestion, within

__all__ = ["LEFT_ALONE", "SelfFiling", "file_by_promise", "settle"]

LEFT_ALONE = 7 * 86_400.0  # seconds after which a message that lies where it was put counts as right
ENOUGH = f"SELECT 1 FROM events WHERE label = ? AND kind = 'learn' AND dropped = 0 LIMIT 1 OFFSET {FEW - 1}"


class SelfFiling:
    """Moves new messages of which the assistant is sure enough; the others wait.

    Parameters
    ----------
    assistant : Assistant
    source : Source
    right : float in [0.5, 1)
        The share of what is filed that is to be right (`hinged.mail.promise`). It holds for this account until another
        one is given, also after a restart.
    review : str, optional
        A folder for the messages that wait, created if there is none. It is excluded from learning and suggestions.
    apply : bool, default True
        False only proposes moves, and records nothing.

    Attributes
    ----------
    together : bool
        True if all moves are one batch, which `undo` takes back at once; by default each is one.
    """

    def __init__(
        self, assistant: Assistant, source: Source, right: float, review: str | None = None, apply: bool = True
    ) -> None:
        self.assistant, self.source, self.apply, self.together, self._batch = assistant, source, apply, False, 0
        self.review = None if review is None else _review_folder(assistant, source, review)
        before = assistant.log.promise()
        self._proposed = before if before is not None and before.right == right else Promise(right)
        if apply:
            with assistant.kept.writing():
                assistant.log.promise_to(right)

    def take(self, place: Place, message: Message, suggestion: Suggestion) -> Proposal | None:
        """Move a new message if it is sure enough; return the move, also if it failed, or None if the message waits.

        A message that the assistant moved before is not moved again. If it lies here now, the user moved it back, which
        is a correction. Nor is one that was in a folder of the user's own: whoever filed it there, such as the user's
        assistant on another machine, it was put back since.

        Raises
        ------
        SourceError
            If the source cannot be asked any more; it is unknown then whether the message was moved.
        """
        tried = self.assistant.memory.was_moved(message.id)
        if tried and self.apply:
            self._came_back(place, message)
        was_filed = tried or bool(self.assistant.memory.went_last(message.id))
        target = None if was_filed else self._target(place, suggestion)
        if target is None:
            return None
        proposal, promised = Proposal(message, place, suggestion), not suggestion.pinned
        if not self.apply:
            self._proposed = self._proposed.filed() if promised else self._proposed
            return proposal
        batch = self._batch if self.together else 0
        self._batch, problem = make_move(self.assistant, self.source, proposal, target, batch, promised)
        if isinstance(problem, CUT_OFF):
            raise problem
        return proposal._replace(moved=problem is None, failed="" if problem is None else str(problem))

    def wait(self, place: Place, message: Message) -> None:
        """Count a message that came and waits, once: its place is recorded with that."""
        promise = self.assistant.log.promise()
        if promise is not None and promise.is_paused and not self.assistant.memory.was_moved(message.id):
            with self.assistant.kept.writing():
                self.assistant.memory.note_place(place, message.id)
                self.assistant.log.wait()

    def put_aside(self, place: Place, message: Message) -> SourceError | None:
        """Move a message that waits to the review folder, if there is one; return why that failed.

        Like any move it is recorded before it is made, and tried once: what the user moves back stays.
        """
        memory = self.assistant.memory
        if self.review is None or memory.was_moved(message.id):
            return None
        with self.assistant.kept.writing():
            number = memory.begin_move(memory.last_batch() + 1, message, place, self.review, ASIDE)
        try:
            now = self.source.move(place, self.review)
        except CUT_OFF:
            raise
        except SourceError as problem:
            return problem
        with self.assistant.kept.writing():
            memory.end_move(number, now, message.id)
        return None

    def _target(self, place: Place, suggestion: Suggestion) -> str | None:
        """Return the folder that a message may be moved to; a pin is the user's own rule, and needs no promise."""
        best, promise = suggestion.best, self.assistant.log.promise() if self.apply else self._proposed
        if best is None or best == place.folder or suggestion.further:
            return None
        if suggestion.pinned:
            return best
        if promise is None or suggestion.confidence is None or not promise.allows(1.0 - suggestion.confidence):
            return None
        return best if self.assistant.model.n_rounds_ >= TRIED and self._holds_enough(best) else None

    def _holds_enough(self, folder: str) -> bool:
        alone = self.assistant.kept.journal.ask(ENOUGH, (label_to_text(folder),))
        return bool(alone) or (self.assistant.ranks_sets and self.assistant.hits.learnt().get(folder, 0) >= FEW)

    def _came_back(self, place: Place, message: Message) -> None:
        """Record that the user moved a message back, or that a move was interrupted before it was made."""
        log, memory = self.assistant.log, self.assistant.memory
        for move in memory.every_move(message.id):
            if move.origin == place.folder and move.is_open:
                with self.assistant.kept.writing():
                    if move.place is None:
                        memory.drop_move(move.number, move.message, move.target)
                        log.drop(move.number)
                    else:
                        log.end(move.number, MOVED)


def file_by_promise(
    filing: SelfFiling,
    folder: str,
    *,
    only: Collection[str] = (),
    show: Show = show_nothing,
    skip: Skip = lambda skipped: None,
    done: list[Proposal] | None = None,
) -> list[Proposal]:
    """File the messages that are in a folder now, as those that arrive; the others stay, and do not count as waiting.

    Parameters
    ----------
    filing : SelfFiling
    folder : folder of the messages
    only, show, skip, done
        As in `hinged.mail.file_mail`.
    """
    assistant, source, done = filing.assistant, filing.source, [] if done is None else done
    filing.together = True
    assistant.see_folders(source.folders())
    places = source.places(folder)
    for number, (place, message) in enumerate(messages(source, places, skip)):
        show("looking", number, len(places))
        suggestion = attempt(place, skip, assistant.suggest, message) or Suggestion()
        if only and suggestion.best not in only:
            continue
        proposal = filing.take(place, message, suggestion)
        if proposal is not None:
            done.append(proposal)
    return done


def _review_folder(assistant: Assistant, source: Source, name: str) -> str:
    """Create and exclude the review folder, if that was not done before; return its name."""
    there = next((folder for folder in source.folders() if folder.name == name), None)
    if within(name, assistant.excluded) and there is not None:
        return name
    if name in assistant.known() or (there is not None and there.use):
        raise SourceError(f"{name} holds other mail; name a folder that is for review alone.")
    name = name if there is not None else source.create(name)
    assistant.exclude(name)
    return name


def settle(assistant: Assistant) -> None:
    """Record what became of messages that were filed, as of the last look at the user's folders.

    A message that was moved on is a correction. One that lies where it was put counts as right after a week
    (`LEFT_ALONE`). A move that a crash interrupted after it was made is completed.
    """
    if assistant.memory.has_damaged_places:
        return
    if assistant.log.open_entries():
        with assistant.kept.writing():
            for entry in assistant.log.open_entries():  # again, now that no other process can change them
                _settle(assistant, entry)


def _settle(assistant: Assistant, entry: Entry) -> None:
    memory, log, move = assistant.memory, assistant.log, entry.move
    is_old = entry.at is not None and time.time() - entry.at >= LEFT_ALONE
    place = memory.place_of(move.message, move.target, move.place)
    elsewhere = memory.folders_with(move.message) - {move.origin} if place is None else set()
    if (place is not None or elsewhere) and move.place is None:
        log.made(move.number)
    if place is not None:
        if place.key != move.place:
            memory.end_move(move.number, place, move.message)
        if is_old:
            log.end(move.number, KEPT)
    elif elsewhere:
        log.end(move.number, MOVED)
    elif is_old:
        log.end(move.number, GONE)
