"""A report on several runs over one stream: one HTML file that opens offline, in light and dark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
        "a number below 0 is true but says nothing).",
    ),
}
DARK_COLOURS = ("#4aa3e0", "#f08a4b", "#2fc79a", "#e39cc4", "#f2b93b", "#9bd7fb", "#a4abb5", "#9d92f0")


class Run(NamedTuple):
    """A learner by name, and how it fared.

    Attributes
    ----------
    name : str
        What to call it in tables and pictures.
    model : estimator
        The learner after the run; shown by its `repr`, asked for its `dual_`.
    progress : Progress
        What `hinged.evaluate.progressive` returned.
    """

    name: str
    model: Any
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
    """Return the share of mistakes among the counted ones of the last `window` rounds; NaN before there are as many.

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

    The file needs nothing beside itself: no network, no script.

    Parameters
    ----------
    path : path
        Where to write; the suffix is usually ``.html``.
    runs : sequence of Run
        What to compare, in the order of the table.
    title : str
        The heading.
    settings : mapping
        What the stream was and how to repeat the runs, by name.
    unit : str, default "rounds"
        What a round is, in the plural.
    excerpt : sequence of mappings
        A few rounds to show, each by heading; left out where empty.

    Returns
    -------
    Path
        The file written.
    """
    if not runs:
        raise ValueError("there is nothing to report: runs is empty. Give at least one Run.")
    rows = summarize(runs)
    best = min(rows, key=lambda row: row["rate"])
    flags = np.asarray(runs[0].progress.flags)
    counted = int(np.sum(flags >= 0))
    window = max(1, len(flags) // 10)
    totals = {run.name: np.asarray(run.progress.curve) for run in runs}
    recent = {run.name: recent_rate(np.asarray(run.progress.flags), window) for run in runs}
    marks = np.flatnonzero(flags == -1)
    axis = f"{unit}, in order of arrival"
    first = curves(totals, height=430, marks=marks, unit=axis, about="Cumulative mistakes of each learner.")
    second = curves(recent, height=300, unit=axis, percent=True, about="Recent mistake rate of each learner.")
    body = f"""
