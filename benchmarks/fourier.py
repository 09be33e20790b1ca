"""Random features: mistakes beside the linear and the exact learner, and time a row beside other libraries."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

import hinged
from benchmarks.real_streams import RealStream, real_streams
from benchmarks.report import Bar, Cell, Report, Sheet, at_least
from benchmarks.timing import Contender, race
from hinged.mercer import Budget, Fourier, Gaussian, Products

SIZES, SHAPES, COUNTS = (128, 512, 2048), (8, 16, 64), (128, 512, 1024)
#: Streams that were looked at while gamma="scale", the pairs of cos and sin and n=512 were chosen, and others.
VOTED = frozenset({"letter", "elec2", "spambase"})
UNSEEN = frozenset({"noaa", "usps", "isolet", "ocr_letters", "digits", "breast_cancer"})
#: Sparse streams that were looked at while the settings of Products were chosen, and others.
SPARSE_VOTED = frozenset(
    {"a9a", "spambase > 0", "chunks", "rcv1_small", "reuters", "20news", "farmer-d", "bibtex (sets)", "corel5k (sets)"}
)
SPARSE_UNSEEN = frozenset(
    {"letter > 7", "digits > 7", "ocr_letters > 0", "kaminski-v", "enron (sets)", "delicious (sets)"}
)
BUDGET, MOST, SPEED_ROWS, FEW, SEED = 500, 10_000, 1000, 50, 0
ABOVE = {"spambase": 0, "letter": 7, "digits": 7, "ocr_letters": 0}  # columns that are read as larger or not
PEERS = ("scikit-learn", "River")
FASTER, BETTER = 5.0, 5


def run(quick: bool) -> Report:
    """Learn dense streams with and without features, then time rows of several widths.

    Parameters
    ----------
    quick : bool
        The first 500 rows of each stream, one width and one repeat.
    """
    known = list(real_streams(500 if quick else MOST))
    streams = [each for each in known if each.name in VOTED | UNSEEN]
    wrong = Sheet("Percent of mistakes in one pass", ["stream", "vote", "columns", "linear", *map(_named, SIZES)])
    wrong.columns += [f"Gaussian, {BUDGET} rows", "Gaussian", "rows it keeps"]
    for stream in sorted(streams, key=lambda each: (each.name not in VOTED, each.name)):
        wrong.rows.append(_mistakes(stream))
    short = _sparse(known)
    speed, ratio = _speed(SHAPES[:1] if quick else SHAPES, COUNTS[:1] if quick else COUNTS, 1 if quick else 3)
    return Report(
        "fourier",
        f"the first {MOST:,} rows of dense streams of labels; for the time, {SPEED_ROWS:,} rows of normal "
        f"columns, the label by the distance from the middle; seed {SEED}",
        "one pass, each row predicted, then learnt. Linear and Fourier: Classifier() with no other setting. Gaussian: "
        f"PA-I, C=1, gamma = 1/columns on rows standardised over the whole stream; {BUDGET} rows: the oldest goes. "
        "Time: best CPU time of interleaved repeats; hinged in one call of partial_fit, or predict_one and learn_one; "
        "scikit-learn: StandardScaler, RBFSampler, SGDClassifier with the pa1 step; River: StandardScaler, RBFSampler, "
        f"one PA-I per label; both a row at a time, on {FEW} rows",
        [wrong, short, speed],
        [_faster(ratio), *([] if quick else [_better(wrong)])],
    )


def _faster(ratio: float) -> Bar:
    return at_least("features learnt a row at a time, speed over scikit-learn and River", ratio, FASTER)


def _better(wrong: Sheet) -> Bar:
    """Count the streams without a vote on which the largest number of features errs less than the linear learner."""
    linear, most = wrong.columns.index("linear"), wrong.columns.index(_named(SIZES[-1]))
    fewer = [float(str(row[most])) < float(str(row[linear])) for row in wrong.rows if row[1] == "no"]
    promise = f"streams without a vote on which {_named(SIZES[-1])} errs less than linear, of {len(fewer)}"
    return Bar(f"{promise}: at least {min(BETTER, len(fewer))}", str(sum(fewer)), sum(fewer) >= min(BETTER, len(fewer)))


def _named(n: int) -> str:
    return f"Fourier({n})"


def _mistakes(stream: RealStream) -> list[Cell]:
    """Percent of mistakes of every learner on one stream."""
    labels = np.arange(stream.n_labels)

    def rate(model: Any, X: np.ndarray) -> float:
        return 100 * float((hinged.evaluate.progressive(model, X, stream.y, classes=labels).flags == 1).mean())

    vote = "yes" if stream.name in VOTED else "no"
    row: list[Cell] = [stream.name, vote, stream.X.shape[1], rate(hinged.Classifier(), stream.X)]
    row += [rate(hinged.Classifier(kernel=Fourier(n)), stream.X) for n in SIZES]
    spread = stream.X.std(axis=0)
    X = np.clip((stream.X - stream.X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), -5, 5)
    kernel = Gaussian(1.0 / X.shape[1])
    row.append(rate(hinged.Classifier("pa1", C=1.0, kernel=kernel, budget=Budget(BUDGET, "oldest")), X))
    exact = hinged.Classifier("pa1", C=1.0, kernel=kernel)
    return [*row, rate(exact, X), len(exact.support_)]


def _sparse(streams: list[RealStream]) -> Sheet:
    """Percent of mistakes on sparse rows, without products of their values and with them."""
    makes = {"linear": None, "Products()": Products(), "Products(weight=1)": Products(weight=1.0)}
    sheet = Sheet(
        "Percent of mistakes on sparse rows in one pass", ["stream", "vote", "columns", "values a row", *makes]
    )
    found = [_above(each, least) for each in streams for name, least in ABOVE.items() if each.name == name]
    for stream in sorted([*streams, *found], key=lambda each: (each.name not in SPARSE_VOTED, each.name)):
        if stream.name not in SPARSE_VOTED | SPARSE_UNSEEN:
            continue
        estimator = hinged.Ranker if stream.kind == "sets" else hinged.Classifier
        y = [np.flatnonzero(row).tolist() for row in stream.y] if stream.kind == "sets" else stream.y
        vote = "yes" if stream.name in SPARSE_VOTED else "no"
        row: list[Cell] = [stream.name, vote, stream.X.shape[1], stream.csr().nnz / stream.X.shape[0]]
        for kernel in makes.values():
            told = hinged.evaluate.progressive(estimator(kernel=kernel), stream.X, y, classes=range(stream.n_labels))
            row.append(100 * float((told.flags == 1).mean()))
        sheet.rows.append(row)
    return sheet


def _above(stream: RealStream, least: float) -> RealStream:
    """Which columns are larger than a number, as sparse rows of ones."""
    X = sparse.csr_array(np.greater(stream.X, least).astype(np.float64))
    return stream._replace(name=f"{stream.name} > {least}", X=X)


def _speed(shapes: tuple[int, ...], counts: tuple[int, ...], repeats: int) -> tuple[Sheet, float]:
    """Microseconds a row by columns and features; and how many times longer the faster peer takes, at least."""
    rng, least = np.random.default_rng(SEED), np.inf
    sheet = Sheet("Microseconds a row", ["columns", "n"])
    for d in shapes:
        X = rng.normal(size=(SPEED_ROWS, d))
        y = np.digitize((X**2).sum(axis=1), d + np.sqrt(2 * d) * np.array([-0.7, 0.0, 0.7]))
        for n in counts:
            times = race(dict(_contenders(X, y, n)), repeats)
            each = {name: 1e6 * timed.seconds / (FEW if name in PEERS else SPEED_ROWS) for name, timed in times.items()}
            sheet.columns = ["columns", "n", *each]
            sheet.rows.append([d, n, *each.values()])
            least = min(least, min(each[name] for name in PEERS) / each["learn_one"])
    return sheet, float(least)


def _contenders(X: np.ndarray, y: np.ndarray, n: int) -> Iterator[tuple[str, Contender]]:
    """Everybody with n features, or with as many past rows as the budget allows."""
    makers: dict[str, Callable[[], Any]] = {
        "linear": hinged.Classifier,
        "pa1": partial(hinged.Classifier, "pa1", C=1.0, average=False, kernel=Fourier(n)),
        "no setting": partial(hinged.Classifier, kernel=Fourier(n)),
        f"Gaussian, {BUDGET} rows": partial(
            hinged.Classifier, "pa1", C=1.0, kernel=Gaussian(1.0 / X.shape[1]), budget=Budget(BUDGET, "oldest")
        ),
    }
    for name, make in makers.items():
        yield name, lambda make=make: partial(make().partial_fit, X, y)
    yield "learn_one", lambda: partial(_one_by_one, hinged.Classifier(kernel=Fourier(n)), X, y)
    for name, peer in zip(PEERS, (_scikit_learn, _river), strict=True):
        yield name, lambda peer=peer: partial(peer, X[:FEW], y[:FEW], n)


def _one_by_one(model: Any, X: np.ndarray, y: np.ndarray) -> None:
    """Predict, then learn, a row at a time."""
    for x, label in zip(X, y.tolist(), strict=True):
        if model.known_labels():
            model.predict_one(x)
        model.learn_one(x, label)


def _scikit_learn(X: np.ndarray, y: np.ndarray, n: int) -> None:
    from sklearn.kernel_approximation import RBFSampler
    from sklearn.linear_model import SGDClassifier
    from sklearn.preprocessing import StandardScaler

    scale, learner = StandardScaler(), SGDClassifier(loss="hinge", penalty=None, learning_rate="pa1", eta0=1.0)
    features, labels = RBFSampler(gamma=1.0 / X.shape[1], n_components=n, random_state=SEED).fit(X[:1]), np.unique(y)
    for i in range(len(X)):
        row, label = X[i : i + 1], y[i : i + 1]
        z = features.transform(scale.partial_fit(row).transform(row))
        if i:
            learner.predict(z)
        learner.partial_fit(z, label, classes=labels)


def _river(X: np.ndarray, y: np.ndarray, n: int) -> None:
    from river import compose, feature_extraction, linear_model, multiclass, preprocessing

    model = compose.Pipeline(
        preprocessing.StandardScaler(),
        feature_extraction.RBFSampler(gamma=1.0 / X.shape[1], n_components=n, seed=SEED),
        multiclass.OneVsRestClassifier(linear_model.PAClassifier(C=1.0, mode=1, learn_intercept=False)),
    )
    for x, label in zip(X, y.tolist(), strict=True):
        named = dict(enumerate(x.tolist()))
        model.predict_one(named)
        model.learn_one(named, label)
