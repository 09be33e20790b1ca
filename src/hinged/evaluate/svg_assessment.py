"""What is taken for what, and how far confidence can be believed, as inline SVG for the page that holds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
from numpy.typing import ArrayLike

from hinged.evaluate.plots import reliability

__all__ = ["confusion_squares", "reliability_dots"]

WIDTH = 920
CELL, NAMES, HEAD = 34, 190, 150
LONGEST_NAME = 24


def confusion_squares(labels: Sequence[object], times: Mapping[tuple[object, object], int]) -> str:
    """Draw a square for every pair of labels: the darker, the larger the share of the row's label.

    Parameters
    ----------
    labels : rows and columns, in order
    times : how often (right, predicted) occurred

    Examples
    --------
    >>> confusion_squares(["ham", "spam"], {("ham", "ham"): 3, ("ham", "spam"): 1}).count("<rect")
    4
    """
    size = min(CELL, (WIDTH - NAMES - HEAD) // max(len(labels), 1))
    height = size * len(labels) + HEAD + 8
    parts = [
        f'<svg class="squares" viewBox="0 0 {WIDTH} {height}" role="img" '
        'aria-label="Share of each label that was predicted as each label.">'
    ]
    for column, said in enumerate(labels):
        x = NAMES + (column + 0.5) * size
        parts.append(f'<text transform="translate({x + 3:.1f} {HEAD - 8}) rotate(-45)">{escape(_short(said))}</text>')
    totals = {right: sum(n for (other, _), n in times.items() if other == right) for right in labels}
    for row, right in enumerate(labels):
        y = HEAD + row * size
        name = escape(_short(right))
        parts.append(f'<text class="end" x="{NAMES - 12}" y="{y + size / 2 + 4.5:.1f}">{name}</text>')
        for column, said in enumerate(labels):
            n = times.get((right, said), 0)
            share = n / totals[right] if totals[right] else 0.0
            hue = "line" if n == 0 else "hue"
            shade = 1.0 if n == 0 else 0.15 + 0.85 * share
            about = f"{right} taken for {said}: {n:,} ({100 * share:.1f} %)"
            parts.append(
                f'<rect class="c{int(row != column)}" x="{NAMES + column * size}" y="{y}" width="{size - 2}" '
                f'height="{size - 2}" rx="3" style="fill:var(--{hue});fill-opacity:{shade:.3f}">'
                f"<title>{escape(about)}</title></rect>"
            )
    parts.append("</svg>")
    return "".join(parts)


def _short(label: object) -> str:
    """A label's name; of a long one its end, which says most where names are paths."""
    name = str(label)
    return name if len(name) <= LONGEST_NAME else "…" + name[1 - LONGEST_NAME :]


def reliability_dots(confidence: ArrayLike, hit: ArrayLike) -> str:
    """Draw how often predictions were right against how sure they were; a larger dot stands for more of them.

    Examples
    --------
    >>> reliability_dots([0.25, 0.75, 0.75], [False, True, True]).count("<circle")
    2
    """
    sure, right, share = reliability(confidence, hit)
    side, left, top = 360, 52, 12
    bottom = top + side

    def place(x: float, y: float) -> tuple[float, float]:
        return left + side * x, bottom - side * y

    parts = [
        f'<svg viewBox="0 0 {WIDTH} {bottom + 52}" role="img" aria-label="Share of right predictions by confidence.">'
    ]
    for value in np.linspace(0, 1, 6).tolist():
        x, y = place(value, value)
        parts.append(f'<path class="grid" d="M{left} {y:.1f}H{left + side}"/>')
        parts.append(f'<text class="tick end" x="{left - 10}" y="{y + 4:.1f}">{100 * value:.0f} %</text>')
        parts.append(f'<text class="tick middle" x="{x:.1f}" y="{bottom + 22}">{100 * value:.0f} %</text>')
    parts.append(f'<path class="mark" stroke-dasharray="4 4" d="M{left} {bottom}L{left + side} {top}"/>')
    for s, r, n in zip(sure, right, share, strict=True):
        x, y = place(float(s), float(r))
        about = f"confidence {100 * s:.0f} %: {100 * r:.0f} % right, {100 * n:.0f} % of the examples"
        parts.append(
            f'<circle class="c0" cx="{x:.1f}" cy="{y:.1f}" r="{3 + 15 * float(np.sqrt(n)):.1f}" '
            f'style="fill:var(--hue);fill-opacity:.8"><title>{about}</title></circle>'
        )
    parts.append(
        f'<text class="tick middle" x="{left + side / 2}" y="{bottom + 46}">confidence</text>'
        f'<text class="tick" x="{left + side + 28}" y="{top + 12}">share of right predictions, by confidence;</text>'
        f'<text class="tick" x="{left + side + 28}" y="{top + 32}">the dashed line is where it can be believed</text>'
        "</svg>"
    )
    return "".join(parts)
