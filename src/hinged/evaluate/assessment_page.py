"""An assessment as a page with plots that opens offline."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

import numpy as np

from hinged.evaluate.assessment import Assessment, LabelScore
from hinged.evaluate.page import header, meanings, pairs, picture, rate, section, table, write_page
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
    title = f"{name}: {right:.1f} % {'ranked without a mistake' if result.ranks_sets else 'right'}"
    lead = (
        f"{result.examples:,} examples, {escape(how)}. <strong>{result.mistakes:,} mistakes</strong> in "
        f"{result.counted:,} that count; the right label was among the best three in "
        f"{100 * (result.top(3) or 0.0):.1f}&nbsp;%."
    )
    sections = [
        header("hinged · evaluation", title, lead),
        _ranking(result),
        picture("Mistakes so far", total, "A tick under the axis marks a label that was new, which is not counted."),
        picture("Recent mistakes", recent, f"Share of mistakes among the last {window:,} examples."),
        picture("Rank of the right label", among, "Share of examples whose right label is among the first k."),
        more,
        _confusion(result),
        _confidence(sure[counted], ranks[counted] == 1),
        section("Labels in numbers", _labels(result) + meanings(MEANING.items())),
        section("Settings", f"<dl>{pairs(_settings(result, model))}</dl>"),
    ]
    return write_page(path, title, sections)


def _ranking(result: Assessment) -> str:
    means = result.ranking
    if means is None:
        return ""
    rows = [
        (heading, f"<b>{getattr(means, key):.3f}</b> &nbsp;{escape(meaning)}")
        for key, (heading, meaning) in RANKING.items()
    ]
    return section("Ranking of label sets", f"<dl>{pairs(rows)}</dl>")


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
    caption = f"{note}; the darker, the larger the share of the row. Point at a square for its numbers."
    return picture("Confusions", squares, caption) + (section("The most frequent confusions", listed) if lines else "")


def _confidence(sure: np.ndarray, hit: np.ndarray) -> str:
    if not len(sure):
        return ""
    dots = reliability_dots(sure, hit)
    return picture("Calibration of the confidence", dots, "A larger dot stands for more examples.")


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
