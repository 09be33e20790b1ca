"""The adaptive geometry beside the Euclidean one on real streams, AROW on label sets, and SCW-I on labels."""

from functools import partial
from itertools import product
from typing import Any

import numpy as np
from scipy import sparse

import hinged
from benchmarks.any_stream import our_losses
from benchmarks.peers import arow, scw
from benchmarks.peers.any_stream import losses
from benchmarks.real_streams import APART, CHOOSING, MOST, RealStream, real_streams
from benchmarks.report import Bar, Cell, Report, Sheet, at_most
from benchmarks.timing import race
from hinged.estimators.stream import read_stream

ESTIMATORS: dict[str, Any] = {"labels": hinged.Classifier, "sets": hinged.Ranker}
AROW = ("AROW", *(f"AROW, r={r:g}" for r in arow.RATES[1:]))
OURS = ("hinged", "adaptive", "one C", "one C, adaptive")
BESIDE_SCW: dict[str, dict[str, Any]] = {
    "hinged": {},
    "adaptive": {"geometry": "adaptive"},
    "pa1, C=1, adaptive": {"rule": "pa1", "C": 1.0, "geometry": "adaptive"},
    "optimal, C=1, adaptive": {"rule": "optimal", "C": 1.0, "geometry": "adaptive"},
}
HINDSIGHT = "SCW-I, best in hindsight"
TIMED = ("letter", "a9a", "20news")
MISSING = "none: set HINGED_DATA to the folder of the data sets"
METHOD = (
    "one pass, progressive validation, all labels known. Percent of mistakes for labels; 100 × (1 - average precision) "
    'for sets. hinged: Classifier() and Ranker(); adaptive: the same with geometry="adaptive"; one C: C=1, without '
    "and with it. AROW: diagonal, one learner for each label, on rows scaled as hinged's own (r = 1 unless said). "
    "SCW-I: diagonal, on the same rows; one learner for each label, or the constraint of the right label against the "
    "strongest other one, with variances for each label or one diagonal for all; of its "
    f"{len(scw.GRID)} pairs of φ and C the one with the least error over hinged's (geometric mean) on the streams that "
    "choose, and in hindsight the best way and pair for each stream. "
    "× time: CPU seconds of a pass with one C in the adaptive geometry over those in the Euclidean one, best of 7"
)


def run(quick: bool) -> Report:
    """Learn every stream of labels and of label sets.

    Parameters
    ----------
    quick : bool
        The first 300 rows.
    """
    streams = [stream for stream in real_streams(300 if quick else MOST) if stream.kind in ESTIMATORS]
    found = {stream.name: _compare(stream) for stream in streams}
    sets = [stream for stream in streams if stream.kind == "sets"]
    sheets = [
        _sheet("Label sets", sets, found, (*OURS, *AROW)),
        _sheet("Labels", [stream for stream in streams if stream.kind == "labels"], found, OURS),
    ]
    bars = []
    if sets:
        mean = {who: float(np.mean([100.0 - found[stream.name][who] for stream in sets])) for who in (*OURS, *AROW)}
        best = max(mean[who] for who in AROW)
        promise = f"mean average precision over {len(sets)} sets at least that of diagonal AROW at any of its r"
        bars.append(Bar(promise, f"{mean['hinged']:.1f} and {best:.1f}", mean["hinged"] >= best))
    for stream in streams:
        if stream.name in TIMED:
            bars.append(at_most(f"a row in the adaptive geometry, {stream.name}", _times(stream), 2.0, "×"))
    soft, answer = _beside_scw([stream for stream in streams if stream.kind == "labels"])
    return Report("metric", _data(streams), METHOD, [*sheets, *soft], [*bars, *answer])


def _compare(stream: RealStream) -> dict[str, float]:
    """Loss of everybody, in percent."""
    kind = ESTIMATORS[stream.kind]
    models = (kind(), kind(geometry="adaptive"), kind(C=1.0), kind(C=1.0, geometry="adaptive"))
    loss = {who: 100.0 * float(our_losses(model, stream).mean()) for who, model in zip(OURS, models, strict=True)}
    if stream.kind == "sets":
        X = _scaled(stream)
        for who, r in zip(AROW, arow.RATES, strict=True):
            loss[who] = 100.0 * float(losses(stream, arow.online_scores(X, stream.y, r)).mean())
    return loss


