"""One table of every estimator, with its kernels, tasks and sharing schemes: a stream to learn, and questions to ask.

Labels, names and columns appear over time, for that is when memory is replaced.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError
from tests import plain as papers

import hinged
from hinged.mercer import Budget, Centred, Fourier, Gaussian, Polynomial, Products

WIDTH, LABELS = 60, 24


class Learner(NamedTuple):
    """A row of the table."""

    make: Callable[[], Any]  # a fresh estimator
    stream: Callable[[], list[tuple[Any, Any]]]  # batches of rows and answers
    ask: Callable[[Any, Any], float]  # asks every question, checks the answers, returns the largest score
    bad: Any  # a row that is refused
    within: float | None = None  # no score may be larger; by default, a few times what a quiet model answers


# ------------------------------------------------------------------ streams
def dense(answer, dtype=np.float64, width=WIDTH, batches=30, grows=False):
    """Rows of a matrix; where it `grows`, a batch has no more columns than have been used so far."""

    def stream():
        rng = np.random.default_rng(1)
        made = []
        for t in range(batches):
            X = rng.normal(size=(6, width)).astype(dtype)
            reach = 5 + (width - 5) * t // batches
            X[:, reach:] = 0.0
            made.append((X[:, :reach] if grows else X, [answer(t, x) for x in X]))
        return made

    return stream


def by_name(stream):
    """The same rows as dicts, so that names appear over time too."""

    def named():
        return [([{f"w{c}": float(x[c]) for c in np.flatnonzero(x)[:12]} for x in X], y) for X, y in stream()]

    return named


def as_sparse(stream):
    """The same rows as sparse matrices, each with a few columns that nobody had before."""

    def compressed():
        made = []
        for t, (X, y) in enumerate(stream()):
            X = X.copy()
            X[:, 12:] *= np.arange(X.shape[1] - 12) // 8 == t % 30
            made.append((sparse.csr_array(X), y))
        return made

    return compressed


def label(t, x):
    return f"label {int(abs(x[0]) * 1000) % (2 + (LABELS - 2) * t // 30)}"


def two_labels(t, x):
    return "yes" if x[0] > 0.0 and t > 0 else "no"


def rank(t, x):
    return (t // 3) * (1 if x[0] > 0.0 else -1)  # new ones lie below or above all others


def number(t, x):
    return float(x[0] - 2.0 * x[1])


def labels(t, x):
    return {label(t, x), label(t, x[1:])}


def texts(answer):
    def stream():
        rng = np.random.default_rng(2)
        made = []
        for t in range(30):
            words = rng.integers(0, 10 + 8 * t, (6, 8))
            made.append(
                ([" ".join(f"word{w}" for w in row) for row in words], [answer(t, row / 100.0) for row in words])
            )
        return made

    return stream


def sentences(as_matrices=False):
    def stream():
        rng = np.random.default_rng(3)
        made = []
        for t in range(30):
            words = [rng.integers(0, 6 + 3 * t, 5) for _ in range(4)]
            tags = [[f"tag {w % (2 + t // 2)}" for w in sentence] for sentence in words]
            if as_matrices:
                made.append(([np.eye(100)[sentence] for sentence in words], tags))
            else:
                made.append(([[[f"w={w}", f"ends={w % 7}"] for w in sentence] for sentence in words], tags))
        return made

    return stream


def trials(grows):
    def stream():
        rng = np.random.default_rng(4)
        made = []
        for t in range(30):
            width = 5 + 2 * t if grows else 20
            X = [rng.normal(size=(3, width)) for _ in range(4)]
            made.append((X, [np.where(x[:, 0] > 0.0, 1, -1) for x in X]))
        return made

    return stream


# ------------------------------------------------------------------ questions
def finite(*values):
    return max((largest for value in values if (largest := _largest(value)) is not None), default=0.0)


def _largest(value):
    value = value.data if sparse.issparse(value) else np.asarray(value, np.float64)
    assert np.isfinite(value).all(), value
    return float(np.abs(value).max()) if value.size else None


def one_of(X):
    return X[0] if isinstance(X, list) else X[:1]


def about_labels(model, X):
    known = {f"label {r}" for r in range(LABELS)}
    for answer in model.predict(X):
        assert (answer if isinstance(answer, set) else {answer}) <= known
    if hasattr(model, "cost"):
        assert model.predict_one(one_of(X)) is not None
    scores, sure = model.decision_function(X), model.confidence(X)
    assert ((sure >= 0.0) & (sure <= 1.0)).all()
    assert (model.score_gap(X) >= 0.0).all()
    orders = model.rank(X)
    assert all(len(set(order)) == len(order) for order in orders)
    order = model.rank_one(one_of(X))
    if not order:
        raise NotFittedError("no label is known yet")
    mixed = isinstance(model.kernel, Fourier | Products)  # several columns in each feature: nothing to explain
    reasons = [] if mixed else [model.explain(one_of(X), label, top=None) for label in (order[0], order[-1])]
    sums = [sum(value for _, value in reason) for reason in reasons]
    if model.kernel is None or mixed:
        found = [] if getattr(model, "sharing", None) == "single" else [model.coef_]
        finite(*found)
    else:
        finite(model.dual_coef_)
        assert (model.support_ >= 0).all()
    return finite(scores, sums)


def about_columns(model, X):
    """A Ranker that was taught an indicator matrix."""
    predicted = model.predict(X)
    assert predicted.shape == (len(X), LABELS)
    assert np.isin(predicted, (0, 1)).all()
    return finite(model.decision_function(X))


def about_scores(model, X):
    assert set(model.predict(X).tolist()) <= set(model.classes_.tolist())
    scores = model.decision_function(X)
    assert model.predict_one(one_of(X)) is not None
    return finite(scores, sum(value for _, value in model.explain(one_of(X), top=None)), *weights_of(model))


def about_numbers(model, X):
    found = model.predict(X), model.predict_one(one_of(X))
    return finite(*found, sum(value for _, value in model.explain(one_of(X), top=None)), *weights_of(model))


def weights_of(model):
    return [model.dual_coef_] if getattr(model, "kernel", None) is not None else [model.coef_]


def about_the_ball(model, X):
    apart, inside = model.score_samples(X), model.decision_function(X)
    assert set(model.predict(X).tolist()) <= {-1, 1}
    assert inside.max() <= model.radius_ + 1e-9 or model.radius == "learn"
    reasons = model.explain(one_of(X), top=None)
    length = sum(value * value for _, value in reasons) ** 0.5
    return finite(apart, length, np.linalg.norm(model.center_))


def about_tags(model, X):
    for tags, sentence in zip(model.predict(X), X, strict=True):
        assert len(tags) == len(sentence)
        assert all(tag.startswith("tag ") for tag in tags)
    best = model.rank(X[:1], top=3)[0]
    reason = model.explain(X[0], 1) if isinstance(X[0], list) else []
    return finite(*model.decision_function(X), [score for _, score in best], [value for _, value in reason])


def about_trials(model, X):
    for answer in model.predict(X):
        assert np.isin(answer, (-1, 1)).all()
    return finite(*[model.decision_function(x) for x in X], model.coef_)


def shared_words(x, name):
    """Label features of the user's own."""
    return {f"{name} {feature}": value for feature, value in list(x.items())[:3]} | {"all": 1.0}


