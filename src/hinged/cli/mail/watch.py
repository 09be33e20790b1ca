"""`hinged mail watch`: suggest folders for new messages and learn from filed ones, as they arrive."""

from __future__ import annotations

import typer

from hinged.cli.interrupts import Interrupts
from hinged.cli.mail.events import STOPPING, print_event, print_event_as_json
from hinged.cli.mail.opening import (
    InFolder,
    Keywords,
    LeastConfidence,
    LeastGap,
    LeastScore,
    Mail,
    Review,
    Right,
    State,
    assistant_of,
    exit_if_off,
    mail_at,
)
from hinged.cli.options import AsJson
from hinged.cli.tables import emit

__all__ = ["watch"]


def watch(
    source: Mail,
    *,
    folder: InFolder = None,
    keywords: Keywords = False,
    min_score: LeastScore = 0.0,
    min_gap: LeastGap = 0.0,
    min_confidence: LeastConfidence = 0.0,
    right: Right = None,
    review: Review = None,
    state: State = None,
    as_json: AsJson = False,
) -> None:
    """Suggest folders for each new message and learn from each that is filed, until stopped.

    Whichever program files a message, its folder is learnt, once per folder. Nothing is moved without --right; what it
    moves is listed by log and moved back by undo. Keywords are removed once the message is filed. If the server is
    unreachable, connecting is tried again. Ctrl-C stops.

    Example: hinged mail watch imaps://jane@imap.example.org/
    """
    if source == "-":
        raise typer.BadParameter("a message on standard input cannot be watched; name the mail it comes from")
    if review is not None and right is None:
        raise typer.BadParameter("--review is for what --right leaves; give both, or leave out --review")
    from hinged.mail.promise import share_of

    share = None if right is None else share_of(right)
    with mail_at(source) as mail, assistant_of(source, state) as assistant, Interrupts(STOPPING) as interrupts:
        from hinged.mail.filing import inbox_of
        from hinged.mail.self_filing import SelfFiling
        from hinged.mail.suggestion import Thresholds
        from hinged.mail.watching import StoppedWatching, Watcher

        exit_if_off(assistant, "watched")
        assistant.thresholds = Thresholds(min_score, min_gap, min_confidence)
        inbox = inbox_of(mail, folder)
        tell = print_event_as_json if as_json else print_event
        filing = None if share is None else SelfFiling(assistant, mail, share, review)
        watcher = Watcher(assistant, mail, inbox, tell, keywords=keywords, filing=filing, going=interrupts.going)
        where, filed = source.partition("?")[0], ", or are filed" if filing else ""
        emit(f"hinged: watching {where}; new messages in {inbox} get suggestions{filed}. Ctrl-C stops.", err=True)
        for _ in interrupts.while_going(watcher.moments()):
            try:
                watcher.turn()
            except StoppedWatching:
                break
    raise typer.Exit(interrupts.exit_code)
