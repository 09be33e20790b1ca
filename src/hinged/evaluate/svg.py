"""Curves, confusions and reliability as inline SVG, coloured by the style sheet of the page that holds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hinged.evaluate.plots import COLOURS, reliability, spread_labels

__all__ = ["Axis", "Line", "confusion_squares", "curves", "draw_lines", "reliability_dots", "round_steps"]

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 920, 52, 190, 12, 56
LABEL_GAP = 19.0
POINTS = 300
CELL, NAMES, HEAD = 34, 190, 150
LONGEST_NAME = 24

Floats = NDArray[np.float64]


class Axis(NamedTuple):
    """The vertical axis of a picture that is `height` pixels high, from 0 to at least `highest`."""

    height: int
    highest: float
    percent: bool
    number: str = ",.0f"  # format of values that are no shares

    @property
    def steps(self) -> list[float]:
        """Values with a line of the grid."""
        return round_steps(self.highest, max(2, self.height // 70))

    @property
    def bottom(self) -> int:
        """Pixels from the top of the picture to the value 0."""
        return self.height - BOTTOM

    def y(self, value: ArrayLike) -> Floats:
        """Pixels from the top of the picture to a value."""
        return np.asarray(self.bottom - (self.bottom - TOP) * np.asarray(value) / max(self.highest, self.steps[-1]))

    def text(self, value: float, digits: int = 0) -> str:
        """A value as it is written beside the grid or a curve."""
        return f"{100 * value:.{digits}f} %" if self.percent else f"{value:{self.number}}"


class Line(NamedTuple):
    """A curve: the pixels and values of its points, and the value it ends at."""

    x: Floats
    values: Floats
    end: float


def curves(
    series: Mapping[str, ArrayLike], *, height: int, marks: ArrayLike = (), unit: str, percent: bool = False, about: str
) -> str:
    """Draw named curves over rounds 1, 2, ...; each is labelled where it ends.

    Parameters
    ----------
    series : mapping of str to array-like
        One value per round and curve. NaN is left out.
    height : int
        In pixels, of 920 in width.
    marks : array-like of int
        Rounds, from 0, to mark by a tick under the axis.
    unit : str
        What a round is, in the plural.
    percent : bool
        Values are shares, to be shown in percent.
    about : str
        One sentence for readers who cannot see the picture.

    Examples
    --------
    >>> curves({"pa1": [1, 1, 2]}, height=200, unit="rounds", about="Mistakes.").startswith("<svg")
    True
    """
    values = {name: np.asarray(curve, dtype=float) for name, curve in series.items()}
    longest = max(len(curve) for curve in values.values())
    highest = max((float(np.nanmax(c)) for c in values.values() if np.isfinite(c).any()), default=0.0)
    axis = Axis(height, max(highest, 1e-9), percent)

    def x_of(rounds: Floats) -> Floats:
        return LEFT + (WIDTH - RIGHT - LEFT) * rounds / longest

    def line(curve: Floats) -> Line:
        finite = np.isfinite(curve)
        points = np.unique(np.linspace(0, len(curve) - 1, POINTS).astype(int)) if len(curve) else np.empty(0, int)
        points = points[finite[points]]
        return Line(x_of(points + 1.0), curve[points], float(curve[finite][-1]) if finite.any() else 0.0)

    lines = {name: line(curve) for name, curve in values.items()}
    ticks = [(float(x_of(np.asarray(value))), f"{value:,.0f}") for value in round_steps(longest, 6)]
    marked = "".join(f"M{x:.1f} {axis.bottom + 3}v6" for x in x_of(np.asarray(marks, dtype=float) + 1))
    return draw_lines(lines, axis, ticks, unit, about, below=f'<path class="mark" d="{marked}"/>')


def draw_lines(
    lines: Mapping[str, Line],
    axis: Axis,
    ticks: Sequence[tuple[float, str]],
    unit: str,
    about: str,
    below: str = "",
    dots: bool = False,
) -> str:
    """Draw lines over a grid, each labelled at its right end; `ticks` are pixels and texts below the picture."""
    right, bottom = WIDTH - RIGHT, axis.bottom
    parts = [f'<svg viewBox="0 0 {WIDTH} {axis.height}" role="img" aria-label="{escape(about)}">']
    for value in axis.steps:
        y = float(axis.y(value))
        parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{right}"/>')
        parts.append(f'<text class="tick end" x="{LEFT - 10}" y="{y + 4:.1f}">{axis.text(value)}</text>')
    parts += [f'<text class="tick middle" x="{x:.1f}" y="{bottom + 26}">{escape(tick)}</text>' for x, tick in ticks]
    middle = (LEFT + right) / 2
    parts += [below, f'<text class="tick middle" x="{middle}" y="{axis.height - 4}">{escape(unit)}</text>']
    places = spread_labels([float(axis.y(line.end)) for line in lines.values()], LABEL_GAP)
    over = max(0.0, max(places) - bottom)  # the lowest label stays inside the picture
    for i, ((name, line), place) in enumerate(zip(lines.items(), places, strict=True)):
        points = list(zip(line.x, axis.y(line.values), strict=True))
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        circles = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in points) if dots else ""
        start = f"{line.x[-1] + 6:.1f}" if dots else f"{right + 3}"
        end, place = axis.text(line.end, 1), place - over
        parts.append(
            f'<g class="curve c{i % len(COLOURS)}"><title>{escape(name)}: {end}</title><path d="{path}"/>{circles}'
            f'<path class="lead" d="M{start} {float(axis.y(line.end)):.1f}L{right + 13} {place:.1f}H{right + 19}"/>'
            f'<text x="{right + 25}" y="{place + 4.5:.1f}">{escape(name)} <tspan>{end}</tspan></text></g>'
        )
    return "".join(parts) + "</svg>"


def round_steps(top: float, n: int) -> list[float]:
    """Return about `n` round numbers from 0 to at most `top`.

    Examples
    --------
    >>> round_steps(1787, 4)
    [0.0, 500.0, 1000.0, 1500.0]
    """
    size = 10.0 ** np.floor(np.log10(top / n))
    step = min((m * size for m in (1, 2, 5, 10)), key=lambda s: abs(top / s - n))
    return [float(step * i) for i in range(int(top / step + 1e-9) + 1)]


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
            about = f"{right} taken for {said}: {n:,} ({100 * share:.1f} %)"
            hue, shade = ("hue", 0.15 + 0.85 * share) if n else ("line", 1.0)
            parts.append(
                f'<rect class="c{int(row != column)}" x="{NAMES + column * size}" y="{y}" width="{size - 2}" '
                f'height="{size - 2}" rx="3" style="fill:var(--{hue});fill-opacity:{shade:.3f}">'
                f"<title>{escape(about)}</title></rect>"
            )
    return "".join(parts) + "</svg>"


def _short(label: object) -> str:
    """A label's name; a long one is cut at the front, because the end of a path says most."""
    name = str(label)
    return name if len(name) <= LONGEST_NAME else "…" + name[1 - LONGEST_NAME :]


def reliability_dots(confidence: ArrayLike, hit: ArrayLike) -> str:
    """Draw the share of right predictions by confidence; a larger dot stands for more predictions.

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
        f'<text class="tick" x="{left + side + 28}" y="{top + 12}">share of right predictions by confidence;</text>'
        f'<text class="tick" x="{left + side + 28}" y="{top + 32}">on the dashed line it is calibrated</text>'
        "</svg>"
    )
    return "".join(parts)
