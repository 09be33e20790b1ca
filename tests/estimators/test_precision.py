"""Every learner beside its plain twin in float64, on rows of both types and of any scale.

Rows are rounded to their type first, so the twin sees the very same numbers. Where rows are multiplied by a and C is
divided by the square of what that does to lengths, scores stay as they are: what is left is the rounding of the type.
"""

from itertools import product

import numpy as np
import pytest
from tests import plain as papers
from tests.reference.costs import CostTwin
from tests.reference.kernels import KernelTwin, KernelVectorTwin, gaussian, polynomial
from tests.reference.learner import Mira
from tests.reference.sequence import SequenceTwin, hamming
from tests.reference.streams import learn, random_stream
from tests.reference.vectors import BallTwin, VectorTwin

import hinged
from hinged.estimators.inputs import LARGEST
from hinged.evaluate import progressive
from hinged.mercer import Centred, Gaussian, Polynomial

SCALES = (1e-6, 1.0, 1e6)
ROUNDING = {"float32": 4e-6, "float64": 1e-9}  # some 30 roundings of float32; the solvers of float64 stop earlier
CASES = list(product(ROUNDING, SCALES))
CLEAR = 1e-3  # how far from a threshold a round must stay for float32 to go the same way
EVIDENCE = {"kinds": ("centroid", "bayes", "recency"), "words": {"high": 0.4, "low": 0.1}}
SCHEMES = (
    ("multi", None, 1),
    ("hybrid", "frequency", 1),
    ("single", "first", 2),  # a product of two rows
    ("hybrid", "distance", 1),
    ("single", "tfidf", 1),
    ("hybrid", EVIDENCE, 1),
)


def assert_close(got, expected, dtype, least=0.0):
    """Equal up to the rounding of the type, relative to the largest number, which must not be next to nothing."""
    got, expected = np.asarray(got, np.float64), np.asarray(expected, np.float64)
    largest = np.abs(expected).max(initial=0.0)
    assert largest > least
    np.testing.assert_allclose(got, expected, rtol=0.0, atol=ROUNDING[dtype] * largest)


def rounded(X, dtype, scale):
    """Rows of that type, and what they are before they are multiplied, to the last bit of float32."""
    rows = (scale * X).astype(dtype)
    return rows, rows.astype(np.float64) / scale


def capped(C, dtype, scale, degree=1):
    """C for rows multiplied by `scale`, as far as the type takes it; and the same for rows as they were."""
    square = scale ** (2 * degree)
    given = min(C / square, LARGEST[dtype])
    return given, given * square


def rules(name, degree, dtype, scale):
    """A rule of the library for rows multiplied by `scale`, and of the twin for rows as they were."""
    C, plain = capped(0.5, dtype, scale, degree)
    if name == "mira":
        return {"rule": hinged.rules.Mira(0.3, C)}, {"rule": Mira(0.3, plain)}
    return {"rule": name, "C": C}, {"rule": name, "C": plain}


def clear_stream(params, closed, least=10):
    """A stream of real values whose first rounds do not come near a threshold."""
    for seed in range(60):
        stream = random_stream("real", seed, rounds=20, features=5, labels=3)
        twin = learn(stream, params, stream.labels if closed else None)
        near = np.flatnonzero(np.array(twin.history.nearest) < CLEAR)
        if len(near) == 0 or near[0] >= least:
            return stream.head(int(near[0]) if len(near) else len(stream.y))
    raise AssertionError("no stream is clear enough")


def library(options, size):
    """The library's settings for the twin's, where a feature has moved by `size` times as much."""
    mine = dict(options)
    metric = mine.pop("metric", 0.0)
    if isinstance(mine.get("features"), dict):
        words = hinged.features.Frequency(**mine["features"]["words"])
        mine["features"] = hinged.features.Evidence(mine["features"]["kinds"], words)
    return mine | ({"geometry": hinged.geometry.Adaptive(metric * size)} if metric else {})


