"""The report on studies: one HTML file that opens offline, and the same as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from hinged.evaluate.page import write_page
from hinged.evaluate.svg import curves
from hinged.experiments.papers.study import Cell, Outcome, Table

__all__ = ["to_markdown", "write_studies"]


def write_studies(path: str | Path, found: Sequence[Outcome], missing: Mapping[str, str]) -> Path:
    """Write the report; return where it is."""
    head = (
        '<header><p class="kicker">hinged reproduce</p><h1>The papers, run again</h1>'
        f'<p class="lead">{len(found)} studies; what is in print stands beside what was found here.</p></header>'
    )
    absent = "".join(f"<li><b>{escape(name)}</b>: {escape(why)}</li>" for name, why in missing.items())
    left_out = f"<section><h2>Not run</h2><ul>{absent}</ul></section>" if missing else ""
    return write_page(path, "The papers, run again", head + "".join(map(_section, found)) + left_out)


def _section(outcome: Outcome) -> str:
    parts = [f"<section><h2>{escape(outcome.title)}</h2>"]
    parts.append(
        f'<p class="kicker">{escape(outcome.source)} · {outcome.seconds:.1f} s</p><p>{escape(outcome.about)}</p>'
    )
    for drawn in outcome.curves:
        picture = curves(drawn.over_rounds(), height=300, unit=drawn.unit, percent=drawn.percent, about=drawn.title)
        parts.append(f"<figure>{picture}<figcaption>{escape(drawn.title)}. {escape(drawn.note)}</figcaption></figure>")
    parts += [_table(table) for table in outcome.tables]
    if outcome.remarks:
        parts.append("<ul>" + "".join(f"<li>{escape(remark)}</li>" for remark in outcome.remarks) + "</ul>")
    return "".join(parts) + "</section>"


def _table(table: Table) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in table.columns)
    body = "".join("<tr>" + "".join(f"<td>{escape(_shown(cell))}</td>" for cell in row) + "</tr>" for row in table.rows)
    note = f"<figcaption>{escape(table.note)}</figcaption>" if table.note else ""
    return (
        f'<h2>{escape(table.title)}</h2><div class="wide"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>{note}"
    )


def to_markdown(found: Sequence[Outcome]) -> str:
    """The tables and remarks of studies, for docs/results.md."""
    lines = ["# Results", "", "What `hinged reproduce` found; written by `make reproduce`, not by hand.", ""]
    for outcome in found:
        lines += [f"## {outcome.title}", "", f"{outcome.source}. {' '.join(outcome.about.split())}", ""]
        for table in outcome.tables:
            lines += [
                f"**{table.title}**",
                "",
                "| " + " | ".join(table.columns) + " |",
                "| --- " * len(table.columns) + "|",
            ]
            lines += ["| " + " | ".join(map(_shown, row)) + " |" for row in table.rows]
            lines += ["", *([table.note, ""] if table.note else [])]
        lines += [*(f"- {remark}" for remark in outcome.remarks), ""]
    return "\n".join(lines).rstrip() + "\n"


def _shown(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float):
        return f"{cell:,.0f}" if abs(cell) >= 1000 else f"{cell:.3g}"
    return f"{cell:,}" if isinstance(cell, int) else str(cell)