<header><p class="kicker">hinged · progressive validation</p><h1>{escape(title)}</h1>
<p class="lead">Every learner predicts, is told the right label, and learns it at once.
<strong>{escape(best["learner"])}</strong> made the fewest mistakes: {best["mistakes"]:,} in {counted:,} counted
{escape(unit)}, {100 * best["rate"]:.1f}&nbsp;%.</p></header>
<section><h2>Mistakes so far</h2>
<figure>{first}<figcaption>Lower is better. A tick under the axis marks the first of a new label.</figcaption></figure>
</section>
<section><h2>Mistakes lately</h2>
<figure>{second}<figcaption>Share of mistakes among the last {window:,} {escape(unit)}.</figcaption></figure></section>
<section><h2>The learners in numbers</h2>{_table(rows, best)}
<dl class="meaning">{_pairs((heading, escape(meaning)) for heading, meaning in COLUMNS.values())}</dl></section>
{_excerpt(excerpt)}
<section><h2>Settings</h2>
<dl>{_pairs((name, escape(str(value))) for name, value in settings.items())}</dl>
<dl>{_pairs((run.name, f"<code>{escape(' '.join(repr(run.model).split()))}</code>") for run in runs)}</dl></section>
"""
    page = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" '
        f'content="light dark"><title>{escape(title)}</title><style>{_style()}</style></head>\n'
        f"<body><main>{body}</main></body></html>\n"
    )
    path = Path(path)
    path.write_text(page, encoding="utf-8")
    return path


def _table(rows: Sequence[Mapping[str, Any]], best: Mapping[str, Any]) -> str:
    worst = max(max(row["rate"] for row in rows), 1e-9)
    head = "".join(f'<th scope="col">{heading}</th>' for heading, _ in COLUMNS.values())
    lines = []
    for i, row in enumerate(rows):
        certificate = "–" if row["certificate"] is None else f"{row['certificate']:,.1f}".replace("-", "−")
        lines.append(
            f'<tr{" class=best" if row is best else ""}><th scope="row"><i class="dot c{i % len(COLOURS)}"></i>'
            f"{escape(row['learner'])}</th><td>{row['mistakes']:,}</td>"
            f'<td class="rate"><span class="bar"><i class="c{i % len(COLOURS)}" '
            f'style="width:{100 * row["rate"] / worst:.1f}%"></i></span><b>{100 * row["rate"]:.1f}&nbsp;%</b></td>'
            f"<td>{100 * row['top3']:.1f}&nbsp;%</td><td>{row['updates']:,}</td><td>{row['seconds']:.3f}</td>"
            f"<td>{certificate}</td></tr>"
        )
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'


def _excerpt(rounds: Sequence[Mapping[str, object]]) -> str:
    if not rounds:
        return ""
    head = "".join(f'<th scope="col">{escape(str(name))}</th>' for name in rounds[0])
    lines = "".join(
        "<tr>" + "".join(f"<td>{escape(str(value))}</td>" for value in one.values()) + "</tr>" for one in rounds
    )
    return (
        f'<section><h2>A glimpse of the stream</h2><div class="wide"><table class="words"><thead><tr>{head}</tr>'
        f"</thead><tbody>{lines}</tbody></table></div></section>"
    )


def _pairs(pairs: Any) -> str:
    return "".join(f"<div><dt>{escape(name)}</dt><dd>{value}</dd></div>" for name, value in pairs)


def _style() -> str:
    light, dark = (
        "".join(f"--c{i}:{colour};" for i, colour in enumerate(colours)) for colours in (COLOURS, DARK_COLOURS)
    )
    hues = "".join(f".c{i}{{--hue:var(--c{i})}}" for i in range(len(COLOURS)))
    return f":root{{{light}}}{STYLE}@media (prefers-color-scheme:dark){{:root{{{dark}{DARK}}}}}{hues}"


DARK = "--paper:#14171b;--card:#1b1f24;--ink:#e8eaed;--muted:#9aa3ad;--line:#2c3239;--tint:#222830;"
STYLE = """
:root{color-scheme:light dark;--paper:#f7f7f5;--card:#fff;--ink:#1b1f24;--muted:#5f6771;--line:#e4e6e9;--tint:#f0f5f9}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.6 system-ui,-apple-system,"Segoe UI",Roboto,
"Helvetica Neue",sans-serif;-webkit-text-size-adjust:100%}
main{max-width:1024px;margin:0 auto;padding:72px 32px 96px}
header{max-width:44rem;margin-bottom:56px}
.kicker{margin:0 0 12px;color:var(--muted);font-size:.8125rem;letter-spacing:.06em}
h1{margin:0 0 16px;font-size:clamp(1.75rem,4vw,2.5rem);line-height:1.15;font-weight:650;letter-spacing:-.02em;
text-wrap:balance}
.lead{margin:0;font-size:1.125rem;color:var(--muted)}
.lead strong{color:var(--ink);font-weight:600;white-space:nowrap}
section{margin:0 0 32px;padding:32px;background:var(--card);border:1px solid var(--line);border-radius:14px}
h2{margin:0 0 20px;font-size:1.125rem;font-weight:620;letter-spacing:-.01em}
figure{margin:0;overflow-x:auto}
figcaption{margin-top:12px;color:var(--muted);font-size:.875rem}
svg{display:block;width:100%;min-width:680px;height:auto;font-size:13px;font-variant-numeric:tabular-nums}
svg text{fill:var(--ink)}
svg .tick,svg tspan{fill:var(--muted)}
svg .tick{font-size:12px}
svg .end{text-anchor:end}
svg .middle{text-anchor:middle}
svg path{fill:none;stroke-linejoin:round;stroke-linecap:round}
.grid{stroke:var(--line)}
.mark{stroke:var(--muted);stroke-width:1}
.curve path{stroke:var(--hue);stroke-width:2}
.curve .lead{stroke-width:1.25}
.curve:hover path{stroke-width:3.25}
.wide{overflow-x:auto}
table{width:100%;border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.9375rem}
th,td{padding:11px 0 11px 20px;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line);font-weight:400}
th:first-child,td:first-child{text-align:left;padding-left:12px}
th:last-child,td:last-child{padding-right:12px}
thead th{color:var(--muted);font-size:.8125rem;padding-top:0}
tbody tr:last-child>*{border-bottom:0}
.best>*{background:var(--tint);font-weight:600}
.words th,.words td{text-align:left}
.dot{display:inline-block;width:10px;height:10px;margin-right:10px;border-radius:50%;background:var(--hue)}
.bar{display:inline-block;width:72px;height:6px;margin-right:12px;border-radius:3px;background:var(--line);
vertical-align:middle;overflow:hidden}
.rate b{display:inline-block;min-width:3.6em;font-weight:inherit}
.bar i{display:block;height:100%;background:var(--hue);border-radius:3px}
dl{margin:0;font-size:.9375rem}
dl+dl,.meaning{margin-top:24px;padding-top:24px;border-top:1px solid var(--line)}
dl div{display:grid;grid-template-columns:11rem 1fr;gap:4px 24px;padding:5px 12px}
dt{color:var(--muted)}
dd{margin:0;max-width:42rem;overflow-wrap:anywhere}
code{font:.875em/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
@media (max-width:640px){main{padding:40px 16px 64px}section{padding:20px 16px}dl div{grid-template-columns:1fr;
padding:6px 0}}
@media print{body{background:#fff}section{break-inside:avoid;border:0;padding:0}}
"""
