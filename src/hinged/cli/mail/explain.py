"""`hinged mail explain`: the reasons for a folder, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NamedTuple

from hinged.cli.mail.opening import InFolder, Mail, State, assistant_of, mail_at
from hinged.cli.mail.showing import skipped_as_dict, subject_of, tell_skipped
from hinged.cli.options import AsJson, option
from hinged.cli.tables import bold, dim, emit_json, rows_of, say, shorten, width

if TYPE_CHECKING:
    from hinged.mail import Message, Source

__all__ = ["explain"]

MESSAGE = "The Message-ID of the message; the last one of the folder if left out."


class Explained(NamedTuple):
    """The folder that was explained, its reasons with their shares, True if a pin decided, and why there is none."""

    folder: str | None
    reasons: list[tuple[str, float]]
    pinned: bool
    silent: str


def explain(
    source: Mail,
    *,
    message: Annotated[str | None, option("ID", MESSAGE)] = None,
    target: Annotated[str | None, option("NAME", "The folder to explain; the best one if left out.", "--for")] = None,
    folder: InFolder = None,
    top: Annotated[int, option("K", "How many reasons to show.", min=1)] = 10,
    state: State = None,
    as_json: AsJson = False,
) -> None:
    """Show the reasons for a folder, and those against it.

    Shares sum to the folder's score. With - the message on standard input is explained.

    Example: hinged mail explain ~/Maildir --for Work/Taxes
    """
    with mail_at(source) as mail, assistant_of(source, state, read_only=True) as assistant:
        one, skipped = _find(mail, folder, message)
        if source != "-":
            assistant.see_folders(mail.folders())
        best = assistant.suggest(one, why=False)
        about, pinned = target or best.best, best.pinned and target is None
        found = [] if about is None or pinned else assistant.explain(one, about, most=None)
    explained = Explained(about, found, pinned, best.silent)
    if as_json:
        reasons = [{"reason": words, "share": share} for words, share in found]
        about_it = {"message": one.id, "folder": about, "pinned": pinned, "silent": best.silent}
        emit_json({**about_it, "reasons": reasons, "skipped": skipped})
    else:
        _print(one, explained, top)


def _find(mail: Source, folder: str | None, name: str | None) -> tuple[Message, list[dict[str, str]]]:
    """Return the message of a Message-ID, or the last one, and what was skipped on the way."""
    from hinged.mail.filing import inbox_of
    from hinged.mail.reading import Skipped, messages
    from hinged.mail.sources.source import SourceError

    inbox = inbox_of(mail, folder)
    places, skipped = mail.places(inbox), list[Skipped]()
    if name is None:
        which, batches = "", [[place] for place in reversed(places)]  # the last one that can be read
        read = (message for some in batches for _, message in messages(mail, some, skipped.append))
    else:
        wanted = name.strip(" <>")
        which = f"{wanted} " if wanted else ""
        read = (message for _, message in messages(mail, places, skipped.append) if message.id == wanted)
    found = next(read, None)
    tell_skipped(skipped)
    if found is None:
        raise SourceError(f"there is no message {which}in {inbox}.")
    return found, [skipped_as_dict(one) for one in skipped]


def _print(message: Message, explained: Explained, top: int) -> None:
    say(bold(subject_of(message)))
    if explained.pinned:
        say(f"{explained.folder}: a pin decides, whatever was learnt")
    elif explained.folder is None:
        say(dim(explained.silent))
    else:
        say(f"{explained.folder} scores {sum(share for _, share in explained.reasons):.2f}")
        strongest = sorted(explained.reasons, key=lambda reason: -abs(reason[1]))[:top]
        shown = [(f"{share:+.3f}", shorten(words, width() - 12)) for words, share in strongest]
        for line in rows_of(shown or [("", "nothing it knows")], left=2):
            say(f"  {line}")
