"""All figures measured so far as one page, docs/speed.md: written by the benchmarks, never by hand."""

from pathlib import Path
from typing import Any

from benchmarks.report import written

HEAD = """# Speed, memory and mistakes beside others

Written by `make bench`, a section at a time: everybody in a section was measured in one run, taking turns, on the
machine named there. `python -m benchmarks --only label_stream --page docs/speed.md` measures one again and writes its
section alone. Promises that are not kept are marked; a ratio on another machine will differ, and seconds on the wall
are longer where the load average says that others computed beside.
"""


def write_section(page: Path, machine: dict[str, Any], report: dict[str, Any]) -> None:
    """Put the section of one benchmark on the page, in the order of the titles; all other sections stay as they are."""
    _, *others = page.read_text().split("\n## ") if page.exists() else [""]
    section = _section(machine, report)
    by_title = {text.partition("\n")[0]: text.rstrip("\n") for text in [*others, section]}
    page.write_text("\n## ".join([HEAD, *(f"{by_title[title]}\n" for title in sorted(by_title))]))


def _section(machine: dict[str, Any], report: dict[str, Any]) -> str:
    """A section without the marks that open its title."""
    title = report["name"].replace("_", " ")
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items() if version != "absent")
    parts = [
        f"{title[0].upper()}{title[1:]}\n",
        f"Data: {report['data'].rstrip('.')}.\n",
        f"Method: {report['method'].rstrip('.')}.\n",
    ]
    for sheet in report["sheets"]:
        parts += [f"**{sheet['title']}**\n", _table(sheet["columns"], [list(row.values()) for row in sheet["rows"]])]
    if report["bars"]:
        bars = [["yes" if bar["met"] else "**no**", bar["promise"], bar["measured"]] for bar in report["bars"]]
        parts.append(_table(["kept", "promise", "measured"], bars))
    beside = f" Load average of the machine before the run: {machine['load']:.1f}." if "load" in machine else ""
    parts.append(f"{machine['cpu']}, {machine['cores']} cores; Python {machine['python']}, {versions}.{beside}\n")
    return "\n".join(parts)


def _table(columns: list[str], rows: list[list[Any]]) -> str:
    lines = [columns, ["---"] + ["---:"] * (len(columns) - 1), *([written(cell) for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
