"""What is taken for what, as sections of a page: a square for every pair, and the most frequent confusions."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from hinged.evaluate.assessment import Assessment
from hinged.evaluate.page import table
from hinged.evaluate.svg_assessment import confusion_squares

__all__ = ["MOST_SQUARES", "confusion_sections"]

MOST_SQUARES, MOST_CONFUSIONS = 18, 15


def confusion_sections(result: Assessment, shown: Sequence[object], note: str, was: str, taken_for: str) -> str:
    """Draw the squares of the labels shown; list the confusions, where there are any.

    Parameters
    ----------
    result : Assessment
    shown : labels, no more than `MOST_SQUARES`
    note : str
        Which labels these are, and what is a row, what a column.
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
        f"<section><h2>What is taken for what</h2><figure>{squares}<figcaption>{note}; the darker, the larger the "
        "share of the row. Point at a square for its numbers.</figcaption></figure></section>"
    ) + (f"<section><h2>The most frequent confusions</h2>{listed}</section>" if lines else "")
