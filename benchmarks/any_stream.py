"""Real streams as they come: hinged with no argument and every peer, at its defaults and at the best of a small grid.

One pass with progressive validation: every row is predicted, counted, then learnt. Everybody reads the same rows in
the same order, and knows all labels from the start (River cannot be told).
"""

import math
import warnings
from typing import Any, NamedTuple

import numpy as np

import hinged
from benchmarks.peers.any_stream import PEERS, losses
from benchmarks.real_streams import APART, MOST, RealStream, real_streams
from benchmarks.report import Bar, Cell, Report, Sheet, at_most

PLAIN, OURS = "hinged, plain", "hinged"
BETTER, NEAR, CLOSE = 28 / 30, 25 / 30, 1.03
MISTAKES = {"letter": 29.5, "noaa": 21.5, "elec2": 8.4, "spambase": 9.0}  # percent, at most
MISSING = "none: set HINGED_DATA to the folder of the data sets"
ESTIMATORS: dict[str, Any] = {
    "numbers": hinged.Regressor,
    "ranks": hinged.OrdinalClassifier,
    "sets": hinged.Ranker,
    "labels": hinged.Classifier,
}


def plain(kind: str) -> Any:
    """Return the learner of the papers, rows as they are."""
    rule = "simproj" if kind == "ranks" else "pa1"
    more: dict[str, Any] = {"epsilon": 0.1} if kind == "numbers" else {}
    return ESTIMATORS[kind](rule, C=1.0, scaling=None, bias=0.0, **more)


class Found(NamedTuple):
    """Mean losses on one stream: of hinged, of each peer at its defaults and at its best, and where that was."""

    stream: RealStream
    ours: dict[str, float]
    defaults: dict[str, float]
    best: dict[str, float]
    settings: dict[str, str]

    @property
    def beats_defaults(self) -> bool:
        return all(self.ours[OURS] < loss for loss in self.defaults.values())

    @property
    def over_best(self) -> float:
        """Loss of hinged over that of the best tuned peer."""
        return self.ours[OURS] / max(min(self.best.values()), 1e-12)

    @property
    def rank(self) -> int:
        """Place of hinged among all, from 1."""
        others = [*self.defaults.values(), *self.best.values(), self.ours[PLAIN]]
        return 1 + sum(loss < self.ours[OURS] for loss in others)


def run(quick: bool) -> Report:
    """Learn every stream that is available with everybody.

    Parameters
    ----------
    quick : bool
        The first 500 rows, and 2 settings of each peer.
    """
    found = [compare(stream, 2 if quick else None) for stream in real_streams(500 if quick else MOST)]
    found.sort(key=lambda one: (one.beats_defaults, -one.over_best))
    apart = [one for one in found if one.stream.name in APART]
    voted = [one for one in found if one.stream.name not in APART]
    sheets = [
        _sheet("Streams that had no vote in choosing the defaults", apart),
        _sheet("Streams that had a vote in choosing the defaults", voted),
        _settings(found),
    ]
    return Report("any_stream", _data(found), METHOD, sheets, _bars(found, apart) if found else [])


METHOD = (
    "one pass, progressive validation. Percent of mistakes for labels; 100 × (1 - average precision) for sets; mean "
    'absolute error for numbers and ranks. "best" is the best in hindsight of a peer\'s grid (settings in the last '
    "table). Vowpal Wabbit: --oaa, for two labels --binary with logistic loss; for sets --multilabel_oaa, "
    "tuned also --csoaa; numbers as they are, ranks as rounded numbers. scikit-learn: SGDClassifier and SGDRegressor "
    "with partial_fit, for sets one per label; as they come, but words have unit length, as from HashingVectorizer; "
    'tuned with StandardScaler, log loss and learning_rate="pa1". River: StandardScaler and logistic or linear '
    "regression, one-vs-rest; no scaler on sparse rows. Both are run by a compiled twin that is held to their "
    "own weights and predictions on the first rows of every stream. mord has no partial_fit. "
    "hinged: Classifier(), Ranker(), Regressor(), OrdinalClassifier(), no argument at all; plain: the papers' "
    'learners, rule "pa1" ("simproj" for ranks), C=1, rows as they are. "× best": hinged\'s error over that of the '
    "best tuned peer; place: of hinged among all eight. Where a default of a peer beats hinged, the stream stands first"
)


