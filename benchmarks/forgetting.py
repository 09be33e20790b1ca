"""Forgetting on real streams of dense rows: half-lives of statistics alone, and of weights too, against none."""

from typing import Any

import numpy as np

import hinged
from benchmarks.any_stream import our_losses
from benchmarks.metric import MISSING
from benchmarks.real_streams import APART, MOST, RealStream, real_streams
from benchmarks.report import Bar, Cell, Report, Sheet, at_most
from benchmarks.timing import race
from hinged.geometry import HalfLife

ESTIMATORS: dict[str, Any] = {"labels": hinged.Classifier, "numbers": hinged.Regressor}
ROUNDS = (50, 200, 1000, 5000)
NONE: dict[str, Any] = {"none": None}
STATISTICS: dict[str, Any] = {f"statistics {h}": HalfLife(statistics=h) for h in ROUNDS}
ALL: dict[str, Any] = {f"all {h}": h for h in ROUNDS}
SHEETS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "No other setting": (NONE | STATISTICS | ALL, {}),
    'geometry="adaptive"': (NONE | STATISTICS | ALL, {"geometry": "adaptive"}),
    "C=1": (NONE | STATISTICS | ALL, {"C": 1.0}),
}
TIMED = "letter"
METHOD = (
    "one pass, progressive validation, all labels known; streams of dense rows. Percent of mistakes for labels; mean "
    "absolute error for numbers, 100 × over that of no forgetting. statistics h: half_life=HalfLife(statistics=h), "
    "so that means and deviations (and what an adaptive metric has seen) fade; all h: half_life=h, weights too. "
    "× time: CPU seconds of a pass with half_life=200 over those without, best of 7"
)


def run(quick: bool) -> Report:
    """Learn every stream of dense rows with every half-life.

    Parameters
    ----------
    quick : bool
        The first 300 rows, and no times.
    """
    streams = [s for s in real_streams(300 if quick else MOST) if s.kind in ESTIMATORS and s.dense]
    sheets = [_sheet(title, streams, *columns) for title, columns in SHEETS.items()] if streams else []
    bars: list[Bar] = []
    for stream in streams:
        if stream.name == TIMED and not quick:
            bars.append(at_most(f"a row with half_life=200, {stream.name}", _times(stream), 1.5, "×"))
    return Report("forgetting", _data(streams), METHOD, sheets, bars)


def _sheet(title: str, streams: list[RealStream], half_lives: dict[str, Any], more: dict[str, Any]) -> Sheet:
    """Losses of all half-lives, a row for each stream."""
    sheet = Sheet(title, ["stream", "rows", "what", *half_lives])
    for stream in streams:
        kind = ESTIMATORS[stream.kind]
        loss = [float(our_losses(kind(half_life=h, **more), stream).mean()) for h in half_lives.values()]
        unit = 100.0 if stream.kind == "labels" else 100.0 / loss[0]
        row: list[Cell] = [stream.name, len(stream.y), stream.kind, *(unit * each for each in loss)]
        sheet.rows.append(row)
    return sheet


def _times(stream: RealStream) -> float:
    """CPU seconds of a pass with forgetting over those without."""

    def contender(half_life: float | None) -> Any:
        def prepare() -> Any:
            model = hinged.Classifier(C=1.0, average=False, half_life=half_life)
            return lambda: hinged.evaluate.progressive(model, stream.X, stream.y, classes=np.arange(stream.n_labels))

        return prepare

    timed = race({"without": contender(None), "with": contender(200.0)}, 7)
    return timed["with"].seconds / timed["without"].seconds


def _data(streams: list[RealStream]) -> str:
    if not streams:
        return MISSING
    return (
        f"the {len(streams)} streams of labels and numbers with dense rows of any_stream, cut to their first {MOST:,} "
        f"rows; {', '.join(sorted(APART & {stream.name for stream in streams}))} had no vote in choosing the defaults"
    )
