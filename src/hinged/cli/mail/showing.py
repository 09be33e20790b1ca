"""Output of the mail commands, for people and for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from hinged.cli.tables import bold, dim, emit_json, percent, say, shorten, tell_some, width, width_of

if TYPE_CHECKING:
    from hinged.mail import Message, Suggestion
    from hinged.mail.reading import Skipped

__all__ = [
    "as_dict",
    "date_of",
    "print_suggestion",
    "skipped_as_dict",
    "subject_of",
    "tell",
    "tell_skipped",
    "with_skipped",
]


def as_dict(message: Message, suggestion: Suggestion, key: str = "") -> dict[str, object]:
    """Return a message and its suggestion as plain data."""
    return {
        "message": message.id,
        "place": key,
        "from": message.sender,
        "subject": message.subject,
        "date": date_of(message) or None,
        "confidence": suggestion.confidence,
        "pinned": suggestion.pinned,
        "silent": suggestion.silent,
        "folders": [
            {"folder": one.folder, "score": one.score, "reasons": list(one.reasons)} for one in suggestion.candidates
        ],
    }


def print_suggestion(message: Message, suggestion: Suggestion, number: int | None = None) -> None:
    """Print a message, with its number in a list, and a line for each suggested folder."""
    before = "" if number is None else f"{number}. "
    when = f", {date_of(message)[:10]}" if date_of(message) else ""
    sender = shorten(message.sender or "(no sender)", width() // 3)
    room = width() - len(before) - len("  from ") - width_of(sender) - len(when)
    subject = shorten(message.subject or "(no subject)", max(20, room))
    say(dim(before) + bold(subject) + dim(f"  from {sender}{when}"))
    if suggestion.silent:
        say(dim(f"  {suggestion.silent}"))
    for number, one in enumerate(suggestion.candidates):
        sure = percent(suggestion.confidence, 0) if number == 0 else ""
        why = "; ".join(one.reasons)
        room = min(30, width() // 3)
        named = shorten(one.folder, room)
        line = f"  {number + 1}  {named}{' ' * (room - width_of(named))} {sure:>6}  "
        say(line + dim(shorten(why, max(0, width() - len(line)))))
    say()


def date_of(message: Message) -> str:
    """Return the local date and time of a message in ISO 8601; "" if it has none, or one that no calendar has."""
    try:
        moment = datetime.fromtimestamp(message.date) if message.date is not None else None
    except (ValueError, OverflowError, OSError):
        moment = None
    return "" if moment is None else moment.astimezone().isoformat(timespec="seconds")


def tell(sentence: str, as_json: bool, **facts: object) -> None:
    """Print what was done, as a sentence or as JSON."""
    if as_json:
        emit_json(facts, one_line=True)
    else:
        say(sentence)


def tell_skipped(skipped: Sequence[Skipped]) -> None:
    """Name what could not be read on stderr, and count it."""
    tell_some([f"skipped {one}" for one in skipped], "{} were skipped in all", "message")


def skipped_as_dict(one: Skipped) -> dict[str, str]:
    """Return what could not be read as plain data; the place is "" for a whole folder."""
    return {"folder": one.place.folder, "place": one.place.key, "why": one.why}


def with_skipped(
    found: Sequence[Mapping[str, object]], skipped: Sequence[Skipped], **more: object
) -> list[dict[str, object]]:
    """Return a list of `as_dict`, followed by the messages that could not be read.

    All have the same fields; `skipped` says why a message was skipped, and is "" for the others. `more` are further
    fields of skipped messages.
    """
    unknown: dict[str, object] = dict.fromkeys(("message", "from", "subject"), "")
    unknown |= {
        "date": None,
        "confidence": None,
        "pinned": False,
        "folders": [],
        "silent": "this message cannot be read",
    }
    left_out = [{**unknown, "place": one.place.key, **more, "skipped": one.why} for one in skipped]
    return [*({**one, "skipped": ""} for one in found), *left_out]


def subject_of(message: Message) -> str:
    """Return the subject, or that there is none."""
    return shorten(message.subject or "(no subject)", width() - 2)
