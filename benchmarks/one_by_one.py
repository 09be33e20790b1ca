"""One row at a time from Python dicts: `predict_one` then `learn_one`, compared with River's one-vs-rest PA-I."""

from collections.abc import Callable
from typing import Any

from river import linear_model, multiclass

import hinged
from benchmarks.report import Report, Sheet, at_least, at_most
from benchmarks.streams import as_dicts, topics
from benchmarks.timing import Contender, race

SEED = 3
N_LABELS = 20
C = 1.0
BAR = 15.0
AUTO, OVER_PA1 = "hinged, no setting", 1.5  # and how many times the time of plain pa1 it may take


def run(quick: bool) -> Report:
    """Time both on the same dicts.

    Parameters
    ----------
    quick : bool
        A fifth of the rows and 1 repeat in place of 5.
    """
    n_rows, repeats = (400, 1) if quick else (2_000, 5)
    stream = topics(n_rows, 50_000, N_LABELS, 88, unit_rows=True, seed=SEED)
    rows, labels = as_dicts(stream.X), [f"label{label}" for label in stream.y]

    def contender(make: Callable[[], Any]) -> Contender:
        return lambda: _stream_through(make(), rows, labels)

    times = race(
        {
            "River OneVsRest(PA-I)": contender(
                lambda: multiclass.OneVsRestClassifier(linear_model.PAClassifier(C=C, mode=1, learn_intercept=False))
            ),
            "hinged pa1": contender(lambda: hinged.Classifier("pa1", C, scaling=None)),
            "hinged simproj": contender(lambda: hinged.Classifier("simproj", C, scaling=None)),
            AUTO: contender(hinged.Classifier),
        },
        repeats,
    )
    river = times["River OneVsRest(PA-I)"].seconds
    sheet = Sheet("One row at a time", ["who", "seconds", "wall seconds", "µs/row", "rows/s", "mistakes %", "× River"])
    for name, (seconds, wall, mistakes) in times.items():
        rate = 100 * mistakes / n_rows
        sheet.rows.append([name, seconds, wall, 1e6 * seconds / n_rows, round(n_rows / seconds), rate, river / seconds])
    return Report(
        "one_by_one",
        f"{n_rows:,} dicts of 88 named features (of 50,000, Zipf 1.1, unit rows), {N_LABELS} string labels that appear "
        f"over time, 5 % of them redrawn; seed {SEED}",
        f"predict_one then learn_one for every row, best of {repeats} interleaved repeats after one warm-up, "
        f"CPU time, C={C:g}, no bias; a wrong or missing prediction is a mistake, including that of a new label",
        [sheet],
        [
            *(
                at_least(f"{name}, speed over River", river / times[name].seconds, BAR)
                for name in times
                if "hinged " in name
            ),
            at_most(f"{AUTO}, time over plain pa1's", times[AUTO].seconds / times["hinged pa1"].seconds, OVER_PA1, "×"),
        ],
    )


def _stream_through(model: Any, rows: list[dict[str, float]], labels: list[str]) -> Callable[[], int]:
    def predict_then_learn() -> int:
        mistakes = 0
        for x, label in zip(rows, labels, strict=True):
            mistakes += model.predict_one(x) != label
            model.learn_one(x, label)
        return mistakes

    return predict_then_learn
