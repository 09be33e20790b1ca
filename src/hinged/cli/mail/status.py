"""`hinged mail status`: what the assistant knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hinged.cli.mail.opening import Account, State, assistant_of, state_of, utc
from hinged.cli.options import AsJson
from hinged.cli.progress import size_of
from hinged.cli.tables import bold, count, dim, emit_json, percent, say

if TYPE_CHECKING:
    from hinged.mail import Assistant

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
        about = AccountStatus(
            state=str(state_of(source, state)),
            on=not assistant.is_off,
            messages=model.n_rounds_ if learnt else 0,
            mistakes=model.n_mistakes_ if learnt else 0,
            sets=len(assistant.memory.sets()),
            folders=assistant.folders(),
            gone=sorted({*assistant.known()} - {*assistant.folders()}),
            excluded=list(assistant.excluded),
            pins=assistant.pins(),
            moves_to_undo=len(assistant.memory.moves()),
            filing=_filing(assistant),
            bytes=sum(path.stat().st_size for path in kept.iterdir()),
        )
    if as_json:
        filing = None if about.filing is None else about.filing._asdict()
        emit_json({**about._asdict(), "filing": filing})
    else:
        _print(about)


class FilingStatus(NamedTuple):
    """How filing by itself is kept to its promise."""

    right: float
    filed: int
    wrong: int
    paused_for: int
    alarm: dict[str, object] | None


def _filing(assistant: Assistant) -> FilingStatus | None:
    promise = assistant.log.promise()
    if promise is None:
        return None
    entries = assistant.log.promised()
    alarm = assistant.log.last_alarm()
    told = None if alarm is None else {**alarm._asdict(), "at": utc(alarm.at)}
    return FilingStatus(promise.right, len(entries), sum(one.is_wrong for one in entries), promise.to_wait, told)


class AccountStatus(NamedTuple):
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
    sets: int  # messages that lie in several folders
    filing: FilingStatus | None
    bytes: int


def _print(about: AccountStatus) -> None:
    rate = percent(about.mistakes / about.messages) if about.messages else "–"
    say(f"The assistant is {bold('on' if about.on else 'off')}.")
    say(f"{bold(count(about.messages, 'message'))} learnt, the first suggestion was wrong for {rate} of them")
    if about.sets:
        say(f"{count(about.sets, 'message')} in several folders, learnt as sets")
    say(f"{bold(count(len(about.folders), 'folder'))} can be suggested")
    for names, what in ((about.gone, "no longer suggested"), (about.excluded, "excluded")):
        if names:
            say(f"{', '.join(names)}: {what}")
    for who, folder in about.pins.items():
        say(f"{who} is pinned to {folder}")
    if about.filing is not None:
        right, filed, wrong, paused_for, alarm = about.filing
        say(f"Filing by itself is to be right {100 * right:g} % of the time: {wrong or 'none'} of {filed:,} were wrong")
        if alarm is not None:
            until = f"{alarm['wrong']} of the {alarm['filed']} messages filed until then were wrong"
            say(f"Not kept on {alarm['at']}: {until}")
        if paused_for:
            say(f"It is paused until {count(paused_for, 'more message')} have come, because too many were wrong")
    if about.moves_to_undo:
        say(f"{count(about.moves_to_undo, 'move')} can be undone")
    say(dim(f"{about.state}, {size_of(about.bytes)}"))
