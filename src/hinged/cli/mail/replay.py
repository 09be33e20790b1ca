"""`hinged mail replay`: what the assistant would have suggested for mail that is already filed."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from hinged.cli.mail.opening import Apart, Mail, mail_at
from hinged.cli.mail.showing import skipped_as_dict, tell_skipped
from hinged.cli.options import AsJson, Report, option
from hinged.cli.progress import bar
from hinged.cli.tables import bold, count, dim, emit_json, percent, say, say_table, shorten

if TYPE_CHECKING:
    from hinged.mail import Replayed
    from hinged.mail.replaying import FolderHits, Moment, Stretch

__all__ = ["replay"]

SHOWN, WORST = 15, 8  # folders and confusions in the table
RIGHT = "How often filing by itself is to be right, for the columns about it: 19/20, 0.95 or 95%."


def replay(
    source: Mail,
    *,
    exclude: Apart = None,
    right: Annotated[str, option("SHARE", RIGHT)] = "19/20",
    report: Report = None,
    as_json: AsJson = False,
) -> None:
    """Show how well the assistant would have suggested your folders.

    Their messages are replayed in order of date: a suggestion for each, then the assistant learns where the message
    went. Nothing is stored and no mail is changed. Inbox, sent mail, drafts, trash and junk are left out. A folder's
    first message is not counted, because the folder was unknown. It also shows how much would have been filed by
    watch --right, and how much of that was right.

    Example: hinged mail replay ~/Maildir --report replay.html
    """
    if report is not None:
        from hinged.io.atomic import check_folder

        check_folder(report)
    from hinged.mail.promise import share_of
    from hinged.mail.replaying import replay as replay_source

    share = share_of(right)
    with mail_at(source) as mail, bar() as show:
        result = replay_source(mail, exclude or (), show)
    tell_skipped(result.skipped)
    if report is not None:
        from hinged.mail.replay_page import write_replay

        write_replay(report, result, source, share)
    if as_json:
        emit_json(_as_dict(result, report, share))
    else:
        _print(result, report, share)


def _as_dict(result: Replayed, report: Path | None, right: float) -> dict[str, object]:
    from hinged.mail.promise import promises

    return {
        "messages": len(result.folders),
        "counted": result.assessment.counted,
        "folders": len(set(result.folders)),
        "mistakes": result.assessment.mistakes,
        "top1": result.top(1),
        "top3": result.top(3),
        "over_time": result.over_time(),
        "filing": [_filing_as_dict(result, one) for one in promises(right)],
        "by_folder": [asdict(one) for one in result.by_folder()],
        "confusions": [
            {"was": was, "taken_for": taken, "times": n} for was, taken, n in result.assessment.confusions(50)
        ],
        "seconds": result.seconds,
        "skipped": [skipped_as_dict(one) for one in result.skipped],
        "report": None if report is None else str(report),
    }


def _filing_as_dict(result: Replayed, right: float) -> dict[str, object]:
    found = result.filing(right)
    shares = {"right": right, "filed": found.share_filed, "was_right": found.share_right, "alarms": found.alarms}
    return {**shares, "over_time": result.filing_over_time(right)}


def _print(result: Replayed, report: Path | None, right: float) -> None:
    from hinged.mail.promise import promises

    folders, confusions = result.by_folder(), result.assessment.confusions(WORST)
    say(f"{count(len(result.folders), 'message')} in {count(len(folders), 'folder')}, {result.seconds:.1f} s")
    say(f"{bold(percent(result.top(1)))} were in the folder suggested first,")
    say(f"{bold(percent(result.top(3)))} in one of the first three.")
    sure, hit = result.when_sure(0.9)
    say(dim(f"Confidence was at least 90 % for {percent(sure)}; {percent(hit)} of these were right.") + "\n")
    heads = ("messages", "first", "of three", "new folders", "filed", "of it right")
    say_table(heads, map(_moment, result.over_time(), result.filing_over_time(right)), left=0)
    say(dim(f"The last two: filing by itself that is to be right {100 * right:g} % of the time.") + "\n")
    say_table(("filing to be right", "filed", "of it right", "alarms"), (_promise(result, p) for p in promises(right)))
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


def _moment(row: Moment, filing: Stretch) -> tuple[str, ...]:
    hits = f"{row['messages']:,}", percent(row["first"]), percent(row["top3"]), str(row["new"] or "")
    filed = filing["filed"]
    return *hits, str(filed or ""), percent(1 - filing["wrong"] / filed) if filed else ""


def _promise(result: Replayed, right: float) -> tuple[str, ...]:
    found = result.filing(right)
    return f"{100 * right:g} %", percent(found.share_filed), percent(found.share_right), str(found.alarms or "")


def _row(one: FolderHits) -> tuple[str, ...]:
    shares = (percent(n / one.counted if one.counted else None) for n in (one.first, one.top3))
    return shorten(one.folder, 40), f"{one.messages:,}", *shares
