"""`hinged mail suggest`: ranked folders for messages that are not filed yet."""

from __future__ import annotations

from typing import Annotated

from hinged.cli.mail.opening import InFolder, LeastConfidence, LeastGap, LeastScore, Mail, State, assistant_of, mail_at
from hinged.cli.mail.showing import as_dict, print_suggestion, tell_skipped, with_skipped
from hinged.cli.options import AsJson, option
from hinged.cli.tables import emit, emit_json

__all__ = ["suggest"]


def suggest(
    source: Mail,
    *,
    folder: InFolder = None,
    top: Annotated[int, option("K", "How many folders to suggest.", min=1)] = 3,
    latest: Annotated[int | None, option("N", "Only the last N messages.", min=1)] = None,
    min_score: LeastScore = 0.0,
    min_gap: LeastGap = 0.0,
    min_confidence: LeastConfidence = 0.0,
    state: State = None,
    as_json: AsJson = False,
) -> None:
    """Suggest folders for the messages of the inbox.

    Best first, with the confidence in the first, and the reasons for each. Nothing is moved, marked or learnt. With -
    the message on standard input is read, for sieve and procmail.

    Example: hinged mail suggest ~/Maildir --latest 5
    """
    with mail_at(source) as mail, assistant_of(source, state, read_only=True) as assistant:
        from hinged.mail.filing import inbox_of
        from hinged.mail.reading import Skipped, messages, one_message
        from hinged.mail.suggestion import Thresholds

        assistant.thresholds = Thresholds(min_score, min_gap, min_confidence)
        places = mail.places(inbox_of(mail, folder))
        if source != "-":
            assistant.see_folders(mail.folders())
        found, skipped = [], list[Skipped]()
        for place, message in messages(mail, places[-latest:] if latest else places, skipped.append):
            suggestion = None
            with one_message(place, skipped.append):
                suggestion = assistant.suggest(message, top)
            if suggestion is None:
                continue
            if as_json:
                found.append(as_dict(message, suggestion, place.key))
            else:
                print_suggestion(message, suggestion)
        if as_json:
            emit_json(with_skipped(found, skipped))
        tell_skipped(skipped)
        if not as_json and not places:
            emit("hinged: there is no message in that folder.", err=True)
