"""Numbers at the ends of what is accepted: a sentence that says what to do, or everything stays finite and loads."""

import re
from functools import partial

import numpy as np
import pytest
from hypothesis import settings
from scipy.sparse import csr_array
from tests import plain as papers

import hinged
from hinged.features import Frequency
from hinged.geometry import Entropy
from hinged.mercer import Centred, Gaussian, Linear, Polynomial
from hinged.rules import Mira

LABELS, SETS = ("a", "b", "c"), ({"a"}, {"b"}, {"a", "c"}, frozenset())
EXPONENTS = (-310, -300, -150, -50, -30, -13, -5, 0, 3, 10, 12, 15, 30, 50, 51, 80, 150, 300)
ENDS = tuple(float(f"1e{exponent}") for exponent in EXPONENTS)
DRAWS = 4 * settings().max_examples
SAYS = re.compile(r"Try|Scale|scale|Use|use |larger than|smaller")


class Draw:
    """Numbers that are usual half of the time, else at one end or another."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def one(self, *choices):
        return choices[self.rng.integers(len(choices))]

    def maybe(self, share):
        return bool(self.rng.random() < share)

    def number(self, *more):
        return float(self.one(*ENDS, *more)) if self.maybe(0.3) else 1.0

    def answers(self, *choices, n=6):
        return [self.one(*choices) for _ in range(n)]

    def rows(self, n=6, d=3):
        X, dtype = self.rng.choice([-1.0, 0.5, 1.0, 0.0], size=(n, d)), self.one("float32", "float64")
        if self.maybe(0.6):  # rows of one size each, or values of all sizes
            most = 38 if dtype == "float32" else 90
            sizes = [end for end in ENDS if 1e-60 < end < float(f"1e{most}")]
            X = X * self.rng.choice(sizes, size=(n, 1) if self.maybe(0.5) else (n, d))
        with np.errstate(under="ignore"):
            return X.astype(dtype)

    def weights(self, n=6):
        return None if self.maybe(0.6) else [self.one(0.0, self.number(), 1.0) for _ in range(n)]

    def common(self):
        return {
            "C": self.number(np.inf),
            "margin": self.number(),
            "bias": self.one(0.0, 0.0, self.number()),
            "average": self.maybe(0.3),
            "normalize": self.maybe(0.2),
            "scaling": self.one(None, None, "idf", "standard"),
            "dtype": self.one(None, None, "float32", "float64"),
        }

    def rule(self):
        name = self.one(*hinged.rules.RULES)
        return Mira(beta=self.number(), cap=self.number(np.inf)) if name == "mira" else name


def steep(x, label):
    """Label features of the user's own, far apart."""
    return {name: value * (1e15 if label == "a" else -1.0) for name, value in x.items()}


# ------------------------------------------------------------------ learners, and answers for them
def classifier(draw):
    chosen, several = draw.common(), draw.maybe(0.3)
    chosen["sharing"] = draw.one("multi", "single", "hybrid")
    if chosen["sharing"] != "multi":
        often = Frequency(often=draw.number(), seldom=-draw.number())
        chosen["features"] = draw.one("first", "distance", "tfidf", "frequency", often, steep)
    elif draw.maybe(0.3) and not several:
        chosen |= {"cost": draw.number() * (1.0 - np.eye(3)), "constraint": draw.one("max-loss", "prediction")}
    if draw.maybe(0.3) and not several:
        chosen["class_weight"] = {"a": draw.number()}
    kind = hinged.Ranker if several else hinged.Classifier
    return kind(draw.rule(), **chosen), draw.answers(*(SETS if several else LABELS))


def entropic(draw):
    chosen = draw.common() | {"dtype": None, "geometry": Entropy(draw.number(), draw.maybe(0.5))}
    rule = draw.one("perceptron", "pa1", "simproj", "conproj", "optimal")
    return hinged.Classifier(rule, **chosen), draw.answers(*LABELS)


def kernelled(draw):
    centred = Centred(draw.number()), Centred(kernel=Polynomial(draw.number(), 2))
    kernel = draw.one(Gaussian(draw.number()), Polynomial(draw.number(), draw.one(1, 2, 9)), Linear(), *centred)
    chosen = {"kernel": kernel, "C": draw.number(np.inf), "dtype": draw.one(None, "float32")}
    chosen["budget"] = draw.one(None, 2)
    if isinstance(kernel, Centred):
        chosen["sharing"] = draw.one("single", "hybrid")
    elif draw.maybe(0.3):
        return hinged.Regressor(draw.one("pa", "pa1", "pa2"), **chosen), [draw.number() for _ in range(6)]
    return hinged.Classifier(draw.rule(), margin=draw.number(), **chosen), draw.answers(*LABELS)


