"""An assessment as a page with plots that opens offline."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

import numpy as np

from hinged.evaluate.assessment import Assessment, LabelScore
from hinged.evaluate.page import pairs, rate, table, write_page
from hinged.evaluate.report import recent_rate
from hinged.evaluate.svg import confusion_squares, curves, reliability_dots

__all__ = ["MOST_SQUARES", "confusion_sections", "write_assessment"]

MOST_TOP, MOST_SQUARES, MOST_CONFUSIONS = 10, 18, 15
MEANING = {
    "Precision": "Of the times a label was predicted, how often it was right.",
    "Recall": "Of the times a label was right, how often it was predicted.",
    "F1": "The harmonic mean of the two.",
    "Support": "How often the label was right.",
}
RANKING = {
    "average_precision": (
        "Average precision",
        "Mean share of right labels among those ranked at least as high as a right one.",
    ),
    "one_error": ("One-error", "Share of examples whose best label is wrong."),
    "ranking_loss": ("Ranking loss", "Share of pairs of a right and a wrong label in the wrong order."),
    "coverage": ("Coverage", "Mean number of top labels that contain all right ones."),
}


def write_assessment(path: str | Path, result: Assessment, model: object, name: str, how: str, more: str = "") -> Path:
    """Write a page on an assessment that kept its rounds (`keep=True`).

    Parameters
    ----------
    path : path
    result : Assessment
    model : estimator
        Shown by its settings.
    name : str
        What was judged, such as a file.
    how : str
        How it was judged, such as "each judged, then learnt".
    more : str
        Further sections, as HTML.
    """
    flags, ranks, sure = (np.concatenate(parts) for parts in (result.flags, result.ranks, result.confidence))
    counted = flags >= 0
    best = [result.top(k) or 0.0 for k in range(1, min(MOST_TOP, max(len(result.labels), 1)) + 1)]
    window = max(1, len(flags) // 10)
    so_far, lately = np.cumsum(flags == 1), recent_rate(flags, window)
    axis = "examples, in their order"
    total = curves({"mistakes": so_far}, height=360, marks=np.flatnonzero(flags < 0), unit=axis, about="Mistakes.")
    recent = curves({"lately": lately}, height=260, unit=axis, percent=True, about="Recent share of mistakes.")
    among = curves({"right": best}, height=260, unit="labels looked at", percent=True, about="Top-k hits.")
    right = 100 * (result.accuracy or 0.0)
    words = "ranked without a mistake" if result.ranks_sets else "right"
    body = f"""
<header><p class="kicker">hinged · evaluation</p><h1>{escape(name)}: {right:.1f}&nbsp;% {words}</h1>
<p class="lead">{result.examples:,} examples, {escape(how)}. <strong>{result.mistakes:,} mistakes</strong> in
{result.counted:,} that count; the right label was among the best three in {100 * (result.top(3) or 0.0):.1f}&nbsp;%.
</p></header>
{_ranking(result)}
<section><h2>Mistakes so far</h2><figure>{total}<figcaption>A tick under the axis marks a label that was new, which
is not counted.</figcaption></figure></section>
<section><h2>Recent mistakes</h2><figure>{recent}<figcaption>Share of mistakes among the last {window:,}
examples.</figcaption></figure></section>
<section><h2>Rank of the right label</h2><figure>{among}<figcaption>Share of examples whose right label is
among the first k.</figcaption></figure></section>
{more}
{_confusion(result)}
{_confidence(sure[counted], ranks[counted] == 1)}
<section><h2>Labels in numbers</h2>{_labels(result)}
<dl class="meaning">{pairs((heading, escape(meaning)) for heading, meaning in MEANING.items())}</dl></section>
<section><h2>Settings</h2><dl>{pairs(_settings(result, model))}</dl></section>
"""
    return write_page(path, f"{name}: {right:.1f} % {words}", body)


def _ranking(result: Assessment) -> str:
    means = result.ranking
    if means is None:
        return ""
    rows = [
        (heading, f"<b>{getattr(means, key):.3f}</b> &nbsp;{escape(meaning)}")
        for key, (heading, meaning) in RANKING.items()
    ]
    return f"<section><h2>Ranking of label sets</h2><dl>{pairs(rows)}</dl></section>"


def _confusion(result: Assessment) -> str:
    if result.ranks_sets or not result.pairs:
        return ""
    scores = result.by_label()
    shown = [score.label for score in scores[:MOST_SQUARES]]
    note = f"The {len(shown)} most frequent of {len(scores)} labels. " if len(scores) > len(shown) else ""
    note += "A row is a right label, a column a predicted one"
    return confusion_sections(result, shown, note, "Was", "Taken for")


def confusion_sections(result: Assessment, shown: Sequence[object], note: str, was: str, taken_for: str) -> str:
    """Draw the squares of the labels shown, and list the confusions if there are any.

    Parameters
    ----------
    result : Assessment
    shown : labels, no more than `MOST_SQUARES`
    note : str
        Says which labels are shown, and what rows and columns are.
    was, taken_for : str
        Headings of the right and of the predicted labels.
    """
    lines = [
        f'<tr><th scope="row">{escape(str(right))}</th><td>{escape(str(said))}</td><td>{n:,}</td></tr>'
        for right, said, n in result.confusions(MOST_CONFUSIONS)
    ]
    listed = table((was, taken_for, "Times"), lines)
    squares = confusion_squares(shown, result.pairs)
    return (
        f"<section><h2>Confusions</h2><figure>{squares}<figcaption>{note}; the darker, the larger the "
        "share of the row. Point at a square for its numbers.</figcaption></figure></section>"
    ) + (f"<section><h2>The most frequent confusions</h2>{listed}</section>" if lines else "")


def _confidence(sure: np.ndarray, hit: np.ndarray) -> str:
    if not len(sure):
        return ""
    return (
        f"<section><h2>Calibration of the confidence</h2><figure>{reliability_dots(sure, hit)}"
        "<figcaption>A larger dot stands for more examples.</figcaption></figure></section>"
    )


def _labels(result: Assessment) -> str:
    def row(score: LabelScore, mark: str = "") -> str:
        return (
            f'<tr{mark}><th scope="row">{escape(str(score.label))}</th><td>{score.precision:.3f}</td>'
            f"<td>{score.recall:.3f}</td>{rate(f'{score.f1:.3f}', score.f1)}<td>{score.support:,}</td></tr>"
        )

    lines = [row(score) for score in result.by_label()]
    means = [row(score, " class=best") for score in result.averages().values()]
    return table(("Label", *MEANING), lines + means)


def _settings(result: Assessment, model: object) -> list[tuple[str, str]]:
    return [
        ("Model", f"<code>{escape(' '.join(repr(model).split()))}</code>"),
        ("Left out", f"{result.unlabelled:,} examples without a label, {result.skipped:,} malformed"),
        ("New labels", f"{result.unseen:,} examples with a label the model did not know"),
        ("Time", f"{result.seconds:.2f} s"),
    ]
