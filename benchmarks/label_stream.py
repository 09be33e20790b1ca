"""One pass over a sparse label stream, compared with scikit-learn and Vowpal Wabbit.

For every learner the setting with the fewest online mistakes is first chosen from a small grid, untimed. Then all are
timed, interleaved, in this process. scikit-learn only learns; the others predict, then learn.
"""

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

import hinged
from benchmarks.peers import scikit_learn, vowpal_wabbit
from benchmarks.report import Bar, Report, Sheet, at_least, at_most
from benchmarks.streams import Stream, topics
from benchmarks.timing import Contender, Timed, race

SEED = 2
N_LABELS = 50
C_PLAIN = (0.001, 0.003, 0.01, 0.03, 1.0)  # values are 1 and rows have 64 of them: a full step is about 1/128
C_SCALED = (0.03, 0.1, 0.3, 1.0)
VW_OPTIONS = tuple(f"-b {bits} -l {rate}" for bits in (18, 22) for rate in (0.2, 0.5, 1.0))

PLAIN: dict[str, Any] = {"scaling": None}
SCALED: dict[str, Any] = {"scaling": "idf", "normalize": True}
AUTO, OVER_PA1 = "hinged, no setting", 3.0  # and how many times the time of plain pa1 it may take
# name: rule, options, grid of C, how many times scikit-learn's and Vowpal Wabbit's speed is promised
OURS: dict[str, tuple[str, dict[str, Any], tuple[float, ...], float, float | None]] = {
    "hinged pa1": ("pa1", PLAIN, C_PLAIN, 10.0, 6.0),
    "hinged simproj": ("simproj", PLAIN, C_PLAIN, 8.0, 6.0),
    "hinged pa1 idf unit": ("pa1", SCALED, C_SCALED, 6.0, None),
    "hinged simproj idf unit": ("simproj", SCALED, C_SCALED, 6.0, None),
}
SKLEARN = "scikit-learn SGD pa1"
VW_BEST = "VW oaa, fewest mistakes"
VW_18 = "VW oaa, default 18 bits"

S = TypeVar("S", float, str)


class Entry(NamedTuple):
    """A learner with its chosen setting: the setting, its online mistakes, and a function that runs a new learner."""

    setting: str
    mistakes: int
    prepare: Contender


def run(quick: bool) -> Report:
    """Time all learners on one stream and compare the ratios with the targets.

    Parameters
    ----------
    quick : bool
        A tenth of the rows and 2 repeats in place of 40: a check that all runs, not a measurement.
    """
    n_rows, n_features, repeats = (5_000, 5_000, 2) if quick else (50_000, 50_000, 40)
    stream = topics(n_rows, n_features, N_LABELS, 64, seed=SEED)
    with tempfile.TemporaryDirectory() as folder:
        entries = _entries(stream, Path(folder))
        times = race({name: entry.prepare for name, entry in entries.items()}, repeats)
    difference = scikit_learn.check_twin(stream, np.arange(N_LABELS), C=0.01)
    return Report(
        "label_stream",
        f"{n_rows:,} rows × {n_features:,} features, 64 distinct non-zeros of value 1 a row, Zipf 1.1, float32, "
        f"{N_LABELS} labels, 5 % of them redrawn at random; seed {SEED}",
        f"best of {repeats} interleaved repeats after one warm-up, CPU time, one thread. "
        "hinged: progressive() on a new model, including validation. scikit-learn: one partial_fit on the whole "
        "matrix, without validation; its mistakes are those of a predict-then-learn reimplementation whose weights "
        f"agree to {difference:.0e}. Vowpal Wabbit: only the pass over its cache file; its mistakes are its "
        "progressive loss. hinged is memory-bound, so its times vary by a fifth if other jobs share the cache. "
        "Settings are those with the fewest mistakes: "
        f"C from {C_PLAIN} or, with scaling, {C_SCALED}; Vowpal Wabbit from {', '.join(VW_OPTIONS)}",
        [_sheet(entries, times, n_rows)],
        _bars(entries, times),
    )