def binary(draw):
    chosen = draw.common() | ({"C": "auto"} if draw.maybe(0.3) else {})
    return hinged.BinaryClassifier(draw.one(*hinged.BinaryClassifier._rules), **chosen), draw.answers("a", "b")


def regressor(draw):
    chosen = {name: value for name, value in draw.common().items() if name != "margin"}
    targets = [draw.one(1.0, -1.0) * draw.number() for _ in range(6)]
    chosen |= {"C": "auto"} if draw.maybe(0.3) else {}
    chosen |= {"target_scaling": draw.one(None, "standard"), "epsilon": draw.one(draw.number(), "auto")}
    return hinged.Regressor(draw.one(*hinged.Regressor._rules), **chosen), targets


def ordinal(draw):
    rule = draw.one(*hinged.OrdinalClassifier._rules)
    return hinged.OrdinalClassifier(rule, **draw.common()).declare([1, 2, 3]), draw.answers(1, 2, 3)


def uniclass(draw):
    chosen = {"C": draw.number(np.inf), "max_radius": draw.number(), "dtype": draw.one(None, "float32")}
    return hinged.Uniclass(draw.one("pa", "pa1"), radius=draw.one("learn", draw.number()), **chosen), [None] * 6


KINDS = {maker.__name__: maker for maker in (classifier, entropic, kernelled, binary, regressor, ordinal, uniclass)}


# ------------------------------------------------------------------ what must hold
def refused(call, *args, **more):
    """Whether a call is refused, with a sentence that says what to do."""
    try:
        call(*args, **more)
    except ValueError as problem:
        said = str(problem)
    else:
        return False
    assert SAYS.search(said), said
    return True


def scores(model, X):
    """What a model says of rows; nothing where it knows no label."""
    if isinstance(model, hinged.Regressor):
        return model.predict(X)
    return (
        model.decision_function(X) if isinstance(model, hinged.Uniclass) or len(model.known_labels()) else np.zeros(0)
    )


def assert_finite(model, path, X):
    """Everything that can be asked is finite, and the saved file says the same."""
    for name in ("coef_", "shared_coef_", "intercept_", "thresholds_", "center_", "radius_", "dual_coef_", "dual_"):
        value = getattr(model, name, None)
        if value is not None:
            assert np.isfinite(value.toarray() if hasattr(value, "toarray") else value).all(), name
    model.save(path)
    again = hinged.load(path, **({"features": steep} if getattr(model, "features", None) is steep else {}))
    if not refused(scores, model, X):
        said = scores(model, X)
        assert np.isfinite(said).all()
        np.testing.assert_array_equal(scores(again, X), said)


def taught(kind, seed, path):
    """Draw a learner and teach it: whether it took that, after which it is finite whatever comes."""
    draw = Draw(seed)
    model, y = KINDS[kind](draw)
    X, more = draw.rows(), {} if isinstance(model, hinged.Uniclass) else {"y": y}
    if refused(model.partial_fit, X, **more, sample_weight=draw.weights()):
        assert not hasattr(model, "n_rounds_")
        return False
    for rows in (draw.rows(), X):
        assert_finite(model, path, rows)
        refused(model.partial_fit, draw.rows(), **more)
        refused(model.learn_one, draw.rows()[0], y[0])
    assert_finite(model, path, X)
    return True


def test_numbers_that_left_the_range_of_the_weights_are_refused_or_stay_finite(tmp_path):
    single = np.ones((3, 2), np.float32)
    with pytest.raises(
        ValueError, match=r"targets must not exceed 1e\+10 where weights are float32; got 1e\+45. Scale"
    ):
        hinged.Regressor("pa").partial_fit(single, [1e45, 1, 2])
    with pytest.raises(ValueError, match=r"targets must not exceed 1e\+10"):
        hinged.Regressor("pa").partial_fit(single, [1, 1, 2]).learn_one(single[0], 1e45)
    assert np.isfinite(hinged.Regressor("pa").partial_fit(single, [1e10, 1, 2]).predict(single)).all()
    for chosen, value in [
        ({"rule": "perceptron", "C": 1e50}, 1e150),
        ({"sharing": "single", "features": "first"}, 1e80),
    ]:
        model = hinged.Classifier(**chosen)
        with pytest.raises(ValueError, match=r"values of X must not exceed 1e\+30 .*; got 1e\+\d+. Scale the features"):
            model.partial_fit(value * np.eye(3), LABELS)
        model.partial_fit(1e30 * np.ones((6, 3)), LABELS * 2)
        assert_finite(model, tmp_path / "model", 1e30 * np.eye(3))
    with pytest.raises(
        ValueError, match=r"C times sample_weight must lie between 1e-300 and 1e\+50 .* Scale the weights"
    ):
        hinged.Classifier(C=1e30).partial_fit(np.eye(3), LABELS, sample_weight=1e30)
    with pytest.raises(
        ValueError, match=r"cost must not exceed 1e\+10 where weights are float32; got cost=1000000000000000.0. Try"
    ):
        hinged.Classifier(cost=1e15 * (1 - np.eye(2))).partial_fit(single, ["a", "b", "a"])


