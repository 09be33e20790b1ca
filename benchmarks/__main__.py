"""Command line of the benchmarks."""

import argparse
import importlib
import json
from datetime import date
from pathlib import Path

from rich.console import Console

from benchmarks import history, machine
from benchmarks.markdown import write_section
from benchmarks.report import show, to_json

NAMES = (
    "any_stream",
    "calibration",
    "evidence",
    "experts",
    "forgetting",
    "fourier",
    "held_out",
    "imports",
    "instructions",
    "joint_step",
    "kernel_budget",
    "kernels",
    "label_stream",
    "mail_assistant",
    "mail_folders",
    "mail_label_sets",
    "mail_scale",
    "memory",
    "metric",
    "multilabel",
    "one_by_one",
    "one_vector",
    "page",
    "ranks",
    "scaling",
    "sequences",
    "service",
    "start",
    "text_files",
)


def main() -> int:
    """Run the chosen benchmarks, print results and optionally write JSON; return 1 if a target was missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Compare hinged with other libraries.")
    parser.add_argument("--only", choices=NAMES, action="append", metavar="NAME", help=f"one of {', '.join(NAMES)}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all results to this file")
    parser.add_argument(
        "--page",
        type=Path,
        metavar="FILE",
        help="also write the section of each benchmark on this page, keeping the others, and add to the history",
    )
    parser.add_argument("--quick", action="store_true", help="use small sizes, to check that everything runs")
    options = parser.parse_args()
    console = Console()
    if not console.is_terminal:
        console = Console(width=120)
    here = machine.describe()
    console.print_json(data=here)
    reports = []
    for name in options.only or NAMES:
        now = {**here, "load": machine.load()}
        report = importlib.import_module(f"benchmarks.{name}").run(options.quick)
        show(report, console)
        reports.append(report)
        if options.page and not options.quick:
            write_section(options.page, now, to_json(report))
            for sentence in history.add(report, f"{date.today()}", machine.short(here)):
                console.print(f"[red]{sentence}[/]", highlight=False)
    if options.page and not options.quick:
        history.main()
    if options.json:
        figures = {"machine": here, "quick": options.quick, "benchmarks": [to_json(report) for report in reports]}
        options.json.write_text(json.dumps(figures, indent=2, ensure_ascii=False) + "\n")
    return 0 if options.quick or all(bar.met for report in reports for bar in report.bars) else 1


if __name__ == "__main__":
    raise SystemExit(main())
