"""Pictures of a bound at work: mistakes below what the certificate allows, below what the theorem allows."""

from __future__ import annotations

from html import escape
from pathlib import Path

import numpy as np

from hinged.bounds.running import Trace
from hinged.bounds.watching import Watched
from hinged.evaluate.page import picture, section
from hinged.evaluate.plots import COLOURS, MUTED, draw_curves, finish, new_figure, save_figure
from hinged.evaluate.svg import curves

__all__ = ["bound_section", "plot_trace", "trace_svg"]

ABOUT = "Mistakes so far, the most that the certificate allows, and the most that the bound allows."


def plot_trace(trace: Trace, path: str | Path, *, title: str = "What was proven, and what happened") -> Path:
    """Draw the mistakes of a run, the most that its certificate allows, and the most that the bound allows.

    Parameters
    ----------
    trace : Trace
        What `trace` returned.
    path : path
        Where to write; the suffix chooses the format (``.png``, ``.svg``, ``.pdf``).
    title : str
        What stands above the picture.

    Returns
    -------
    Path
        The file written.

    Examples
    --------
    >>> import tempfile, os, hinged, numpy as np
    >>> model, X = hinged.Classifier("pa1", 1.0, scaling=None), np.eye(2)[[0, 1] * 8]
    >>> seen = hinged.bounds.trace(model, X, [0, 1] * 8, classes=[0, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     plot_trace(seen, os.path.join(folder, "bound.svg")).name
    'bound.svg'
    """
    series = {}
    for name, values in _series(trace).items():
        seen = np.isfinite(values)
        series[name] = (trace.rounds[seen], values[seen])
    top = max(1.0, *(float(values[-1]) for _, values in series.values()))
    with new_figure((10, 5.6)) as (figure, axes):
        draw_curves(axes, series, [COLOURS[i] for i in (0, 2, 1)], int(trace.rounds[-1]), top)
        axes.set_ylim(0, 1.04 * top)
        axes.set_xlabel("rounds, in order of arrival", color=MUTED)
        by = f"no bound: {trace.note}" if trace.final is None else f"bound by {trace.final.theorem}"
        finish(axes, title, f"{trace.rule}: mistakes so far, and the most there can be · {by}")
        return save_figure(figure, path)


def trace_svg(trace: Trace, *, height: int = 430, unit: str = "rounds, in order of arrival") -> str:
    """The three curves as inline SVG, coloured by the style sheet of the page that holds them.

    Parameters
    ----------
    trace : Trace
    height : int, default 430
        In pixels, of 920 in width.
    unit : str
        What stands under the axis.

    Examples
    --------
    >>> import hinged, numpy as np
    >>> model, X = hinged.Classifier("pa1", 1.0, scaling=None), np.eye(2)[[0, 1] * 8]
    >>> seen = hinged.bounds.trace(model, X, [0, 1] * 8, classes=[0, 1])
    >>> trace_svg(seen).count("<title>")
    3
    """
    rounds = np.arange(1, int(trace.rounds[-1]) + 1)
    drawn = {}
    for name, values in _series(trace).items():
        seen = np.isfinite(values)
        drawn[name] = np.interp(rounds, trace.rounds[seen], values[seen], left=np.nan, right=np.nan)
    return curves(drawn, height=height, unit=unit, about=ABOUT)


def bound_section(watched: Watched) -> str:
    """A section of a report: the three curves of examples from files, what the bound is, and what to know about it."""
    note = escape(watched.why)
    if watched.trace is None:
        return section("What is proven", f"<p>{note}</p>")
    seen, final = watched.trace, watched.trace.final
    by = "" if final is None else f", {escape(about(final.mistakes, final.theorem, int(seen.rounds[-1])))}"
    caption = (
        f"{int(seen.mistakes[-1]):,} mistakes happened{by}. The certificate is the most that the learner's own dual "
        f"allows; the bound compares with fixed weights found in hindsight. {note}"
    )
    return picture("What is proven", trace_svg(seen, unit="examples, in their order"), caption)


def about(most: float, theorem: str, examples: int) -> str:
    """A bound in words; one that allows as many mistakes as there are examples is called vacuous.

    Examples
    --------
    >>> about(12.0, "PA theorem 4", 100)
    'at most 12 by PA theorem 4'
    >>> about(300.0, "PA theorem 4", 100)
    'at most 300 by PA theorem 4, which is vacuous: there are only 100 examples'
    """
    words = f"at most {most:,.0f} by {theorem}"
    return words if most < examples else f"{words}, which is vacuous: there are only {examples:,} examples"


def _series(trace: Trace) -> dict[str, np.ndarray]:
    """The curves that have something to show."""
    series = {"mistakes": trace.mistakes.astype(float), "certificate": trace.certified, "bound": trace.bound}
    return {name: values for name, values in series.items() if np.isfinite(values).any()}
