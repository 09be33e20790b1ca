"""The report on studies: one HTML file that opens offline, and the same as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from hinged.evaluate.page import header, section, write_page
from hinged.evaluate.svg import curves
from studies.drawing import curves_over_places
from studies.study import Cell, Curves, Outcome, Table

__all__ = ["to_markdown", "write_studies"]

OPEN_TABLES, OPEN_REMARKS = 4, 6  # more are folded
STYLE = """
main{max-width:1180px}
nav{margin:0 0 48px;border-top:1px solid var(--line)}
nav a{display:grid;grid-template-columns:21rem 1fr;gap:4px 24px;padding:12px;color:inherit;text-decoration:none;
border-bottom:1px solid var(--line)}
nav a:hover{background:var(--tint)}
nav b{font-weight:600}
nav span{color:var(--muted);font-size:.9375rem}
section{scroll-margin-top:16px}
section>h2{margin:0 0 4px;font-size:1.5rem;font-weight:650;letter-spacing:-.015em}
section>p{max-width:46rem}
h3{margin:32px 0 12px;font-size:1rem;font-weight:620}
figure{margin-top:24px}
figure>h3{margin-top:0}
table{font-size:.875rem}
th,td{padding:8px 0 8px 16px;vertical-align:baseline}
td:first-child,th:first-child{white-space:normal;min-width:9.5rem}
td.word,th.word{text-align:left}
td small{color:var(--muted);font-size:.9em}
td.off{color:#b3541e}
ul.found{margin:28px 0 0;padding:20px 20px 20px 38px;background:var(--tint);border-radius:10px}
.found li{max-width:58rem;margin:4px 0}
details{margin-top:20px}
summary{cursor:pointer;color:var(--muted)}
.curve circle{fill:var(--hue)}
@media (prefers-color-scheme:dark){td.off{color:#f0a06e}}
@media (max-width:640px){nav a{grid-template-columns:1fr}}
@media print{details>*{display:block}nav{display:none}}
"""


def write_studies(path: str | Path, found: Sequence[Outcome], missing: Mapping[str, str]) -> Path:
    """Write the report; return its path."""
    many = f"{len(found)} {'study' if len(found) == 1 else 'studies'}, "
    many += f"{_duration(sum(outcome.seconds for outcome in found))} of work"
    lead = (
        f"{many}; results are compared with the published figures. SP: simultaneous projections (2006); LR: label "
        "ranking (2007); HS: hypothesis sharing (2006); PA: passive-aggressive algorithms (2006)."
    )
    title = "The papers, run again"
    contents = "".join(
        f'<a href="#{escape(outcome.name)}"><b>{escape(outcome.title)}</b>'
        f"<span>{escape(outcome.remarks[0] if outcome.remarks else outcome.source)}</span></a>"
        for outcome in found
    )
    absent = "".join(f"<li><b>{escape(name)}</b>: {escape(why)}</li>" for name, why in missing.items())
    left_out = section("Not run", f'<ul class="found">{absent}</ul>') if missing else ""
    head = header("python -m studies", title, lead)
    return write_page(
        path, title, [f"<style>{STYLE}</style>", head, f"<nav>{contents}</nav>", left_out, *map(_section, found)]
    )


def _section(outcome: Outcome) -> str:
    parts = [
        f'<section id="{escape(outcome.name)}"><h2>{escape(outcome.title)}</h2>'
        f'<p class="kicker">{escape(outcome.source)} · {escape(outcome.name)} · {_duration(outcome.seconds)}</p>'
        f"<p>{_code(escape(' '.join(outcome.about.split())))}</p>"
    ]
    if outcome.remarks:
        parts.append(_folded("remarks", [f"<li>{escape(remark)}</li>" for remark in outcome.remarks], OPEN_REMARKS))
    parts += [_figure(drawn) for drawn in outcome.curves]
    tables = [_table(table) for table in outcome.tables]
    if len(tables) > OPEN_TABLES + 4:
        parts.append(f"<details><summary>{len(tables)} tables</summary>{''.join(tables)}</details>")
    else:
        parts += tables
    return "".join(parts) + "</section>"


def _folded(what: str, items: list[str], most: int) -> str:
    """A list that shows at most `most` items at first; the others unfold."""
    shown, rest = (items, []) if len(items) <= most else (items[:1], items[1:])
    more = f"<details><summary>{len(rest)} {what} in detail</summary><ul>{''.join(rest)}</ul></details>" if rest else ""
    return f'<ul class="found">{"".join(shown)}</ul>{more}'


def _figure(drawn: Curves) -> str:
    if drawn.places:
        series = {name: [float("nan") if v is None else v for v in values] for name, values in drawn.series.items()}
        how = {"height": 320, "unit": drawn.unit, "percent": drawn.percent, "about": drawn.title}
        picture = curves_over_places(series, drawn.places, drawn.ticks, **how)  # type: ignore[arg-type]
    else:
        picture = curves(drawn.over_rounds(), height=320, unit=drawn.unit, percent=drawn.percent, about=drawn.title)
    note = f"<figcaption>{escape(drawn.note)}</figcaption>" if drawn.note else ""
    return f"<figure><h3>{escape(drawn.title)}</h3>{picture}{note}</figure>"


def _table(table: Table) -> str:
    words = [
        at > 0 and all(isinstance(row[at], str) and not row[at][:1].isdigit() for row in table.rows if row[at])
        for at in range(len(table.columns))
    ]
    head = "".join(
        f'<th class="word">{escape(column)}</th>' if word else f"<th>{escape(column)}</th>"
        for column, word in zip(table.columns, words, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(_cell(cell, word, at) for at, (cell, word) in enumerate(zip(row, words, strict=True)))
        + "</tr>"
        for row in table.rows
    )
    note = f"<figcaption>{escape(table.note)}</figcaption>" if table.note else ""
    return (
        f'<h3>{escape(table.title)}</h3><div class="wide"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>{note}"
    )


def _cell(cell: Cell, word: bool, at: int) -> str:
    shown = escape(_shown(cell, at))
    if word:
        return f'<td class="word">{shown}</td>'
    off = shown.endswith(" *")
    here, bracket, printed = shown.removesuffix(" *").partition(" (")
    if bracket and here.replace(".", "").isdigit():
        shown = f"{here} <small>({printed}</small>"
    return f'<td class="off" title="more than 15 % from print">{shown}</td>' if off else f"<td>{shown}</td>"


def _duration(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 120 else f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"


def to_markdown(found: Sequence[Outcome]) -> str:
    """The tables and remarks of studies, for docs/results.md."""
    lines = ["# Results", "", "Results of `python -m studies`; this page is generated by `make reproduce`.", ""]
    for outcome in found:
        lines += [f"## {outcome.title}", "", f"{outcome.source}. {' '.join(outcome.about.split())}", ""]
        lines += [*(f"- {remark}" for remark in outcome.remarks), *([""] if outcome.remarks else [])]
        for table in outcome.tables:
            lines += [
                f"**{table.title}**",
                "",
                "| " + " | ".join(table.columns) + " |",
                "| --- " * len(table.columns) + "|",
            ]
            lines += [_markdown_row(row) for row in table.rows]
            lines += ["", *([table.note, ""] if table.note else [])]
    return "\n".join(lines).rstrip() + "\n"


def _markdown_row(row: Sequence[Cell]) -> str:
    return "| " + " | ".join(_shown(cell, at).replace("*", "\\*") for at, cell in enumerate(row)) + " |"


def _shown(cell: Cell, at: int) -> str:
    """Format a cell: measurements with three digits, the first column unchanged.

    Examples
    --------
    >>> _shown(22.0, 3), _shown(0.001, 0), _shown(1234.5, 1), _shown(101.3, 1), _shown(None, 1), _shown(1971, 1)
    ('22.0', '0.001', '1,234', '101', '', '1,971')
    """
    if cell is None:
        return ""
    if isinstance(cell, float):
        if abs(cell) >= 1000:
            return f"{cell:,.0f}"
        return f"{cell:g}" if at == 0 else f"{cell:#.3g}".rstrip(".")
    return f"{cell:,}" if isinstance(cell, int) else str(cell)


def _code(text: str) -> str:
    """Mark text between backticks as code."""
    pieces = text.split("`")
    return "".join(f"<code>{piece}</code>" if at % 2 else piece for at, piece in enumerate(pieces))
