"""`hinged mail run`: one process that watches accounts and answers the other commands."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from hinged.cli.interrupts import Interrupts
from hinged.cli.mail.events import STOPPING, print_event, print_event_as_json
from hinged.cli.mail.opening import (
    InFolder,
    Keywords,
    LeastConfidence,
    LeastGap,
    LeastScore,
    Review,
    Right,
    State,
)
from hinged.cli.options import AsJson, argument, flag, option
from hinged.cli.tables import emit

if TYPE_CHECKING:
    from hinged.mail.running.accounts import Account, GaveUp, RunningAccount
    from hinged.mail.running.pages import PageAt, RunningPage
    from hinged.mail.watching import Event

    Told: TypeAlias = Event | GaveUp | PageAt
    Events: TypeAlias = SimpleQueue[tuple[Account, Told]]

__all__ = ["run"]

SOURCES = "The mail: Maildirs, mbox files, or imaps://user@host; all accounts of hinged mail config if left out."
ONLY = "Only this account of hinged mail config; may be repeated."
PAGE = "Serve the page of each account as well, on this machine only."


def run(
    sources: Annotated[list[str] | None, argument("[SOURCE...]", SOURCES)] = None,
    *,
    account: Annotated[list[str] | None, option("NAME", ONLY, "--account")] = None,
    folder: InFolder = None,
    keywords: Keywords = False,
    page: Annotated[bool, flag("--page", PAGE)] = False,
    min_score: LeastScore = 0.0,
    min_gap: LeastGap = 0.0,
    min_confidence: LeastConfidence = 0.0,
    right: Right = None,
    review: Review = None,
    state: State = None,
    as_json: AsJson = False,
) -> None:
    """Watch accounts, and answer the other mail commands at once, until stopped.

    One process that watches all accounts of hinged mail config, or every SOURCE, as watch does; with --right it also
    files. While it runs, suggest, explain, file, log, undo, learn, status, pin, exclude, off and the like ask it over a
    socket in the state folder, instead of loading what was learnt by themselves; their output is the same. Nothing
    listens on the network. Ctrl-C stops.

    Example: hinged mail run imaps://jane@imap.example.org/
    """
    if sources and account:
        raise typer.BadParameter("name sources or accounts of hinged mail config, not both")
    if state is not None and len(sources or ()) != 1:
        raise typer.BadParameter("--state names the folder of one account; leave it out, or name one SOURCE")
    if sources and "-" in sources:
        raise typer.BadParameter("a message on standard input cannot be watched; name the mail it comes from")
    options: dict[str, Any] = {"folder": folder, "keywords": keywords, "page": page}
    options |= {"min_score": min_score, "min_gap": min_gap, "min_confidence": min_confidence}
    options |= {"right": right, "review": review}
    if state is not None:
        options["state"] = os.path.abspath(state)
    found = {one: {"source": one} for one in sources} if sources else _configured(account or ())
    _run([_account(name, {**options, **settings}) for name, settings in found.items()], as_json)


def _configured(names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the settings of the accounts of these names in the user's file, or of all of them."""
    from hinged.mail.config import config_path, load, settings_of

    accounts = {name: settings_of(name) for name in names} if names else load()
    if not accounts:
        raise ValueError(
            f"there is no account in {config_path()}; name the mail, or add it with hinged mail config add NAME SOURCE."
        )
    return accounts


def _account(name: str, settings: dict[str, Any]) -> Account:
    from hinged.mail.config import source_of, state_of
    from hinged.mail.promise import share_of
    from hinged.mail.running.accounts import Account
    from hinged.mail.suggestion import Thresholds

    right, review = settings["right"], settings["review"]
    if review is not None and right is None:
        raise typer.BadParameter(f"review is for what right leaves; give both for {name}, or leave out review")

    score, gap, confidence = (float(settings[f"min_{what}"]) for what in ("score", "gap", "confidence"))
    return Account(
        name,
        source_of(settings),
        Path(state_of(settings)),
        settings["folder"],
        settings["keywords"],
        settings["page"],
        Thresholds(score, gap, confidence),
        None if right is None else share_of(right),
        review,
    )


def _run(accounts: list[Account], as_json: bool) -> None:
    from hinged.mail.running.service import GAVE_UP

    events: Events = SimpleQueue()

    def tell(*told: Any) -> None:
        events.put(told)

    with Interrupts(STOPPING) as interrupts, ExitStack() as open_things:
        watched = 0
        for account in accounts:
            try:
                _start(account, tell, open_things)
                watched += 1
            except (OSError, ValueError) as problem:  # of this account; the others go on
                if len(accounts) == 1:
                    raise
                emit(f"hinged: {account.name} is not run: {problem}", err=True)
        if not watched:
            raise ValueError("none of the accounts can be run; the reasons are above.")
        for account, event in interrupts.while_going(_each(events)):
            watched -= _print(account, event, as_json, several=len(accounts) > 1)
            if not watched:
                break
    raise typer.Exit(interrupts.exit_code or GAVE_UP)


def _start(account: Account, tell: Callable[..., None], open_things: ExitStack) -> None:
    """Run for an account; what is opened is closed with `open_things`, also if this fails."""
    from hinged.cli.mail.answering import Answering
    from hinged.mail.running.accounts import RunningAccount
    from hinged.mail.running.server import SocketServer

    server = SocketServer(account.state)
    open_things.callback(server.release)
    running = RunningAccount(account, tell)
    open_things.callback(running.close)
    server.listen(Answering(running))
    open_things.callback(server.close)
    running.start()
    if account.page:
        open_things.callback(_page_of(running, tell).close)
    emit(f"hinged: running for {account.name}; commands for it are answered at once. Ctrl-C stops.", err=True)


def _page_of(running: RunningAccount, tell: Callable[..., None]) -> RunningPage:
    try:
        from hinged.mail.running.pages import RunningPage
    except ImportError as missing:
        raise ValueError(
            f"the page needs the package {missing.name}; install it with: pip install 'hinged[server]'."
        ) from None
    return RunningPage(running, tell)


def _each(events: Events) -> Iterator[tuple[Account, Told]]:
    while True:
        yield events.get()


def _print(account: Account, event: Told, as_json: bool, several: bool) -> bool:
    """Print an event; return True if the account is no longer watched."""
    from hinged.mail.running.accounts import GaveUp
    from hinged.mail.watching import Event

    if isinstance(event, GaveUp):
        emit(f"hinged: {account.name} is no longer watched: {event.sentence}", err=True)
    elif as_json:
        print_event_as_json(event, account=account.name)
    elif isinstance(event, Event):
        print_event(event, account.name if several else "")
    else:
        emit(f"hinged: the page of {account.name} is at {event.address}")
    return isinstance(event, GaveUp)
