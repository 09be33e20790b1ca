"""Curves over positions that are not rounds, such as levels of noise, as inline SVG in the style of the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hinged.evaluate.svg import LEFT, RIGHT, WIDTH, Axis, Line, draw_lines

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
    low, span = min(places), max(places) - min(places) or 1.0
    x = LEFT + 12 + (WIDTH - RIGHT - LEFT - 24) * (np.array(places) - low) / span
    axis = Axis(height, max(1e-9, *(max(values) for values in series.values())), percent, ".3g")
    lines = {name: Line(x, np.array(values, float), values[-1]) for name, values in series.items()}
    return draw_lines(lines, axis, list(zip(x.tolist(), ticks, strict=True)), unit, about, dots=True)
