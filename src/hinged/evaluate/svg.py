"""Curves as inline SVG, coloured by the style sheet of the page that holds them."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hinged.evaluate.plots import COLOURS, spread_labels

__all__ = ["curves", "round_steps"]

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 920, 52, 190, 12, 56
LABEL_GAP = 19.0
POINTS = 300


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
        Whether values are shares, to be shown in percent.
    about : str
        One sentence for those who cannot see the picture.

    Examples
    --------
    >>> curves({"pa1": [1, 1, 2]}, height=200, unit="rounds", about="Mistakes.").startswith("<svg")
    True
    """
    values = {name: np.asarray(curve, dtype=float) for name, curve in series.items()}
    longest = max(len(curve) for curve in values.values())
    top = max(max((float(np.nanmax(c)) for c in values.values() if np.isfinite(c).any()), default=0.0), 1e-9)
    right, bottom = WIDTH - RIGHT, height - BOTTOM
    steps = round_steps(top, max(2, height // 70))
    top = max(top, steps[-1])

    def x_of(rounds: NDArray[np.float64]) -> NDArray[np.float64]:
        return LEFT + (right - LEFT) * rounds / longest

    def y_of(value: NDArray[np.float64] | float) -> NDArray[np.float64]:
        return np.asarray(bottom - (bottom - TOP) * value / top)

    def text(value: float, digits: int = 0) -> str:
        return f"{100 * value:.{digits}f} %" if percent else f"{value:,.0f}"

    parts = [f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(about)}">']
    for value in steps:
        y = float(y_of(value))
        parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{right}"/>')
        parts.append(f'<text class="tick end" x="{LEFT - 10}" y="{y + 4:.1f}">{text(value)}</text>')
    for value in round_steps(longest, 6):
        x = float(x_of(np.asarray(value)))
        parts.append(f'<text class="tick middle" x="{x:.1f}" y="{bottom + 26}">{value:,.0f}</text>')
    ticks = "".join(f"M{x:.1f} {bottom + 3}v6" for x in x_of(np.asarray(marks, dtype=float) + 1))
    parts.append(f'<path class="mark" d="{ticks}"/>')
    parts.append(f'<text class="tick middle" x="{(LEFT + right) / 2}" y="{height - 4}">{escape(unit)}</text>')

    ends = [float(curve[np.isfinite(curve)][-1]) if np.isfinite(curve).any() else 0.0 for curve in values.values()]
    label_y = spread_labels([float(y_of(end)) for end in ends], LABEL_GAP)
    over = max(0.0, max(label_y) - bottom)  # never let the lowest label leave the picture
    for i, (name, curve) in enumerate(values.items()):
        points = np.unique(np.linspace(0, len(curve) - 1, POINTS).astype(int)) if len(curve) else np.empty(0, int)
        points = points[np.isfinite(curve[points])]
        pairs = zip(x_of(points + 1.0), y_of(curve[points]), strict=True)
        line = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in pairs)
        y, place = float(y_of(ends[i])), label_y[i] - over
        parts.append(
            f'<g class="curve c{i % len(COLOURS)}"><title>{escape(name)}: {text(ends[i], 1)}</title><path d="{line}"/>'
            f'<path class="lead" d="M{right + 3} {y:.1f}L{right + 13} {place:.1f}H{right + 19}"/>'
            f'<text x="{right + 25}" y="{place + 4.5:.1f}">{escape(name)} <tspan>{text(ends[i], 1)}</tspan></text></g>'
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