@pytest.mark.filterwarnings("ignore:margin=.* is out of reach")
@pytest.mark.parametrize("rule", ["pa1", "simproj", "conproj", "optimal"])
def test_a_margin_out_of_reach_without_a_cap_takes_no_step(rule, tmp_path):
    X = np.vstack([np.eye(3), 0.5 * np.eye(3)])
    model = hinged.Classifier(rule, C=np.inf, margin=1.0, geometry="entropy").partial_fit(X, LABELS * 2)
    assert (model.n_updates_, model.dual_) == (0, 0.0)
    assert_finite(model, tmp_path / "model", X)


def test_taggers_stay_finite(tmp_path):
    for seed in range(DRAWS):
        draw = Draw(seed)
        X, y = [draw.rows(3), draw.rows(2), draw.rows(3)], [draw.answers(*LABELS, n=n) for n in (3, 2, 3)]
        cost = None if draw.maybe(0.5) else draw.number() * (1.0 - np.eye(3))
        chosen = {
            "C": draw.number(np.inf),
            "cost": cost,
            "dtype": draw.one(None, "float32"),
            "average": draw.maybe(0.3),
        }
        rule, constraint = draw.one("perceptron", "pa", "pa1", "pa2", "optimal"), draw.one("prediction", "additive")
        model = hinged.SequenceTagger(rule, constraint=constraint, n_best=draw.one(1, 3), **chosen)
        for _ in range(2):
            if not refused(model.partial_fit, X, y, classes=LABELS, sample_weight=draw.weights(3)):
                assert np.isfinite(model.coef_).all()
                assert np.isfinite(model.transitions_).all()
                assert np.isfinite([model.dual_, model.total_cost_]).all()
                model.save(tmp_path / "model")
                told = hinged.load(tmp_path / "model").decision_function(X)
                assert all(np.isfinite(scores).all() for scores in told)


@pytest.mark.filterwarnings("ignore:margin=.* is out of reach")
def test_raw_trials_stay_finite(tmp_path):
    for seed in range(DRAWS):
        draw = Draw(seed)
        geometry = draw.one("euclidean", Entropy(draw.number()))
        rule = draw.one("perceptron", "pa1", "simproj", "optimal")
        model = hinged.Trials(rule, draw.number(), geometry, draw.number())
        for _ in range(3):
            nu = draw.one(None, [draw.number() for _ in range(2)])
            if not refused(model.learn_one, draw.rows(2), [1, -1], nu):
                assert np.isfinite(model.coef_).all()
                assert np.isfinite(model.dual_)
                model.save(tmp_path / "model")
                assert hinged.load(tmp_path / "model").coef_.tolist() == model.coef_.tolist()


@pytest.mark.filterwarnings("ignore:margin=.* is out of reach")
@pytest.mark.parametrize("kind", KINDS)
def test_extremes_are_refused_with_advice_or_stay_finite(kind, tmp_path):
    share = np.mean([taught(kind, seed, tmp_path / "model") for seed in range(DRAWS)])
    assert 0.1 < share < 0.9


@pytest.mark.parametrize(
    ("dtype", "smallest"), [(np.float32, 2.0**-60), (np.float64, 2.0**-120), (np.float64, 2.0**-560)]
)
@pytest.mark.parametrize(
    "kind",
    [
        papers.Classifier,
        partial(papers.Classifier, average=True),
        partial(papers.Classifier, sharing="hybrid", features="first"),
        partial(papers.Classifier, geometry="entropy", margin=0.5),
        partial(papers.Classifier, kernel=hinged.mercer.Gaussian(1.0)),
        papers.BinaryClassifier,
        papers.OrdinalClassifier,
        papers.Regressor,
        partial(papers.Regressor, kernel=hinged.mercer.Linear()),
    ],
)
def test_rows_get_unit_length_however_short_they_are(kind, dtype, smallest):
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(24, 5)).astype(dtype), rng.integers(0, 2, 24)
    X[rng.random(X.shape) < 0.3] = 0.0
    scaled = X * dtype(smallest)
    for rows, short in ((X, scaled), (csr_array(X), csr_array(scaled))):
        usual, tiny = (kind(normalize=True).fit(some, y) for some in (rows, short))
        assert usual.n_updates_ == tiny.n_updates_ > 0
        ask = "predict" if isinstance(usual, hinged.Regressor) else "decision_function"
        np.testing.assert_allclose(
            getattr(tiny, ask)(short), getattr(usual, ask)(rows), atol=1e-4 if dtype == np.float32 else 1e-12
        )
