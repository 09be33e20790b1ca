"""Would one more expert pay? Learners of other kinds run beside the defaults and join their answers by the same rule.

Each learner runs by itself. Afterwards their scores are added by shares that follow from mistakes so far, as
`hinged.loops.shares` has it for the learners of "auto", so nothing has to be built to know the answer.
"""

from typing import Any, NamedTuple

import numpy as np

import hinged
from benchmarks.metric import MISSING
from benchmarks.peers.any_stream import losses
from benchmarks.real_streams import APART, CHOOSING, MOST, RealStream, real_streams
from benchmarks.report import Bar, Cell, Report, Sheet
from benchmarks.timing import race
from hinged.estimators.scored import Scored
from hinged.geometry import HalfLife
from hinged.loops.shares import FORGETTING, RATE, share_out
from hinged.mercer import Fourier

ESTIMATORS: dict[str, Any] = {"labels": hinged.Classifier, "sets": hinged.Ranker}
ONE: dict[str, Any] = {"C": 1.0, "average": False}
BOLD: dict[str, Any] = {"C": 10**0.5, "average": False}
FADING = HalfLife(statistics=50.0)
#: Settings of the learner that is added to one with no setting.
CANDIDATES: dict[str, dict[str, Any]] = {
    "adaptive, C=1": {"geometry": "adaptive", **ONE},
    "adaptive": {"geometry": "adaptive"},
    "statistics 50, C=3": {"half_life": FADING, **BOLD},
    "statistics 50": {"half_life": FADING},
    "both, C=3": {"half_life": FADING, "geometry": "adaptive", **BOLD},
    "Fourier, C=3": {"kernel": Fourier(512), **BOLD},
}
TIMED = ("letter", "elec2", "20news")
GAIN, COST = 0.98, 1.5
METHOD = (
    "one pass, progressive validation, all labels known. Percent of mistakes for labels; 100 × (1 - average precision) "
    "for sets. no setting: Classifier() or Ranker(), whose answer joins those of its own experts. Every other column: "
    "the joint answer of that learner and one more, named by its settings, by scores and shares as among the experts "
    f'of "auto" (η = {RATE:g}, γ = {FORGETTING:g}); Fourier only on dense rows, elsewhere no setting stands. better of '
    "two: the one of both with fewer mistakes on each stream, known in hindsight only. × time: CPU seconds of both "
    "passes over those of no setting alone, best of 3, mean over the timed streams; an expert within the loop would "
    "save reading rows twice where it reads as the others do"
)


class Tried(NamedTuple):
    """Losses on one stream, in percent: of no setting, with each candidate, and the better of the two alone."""

    stream: RealStream
    alone: float
    joined: dict[str, float]
    better: dict[str, float]


def run(quick: bool) -> Report:
    """Try every candidate on every stream of labels and label sets.

    Parameters
    ----------
    quick : bool
        The first 200 rows, and one repeat for the time.
    """
    streams = [stream for stream in real_streams(200 if quick else MOST) if stream.kind in ESTIMATORS]
    tried = [_try(stream) for stream in streams]
    choosing = [one for one in tried if one.stream.name in CHOOSING]
    others = [one for one in tried if one.stream.name not in CHOOSING]
    if not choosing or not others:
        return Report("experts", MISSING, METHOD)
    times = _times([stream for stream in streams if stream.name in TIMED], 1 if quick else 3)
    chosen = min(CANDIDATES, key=lambda name: _ratio(choosing, name))
    ratio, took = _ratio(others, chosen), times.get(chosen, 1.0)
    answer = Bar(
        f'"auto" goes without an expert that would pay: error ≤ {GAIN:g} × on streams that did not choose it, '
        f"time ≤ {COST:g} ×",
        f"the best, {chosen}: {ratio:.3f} × the error, {took:.2f} × the time",
        ratio > GAIN or took > COST,
    )
    sheets = [
        _sheet("Streams on which the candidate was chosen", choosing),
        _sheet("Streams that had no say in it", others),
        _summary(choosing, others, times),
    ]
    return Report("experts", _data(streams), METHOD, sheets, [answer])


def scores_of(model: Any, stream: RealStream) -> np.ndarray:
    """Scores (rows, labels) of each row before it is learnt."""
    said = np.zeros((len(stream.y), stream.n_labels))
    rows = iter(range(len(said)))
    labels = range(stream.n_labels)

    def before(now: Scored) -> None:
        i = next(rows)
        if now.scores.shape[1]:
            said[i] = now.scores[0]

    right = stream.y.tolist() if stream.kind == "labels" else [np.flatnonzero(row).tolist() for row in stream.y]
    flags = model.declare(labels).learn_rounds(stream.X, right, before=before)[0]
    if stream.kind == "labels" and not np.array_equal(flags == 1, _wrong(said, _right(stream))):
        raise AssertionError(f"what was said of {stream.name} before a row was learnt is not what counted.")
    return said


