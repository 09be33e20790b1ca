"""`hinged mail status`: what the assistant knows."""

from __future__ import annotations

from typing import NamedTuple

from hinged.cli.mail.opening import Account, State, assistant_of, state_of
from hinged.cli.options import AsJson
from hinged.cli.progress import size_of
from hinged.cli.tables import bold, count, dim, emit_json, percent, say

__all__ = ["status"]


def status(source: Account, *, state: State = None, as_json: AsJson = False) -> None:
    """Show what the assistant knows: messages, folders, pins.

    Works while another process learns.

    Example: hinged mail status ~/Maildir
    """
    with assistant_of(source, state, read_only=True) as assistant:
        model = assistant.model
        learnt = hasattr(model, "model_")
        kept = assistant.state
        about = Status(
            state=str(state_of(source, state)),
            on=not assistant.is_off,
            messages=model.n_rounds_ if learnt else 0,
            mistakes=model.n_mistakes_ if learnt else 0,
            folders=assistant.folders(),
            gone=sorted({*assistant.known()} - {*assistant.folders()}),
            excluded=list(assistant.excluded),
            pins=assistant.pins(),
            moves_to_undo=len(assistant.memory.moves()),
            bytes=sum(path.stat().st_size for path in kept.iterdir()),
        )
    if as_json:
        emit_json(about._asdict())
    else:
        _print(about)


class Status(NamedTuple):
    """What an assistant knows, and where."""

    state: str
    on: bool
    messages: int
    mistakes: int
    folders: list[str]
    gone: list[str]
    excluded: list[str]
    pins: dict[str, str]
    moves_to_undo: int
    bytes: int


def _print(about: Status) -> None:
    rate = percent(about.mistakes / about.messages) if about.messages else "–"
    say(f"The assistant is {bold('on' if about.on else 'off')}.")
    say(f"{bold(count(about.messages, 'message'))} learnt, the first suggestion was wrong for {rate} of them")
    say(f"{bold(count(len(about.folders), 'folder'))} can be suggested")
    for names, what in ((about.gone, "no longer suggested"), (about.excluded, "excluded")):
        if names:
            say(f"{', '.join(names)}: {what}")
    for who, folder in about.pins.items():
        say(f"{who} is pinned to {folder}")
    if about.moves_to_undo:
        say(f"{count(about.moves_to_undo, 'move')} can be undone")
    say(dim(f"{about.state}, {size_of(about.bytes)}"))
