"""Multilabel ranking on real data: every update and geometry, simproj and hybrid, compared with one-vs-rest learners.

Each learner's setting is the best one on the first tenth of the stream. A new learner with this setting then learns the
whole stream and is evaluated on the other nine tenths, each row before it is learnt.
"""

import math
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

import hinged
from benchmarks.peers import scikit_learn, vowpal_wabbit
from benchmarks.report import Report, Sheet
from hinged.evaluate.metrics import ranking_metrics
from hinged.files.judging import judge
from hinged.io.examples.chunk import Chunk
from hinged.text import Vocabulary

UPDATES = {"perceptron": "I", "pa1": "II", "optimal": "III"}
PERCEPTRON = [{"C": 1.0, "bias": bias} for bias in (0.0, 1.0)]  # whose predictions do not depend on C
EUCLIDEAN = [{"C": C, "bias": bias} for C, bias in product((0.01, 0.1, 1.0, 10.0), (0.0, 1.0))]
ENTROPIC = [
    {"C": C, "bias": bias, "radius": radius}
    for C, bias, radius in product((0.1, 1.0, 10.0, 100.0), (0.0, 1.0), (2.0, 10.0, 50.0))
]
VW = [f"--loss_function {loss} -l {rate}" for loss, rate in product(("hinge", "logistic"), (0.1, 0.5, 2))]
REPEATS = 3
MEASURES = ["one-error", "ranking loss", "average precision", "coverage", "F1 of sets"]
DATA = (
    "the sets of the MULAN collection in the order of their files, and Reuters-21578 (title and body as binary words) "
    "in the order of time"
)
MISSING = "none: set HINGED_DATA to the folder that holds multilabel_mulan and reuters21578"
METHOD = (
    "one pass with progressive validation; all labels known. Settings are the best on the first tenth by average "
    "precision (Vowpal Wabbit: by F1), from C 0.01, 0.1, 1, 10 and bias 0, 1 (Euclidean, scikit-learn), C 0.1, 1, "
    "10, 100, bias 0, 1 and radius 2, 10, 50 (entropy), hinge or logistic loss and rate 0.1, 0.5, 2 (Vowpal Wabbit); "
    "measured on the other nine tenths. Real columns are standardised on the first tenth; rows have unit length, but "
    "binary rows stay binary under entropy and for Vowpal Wabbit. Rows with no or all labels have nothing to rank "
    "and are left out of all measures. F1 is the micro-averaged F1 of predicted sets: hinged's above the learnt "
    "threshold, scikit-learn's above 0; Vowpal Wabbit predicts only sets. Seconds: CPU time of the whole pass, "
    "best of 3 (scikit-learn: a Numba twin, checked against its coefficients; Vowpal Wabbit: from its cache)"
)


class Rows(NamedTuple):
    """A stream: rows as stored, rows of unit length, and which labels are right."""

    name: str
    raw: sparse.csr_array
    unit: sparse.csr_array
    Y: np.ndarray
    dense: bool

    @property
    def tenth(self) -> int:
        return len(self.Y) // 10

    @property
    def counted(self) -> np.ndarray:
        """Rows that have something to rank; `judge` leaves out the others."""
        return self.Y.any(axis=1) & ~self.Y.all(axis=1)

    def head(self) -> "Rows":
        n = self.tenth
        return self._replace(raw=self.raw[:n], unit=self.unit[:n], Y=self.Y[:n])


class Outcome(NamedTuple):
    """Metrics on the evaluated rows, and CPU seconds of the whole pass; None for metrics that are not available."""

    one_error: float | None
    ranking_loss: float | None
    average_precision: float | None
    coverage: float | None
    f1: float
    seconds: float


def run(quick: bool) -> Report:
    """Train every learner on every available data set.

    Parameters
    ----------
    quick : bool
        The first 200 rows of the two smallest sets, and 2 settings of each learner.
    """
    sheets = []
    for rows in _streams(quick):
        title = f"{rows.name}: {len(rows.Y):,} rows, {rows.raw.shape[1]:,} features, {rows.Y.shape[1]} labels"
        sheet = Sheet(title, ["learner", *MEASURES, "s", "chosen"])
        scikit_learn.check_sets_twin(rows.head().unit, rows.head().Y, 0.1)
        for name, settings, learn in _learners(rows, 2 if quick else None):
            chosen = max(settings, key=lambda one: _worth(learn(rows.head(), one, 0, False)))
            got = learn(rows, chosen, rows.tenth, True)
            sheet.rows.append([name, *got, _shown(chosen)])
        sheets.append(sheet)
    return Report("multilabel", DATA if sheets else MISSING, METHOD, sheets)