def of_products(A, B):
    """A kernel of the user's own."""
    return (A @ B.T + 1.0) ** 2


# ------------------------------------------------------------------ the table
def grouped():
    return hinged.sharing.Groups([{f"label {r}" for r in range(first, LABELS, 3)} for first in range(3)])


def many(name, make, answers, ask, **more):
    """The same learner on matrices that grow wider, on sparse ones, and on dicts."""
    rows = dense(answers)
    return {
        f"{name}, matrix": Learner(make, dense(answers, grows=True), ask, np.full(WIDTH, np.nan), **more),
        f"{name}, sparse": Learner(make, as_sparse(rows), ask, np.full((1, WIDTH), np.nan), **more),
        f"{name}, dicts": Learner(make, by_name(rows), ask, {"w1": np.nan}, **more),
    }


def classifier(**settings):
    return lambda: hinged.Classifier(**settings)


def one(make, stream, ask, bad=None, **more):
    return Learner(make, stream, ask, np.full(WIDTH, np.nan) if bad is None else bad, **more)


NAN_ROW = {"w1": np.nan}
LABELLED, NAMED = dense(label), by_name(dense(label))
LEARNERS: dict[str, Learner] = {
    **many("classifier", classifier(), label, about_labels),
    **many("plain classifier", papers.Classifier, label, about_labels),
    **many("classifier average", classifier(average=True, scaling="idf", normalize=True), label, about_labels),
    **many("classifier standard", classifier(scaling="standard", bias=0.5), label, about_labels),
    "classifier simproj": one(classifier(rule="simproj"), LABELLED, about_labels),
    "classifier cost": one(classifier(cost=lambda a, b: (a != b) + (a < b)), NAMED, about_labels, NAN_ROW),
    "hybrid frequency": one(classifier(sharing="hybrid", features="frequency"), NAMED, about_labels, NAN_ROW),
    "hybrid tfidf": one(classifier(sharing="hybrid", features="tfidf", average=True), LABELLED, about_labels),
    "single distance": one(classifier(sharing="single", features="distance"), NAMED, about_labels, NAN_ROW),
    "single first": one(classifier(sharing="single", features="first"), LABELLED, about_labels),
    "adaptive": one(classifier(geometry="adaptive"), LABELLED, about_labels),
    "adaptive hybrid": one(
        classifier(geometry="adaptive", sharing="hybrid", features="frequency"), NAMED, about_labels, NAN_ROW
    ),
    "fading": one(classifier(half_life=9.0), NAMED, about_labels, NAN_ROW),
    "evidence": one(classifier(sharing="hybrid", features="evidence"), NAMED, about_labels, NAN_ROW),
    "fourier": one(classifier(kernel=Fourier(32)), LABELLED, about_labels),
    "products": one(classifier(kernel=Products(8)), as_sparse(dense(label)), about_labels),
    "groups": one(lambda: hinged.Classifier(sharing=grouped()), NAMED, about_labels, NAN_ROW),
    "own features": one(classifier(sharing="single", features=shared_words), NAMED, about_labels, NAN_ROW),
    "hybrid own features": one(classifier(sharing="hybrid", features=shared_words), LABELLED, about_labels),
    "entropy": one(classifier(geometry="entropy", margin=0.5), LABELLED, about_labels, within=6.0),
    "entropy average": one(
        classifier(geometry="entropy", margin=0.5, average=True), LABELLED, about_labels, within=6.0
    ),
    **many("gaussian", classifier(kernel=Gaussian(0.1)), label, about_labels),
    "scaled gaussian": one(classifier(kernel=Gaussian("scale")), LABELLED, about_labels),
    "polynomial": one(classifier(kernel=Polynomial(1.0, 2), normalize=True), NAMED, about_labels, NAN_ROW),
    "wide rows": one(classifier(kernel=Gaussian(0.1)), as_sparse(dense(label, width=700)), about_labels),
    "own kernel": one(classifier(kernel=of_products), LABELLED, about_labels),
    "centred single": one(classifier(kernel=Centred(0.1), sharing="single"), NAMED, about_labels, NAN_ROW),
    "centred hybrid": one(
        classifier(kernel=Centred(0.1), sharing="hybrid"), dense(label, grows=True), about_labels
    ),
    "budget": one(classifier(kernel=Gaussian(0.1), budget=20), LABELLED, about_labels),
    "budget project": one(classifier(kernel=Gaussian(0.1), budget=Budget(20, "project")), NAMED, about_labels, NAN_ROW),
    "budget centred": one(
        classifier(kernel=Centred(0.1), sharing="single", budget=20), LABELLED, about_labels
    ),
    **many("ranker", hinged.Ranker, labels, about_labels),
    "ranker kernel": one(lambda: hinged.Ranker(kernel=Gaussian(0.1)), dense(labels, grows=True), about_labels),
    "ranker columns": one(
        hinged.Ranker, lambda: [(X, indicator(y)) for X, y in dense(labels)()], about_columns
    ),
    **many("binary", hinged.BinaryClassifier, two_labels, about_scores),
    **many("plain binary", papers.BinaryClassifier, two_labels, about_scores),
    **many("binary average", lambda: hinged.BinaryClassifier(average=True), two_labels, about_scores),
    "binary fading": one(lambda: hinged.BinaryClassifier(half_life=9.0), by_name(dense(two_labels)), about_scores),
    "binary adaptive": one(
        lambda: hinged.BinaryClassifier(geometry="adaptive"), by_name(dense(two_labels)), about_scores, NAN_ROW
    ),
    "binary idf": one(
        lambda: hinged.BinaryClassifier(scaling="idf", normalize=True, bias=1.0),
        by_name(dense(two_labels)),
        about_scores,
        NAN_ROW,
    ),
    **many("binary kernel", lambda: hinged.BinaryClassifier(kernel=Gaussian(0.1)), two_labels, about_scores),
    **many("binary auto", lambda: hinged.BinaryClassifier(C="auto", scaling="standard"), two_labels, about_scores),
    **many("plain regressor", papers.Regressor, number, about_numbers),
    **many("regressor", hinged.Regressor, number, about_numbers),
    **many(
        "regressor auto",
        lambda: hinged.Regressor(C="auto", epsilon="auto", scaling="standard", target_scaling="standard"),
        number,
        about_numbers,
    ),
    "regressor average": one(lambda: hinged.Regressor(average=True), dense(number, grows=True), about_numbers),
    "regressor kernel": one(lambda: hinged.Regressor(kernel=Gaussian(0.1)), dense(number, grows=True), about_numbers),
    **many("plain ranker", papers.Ranker, labels, about_labels),
    **many("plain ordinal", papers.OrdinalClassifier, rank, about_scores),
    **many("ordinal", hinged.OrdinalClassifier, rank, about_scores),
    "ordinal average": one(lambda: hinged.OrdinalClassifier(average=True), by_name(dense(rank)), about_scores, NAN_ROW),
    **many("uniclass", lambda: hinged.Uniclass(C=5.0), number, about_the_ball, within=30.0),
    "uniclass pa": one(lambda: hinged.Uniclass("pa", radius=1e-9), dense(number), about_the_ball, within=30.0),
    "uniclass radius": one(
        lambda: hinged.Uniclass(radius="learn", max_radius=9.0), dense(number), about_the_ball, within=30.0
    ),
    "uniclass float32": one(hinged.Uniclass, dense(number, np.float32), about_the_ball, within=30.0),
    "tagger": one(hinged.SequenceTagger, sentences(), about_tags, [3]),
    "tagger adaptive": one(lambda: hinged.SequenceTagger(geometry="adaptive"), sentences(), about_tags, [3]),
    "tagger average": one(lambda: hinged.SequenceTagger(average=True), sentences(), about_tags, [3]),
    "tagger matrices": one(hinged.SequenceTagger, sentences(True), about_tags, np.full((5, 100), np.nan)),
    "tagger cost": one(lambda: hinged.SequenceTagger(cost=different), sentences(), about_tags, [3]),
    "trials": one(hinged.Trials, trials(True), about_trials, np.full((3, 5), np.nan)),
    "trials entropy": one(
        lambda: hinged.Trials(geometry=hinged.geometry.Entropy(radius=5.0)), trials(False), about_trials,
        np.full((3, 20), np.nan), within=30.0
    ),
    "text": one(hinged.TextClassifier, texts(label), about_labels, 3),
    "hashed text": one(lambda: hinged.TextClassifier(bits=10), texts(label), about_labels, 3),
    "text ranker": one(hinged.TextRanker, texts(labels), about_labels, 3),
}  # fmt: skip


def indicator(y):
    return np.array([[int(f"label {r}" in row) for r in range(LABELS)] for row in y])


def different(right, other):
    return float(sum(a != b for a, b in zip(right, other, strict=True)))