def joined(said: list[np.ndarray], right: np.ndarray) -> np.ndarray:
    """Scores by which several learners answer together, each round by what they got wrong before it."""
    wrong = np.stack([_wrong(scores, right) for scores in said])
    lost, credit, shares = np.zeros((3, len(said)))
    together = np.zeros_like(said[0])
    for t in range(len(right)):
        share_out(lost, credit, shares)
        for share, scores in zip(shares, said, strict=True):
            together[t] += share * scores[t]
        lost *= FORGETTING
        lost += wrong[:, t]
    return together


def _wrong(scores: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Rounds in which no right label scores above the highest wrong one."""
    best = np.where(right, scores, -np.inf).max(axis=1)
    return best <= np.where(right, -np.inf, scores).max(axis=1)


def _right(stream: RealStream) -> np.ndarray:
    return stream.y if stream.kind == "sets" else np.eye(stream.n_labels, dtype=bool)[stream.y]


def _loss(stream: RealStream, scores: np.ndarray) -> float:
    each = losses(stream, scores) if stream.kind == "sets" else _wrong(scores, _right(stream))
    return 100.0 * float(each.mean())


def _try(stream: RealStream) -> Tried:
    kind, right = ESTIMATORS[stream.kind], _right(stream)
    base = scores_of(kind(), stream)
    found = Tried(stream, _loss(stream, base), {}, {})
    for name, settings in CANDIDATES.items():
        if "kernel" in settings and not stream.dense:
            found.joined[name] = found.better[name] = found.alone
            continue
        said = scores_of(kind(**settings), stream)
        found.joined[name] = _loss(stream, joined([base, said], right))
        found.better[name] = min(found.alone, _loss(stream, said))
    return found


def _ratio(tried: list[Tried], name: str) -> float:
    """Loss with a candidate over that without, geometric mean over streams."""
    return float(np.exp(np.mean([np.log(one.joined[name] / one.alone) for one in tried])))


def _times(streams: list[RealStream], repeats: int) -> dict[str, float]:
    """CPU seconds of a pass without a setting and one with a candidate's over the former, mean over `streams`."""
    ratios: dict[str, list[float]] = {name: [] for name in CANDIDATES}
    for stream in streams:

        def contender(settings: dict[str, Any], stream: RealStream = stream) -> Any:
            def prepare() -> Any:
                model, labels = hinged.Classifier(**settings), range(stream.n_labels)
                return lambda: hinged.evaluate.progressive(model, stream.X, stream.y, classes=labels)

            return prepare

        named = {name: settings for name, settings in CANDIDATES.items() if stream.dense or "kernel" not in settings}
        took = race({"alone": contender({}), **{name: contender(more) for name, more in named.items()}}, repeats)
        for name in named:
            ratios[name].append(1.0 + took[name].seconds / took["alone"].seconds)
    return {name: float(np.mean(found)) for name, found in ratios.items() if found}


def _sheet(title: str, tried: list[Tried]) -> Sheet:
    sheet = Sheet(title, ["stream", "rows", "labels", "no setting", *CANDIDATES])
    for one in tried:
        size: list[Cell] = [one.stream.name, len(one.stream.y), one.stream.n_labels]
        sheet.rows.append([*size, one.alone, *one.joined.values()])
    return sheet


def _summary(choosing: list[Tried], others: list[Tried], times: dict[str, float]) -> Sheet:
    columns = ["one more expert", "where it was chosen", "elsewhere", "better of two, elsewhere", "× time"]
    sheet = Sheet("Error over that of no setting, geometric mean", columns)
    for name in CANDIDATES:
        better = float(np.exp(np.mean([np.log(one.better[name] / one.alone) for one in others])))
        row = [name, f"{_ratio(choosing, name):.3f}", f"{_ratio(others, name):.3f}", f"{better:.3f}"]
        sheet.rows.append([*row, times.get(name)])
    return sheet


def _data(streams: list[RealStream]) -> str:
    apart = sorted(APART & {stream.name for stream in streams})
    return (
        f"the {len(streams)} streams of labels and label sets of any_stream, cut to their first {MOST:,} rows; "
        f"{', '.join(apart)} had no vote in any default"
    )
