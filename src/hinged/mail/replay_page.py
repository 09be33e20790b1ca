"""A replay as a page with plots that opens offline."""

from __future__ import annotations

from html import escape
from pathlib import Path
from shlex import quote

import numpy as np

from hinged.evaluate.assessment_page import MOST_SQUARES, confusion_sections
from hinged.evaluate.page import pairs, rate, table, write_page
from hinged.evaluate.report import recent_rate
from hinged.evaluate.svg import curves, reliability_dots
from hinged.mail.replaying import FolderHits, Replayed

__all__ = ["write_replay"]

MEANING = {
    "First": "Share of a folder's messages for which it was the first suggestion; its first message is not counted.",
    "Of three": "Share for which it was one of the first three.",
}


def write_replay(path: str | Path, result: Replayed, name: str) -> Path:
    """Write a page on a replay; return where it is.

    Parameters
    ----------
    path : path
    result : Replayed
    name : str
        What was replayed.
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
    share, right = result.when_sure(0.9)
    counted = result.flags >= 0
    title = f"{Path(name).name or name}: {top3:.1f} % within three suggestions"
    body = f"""
<header><p class="kicker">hinged · mail replay</p><h1>{escape(title)}</h1>
<p class="lead">{n:,} messages of {len(set(result.folders)):,} folders, replayed in the order of their dates.
<strong>{top1:.1f}&nbsp;%</strong> went where the first suggestion was, <strong>{top3:.1f}&nbsp;%</strong> where one of
the first three was.</p></header>
<section><h2>Hits over time</h2><figure>{lately}<figcaption>Share of hits among the last {window:,} messages. A tick
under the axis marks the first message of a folder, which is not counted.</figcaption></figure></section>
<section><h2>Folders</h2>{_folders(result.by_folder())}
<dl class="meaning">{pairs((heading, escape(meaning)) for heading, meaning in MEANING.items())}</dl></section>
{_confusions(result)}
<section><h2>How far the confidence can be believed</h2>
<figure>{reliability_dots(result.confidence[counted], result.flags[counted] == 0) if counted.any() else ""}
<figcaption>Of {100 * share:.1f}&nbsp;% of the messages it was at least 90&nbsp;% sure, and {100 * right:.1f}&nbsp;% of
these were right. A larger dot stands for more messages.</figcaption></figure></section>
<section><h2>About this replay</h2><dl>{pairs(_about(result, name))}</dl></section>
"""
    return write_page(path, title, body)


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
