"""Curves over places that are no rounds, such as levels of noise, as inline SVG in the style of the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

from hinged.evaluate.plots import COLOURS, spread_labels
from hinged.evaluate.svg import BOTTOM, LABEL_GAP, LEFT, RIGHT, TOP, WIDTH, round_steps

__all__ = ["curves_over_places"]


def curves_over_places(
    series: Mapping[str, Sequence[float]],
    places: Sequence[float],
    ticks: Sequence[str],
    *,
    height: int,
    unit: str,
    percent: bool,
    about: str,
) -> str:
    """Draw a value at each place for each name, joined by lines; `ticks` stand below the places.

    Examples
    --------
    >>> drawn = curves_over_places({"a": [0.1, 0.2]}, [0, 1], ["0", "1"], height=200, unit="p", percent=True, about="")
    >>> drawn.count("<circle"), drawn.count('class="curve')
    (2, 1)
    """
    right, bottom = WIDTH - RIGHT, height - BOTTOM
    highest = max(max(values) for values in series.values())
    steps = round_steps(max(highest, 1e-9), max(2, height // 70))
    top, low, span = max(highest, steps[-1]), min(places), max(places) - min(places) or 1.0
    x_of = [LEFT + 12 + (right - LEFT - 24) * (place - low) / span for place in places]

    def y_of(value: float) -> float:
        return bottom - (bottom - TOP) * value / top

    def text(value: float, digits: int = 0) -> str:
        return f"{100 * value:.{digits}f} %" if percent else f"{value:.3g}"

    parts = [f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(about)}">']
    for value in steps:
        parts.append(f'<path class="grid" d="M{LEFT} {y_of(value):.1f}H{right}"/>')
        parts.append(f'<text class="tick end" x="{LEFT - 10}" y="{y_of(value) + 4:.1f}">{text(value)}</text>')
    for x, tick in zip(x_of, ticks, strict=True):
        parts.append(f'<text class="tick middle" x="{x:.1f}" y="{bottom + 26}">{escape(tick)}</text>')
    parts.append(f'<text class="tick middle" x="{(LEFT + right) / 2}" y="{height - 4}">{escape(unit)}</text>')
    ends = [values[-1] for values in series.values()]
    label_y = spread_labels([y_of(end) for end in ends], LABEL_GAP)
    over = max(0.0, float(np.max(label_y)) - bottom)  # never let the lowest label leave the picture
    for i, (name, values) in enumerate(series.items()):
        points = [(x, y_of(value)) for x, value in zip(x_of, values, strict=True)]
        line = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in points)
        y, place = points[-1][1], label_y[i] - over
        parts.append(
            f'<g class="curve c{i % len(COLOURS)}"><title>{escape(name)}: {text(ends[i], 1)}</title>'
            f'<path d="{line}"/>{dots}'
            f'<path class="lead" d="M{x_of[-1] + 6:.1f} {y:.1f}L{right + 13} {place:.1f}H{right + 19}"/>'
            f'<text x="{right + 25}" y="{place + 4.5:.1f}">{escape(name)} <tspan>{text(ends[i], 1)}</tspan></text></g>'
        )
    return "".join(parts) + "</svg>"
