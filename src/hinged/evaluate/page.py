"""A self-contained HTML page: no network, no script; in light and dark, on screen and on paper."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from pathlib import Path

from hinged.evaluate.plots import COLOURS

__all__ = ["header", "meanings", "pairs", "picture", "rate", "section", "table", "write_page"]

DARK_COLOURS = ("#4aa3e0", "#f08a4b", "#2fc79a", "#e39cc4", "#f2b93b", "#9bd7fb", "#a4abb5", "#9d92f0")


def write_page(path: str | Path, title: str, parts: Iterable[str]) -> Path:
    """Write a page of parts given as HTML; return its path."""
    body = "\n".join(filter(None, parts))
    page = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" '
        f'content="light dark"><title>{escape(title)}</title><style>{_style()}</style></head>\n'
        f"<body><main>\n{body}\n</main></body></html>\n"
    )
    path = Path(path)
    path.write_text(page, encoding="utf-8")
    return path


def header(kind: str, title: str, lead: str) -> str:
    """The head of a page: what kind of page it is, its title, and a first paragraph given as HTML."""
    shown = escape(title).replace(" %", "&nbsp;%")
    return f'<header><p class="kicker">{kind}</p><h1>{shown}</h1><p class="lead">{lead}</p></header>'


def section(heading: str, content: str) -> str:
    """A section of a page; its content is given as HTML."""
    return f"<section><h2>{heading}</h2>{content}</section>"


def picture(heading: str, drawing: str, caption: str) -> str:
    """A section with one picture and what is to be seen in it, all given as HTML."""
    return section(heading, f"<figure>{drawing}<figcaption>{caption}</figcaption></figure>")


def meanings(of: Iterable[tuple[str, str]]) -> str:
    """A list of what headings of a table mean."""
    return f'<dl class="meaning">{pairs((heading, escape(meaning)) for heading, meaning in of)}</dl>'


def pairs(items: Iterable[tuple[str, str]]) -> str:
    """Entries of a definition list: names, and their meanings as HTML."""
    return "".join(f"<div><dt>{escape(name)}</dt><dd>{value}</dd></div>" for name, value in items)


def table(headings: Iterable[object], lines: Iterable[str], kind: str = "") -> str:
    """A table of rows given as HTML; it scrolls sideways on a narrow screen.

    `kind` is its CSS class: "words" if the cells are not numbers.

    Examples
    --------
    >>> table(["Label"], ["<tr><td>ham</td></tr>"]).count("<tr>")
    2
    """
    head = "".join(f'<th scope="col">{escape(str(heading))}</th>' for heading in headings)
    named = f' class="{kind}"' if kind else ""
    return (
        f'<div class="wide"><table{named}><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'
    )


def rate(shown: str, share: float, colour: int = 0) -> str:
    """A table cell with a number, given as HTML, beside a bar filled to a share."""
    bar = f'<span class="bar"><i class="c{colour % len(COLOURS)}" style="width:{100 * share:.1f}%"></i></span>'
    return f'<td class="rate">{bar}<b>{shown}</b></td>'


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
.squares text{font-size:12px}
@media (max-width:640px){main{padding:40px 12px 64px}section{padding:20px 14px}dl div{grid-template-columns:1fr;
padding:6px 0}th,td{padding:9px 0 9px 12px}th:first-child,td:first-child{position:sticky;left:0;padding-left:2px;
padding-right:8px;background:var(--card);white-space:normal;overflow-wrap:anywhere;min-width:7rem;max-width:9.5rem}
.best>*,.best>:first-child{background:var(--tint)}.bar{display:none}.rate b{min-width:0}
.words td,.words th{white-space:normal;min-width:6rem}svg{min-width:600px}.squares{min-width:760px}}
@media print{body{background:#fff}section{break-inside:avoid;border:0;padding:0}}
"""
