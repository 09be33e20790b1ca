"""What the page shows and does, without HTTP: an inbox, and an assistant that learns from each filing."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from hinged.mail.assistant import LEARNT_FROM, Assistant, Filed
from hinged.mail.filing import folders_besides, inbox_of
from hinged.mail.hits import Hit
from hinged.mail.looking import look
from hinged.mail.message import Message
from hinged.mail.reading import Show, Skipped, messages, names_of, one_message, still_there
from hinged.mail.sources.source import Place, RejectedError, Source, SourceError, UnreachableError
from hinged.mail.suggestion import Candidate, Suggestion

__all__ = ["Desk", "UndoStep"]

REMEMBERED = 512  # messages in the cache
SNIPPET, MOST_TEXT = 160, 20_000
WORDS_FOR, WORDS_AGAINST = 6, 4


class UndoStep(NamedTuple):
    """A message that was filed here, for `undo`."""

    message: Message
    place: Place
    origin: str
    folder: str
    taught: bool  # False where it had been learnt before
    hit: int  # its number in the table of hits; 0 if there is none
    back: Place | None = None  # its place after `undo` has moved it back
    refused: bool = False  # True if `undo` failed to move it


class Desk:
    """An inbox, the suggestions for its messages, and what the user did with them. Not thread-safe.

    Parameters
    ----------
    source : Source
    assistant : Assistant
    folder : str, optional
        The folder whose messages are to be filed; the inbox by default.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from hinged.mail import open_source, write_demo
    >>> mail = pathlib.Path(tempfile.mkdtemp()) / "mail"
    >>> _ = write_demo(mail, messages=200, folders=4)
    >>> with Assistant(tempfile.mkdtemp(), fsync=False) as assistant:
    ...     desk = Desk(open_source(mail), assistant)
    ...     _ = desk.refresh()
    ...     first = desk.rows(0, 1)["rows"][0]
    ...     filed = desk.file(first["key"], first["folders"][0]["name"])
    >>> filed["rank"], filed["left"]
    (1, 29)
    """

    def __init__(self, source: Source, assistant: Assistant, folder: str | None = None) -> None:
        self.source, self.assistant = source, assistant
        self.folder = inbox_of(source, folder)
        self.hits = assistant.hits
        self.steps: list[UndoStep] = []
        self._places: dict[str, Place] = {}
        self._read: OrderedDict[str, Message] = OrderedDict()
        self._skipped: dict[str, str] = {}  # messages that cannot be read, and why

    # ------------------------------------------------------------------ looking
    def refresh(self, show: Show | None = None) -> dict[str, object]:
        """Look at the source: learn what other programs filed, and list the inbox again."""
        before = set(self._places)
        seen = look(self.assistant, self.source, show)
        self.list_inbox()
        changed = before != set(self._places) or bool(seen.read or seen.renamed)
        self._skipped = {}
        return {"changed": changed, "learnt": seen.learnt, "inbox": len(self._places), "skipped": len(seen.skipped)}

    def list_inbox(self) -> None:
        """List the inbox, newest first."""
        self._places = {place.key: place for place in reversed(self.source.places(self.folder))}

    def rows(self, start: int, count: int, key: str = "") -> dict[str, object]:
        """Return some messages of the inbox, newest first, with the folders suggested for each.

        If `key` names a message of the inbox, they are those around it, and `at` is its position.
        """
        every = list(self._places)
        at = every.index(key) if key in self._places else None
        if at is not None:
            start = at - at % max(1, count)
        keys = every[start : start + count]
        found = self._messages(keys)
        rows = []
        for one in keys:
            if one in found:
                with one_message(self._places[one], self._skip):
                    rows.append(self._row(one, found[one]))
            if one in self._skipped:
                rows.append(self._unreadable(one))
        return {"total": len(every), "start": start, "at": at, "rows": rows, **self.state()}

    def _row(self, key: str, message: Message) -> dict[str, object]:
        suggestion = self._suggest(key, message)
        return {
            "key": key,
            "from": message.sender or "(no sender)",
            "subject": message.subject or "(no subject)",
            "snippet": " ".join(message.body[: 4 * SNIPPET].split())[:SNIPPET],
            "date": message.date,
            "files": len(message.files),
            **_told(suggestion),
        }

    def _suggest(self, key: str, message: Message, top: int = 3) -> Suggestion:
        """Suggest folders without reasons, which are computed for one message at a time."""
        has = folders_besides(self.assistant, self.source, message, self._places[key])
        return self.assistant.suggest(message, top, why=False, has=has)

    def _unreadable(self, key: str) -> dict[str, object]:
        """Return the row of a message that cannot be read: its name, and why."""
        suggestion = Suggestion(silent="this message cannot be read")
        about = {"from": key, "subject": "(cannot be read)", "snippet": self._skipped[key], "date": None, "files": 0}
        return {"key": key, **about, **_told(suggestion)}

    def _skip(self, skipped: Skipped) -> None:
        self._skipped[skipped.place.key] = skipped.why

    def message(self, key: str) -> dict[str, object]:
        """Return one message, with reasons for and against each suggested folder; or that it is gone."""
        message = self._found(key)
        if message is None:  # not an error: the page will soon be notified that the inbox changed
            return {"gone": self._gone(key)}
        suggestion = self._suggest(key, message)
        shown = [{**_named(one), **self._why(message, one.folder, suggestion)} for one in suggestion.candidates]
        return {
            "key": key,
            "from": message.sender,
            "to": message.to,
            "cc": message.cc,
            "list": message.list_id,
            "subject": message.subject or "(no subject)",
            "date": message.date,
            "body": message.body[:MOST_TEXT],
            "files": [{"name": name, "kind": kind} for name, kind in zip(message.files, message.kinds, strict=False)],
            **_told(suggestion),
            "folders": shown,
        }

    def _why(self, message: Message, folder: str, suggestion: Suggestion) -> dict[str, object]:
        if suggestion.pinned:
            return {"for": [[reason, 1.0] for reason in suggestion.candidates[0].reasons], "against": []}
        shares = self.assistant.explain(message, folder, most=None, telling=True)
        against = [share for share in reversed(shares) if share[1] < 0]
        return {"for": [s for s in shares if s[1] > 0][:WORDS_FOR], "against": against[:WORDS_AGAINST]}

    def state(self) -> dict[str, object]:
        """Return how much is learnt, whether the assistant is on, and what `undo` would take back."""
        model = self.assistant.model
        learnt = int(model.n_rounds_) if hasattr(model, "model_") else 0
        undo = self.steps[-1].folder if self.steps else None
        needed = max(0, self.assistant.thresholds.messages - learnt)
        return {"learnt": learnt, "off": self.assistant.is_off, "undo": undo, "needed": needed}

    # ------------------------------------------------------------------ doing
    def file(self, key: str, folder: str) -> dict[str, object]:
        """Move a message to a folder and learn that it belongs there; return the rank of that folder."""
        message = self._found(key)
        if message is None:
            raise SourceError(self._gone(key))
        place = self._places[key]
        hit = Hit.of(self._suggest(key, message, top=1_000_000), folder)
        copies = still_there(self.source, self.assistant.memory.copies(message.id, besides=place))
        new = not self.assistant.has_learnt(message, folder)
        now = self.source.move(place, folder)
        del self._places[key]
        self._read.pop(key, None)
        step = UndoStep(message, now, place.folder, folder, new, hit=0)
        self.steps.append(step)  # whatever fails from here on can be undone
        # if another program saw the message there and learnt it first, `undo` takes that back as well
        filed = Filed(message, folder, now, copies)
        self.steps[-1] = step = step._replace(taught=self.assistant.learn([filed]) > 0 or new)
        self.steps[-1] = step._replace(hit=self.hits.note(message.id, *hit))
        return {"folder": folder, "rank": hit.rank, "left": len(self._places), **self.state()}

    def make(self, folder: str) -> dict[str, object]:
        """Create a folder; refuse an invalid name."""
        name = self.source.create(folder)
        self.assistant.see_folders(self.source.folders())
        return {"folder": name}

    def undo(self) -> dict[str, object]:
        """Move back the message that was filed last, and unlearn it.

        Returns its key and its position `at` in the inbox, beside the folder and the state. If it fails halfway, the
        next call does the rest. A message that another program has moved since stays there, and what was learnt of it
        is kept; so is one that failed to move twice. The error says so, and the next call continues with the message
        that was filed before.
        """
        if not self.steps:
            raise ValueError("there is nothing to undo.")
        step = self.steps[-1]
        back = step.back or self._put_back(step)
        self.steps[-1] = step._replace(back=back)
        if step.taught and self.assistant.has_learnt(step.message, step.folder):
            self.assistant.retract(step.message, step.folder, step.place)
        else:
            self.assistant.forget_place(step.place)
        self.hits.drop(step.hit)
        self.steps.pop()
        self.list_inbox()
        at = list(self._places).index(back.key) if back.key in self._places else 0
        return {"folder": step.folder, "key": back.key, "at": at, "left": len(self._places), **self.state()}

    def _put_back(self, step: UndoStep) -> Place:
        try:
            return self.source.move(step.place, step.origin)
        except (UnreachableError, RejectedError):
            raise
        except SourceError as problem:
            name = step.message.subject or "(no subject)"
            before = "the next undo takes back the filing before it."
            if self._is_away(step.place):
                self.steps.pop()
                raise SourceError(
                    f"“{name}” was not put back: another program moved it out of {step.folder}, where it had been "
                    f"filed; {before}"
                ) from problem
            if step.refused:
                self.steps.pop()
                raise SourceError(f"“{name}” could not be put back and stays in {step.folder}; {before}") from problem
            self.steps[-1] = step._replace(refused=True)
            raise

    def _is_away(self, place: Place) -> bool:
        """Return True if a message is no longer there."""
        return place.folder not in names_of(self.source) or place not in self.source.places(place.folder)

    # ------------------------------------------------------------------ folders and settings
    def folders(self) -> dict[str, object]:
        """Return every folder a message can be filed in, with what was learnt of it and how well it is suggested."""
        learnt = self.hits.learnt()
        told = self.hits.by_folder()
        names = [one.name for one in self.source.folders() if one.use in LEARNT_FROM and one.name != self.folder]
        excluded = set(self.assistant.excluded)
        return {
            "folders": [
                {"name": name, "learnt": learnt.get(name, 0), "excluded": name in excluded, **told.get(name, {})}
                for name in names
            ]
        }

    def settings(self) -> dict[str, object]:
        """Return the user's settings."""
        limits = self.assistant.thresholds
        return {
            "on": not self.assistant.is_off,
            "confidence": limits.confidence,
            "excluded": list(self.assistant.excluded),
            "pins": [{"who": who, "folder": folder} for who, folder in sorted(self.assistant.pins().items())],
        }

    def change(self, what: str, value: object) -> dict[str, object]:
        """Change a setting: "on", "confidence", "exclude", "include", "pin" (who, folder) or "unpin"."""
        assistant = self.assistant
        # for each setting, a check of the value, and what is called with it
        changes: dict[str, tuple[Callable[[object], bool], Callable[[Any], None]]] = {
            "on": (lambda on: isinstance(on, bool), assistant.switch),
            "confidence": (_is_share, lambda least: assistant.keep_confidence(float(least))),
            "exclude": (_is_text, assistant.exclude),
            "include": (_is_text, assistant.include),
            "pin": (_is_pair, self._pin),
            "unpin": (_is_text, assistant.unpin),
        }
        if what not in changes or not changes[what][0](value):
            raise ValueError(f"there is no setting {what!r} with a value like {value!r}.")
        changes[what][1](value)
        return self.settings()

    def _pin(self, pin: list[str]) -> None:
        who, folder = pin
        if not who.strip() or folder not in names_of(self.source):
            raise ValueError(f"a pin needs an address and a folder that exists; got {pin!r}.")
        self.assistant.see_folders(self.source.folders())
        self.assistant.pin(who, folder)

    # ------------------------------------------------------------------ messages
    def _found(self, key: str) -> Message | None:
        return self._messages([key]).get(key) if key in self._places else None

    def _gone(self, key: str) -> str:
        if key in self._skipped:
            return f"This message cannot be read: {self._skipped[key]}."
        return f"This message is no longer in {self.folder}; another program may have moved it."

    def _messages(self, keys: list[str]) -> dict[str, Message]:
        missing = [self._places[key] for key in keys if key not in self._read]
        for place, message in messages(self.source, missing, self._skip):
            self._read[place.key] = replace(message, body=message.body[:MOST_TEXT])
        found = {key: self._read[key] for key in keys if key in self._read}
        for key in found:
            self._read.move_to_end(key)
        while len(self._read) > REMEMBERED:
            self._read.popitem(last=False)
        return found


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _is_pair(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(one, str) for one in value)


def _is_share(value: object) -> bool:
    return (type(value) is int or type(value) is float) and 0.0 <= value <= 1.0


def _named(one: Candidate) -> dict[str, object]:
    return {"name": one.folder, "score": one.score}


def _told(suggestion: Suggestion) -> dict[str, object]:
    """Return a suggestion as JSON."""
    return {
        "folders": [_named(one) for one in suggestion.candidates],
        "confidence": suggestion.confidence,
        "silent": suggestion.silent,
        "pinned": suggestion.pinned,
    }