def _fewest(settings: Sequence[S], prepare: Callable[[S], Contender], count: Callable[[S], int]) -> Entry:
    mistakes, best = min((count(setting), place) for place, setting in enumerate(settings))
    setting = settings[best]
    return Entry(setting if isinstance(setting, str) else f"C={setting:g}", mistakes, prepare(setting))


def _entries(stream: Stream, folder: Path) -> dict[str, Entry]:
    X, y = stream
    labels = np.arange(N_LABELS)
    cache = vowpal_wabbit.write_cache(stream, N_LABELS, folder)

    def sklearn(C: float) -> Contender:
        return lambda: lambda: scikit_learn.learn_all(stream, labels, C)

    def sklearn_mistakes(C: float) -> int:
        return scikit_learn.online_mistakes(stream, N_LABELS, C)[0]

    def vw(options: str) -> Contender:
        return lambda: vowpal_wabbit.prepare(cache, N_LABELS, options)

    def vw_mistakes(options: str) -> int:
        return vw(options)()()

    def ours(rule: str, options: dict[str, Any], grid: Sequence[float]) -> Entry:
        def progress(C: float) -> Any:
            return hinged.evaluate.progressive(hinged.Classifier(rule=rule, C=C, **options), X, y, classes=labels)

        return _fewest(grid, lambda C: lambda: lambda: progress(C), lambda C: int(progress(C).mistakes))

    def auto() -> Any:
        return hinged.evaluate.progressive(hinged.Classifier(), X, y, classes=labels)

    return (
        {
            SKLEARN: _fewest(C_PLAIN, sklearn, sklearn_mistakes),
            VW_BEST: _fewest(VW_OPTIONS, vw, vw_mistakes),
            VW_18: _fewest([options for options in VW_OPTIONS if "-b 18" in options], vw, vw_mistakes),
        }
        | {name: ours(rule, options, grid) for name, (rule, options, grid, _, _) in OURS.items()}
        | {AUTO: Entry("none", int(auto().mistakes), lambda: auto)}
    )


def _sheet(entries: dict[str, Entry], times: dict[str, Timed], n_rows: int) -> Sheet:
    columns = ["who", "setting", "ms", "wall ms", "rows/s", "mistakes %", "× sklearn", "× VW", "× VW 18"]
    sheet = Sheet("Sparse label stream", columns)
    for name, entry in entries.items():
        taken = times[name].seconds
        ratios = [times[peer].seconds / taken for peer in (SKLEARN, VW_BEST, VW_18)]
        rate = 100 * entry.mistakes / n_rows
        sheet.rows.append(
            [name, entry.setting, 1e3 * taken, 1e3 * times[name].wall, round(n_rows / taken), rate, *ratios]
        )
    return sheet


def _bars(entries: dict[str, Entry], times: dict[str, Timed]) -> list[Bar]:
    fastest_vw = min(times[VW_BEST].seconds, times[VW_18].seconds)
    fewest = min(entries[peer].mistakes for peer in (SKLEARN, VW_BEST))
    bars = []
    for name, (_, options, _, over_sklearn, over_vw) in OURS.items():
        taken = times[name].seconds
        bars.append(at_least(f"{name}, speed over scikit-learn", times[SKLEARN].seconds / taken, over_sklearn))
        if over_vw is not None:
            bars.append(at_least(f"{name}, speed over Vowpal Wabbit at its faster", fastest_vw / taken, over_vw))
        if options is SCALED:
            ours = entries[name].mistakes
            bars.append(Bar(f"{name}, mistakes ≤ the better peer's {fewest:,}", f"{ours:,}", ours <= fewest))
    over = times[AUTO].seconds / times["hinged pa1"].seconds
    return [*bars, at_most(f"{AUTO}, time over plain pa1's", over, OVER_PA1, "×")]