def _beside_scw(streams: list[RealStream]) -> tuple[list[Sheet], list[Bar]]:
    """SCW-I beside what the grid has: a table, what it comes to, and whether it would be a rule worth having."""
    choosing, others = ([s.name for s in streams if (s.name in CHOOSING) == chooses] for chooses in (True, False))
    if not choosing or not others:
        return [], []
    loss = {stream.name: _ours_and_scw(stream) for stream in streams}

    def over(names: list[str], who: str) -> float:
        return float(np.exp(np.mean([np.log(max(loss[name][who], 1e-3) / loss[name]["hinged"]) for name in names])))

    chosen = [min((f"SCW-I, {way}, {pair}" for pair in scw.GRID), key=partial(over, choosing)) for way in scw.WAYS]
    shown = [*BESIDE_SCW, *chosen, HINDSIGHT]
    table = Sheet("SCW-I on labels", ["stream", "chooses", *shown])
    for name in [*choosing, *others]:
        table.rows.append([name, "yes" if name in CHOOSING else "no", *(loss[name][who] for who in shown)])
    columns = ["learner", "on streams that choose", "on the others"]
    sums = Sheet("Error over that of hinged without a setting, geometric mean", columns)
    sums.rows = [[who, f"{over(choosing, who):.3f}", f"{over(others, who):.3f}"] for who in shown]
    least = min(over(others, who) for who in chosen)
    promise = f"no SCW-I errs less than no setting on the {len(others)} streams that do not choose for it, ≥ 1 ×"
    return [table, sums], [Bar(promise, f"{least:.3f} ×", least >= 1.0)]


def _ours_and_scw(stream: RealStream) -> dict[str, float]:
    """Percent of mistakes of hinged's learners, of SCW-I at every pair of settings, and of its best in hindsight."""
    X, right = _scaled(stream), np.eye(stream.n_labels, dtype=bool)[stream.y]
    soft = {}
    for way, pair in product(scw.WAYS, scw.GRID):
        scores = scw.online_scores(X, right, way, pair)
        wrong = scores[right] <= np.where(right, -np.inf, scores).max(axis=1)
        soft[f"SCW-I, {way}, {pair}"] = 100.0 * float(wrong.mean())
    found = {who: hinged.Classifier(**settings) for who, settings in BESIDE_SCW.items()}
    ours = {who: 100.0 * float(our_losses(model, stream).mean()) for who, model in found.items()}
    return {**ours, **soft, HINDSIGHT: min(soft.values())}


def _scaled(stream: RealStream) -> sparse.csr_array:
    """Rows as hinged's own learner reads them, the constant feature last."""
    if stream.kind == "labels":
        reading = read_stream(hinged.Classifier(), stream.X, stream.y.tolist(), range(stream.n_labels))
    else:
        right = [np.flatnonzero(row).tolist() for row in stream.y]
        reading = read_stream(hinged.Ranker(), stream.X, right)
    width = stream.X.shape[1]
    indptr, columns, values = reading.new_model().scaled(reading.rows)
    return sparse.csr_array((values, columns, indptr), shape=(stream.X.shape[0], width + 1))


def _times(stream: RealStream) -> float:
    """CPU seconds of a pass with the metric over those without."""

    def contender(**settings: Any) -> Any:
        def prepare() -> Any:
            model = hinged.Classifier(C=1.0, average=False, **settings)
            return lambda: hinged.evaluate.progressive(model, stream.X, stream.y, classes=np.arange(stream.n_labels))

        return prepare

    timed = race({"without": contender(), "with": contender(geometry="adaptive")}, 7)
    return timed["with"].seconds / timed["without"].seconds


def _sheet(title: str, streams: list[RealStream], found: dict[str, dict[str, float]], who: tuple[str, ...]) -> Sheet:
    sheet = Sheet(title, ["stream", "rows", "labels", *who])
    for stream in streams:
        row: list[Cell] = [stream.name, len(stream.y), stream.n_labels, *(found[stream.name][name] for name in who)]
        sheet.rows.append(row)
    if streams:
        means = [float(np.mean([found[stream.name][name] for stream in streams])) for name in who]
        sheet.rows.append(["mean", None, None, *means])
    return sheet


def _data(streams: list[RealStream]) -> str:
    if not streams:
        return MISSING
    return (
        f"the {len(streams)} streams of labels and label sets of any_stream, cut to their first {MOST:,} rows; "
        f"{', '.join(sorted(APART & {stream.name for stream in streams}))} had no vote in choosing σ and r"
    )