def _streams(quick: bool) -> Iterator[Rows]:
    try:
        names = hinged.datasets.multilabel_names()
    except FileNotFoundError:
        return
    for name in ("birds", "emotions") if quick else names:
        held = hinged.datasets.multilabel(name)
        dense = not sparse.issparse(held.X)
        X = np.asarray(held.X, np.float64) if dense else held.X.astype(np.float64)
        if dense:
            head = X[: len(X) // 10]
            X = sparse.csr_array((X - head.mean(axis=0)) / np.where(head.std(axis=0) > 0, head.std(axis=0), 1.0))
        yield _rows(name, X[:200] if quick else X, held.Y[:200] if quick else held.Y, dense)
    if not quick:
        stories = hinged.datasets.reuters()
        topics = sorted({topic for some in stories.topics for topic in some})
        Y = np.array([[topic in some for topic in topics] for some in map(set, stories.topics)])
        X = sparse.csr_array(Vocabulary().fit_transform(stories.texts), dtype=np.float64)
        yield _rows("reuters21578", X, Y, False)


def _rows(name: str, X: sparse.csr_array, Y: np.ndarray, dense: bool) -> Rows:
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    unit = sparse.csr_array(sparse.diags_array(1.0 / np.where(lengths > 0, lengths, 1.0)) @ X)
    return Rows(name, unit if dense else X, unit, Y, dense)


Learn = Callable[[Rows, Any, int, bool], Outcome]


def _learners(rows: Rows, most: int | None) -> Iterator[tuple[str, list[Any], Learn]]:
    """Yield each learner's name, its grid of settings, and a function that trains with one of them."""
    for rule, update in UPDATES.items():
        settings = PERCEPTRON if rule == "perceptron" else EUCLIDEAN
        yield f"{update}, Euclidean ({rule})", settings[:most], _ours(rule)
    for rule, update in UPDATES.items():
        yield f"{update}, entropy ({rule})", ENTROPIC[:most], _ours(rule)
    yield "simproj", EUCLIDEAN[:most], _ours("simproj")
    yield "pa1, hybrid", EUCLIDEAN[:most], _ours("pa1", sharing="hybrid", features="frequency")
    yield "scikit-learn, PA-I per label", EUCLIDEAN[:most], _one_vs_rest
    yield "Vowpal Wabbit, --multilabel_oaa", VW[:most], _vowpal_wabbit


def _ours(rule: str, **more: Any) -> Learn:
    def learn(rows: Rows, setting: dict[str, float], skip: int, timed: bool) -> Outcome:
        own = dict(setting)
        X = rows.unit
        if "radius" in own:
            X, own["geometry"] = rows.raw, hinged.geometry.Entropy(own.pop("radius"), signed=rows.dense)
        sets = [np.flatnonzero(right).tolist() for right in rows.Y]
        labels = range(rows.Y.shape[1])

        def fresh() -> Any:
            return hinged.Ranker(rule, n_features=X.shape[1], scaling=None, **own, **more).declare(labels)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a margin out of reach is one of the settings tried
            model, judged = fresh(), None
            for start, stop in ((0, skip), (skip, len(sets))):
                if stop > start:
                    part = X[start:stop]
                    columns = part.indptr, part.indices, part.data
                    chunk = Chunk(list(sets[start:stop]), np.arange(start, stop), rows.name, columns=columns)
                    judged = judge(model, [chunk], learns=True)
            assert judged is not None
            assert judged.ranking is not None
            seconds = math.inf
            for _ in range(REPEATS if timed else 0):
                model, began = fresh(), time.process_time()
                hinged.evaluate.progressive(model, X, sets)
                seconds = min(seconds, time.process_time() - began)
        hit, said, given = (sum(count.values()) for count in (judged.hit, judged.said, judged.given))
        ranked = judged.ranking
        means = ranked.one_error, ranked.ranking_loss, ranked.average_precision, ranked.coverage
        return Outcome(*map(float, means), 2 * hit / max(1, said + given), seconds)

    return learn


def _one_vs_rest(rows: Rows, setting: dict[str, float], skip: int, timed: bool) -> Outcome:
    X = rows.unit
    if setting["bias"]:
        X = sparse.csr_array(sparse.hstack([X, np.full((X.shape[0], 1), setting["bias"])]))
    seconds = math.inf
    for _ in range(REPEATS if timed else 1):
        began = time.process_time()
        scores, _ = scikit_learn.online_scores(X, rows.Y, setting["C"])
        seconds = min(seconds, time.process_time() - began)
    Y, scores = (part[skip:][rows.counted[skip:]] for part in (rows.Y, scores))
    found = ranking_metrics(scores, Y)
    means = found.one_error, found.ranking_loss, found.average_precision, found.coverage
    return Outcome(*(float(values.mean()) for values in means), _f1(scores > 0, Y), seconds)


def _vowpal_wabbit(rows: Rows, options: str, skip: int, timed: bool) -> Outcome:
    said, seconds = vowpal_wabbit.predicted_sets(rows.raw, rows.Y, options, REPEATS if timed else 0)
    said, Y = (part[skip:][rows.counted[skip:]] for part in (said, rows.Y))
    return Outcome(None, None, None, None, _f1(said, Y), seconds)


def _f1(said: np.ndarray, right: np.ndarray) -> float:
    return float(2 * (said & right).sum() / max(1, said.sum() + right.sum()))


def _worth(outcome: Outcome) -> float:
    return outcome.f1 if outcome.average_precision is None else outcome.average_precision


def _shown(setting: Any) -> str:
    if isinstance(setting, str):
        return setting.removeprefix("--loss_function ")
    return ", ".join(f"{name} {value:g}" for name, value in setting.items())