def compare(stream: RealStream, most: int | None) -> Found:
    """Learn one stream with everybody; `most` settings of each peer."""
    models = {PLAIN: plain(stream.kind), OURS: ESTIMATORS[stream.kind]()}
    ours = {name: float(our_losses(model, stream).mean()) for name, model in models.items()}
    found = Found(stream, ours, {}, {}, {})
    for name, peer in PEERS.items():
        tried = [(_mean(each), setting) for setting, each in peer(stream, most)]
        found.defaults[name] = tried[0][0]
        found.best[name], found.settings[name] = min(tried)
    return found


def our_losses(model: Any, stream: RealStream) -> np.ndarray:
    """Losses of hinged, row by row, each before it is learnt."""
    labels = np.arange(stream.n_labels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a margin out of reach on rows as they come
        if stream.kind == "labels":
            return (hinged.evaluate.progressive(model, stream.X, stream.y, classes=labels).flags == 1).astype(float)
        said = np.zeros((len(stream.y), stream.n_labels if stream.kind == "sets" else 1))
        if stream.kind == "sets":
            model.set_params(n_features=stream.X.shape[1]).declare(labels)
        known = {"classes": labels} if stream.kind == "ranks" else {}
        for i in range(len(stream.y)):
            row = stream.X[i : i + 1]
            if i > 0:
                said[i] = (model.decision_function if stream.kind == "sets" else model.predict)(row)[0]
            y = [np.flatnonzero(stream.y[i]).tolist()] if stream.kind == "sets" else stream.y[i : i + 1]
            model.partial_fit(row, y, **known)
    return losses(stream, said)


def _mean(each: np.ndarray) -> float:
    """Mean loss; infinite where a learner diverged."""
    return float(each.mean()) if np.isfinite(each).all() else math.inf


def _shown(stream: RealStream, loss: float) -> Cell:
    if not math.isfinite(loss) or (stream.kind == "numbers" and loss > 1e6):
        return "diverges"
    return 100 * loss if stream.kind in ("labels", "sets") else loss


def _sheet(title: str, found: list[Found]) -> Sheet:
    peers = [f"{name}{which}" for name in PEERS for which in ("", " best")]
    sheet = Sheet(title, ["stream", "kind", "rows", "columns", "labels", *peers, PLAIN, OURS, "× best", "place"])
    for one in found:
        stream = one.stream
        theirs = [_shown(stream, held[name]) for name in PEERS for held in (one.defaults, one.best)]
        ours = [_shown(stream, one.ours[name]) for name in (PLAIN, OURS)]
        size = [*stream.X.shape, stream.n_labels or None]
        sheet.rows.append([stream.name, stream.about, *size, *theirs, *ours, round(one.over_best, 2), one.rank])
    return sheet


def _settings(found: list[Found]) -> Sheet:
    rows: list[list[Cell]] = [[one.stream.name, *(one.settings[name] for name in PEERS)] for one in found]
    return Sheet("Where each peer was at its best", ["stream", *PEERS], rows)


def _data(found: list[Found]) -> str:
    if not found:
        return MISSING
    return (
        f"{len(found)} real streams, cut to their first {MOST:,} rows (mnist {MOST // 2:,}); in the order of time or "
        "of their files, or shuffled (isolet, yale_b, spambase, california, scikit-learn's own sets, boston and the "
        "ranks; ocr_letters by word; seed 0). Values as they are; mail, 20 Newsgroups and the Reuters stories with one "
        "topic as counts of words. Rows of sets with no or all labels are left out. "
        f"{', '.join(sorted(APART))} were looked at only once the defaults were chosen; all others had a vote"
    )


def _bars(found: list[Found], apart: list[Found]) -> list[Bar]:
    labels = [one for one in found if one.stream.kind in ("labels", "sets")]

    def bar(promise: str, share: float, good: Any) -> Bar:
        least, met, of_labels = round(share * len(found)), sum(map(good, found)), sum(map(good, labels))
        measured = (
            f"{met} of {len(found)}; of labels and label sets {of_labels} of {len(labels)}, of those without a vote "
            f"{sum(map(good, apart))} of {len(apart)}"
        )
        enough = met >= least and of_labels >= round(share * len(labels))
        return Bar(f"{promise} on at least {least} of {len(found)} streams", measured, enough)

    return [
        bar("hinged better than every peer's defaults", BETTER, lambda one: one.beats_defaults),
        bar("hinged at most 3 % above the best tuned peer", NEAR, lambda one: one.over_best <= CLOSE),
        *(
            at_most(f"hinged, no setting, {name}, mistakes", 100 * one.ours[OURS], MISTAKES[name], "%")
            for name, one in ((one.stream.name, one) for one in found)
            if name in MISTAKES
        ),
    ]