@pytest.mark.parametrize(
    ("sharing", "features", "degree", "metric"),
    [*((*scheme, 0.0) for scheme in SCHEMES), *((*scheme, 0.5) for scheme in (SCHEMES[0], SCHEMES[1], SCHEMES[5]))],
)
@pytest.mark.parametrize("rule", hinged.rules.RULES)
def test_learners_of_labels(rule, sharing, features, degree, metric):
    scheme = {"sharing": sharing, "metric": metric} | ({} if features is None else {"features": features})
    closed = rule not in ("optimal", "mira")  # what they solve for leaves labels that begin alike level up to rounding
    for dtype, scale in CASES if rule != "uniform" else product(ROUNDING, (1.0,)):  # whose step is always 1
        given, plain = rules(rule, degree, dtype, scale)
        if rule != "pa" and (plain["rule"].cap if rule == "mira" else plain["C"]) < 1e-6:
            continue  # products of two rows this small ask for a C beyond float32
        stream = clear_stream(plain | scheme, closed)
        classes = stream.labels if closed else None
        rows, X = rounded(stream.X, dtype, scale)
        probes, P = rounded(stream.probes, dtype, scale)
        twin = learn(stream._replace(X=X), plain | scheme, classes)
        model = papers.Classifier(**given, **library(scheme, scale**2))
        assert progressive(model, rows, stream.y, classes=classes).flags.tolist() == twin.history.flags
        assert model.n_updates_ == twin.history.updates > 2
        assert model._model.dtype == dtype
        assert_close(model.scored(probes).scores, twin.scores(P), dtype)
        if metric:
            assert model.dual_ is twin.dual is None
        else:
            assert_close([model.dual_ * scale ** (2 * degree)], [twin.dual], dtype)
        for name, expected in (("coef_", twin.coef), ("shared_coef_", twin.shared_coef)):
            if expected is not None:
                assert_close(getattr(model, name) * scale**degree, expected, dtype)
        if len(twin.evidence):
            assert_close(np.array(list(model.model_.evidence().values())) * scale, twin.evidence, dtype)


OPTIONS = (
    {},
    {"scaling": "idf", "normalize": True},
    {"bias": 0.5, "average": True},
    {"metric": 0.5, "bias": 0.5, "average": True},
)
TASKS = {"binary": hinged.BinaryClassifier, "regression": hinged.Regressor, "ordinal": hinged.OrdinalClassifier}


@pytest.mark.parametrize(("dtype", "scale"), CASES)
@pytest.mark.parametrize("task", TASKS)
def test_learners_of_one_vector(task, dtype, scale):
    kind = TASKS[task]
    for rule, options in product(kind._rules, OPTIONS):
        if rule == "mira" or (rule == "optimal" and scale != 1.0):  # thresholds do not scale, and the twin's solver
            continue  # stops at an absolute error
        rng = np.random.default_rng(5 if "metric" in options else 4)  # no round near a threshold
        rows, X = rounded(rng.normal(size=(24, 5)), dtype, scale)
        score = rng.normal(size=24) + X @ rng.normal(size=5)
        y = {"binary": (score > 0).astype(int), "regression": score, "ordinal": np.digitize(score, [-0.5, 0.5])}[task]
        C = 0.4 if "normalize" in options else capped(0.4, dtype, scale)[0]
        options = options | ({"bias": float(np.float32(0.5 * scale))} if "bias" in options else {})
        options = options | ({"metric": 0.5 * scale**2} if "metric" in options else {})
        twin = VectorTwin(5, task, rule, C, k=3, **options).run(rows.astype(np.float64), y)
        model = getattr(papers, kind.__name__)(rule, C, **library(options, 1.0))
        classes = None if task == "regression" else range(2 if task == "binary" else 3)
        told = progressive(model, rows, y, classes=classes)
        assert told.flags.tolist() == twin.flags
        assert model.coef_.dtype == dtype
        assert model.n_updates_ == twin.updates > 3
        assert_close(model.coef_, twin.coef, dtype)
        if task == "ordinal":
            assert_close(model.thresholds_, twin.thresholds, dtype)


@pytest.mark.parametrize(("dtype", "scale"), CASES)
@pytest.mark.parametrize("rule", hinged.Regressor._rules)
def test_balls(rule, dtype, scale, tmp_path):
    rng = np.random.default_rng(0)
    rows, _ = rounded(rng.normal(size=(500, 4)) * (rng.random((500, 4)) < 0.7) + [2.0, 0, 0, 0], dtype, scale)
    C = 1.0 if rule == "pa2" else 0.5 * scale
    X = rows.astype(np.float64)
    for learns in (False, True):
        twin = BallTwin(4, rule, C, scale, learns)
        for x in X:
            twin.learn(x)
        model = hinged.Uniclass(rule, C, "learn" if learns else scale, scale).fit(rows)
        assert model.n_mistakes_ == sum(twin.flags) > 100
        assert model.center_.dtype == dtype
        assert_close(model.center_, twin.center, dtype, least=0.5 * scale)
        assert_close([model.radius_], [twin.current_radius], dtype)
        assert_close(model.score_samples(rows), -np.linalg.norm(X - twin.center, axis=1), dtype)
        model.save(tmp_path / "ball")
        assert hinged.load(tmp_path / "ball").center_.tolist() == model.center_.tolist()


