"""Progressive validation, reports and plots."""

from hinged.evaluate.plots import plot_mistakes, plot_reliability
from hinged.evaluate.progressive import Progress, progressive
from hinged.evaluate.report import Run, summarize, write_report

__all__ = [
    "Progress",
    "Run",
    "plot_mistakes",
    "plot_reliability",
    "progressive",
    "summarize",
    "write_report",
]
