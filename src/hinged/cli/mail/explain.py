"""`hinged mail explain`: why a folder, in words."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from hinged.cli.mail.opening import assistant_of, mail_at
from hinged.cli.mail.options import InFolder, Mail, State
from hinged.cli.options import AsJson
from hinged.cli.tables import emit

__all__ = ["explain"]


def explain(
    source: Mail,
    *,
    message: Annotated[
        str | None,
        typer.Option(metavar="ID", help="The Message-ID of the message; the last one of the folder if left out."),
    ] = None,
    target: Annotated[
        str | None, typer.Option("--for", metavar="NAME", help="The folder to explain; the best one if left out.")
    ] = None,
    folder: InFolder = None,
    top: Annotated[int, typer.Option(min=1, metavar="K", help="How many reasons to show.")] = 10,
    state: State = None,
    as_json: AsJson = False,
) -> None:
    """Show what speaks for a folder, and what against it.

    Shares sum to the folder's score. With - the message on standard input is meant.

    Example: hinged mail explain ~/Maildir --for Work/Taxes
    """
    with mail_at(source) as mail, assistant_of(source, state, read_only=True) as assistant:
        from hinged.cli.mail.showing import skipped_as_dict, subject_of, tell_skipped
        from hinged.mail.filing import inbox_of
        from hinged.mail.reading import Skipped, messages
        from hinged.mail.sources.source import SourceError

        name = inbox_of(mail, folder)
        places = mail.places(name)
        wanted = None if message is None else message.strip(" <>")
        skipped: list[Skipped] = []
        looks = [[place] for place in reversed(places)] if wanted is None else [places]
        read = (m for some in looks for _, m in messages(mail, some, skipped.append))
        one = next((m for m in read if wanted is None or m.id == wanted), None)
        tell_skipped(skipped)
        if one is None:
            raise SourceError(f"there is no message {f'{wanted} ' if wanted else ''}in {name}.")
        if source != "-":
            assistant.see_folders(mail.folders())
        best = assistant.suggest(one, why=False)
        about = target or best.best
        decided = best.pinned and target is None
        found = [] if about is None or decided else assistant.explain(one, about, most=None)
    if as_json:
        reasons = [{"reason": words, "share": share} for words, share in found]
        about_it = {"message": one.id, "folder": about, "pinned": decided, "silent": best.silent}
        result = {**about_it, "reasons": reasons, "skipped": [skipped_as_dict(one) for one in skipped]}
        emit(json.dumps(result, indent=2, ensure_ascii=False))
        return
    from hinged.cli.tables import bold, dim, rows_of, say, shorten, width

    say(bold(subject_of(one)))
    if decided:
        say(f"{about}: a pin decides, whatever was learnt")
    elif about is None:
        say(dim(best.silent))
    else:
        say(f"{about} scores {sum(share for _, share in found):.2f}")
        strongest = sorted(found, key=lambda reason: -abs(reason[1]))[:top]
        shown = [(f"{share:+.3f}", shorten(words, width() - 12)) for words, share in strongest]
        for line in rows_of(shown or [("", "nothing it knows")], left=2):
            say(f"  {line}")