@pytest.mark.parametrize(("dtype", "scale"), CASES)
def test_learners_with_a_kernel(dtype, scale):
    rng = np.random.default_rng(2)
    rows, X = rounded(rng.normal(size=(24, 3)), dtype, scale)
    y = np.argmax(X @ rng.normal(size=(3, 3)), axis=1)
    for sharing, kernel, plain, degree in [
        ("multi", Gaussian(0.4 / scale**2), gaussian(0.4), 0),
        ("hybrid", Centred(0.4 / scale**2), gaussian(0.4), 0),
        ("multi", Polynomial(0.5 * scale**2, 2), polynomial(0.5, 2), 2),
    ]:
        C, as_it_was = capped(0.5, dtype, scale, degree)
        if as_it_was < 1e-6:
            continue  # as above
        for rule in ("pa1", "pa2", "simproj", "optimal"):
            twin = KernelTwin(plain, rule, as_it_was, sharing=sharing, classes=range(3)).run(X, y.tolist())
            model = hinged.Classifier(rule, C, sharing=sharing, kernel=kernel)
            assert progressive(model, rows, y, classes=range(3)).flags.tolist() == twin.flags
            assert model.support_vectors_.dtype == dtype
            assert_close(model.decision_function(rows[:9]), twin.scores(X[:9]), dtype)
        if sharing == "multi":
            twin = KernelVectorTwin(plain, "pa1", as_it_was, epsilon=0.05).run(X, X[:, 0])
            model = hinged.Regressor("pa1", C, 0.05, kernel=kernel).partial_fit(rows, X[:, 0])
            assert_close(model.predict(rows[:9]), [twin.score(x) for x in X[:9]], dtype)


@pytest.mark.parametrize(("dtype", "scale"), CASES)
def test_costs(dtype, scale):
    rng = np.random.default_rng(3)
    rows, X = rounded(rng.normal(size=(30, 4)), dtype, scale)
    y, rho = np.argmax(X @ rng.normal(size=(4, 3)), axis=1), np.array([[0, 1, 4.0], [2, 0, 1], [0.5, 3, 0]])
    for rule in ("pa", "pa1", "pa2", "simproj", "optimal"):
        C, plain = capped(0.3, dtype, scale)
        twin = CostTwin(4, 3, rule, plain, rho, "max-loss")
        for x, label in zip(X, y, strict=True):
            twin.learn(x, label)
        model = papers.Classifier(rule, C, cost=rho)
        assert progressive(model, rows, y, classes=range(3)).flags.tolist() == twin.flags
        assert_close(model.coef_ * scale, twin.W, dtype)


@pytest.mark.parametrize(("dtype", "scale"), CASES)
def test_taggers(dtype, scale):
    rng = np.random.default_rng(6)
    sentences = [rounded(rng.normal(size=(int(rng.integers(1, 5)), 4)), dtype, scale) for _ in range(16)]
    tags = [np.array(list("AB"))[(X[:, 0] > 0).astype(int)].tolist() for _, X in sentences]
    for rule, metric in product(("pa", "pa1", "pa2"), (0.0, 0.5 * scale**2)):
        C = capped(0.3, dtype, scale)[0]
        model = hinged.SequenceTagger(rule, C, **library({"metric": metric}, 1.0))
        twin = SequenceTwin(["A", "B"], rule, C, hamming, metric=metric)
        for (rows, _), right in zip(sentences, tags, strict=True):
            model.partial_fit([rows], [right], classes=["A", "B"])
            twin.learn([dict(enumerate(x)) for x in rows.tolist()], right)
        assert model.n_mistakes_ == twin.flags.count(1) > 3
        expected = [[twin.weights[j, tag] for j in range(4)] for tag in "AB"]
        assert_close(model.coef_, expected, dtype)
