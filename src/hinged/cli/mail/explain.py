"""`hinged mail explain`: the reasons for a folder, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from hinged.cli.mail.opening import InFolder, Mail, State, assistant_of, mail_at
from hinged.cli.mail.showing import skipped_as_dict, subject_of, tell_skipped
from hinged.cli.options import AsJson, option
from hinged.cli.tables import bold, dim, emit_json, rows_of, say, shorten, width

if TYPE_CHECKING:
    from hinged.mail import Message, Source

__all__ = ["explain"]

MESSAGE = "The Message-ID of the message; the last one of the folder if left out."


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
    if as_json:
        reasons = [{"reason": words, "share": share} for words, share in found]
        about_it = {"message": one.id, "folder": about, "pinned": pinned, "silent": best.silent}
        emit_json({**about_it, "reasons": reasons, "skipped": skipped})
        return
    say(bold(subject_of(one)))
    if pinned:
        say(f"{about}: a pin decides, whatever was learnt")
    elif about is None:
        say(dim(best.silent))
    else:
        say(f"{about} scores {sum(share for _, share in found):.2f}")
        _print_reasons(sorted(found, key=lambda reason: -abs(reason[1]))[:top])


def _find(mail: Source, folder: str | None, name: str | None) -> tuple[Message, list[dict[str, str]]]:
    """Return the message of a Message-ID, or the last one, and what was skipped on the way."""
    from hinged.mail.filing import inbox_of
    from hinged.mail.reading import Skipped, messages
    from hinged.mail.sources.source import SourceError

    inbox = inbox_of(mail, folder)
    places, skipped = mail.places(inbox), list[Skipped]()
    wanted = None if name is None else name.strip(" <>")
    # without a name, the last message that can be read
    batches = [[place] for place in reversed(places)] if wanted is None else [places]
    read = (message for some in batches for _, message in messages(mail, some, skipped.append))
    found = next((message for message in read if wanted in (None, message.id)), None)
    tell_skipped(skipped)
    if found is None:
        raise SourceError(f"there is no message {f'{wanted} ' if wanted else ''}in {inbox}.")
    return found, [skipped_as_dict(one) for one in skipped]


def _print_reasons(reasons: list[tuple[str, float]]) -> None:
    shown = [(f"{share:+.3f}", shorten(words, width() - 12)) for words, share in reasons]
    for line in rows_of(shown or [("", "nothing it knows")], left=2):
        say(f"  {line}")
