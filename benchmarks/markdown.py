"""All figures measured so far as one page, docs/speed.md: written by the benchmarks, never by hand."""

import json
from pathlib import Path
from typing import Any

from benchmarks.report import written

HEAD = """# Speed, memory and mistakes beside others

Written by `make bench`, a section at a time: everybody in a section was measured in one run, taking turns, on the
machine named there. `python -m benchmarks --only label_stream` repeats one. Promises that are not kept are marked;
a ratio on another machine will differ.
"""


def write_page(folder: Path, page: Path) -> None:
    """Write the page of all benchmarks whose figures lie in `folder`."""
    found = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    page.write_text("\n".join([HEAD, *(_section(one["machine"], one["benchmark"]) for one in found)]))


def _section(machine: dict[str, Any], report: dict[str, Any]) -> str:
    title = report["name"].replace("_", " ")
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items() if version != "absent")
    parts = [
        f"## {title[0].upper()}{title[1:]}\n",
        f"Data: {report['data'].rstrip('.')}.\n",
        f"Method: {report['method'].rstrip('.')}.\n",
    ]
    for sheet in report["sheets"]:
        parts += [f"**{sheet['title']}**\n", _table(sheet["columns"], [list(row.values()) for row in sheet["rows"]])]
    if report["bars"]:
        bars = [["yes" if bar["met"] else "**no**", bar["promise"], bar["measured"]] for bar in report["bars"]]
        parts.append(_table(["kept", "promise", "measured"], bars))
    parts.append(f"{machine['cpu']}, {machine['cores']} cores; Python {machine['python']}, {versions}.\n")
    return "\n".join(parts)


def _table(columns: list[str], rows: list[list[Any]]) -> str:
    lines = [columns, ["---"] + ["---:"] * (len(columns) - 1), *([written(cell) for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
