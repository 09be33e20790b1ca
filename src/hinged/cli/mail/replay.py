"""`hinged mail replay`: what the assistant would have suggested for mail that is already filed."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from hinged.cli.mail.opening import Apart, Mail, mail_at
from hinged.cli.mail.showing import skipped_as_dict, tell_skipped
from hinged.cli.options import AsJson, Report
from hinged.cli.progress import bar
from hinged.cli.tables import bold, count, dim, emit_json, percent, say, say_table, shorten

if TYPE_CHECKING:
    from hinged.mail import Replayed
    from hinged.mail.replaying import FolderHits, Moment

__all__ = ["replay"]

SHOWN, WORST = 15, 8  # folders and confusions in the table


def replay(source: Mail, *, exclude: Apart = None, report: Report = None, as_json: AsJson = False) -> None:
    """Show how well the assistant would have suggested your folders.

    Their messages are replayed in order of date: a suggestion for each, then the assistant learns where the message
    went. Nothing is stored and no mail is changed. Inbox, sent mail, drafts, trash and junk are left out. A folder's
    first message is not counted, because the folder was unknown.

    Example: hinged mail replay ~/Maildir --report replay.html
    """
    if report is not None:
        from hinged.io.atomic import check_folder

        check_folder(report)
    from hinged.mail.replaying import replay as replay_source

    with mail_at(source) as mail, bar() as show:
        result = replay_source(mail, exclude or (), show)
    tell_skipped(result.skipped)
    if report is not None:
        from hinged.mail.replay_page import write_replay

        write_replay(report, result, source)
    if as_json:
        emit_json(_as_dict(result, report))
    else:
        _print(result, report)


def _as_dict(result: Replayed, report: Path | None) -> dict[str, object]:
    return {
        "messages": len(result.folders),
        "counted": result.assessment.counted,
        "folders": len(set(result.folders)),
        "mistakes": result.assessment.mistakes,
        "top1": result.top(1),
        "top3": result.top(3),
        "over_time": result.over_time(),
        "by_folder": [asdict(one) for one in result.by_folder()],
        "confusions": [
            {"was": was, "taken_for": taken, "times": n} for was, taken, n in result.assessment.confusions(50)
        ],
        "seconds": result.seconds,
        "skipped": [skipped_as_dict(one) for one in result.skipped],
        "report": None if report is None else str(report),
    }


def _print(result: Replayed, report: Path | None) -> None:
    folders, confusions = result.by_folder(), result.assessment.confusions(WORST)
    say(f"{count(len(result.folders), 'message')} in {count(len(folders), 'folder')}, {result.seconds:.1f} s")
    say(f"{bold(percent(result.top(1)))} were in the folder suggested first,")
    say(f"{bold(percent(result.top(3)))} in one of the first three.")
    share, right = result.when_sure(0.9)
    say(dim(f"Confidence was at least 90 % for {percent(share)}; {percent(right)} of these were right.") + "\n")
    say_table(("messages", "first", "of three", "new folders"), map(_moment, result.over_time()), left=0)
    say()
    say_table(("folder", "messages", "first", "of three"), map(_row, folders[:SHOWN]))
    if len(folders) > SHOWN:
        say(dim(f"and {len(folders) - SHOWN} more; --report and --json have them all"))
    if confusions:
        say()
        rows = ((shorten(str(was), 30), shorten(str(taken), 30), str(n)) for was, taken, n in confusions)
        say_table(("was in", "suggested", "times"), rows, left=2)
    if report is not None:
        say(f"\nReport  {report}")


def _moment(row: Moment) -> tuple[str, ...]:
    return f"{row['messages']:,}", percent(row["first"]), percent(row["top3"]), str(row["new"] or "")


def _row(one: FolderHits) -> tuple[str, ...]:
    shares = (percent(n / one.counted if one.counted else None) for n in (one.first, one.top3))
    return shorten(one.folder, 40), f"{one.messages:,}", *shares
