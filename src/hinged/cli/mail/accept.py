"""`hinged mail accept`: move a message of the last list to one of its folders, and learn that."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hinged.cli.mail.opening import assistant_of, mail_at
from hinged.cli.mail.showing import tell
from hinged.cli.options import AsJson, argument, flag

if TYPE_CHECKING:
    from hinged.cli.mail.last_list import LastList
    from hinged.mail import Source
    from hinged.mail.web.desk import Desk

__all__ = ["accept"]

NUMBER = "The number of a message in the last list of hinged mail suggest."
CHOICE = "The number of one of its folders, or the name of any folder."


def accept(
    number: Annotated[int | None, argument("[MESSAGE]", NUMBER)] = None,
    choice: Annotated[str, argument("[FOLDER]", CHOICE)] = "1",
    *,
    undo: Annotated[bool, flag("--undo", "Take back the last acceptance of that list.")] = False,
    as_json: AsJson = False,
) -> None:
    """Move a message of the last list of suggest to one of its folders, and learn that it belongs there.

    Example: hinged mail accept 3 2
    """
    if undo == (number is not None):
        raise typer.BadParameter("name a message of the last list by its number, or use --undo")
    from hinged.cli.mail.last_list import load, save
    from hinged.mail.web.desk import Desk

    last = load()
    with mail_at(last.source) as mail, assistant_of(last.source, Path(last.state)) as assistant:
        desk = Desk(mail, assistant, last.folder)
        desk.list_inbox()
        if number is None:
            subject, folder = _take_back(desk, mail, last)
        else:
            subject, folder = _accept(desk, last, number, choice)
    save(last)
    sentence = f"{subject} moved {'back' if undo else 'to ' + folder}; {'' if undo else 'accept --undo takes it back'}"
    tell(sentence.rstrip("; ") + ".", as_json, subject=subject, folder=folder, undone=undo)


def _accept(desk: Desk, last: LastList, number: int, choice: str) -> tuple[str, str]:
    """Move a message; return its subject and the folder it is in now."""
    from hinged.cli.mail.last_list import Accepted

    if not 1 <= number <= len(last.listed):
        raise ValueError(f"the last list has messages 1 to {len(last.listed)}; got {number}.")
    one = last.listed[number - 1]
    folder = choice
    if choice.isdigit():
        if not 1 <= int(choice) <= len(one.folders):
            some = f"folders 1 to {len(one.folders)}" if one.folders else "no folders"
            raise ValueError(
                f"message {number} has {some} in the last list; got {choice}. The name of any folder will do."
            )
        folder = one.folders[int(choice) - 1]
    desk.file(one.key, folder)
    step = desk.steps[-1]
    last.accepted.append(Accepted(step.message.id, step.place.key, folder, step.taught, step.hit))
    return one.subject, folder


def _take_back(desk: Desk, mail: Source, last: LastList) -> tuple[str, str]:
    """Move the message that was accepted last back, and unlearn it; return its subject and the folder it was in."""
    from hinged.mail.reading import messages
    from hinged.mail.sources.source import Place
    from hinged.mail.web.desk import UndoStep

    if not last.accepted:
        raise ValueError("nothing was accepted from the last list, so there is nothing to take back.")
    one = last.accepted.pop()
    place = Place(one.folder, one.key)
    found = [message for _, message in messages(mail, [place], lambda skipped: None) if message.id == one.message]
    if not found:
        raise ValueError(f"the message is no longer in {one.folder}: another program has moved it since.")
    desk.steps.append(UndoStep(found[0], place, last.folder, one.folder, one.taught, one.hit))
    desk.undo()
    return found[0].subject, one.folder
