"""A replay as a page with plots that opens offline."""

from __future__ import annotations

from html import escape
from pathlib import Path
from shlex import quote

import numpy as np
from numpy.typing import NDArray

from hinged.evaluate.assessment_page import MOST_SQUARES, confusion_sections
from hinged.evaluate.page import header, meanings, pairs, picture, rate, section, table, write_page
from hinged.evaluate.report import recent_rate
from hinged.evaluate.svg import curves, reliability_dots
from hinged.mail.promise import Rehearsal, promises
from hinged.mail.replaying import FolderHits, Replayed

__all__ = ["write_replay"]

MEANING = {
    "First": "Share of a folder's messages for which it was the first suggestion; its first message is not counted.",
    "Of three": "Share for which it was one of the first three.",
}

SOME = 20  # messages that must be filed before a share of them is drawn
FILING = {
    "To be right": "What hinged mail watch --right promises; docs/mail.md says how it is kept.",
    "Alarms": "How often corrections would have shown that the promise is broken; filing pauses then.",
}


def write_replay(path: str | Path, result: Replayed, name: str, right: float = 0.95) -> Path:
    """Write a page on a replay; return where it is.

    Parameters
    ----------
    path : path
    result : Replayed
    name : str
        What was replayed.
    right : float, default 0.95
        How often filing by itself is to be right; shown beside 0.9, 0.95 and 0.99.
    """
    n = len(result.flags)
    window = max(1, n // 10)
    hits = {
        words: 1 - recent_rate(np.where(result.flags < 0, -1, result.ranks > k).astype(np.int8), window)
        for words, k in (("one of three", 3), ("first", 1))
    }
    axis = "messages, in the order of their dates"
    marks = np.flatnonzero(result.flags < 0)
    lately = curves(hits, height=340, marks=marks, unit=axis, percent=True, about="Recent share of hits.")
    top1, top3 = (100 * (result.top(k) or 0.0) for k in (1, 3))
    sure, hit = result.when_sure(0.9)
    counted = result.flags >= 0
    title = f"{Path(name).name or name}: {top3:.1f} % within three suggestions"
    lead = (
        f"{n:,} messages of {len(set(result.folders)):,} folders, replayed in the order of their dates. "
        f"<strong>{top1:.1f}&nbsp;%</strong> went where the first suggestion was, "
        f"<strong>{top3:.1f}&nbsp;%</strong> where one of the first three was."
    )
    hits_over_time = (
        f"Share of hits among the last {window:,} messages. A tick under the axis marks the first message of a folder, "
        "which is not counted."
    )
    confidence = (
        f"Of {100 * sure:.1f}&nbsp;% of the messages it was at least 90&nbsp;% sure, and {100 * hit:.1f}&nbsp;% of "
        "these were right. A larger dot stands for more messages."
    )
    dots = reliability_dots(result.confidence[counted], result.flags[counted] == 0) if counted.any() else ""
    parts = [
        header("hinged · mail replay", title, lead),
        picture("Hits over time", lately, hits_over_time),
        *_filing([result.filing(one) for one in promises(right)], window, axis),
        section("Folders", _folders(result.by_folder()) + meanings(MEANING.items())),
        _confusions(result),
        picture("How far the confidence can be believed", dots, confidence),
        section("About this replay", f"<dl>{pairs(_about(result, name))}</dl>"),
    ]
    return write_page(path, title, parts)


def _filing(found: list[Rehearsal], window: int, axis: str) -> list[str]:
    """Return what would have been filed under several promises: two pictures and a table."""
    filed = {f"{100 * one.right:g} % right": 1 - recent_rate((~one.filed).astype(np.int8), window) for one in found}
    wrong = {f"{100 * one.right:g} % right": _wrong_so_far(one) for one in found}
    lines = (
        f'<tr><th scope="row">{100 * one.right:g}&nbsp;%</th>{rate(_percent(one.share_filed), one.share_filed)}'
        f"<td>{_percent(one.share_right)}</td><td>{one.wrong.sum():,}</td><td>{one.alarms or ''}</td></tr>"
        for one in found
    )
    much = f"Share of the last {window:,} messages that would have been filed, for each promise."
    little = (
        f"Share of wrong ones among all that would have been filed until then, from the {SOME}th on, had each been "
        "corrected at once."
    )
    shares = curves(filed, height=300, unit=axis, percent=True, about=much)
    mistakes = curves(wrong, height=300, unit=axis, percent=True, about=little)
    heads = ("To be right", "Filed", "Of it right", "Wrong", "Alarms")
    return [
        section("Filing by itself", table(heads, lines) + meanings(FILING.items())),
        picture("How much would be filed", shares, much),
        picture("How much of it is wrong", mistakes, little),
    ]


def _wrong_so_far(found: Rehearsal) -> NDArray[np.float64]:
    """Return the share of wrong messages among those filed so far; NaN while they are few."""
    filed = found.filed.cumsum()
    return np.where(filed < SOME, np.nan, found.wrong.cumsum() / np.maximum(1, filed))


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}&nbsp;%"


def _folders(folders: list[FolderHits]) -> str:
    def share(n: int, of: int) -> str:
        return rate(f"{100 * n / of:.1f}&nbsp;%", n / of) if of else "<td>–</td>"

    lines = (
        f'<tr><th scope="row">{escape(one.folder)}</th><td>{one.messages:,}</td>{share(one.first, one.counted)}'
        f"{share(one.top3, one.counted)}</tr>"
        for one in folders
    )
    return table(("Folder", "Messages", *MEANING), lines)


def _confusions(result: Replayed) -> str:
    if not result.assessment.confusions(1):
        return ""
    shown = [one.folder for one in result.by_folder()[:MOST_SQUARES]]
    note = f"The {len(shown)} largest folders. A row is where messages went, a column the first suggestion"
    return confusion_sections(result.assessment, shown, note, "Was in", "Suggested")


def _about(result: Replayed, name: str) -> list[tuple[str, str]]:
    return [
        ("Mail", f"<code>{escape(name)}</code>"),
        ("Counted", f"{result.assessment.counted:,} messages; the first of each folder is not"),
        ("Time", f"{result.seconds:.2f} s for suggesting and learning"),
        ("Repeat by", f"<code>hinged mail replay {escape(quote(name))}</code>"),
    ]
