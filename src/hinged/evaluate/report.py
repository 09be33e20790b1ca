"""A report on several runs over one stream: one HTML file that opens offline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hinged.evaluate.page import header, meanings, pairs, picture, rate, section, table, write_page
from hinged.evaluate.plots import COLOURS
from hinged.evaluate.svg import curves

if TYPE_CHECKING:
    from hinged.evaluate.progressive import Progress

__all__ = ["COLUMNS", "Run", "recent_rate", "summarize", "write_report"]

# Key of a summary: (heading, what it means).
COLUMNS = {
    "learner": ("Learner", "The name of the run; its settings are listed below."),
    "mistakes": (
        "Mistakes",
        "Rounds in which the right label did not come out strictly on top, judged before it was learnt; "
        "a round whose label was new is not counted.",
    ),
    "rate": ("Rate", "Mistakes as a share of the counted rounds."),
    "top3": ("Top 3", "Share of the counted rounds in which the right label was among the three best."),
    "updates": ("Updates", "Rounds after which the weights moved."),
    "seconds": ("Seconds", "Wall time of predicting and learning."),
    "certificate": (
        "Certificate",
        "A proven floor: on this stream no fixed weights, even chosen in hindsight, bring half their squared length "
        "plus C times their total loss below it (to be compared between learners of the same features and C only; "
        "a negative one is true but says nothing, and is called vacuous).",
    ),
}


class Run(NamedTuple):
    """A learner by name, and its result.

    Attributes
    ----------
    name : str
        Its name in tables and pictures.
    model : estimator
        The learner after the run; its `repr` and `dual_` are shown.
    progress : Progress
        What `hinged.evaluate.progressive` returned.
    """

    name: str
    model: Any  # whatever has a `dual_`
    progress: Progress


def summarize(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Return one dict per run with the keys of `COLUMNS`; shares are numbers in [0, 1].

    Examples
    --------
    >>> from types import SimpleNamespace as Some
    >>> progress = Some(mistakes=1, rate=0.25, top=lambda k: 1.0, updates=2, seconds=0.5)
    >>> summarize([Run("pa1", Some(dual_=1.5), progress)])[0]["certificate"]
    1.5
    """
    return [
        {
            "learner": name,
            "mistakes": int(progress.mistakes),
            "rate": float(progress.rate),
            "top3": float(progress.top(3)),
            "updates": int(progress.updates),
            "seconds": float(progress.seconds),
            "certificate": None if model.dual_ is None else float(model.dual_),
        }
        for name, model, progress in runs
    ]


def recent_rate(flags: NDArray[np.int8], window: int) -> NDArray[np.float64]:
    """Return the share of mistakes among the counted of the last `window` rounds; NaN for the first rounds.

    Examples
    --------
    >>> recent_rate(np.array([1, -1, 0, 0], dtype=np.int8), window=2).tolist()
    [nan, 1.0, 0.0, 0.0]
    """
    mistakes, counted = (np.concatenate([[0], np.cumsum(mask)]) for mask in (flags == 1, flags >= 0))
    share = np.full(len(flags), np.nan)
    if len(flags) >= window:
        n = counted[window:] - counted[:-window]
        share[window - 1 :] = (mistakes[window:] - mistakes[:-window]) / np.maximum(n, 1)
    return share


def write_report(
    path: str | Path,
    runs: Sequence[Run],
    *,
    title: str,
    settings: Mapping[str, object],
    unit: str = "rounds",
    excerpt: Sequence[Mapping[str, object]] = (),
) -> Path:
    """Write a report on several runs over the same stream.

    The file is self-contained: no network, no script.

    Parameters
    ----------
    path : path
        Where to write; the suffix is usually ``.html``.
    runs : sequence of Run
        The runs to compare, in the order of the table.
    title : str
        The heading.
    settings : mapping
        What the stream was and how to repeat the runs, by name.
    unit : str, default "rounds"
        What a round is, in the plural.
    excerpt : sequence of mappings
        A few rounds to show, as heading → value; left out if empty.

    Returns
    -------
    Path
        The file written.
    """
    if not runs:
        raise ValueError("there is nothing to report: runs is empty. Give at least one Run.")
    rows = summarize(runs)
    best = min(rows, key=lambda row: row["rate"])
    counted = int(np.sum(np.asarray(runs[0].progress.flags) >= 0))
    lead = (
        "Every learner predicts, gets the right label, and learns it at once. "
        f"<strong>{escape(best['learner'])}</strong> made the fewest mistakes: {best['mistakes']:,} in {counted:,} "
        f"counted {escape(unit)}, {100 * best['rate']:.1f}&nbsp;%."
    )
    stream = pairs((name, escape(str(value))) for name, value in settings.items())
    learners = pairs((run.name, f"<code>{escape(' '.join(repr(run.model).split()))}</code>") for run in runs)
    parts = [
        header("hinged · progressive validation", title, lead),
        *_pictures(runs, unit),
        section("The learners in numbers", _table(rows, best) + meanings(COLUMNS.values())),
        _excerpt(excerpt),
        section("Settings", f"<dl>{stream}</dl><dl>{learners}</dl>"),
    ]
    return write_page(path, title, parts)


def _pictures(runs: Sequence[Run], unit: str) -> Iterator[str]:
    flags = np.asarray(runs[0].progress.flags)
    window = max(1, len(flags) // 10)
    totals = {run.name: np.asarray(run.progress.curve) for run in runs}
    recent = {run.name: recent_rate(np.asarray(run.progress.flags), window) for run in runs}
    marks, axis = np.flatnonzero(flags == -1), f"{unit}, in order of arrival"
    first = curves(totals, height=430, marks=marks, unit=axis, about="Cumulative mistakes of each learner.")
    second = curves(recent, height=300, unit=axis, percent=True, about="Recent mistake rate of each learner.")
    yield picture("Mistakes so far", first, "Lower is better. A tick under the axis marks the first of a new label.")
    yield picture("Recent mistakes", second, f"Share of mistakes among the last {window:,} {escape(unit)}.")


def _table(rows: Sequence[Mapping[str, Any]], best: Mapping[str, Any]) -> str:
    worst = max(max(row["rate"] for row in rows), 1e-9)
    lines = []
    for i, row in enumerate(rows):
        lines.append(
            f'<tr{" class=best" if row is best else ""}><th scope="row"><i class="dot c{i % len(COLOURS)}"></i>'
            f"{escape(row['learner'])}</th><td>{row['mistakes']:,}</td>"
            + rate(f"{100 * row['rate']:.1f}&nbsp;%", row["rate"] / worst, i)
            + f"<td>{100 * row['top3']:.1f}&nbsp;%</td><td>{row['updates']:,}</td><td>{row['seconds']:.3f}</td>"
            f"<td>{_certificate(row['certificate'])}</td></tr>"
        )
    return table((heading for heading, _ in COLUMNS.values()), lines)


def _certificate(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.1f}".replace("-", "−") + (" (vacuous)" if value < 0.0 else "")


def _excerpt(rounds: Sequence[Mapping[str, object]]) -> str:
    if not rounds:
        return ""
    lines = ("<tr>" + "".join(f"<td>{escape(str(value))}</td>" for value in one.values()) + "</tr>" for one in rounds)
    return section("Some rounds of the stream", table(rounds[0], lines, "words"))
