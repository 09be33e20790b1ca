"""Progressive validation, assessments, reports and plots."""

from hinged.evaluate.metrics import RankingMetrics, ranking_metrics
from hinged.evaluate.plots import plot_mistakes, plot_reliability
from hinged.evaluate.progressive import Progress, progressive
from hinged.evaluate.report import Run, summarize, write_report
from hinged.evaluate.spans import span_f1, spans

__all__ = [
    "Progress",
    "RankingMetrics",
    "Run",
    "plot_mistakes",
    "plot_reliability",
    "progressive",
    "ranking_metrics",
    "span_f1",
    "spans",
    "summarize",
    "write_report",
]
