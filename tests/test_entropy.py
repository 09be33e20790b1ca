"""Weights on a simplex: comparison with the reference implementation (twin), and properties of the updates."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from tests.plain import Classifier, Ranker
from tests.reference.entropy import EntropicTwin, HastyEntropicTwin
from tests.reference.looking import picture
from tests.reference.streams import follow, random_stream

import hinged
from hinged.geometry import Entropy
from hinged.loops.labels import Targets
from hinged.loops.ledger import NOVEL, RANKED, ROUNDS, THRESHOLD
from hinged.loops.rows import Rows
from hinged.rules.table import entropic

RULES = tuple(name for name, row in hinged.rules.RULES.items() if entropic(row.words))
KINDS = ("binary", "count", "real")
OPTIONS = {
    "margin": (0.1, 0.5, 1.5),
    "bias": (0.5, -1.0),
    "scaling": ("idf",),
    "normalize": (True,),
    "radius": (0.5, 4.0),
    "signed": (True,),
    "novel": ("learn", "skip"),
}


@pytest.fixture(autouse=True)
def _margins_may_be_out_of_reach():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "margin=.* is out of reach")
        yield


def entropic(**params):
    """Convert the twin's parameters to the library's."""
    radius, signed = params.pop("radius", 1.0), params.pop("signed", False)
    return {**params, "geometry": Entropy(radius, signed)}


def assert_close(got, expected, tolerance):
    limit = tolerance * max(1.0, float(np.max(np.abs(expected), initial=0.0)))
    np.testing.assert_allclose(np.asarray(got), expected, rtol=0.0, atol=limit)


def assert_equal_to_twin(streams, params, closed=False, sample_weight=None, enough=8):
    """Compare the library with the twin on the first stream that has enough rounds without near ties."""
    for stream in streams:
        classes = stream.labels if closed else None
        twin = follow(stream, params, classes, sample_weight, EntropicTwin, HastyEntropicTwin, shuffled=False)
        rounds = len(twin.history.flags)
        if rounds >= enough:
            break
    assert rounds >= enough
    stream = stream.head(rounds)
    weights = None if sample_weight is None else sample_weight[:rounds]

    estimator = Ranker if any(isinstance(labels, tuple) for labels in stream.y) else Classifier
    model = estimator(**entropic(**params))
    more = {name: value for name, value in (("classes", classes), ("sample_weight", weights)) if value is not None}
    progress = hinged.evaluate.progressive(model, stream.X, stream.y, **more)
    np.testing.assert_array_equal(progress.flags, twin.history.flags)
    assert_close(progress.losses, twin.history.losses, 1e-8)
    assert (progress.updates, progress.novel) == (twin.history.updates, twin.history.novel)
    assert list(model.classes_) == twin.known
    assert_close(model.dual_, twin.dual, 1e-9)
    scores = twin.scores(stream.probes)
    if estimator is Classifier and len(twin.known) == 2:
        scores = scores[:, 1] - scores[:, 0]
    assert_close(model.decision_function(stream.probes), scores, 1e-8)
    assert_close(model.coef_, twin.coef, 1e-8)


# ------------------------------------------------------------------ twins
@pytest.mark.parametrize(
    ("kind", "novel"), [("binary", "learn"), ("binary", "skip"), ("count", "learn"), ("real", "learn")]
)
@pytest.mark.parametrize("rule", RULES)
def test_every_rule_equals_its_twin(rule, kind, novel):
    params = {"rule": rule, "margin": 0.4, "novel": novel}
    if rule != "uniform":
        params["C"] = 2.0
    single = (random_stream(kind, seed, rounds=36) for seed in range(9))
    assert_equal_to_twin(single, params, closed=kind == "real", enough=16)
    sets = (random_stream(kind, seed, rounds=16, labels=3, sets=True) for seed in range(9))
    assert_equal_to_twin(sets, params, closed=True)


@pytest.mark.parametrize("seed", range(24))
def test_options_together_equal_their_twin(seed):
    rng = np.random.default_rng([5, seed])
    options = {name: choices[rng.integers(len(choices))] for name, choices in OPTIONS.items() if rng.random() < 0.4}
    params = {"rule": str(rng.choice(RULES)), "C": float(rng.choice([0.1, 1.0, 5.0])), **options}
    if params["rule"] == "optimal" and params.get("margin") == 1.5:
        params["C"] = 1.0  # for larger C the twin's search loses its precision
    weights = rng.choice([0.0, 0.25, 1.0, 3.0], size=30) if rng.random() < 0.5 else None
    kind, labels = str(rng.choice(KINDS)), int(rng.integers(2, 5))
    streams = (random_stream(kind, s, rounds=30, labels=labels) for s in range(seed, seed + 9))
    assert_equal_to_twin(streams, params, bool(rng.random() < 0.5), weights)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_the_mean_of_all_weights_equals_its_twin(seed, kind):
    rng = np.random.default_rng([6, seed])
    params = {"rule": ("pa1", "simproj", "perceptron")[seed], "margin": 0.4, "C": (0.5, 3.0)[seed % 2], "average": True}
    params |= {name: OPTIONS[name][0] for name in ("bias", "signed", "radius", "scaling") if rng.random() < 0.5}
    params["novel"] = "skip" if kind == "count" else "learn"
    weights = rng.choice([0.0, 0.5, 1.0], size=36) if seed else None
    streams = (random_stream(kind, s, rounds=36) for s in range(seed, seed + 9))
    assert_equal_to_twin(streams, params, bool(seed % 2), weights, enough=16)


def bias_weights(model):
    """Return the weights of the constant feature, by label."""
    return model._model._weights(0, len(model.classes_))[:, 0]


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("C", [0.2, 5.0, 400.0])  # large C moves masses by orders of magnitude, out of range
def test_the_mean_is_that_of_the_weights_after_each_round(C, signed, tmp_path):
    rng = np.random.default_rng(8)
    X, y = streams_of_words(3, rounds=80)
    X = X * rng.choice([0.25, 0.5, 1.0], X.shape)
    make = {"rule": "pa1", "C": C, "margin": 0.5 if C < 100 else 3.0, "geometry": Entropy(1.0, signed), "bias": 0.5}
    plain, mean = Classifier(**make), Classifier(**make, average=True)
    total, score, probes = np.zeros((5, 30)), np.zeros((7, 5)), rng.normal(size=(7, 30))
    for x, label in zip(X, y, strict=True):
        plain.learn_one(x, label)
        mean.learn_one(x, label)
        k = len(plain.classes_)
        total[:k] += plain.coef_
        score[:, :k] += probes @ plain.coef_.T + 0.5 * bias_weights(plain)
    assert (mean.dual_, mean.n_mistakes_) == (plain.dual_, plain.n_mistakes_)
    np.testing.assert_allclose(mean.coef_, total / 80, rtol=0, atol=1e-10)
    np.testing.assert_allclose(mean.decision_function(probes), score / 80, rtol=0, atol=1e-10)
    batch = Classifier(**make, average=True).partial_fit(X, y)
    batch.save(tmp_path / "mean.hinged")
    for other in (batch, hinged.load(tmp_path / "mean.hinged")):
        assert other.decision_function(probes).tolist() == mean.decision_function(probes).tolist()
        assert other.coef_.tolist() == mean.coef_.tolist()
        other.partial_fit(X[:9], y[:9])
    mean.partial_fit(X[:9], y[:9])
    assert other.coef_.tolist() == batch.coef_.tolist() == mean.coef_.tolist()


def test_mean_weights_follow_their_labels_and_two_labels_have_none_in_common():
    X, y = streams_of_words(4)
    model = Classifier("pa1", margin=0.3, geometry="entropy", average=True).partial_fit(X, y)
    labels, before = list(model.classes_), model.coef_
    with pytest.raises(ValueError, match=r"say nothing of those of both together; got average=True\. Remove one"):
        model.merge_labels(labels[0], labels[1])
    assert model.coef_.tolist() == before.tolist()
    model.remove_label(labels[2])
    np.testing.assert_allclose(model.coef_, np.delete(before, 2, axis=0), rtol=0, atol=1e-13)
    shares = model.explain(X[0], labels[0], top=None)
    np.testing.assert_allclose(sum(share for _, share in shares), model.decision_function(X[:1])[0, 0])
    model.partial_fit(X, y)
    assert np.isfinite(model.coef_).all()


def test_rows_of_one_negative_value_and_rows_that_hold_every_feature_equal_their_twin():
    def stream(seed):
        rng = np.random.default_rng(seed)
        drawn = random_stream("binary", seed, rounds=30, features=4)
        X = -2.0 * drawn.X
        X[rng.random(30) < 0.3] = -2.0  # such a row has no other features, so no update changes a score
        dense = rng.random(30) < 0.3
        X[dense] = rng.normal(size=(dense.sum(), 4))
        return drawn._replace(X=X)

    for rule in ("pa1", "optimal", "simproj"):
        assert_equal_to_twin(map(stream, range(9)), {"rule": rule, "margin": 0.5, "C": 2.0})


# ------------------------------------------------------------------ equivalent ways to learn the same weights
def streams_of_words(seed=0, rounds=60, features=30, labels=5):
    stream = random_stream("binary", seed, rounds=rounds, features=features, labels=labels)
    return stream.X, stream.y


@pytest.mark.parametrize("rule", [*RULES, hinged.rules.Optimal("interior-point")])
@pytest.mark.parametrize("signed", [False, True])
def test_rows_one_by_one_and_in_a_batch_and_through_a_file_give_the_same_bits(rule, signed, tmp_path):
    X, y = streams_of_words()
    X = X * np.random.default_rng(1).uniform(0.2, 1.0, X.shape) if signed else X
    make = {"rule": rule, "margin": 0.3, "geometry": Entropy(2.0, signed), "scaling": "idf", "bias": 0.25}
    batch = Classifier(**make).partial_fit(X, y)
    singly, sparse = Classifier(**make), Classifier(**make)
    for i, (x, label) in enumerate(zip(X, y, strict=True)):
        singly.learn_one(x, label)
        sparse.learn_one(csr_matrix(x), label)
        if i == 20:
            singly.save(tmp_path / "half")
            singly = hinged.load(tmp_path / "half")
        if i == 40:
            singly = pickle.loads(pickle.dumps(copy.deepcopy(singly)))
    assert picture(singly, X) == picture(batch, X) == picture(sparse, X)
    assert (singly.n_mistakes_, singly.n_updates_) == (batch.n_mistakes_, batch.n_updates_)
    batch.save(tmp_path / "whole")
    hinged.load(tmp_path / "whole").save(tmp_path / "again")
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "again").read_bytes()


def test_single_precision_rows_are_computed_in_double():
    X, y = streams_of_words()
    double = Classifier("pa1", geometry="entropy", margin=0.3).partial_fit(X, y)
    single = Classifier("pa1", geometry="entropy", margin=0.3).partial_fit(X.astype(np.float32), y)
    assert picture(single, X) == picture(double, X)
    assert single.coef_.dtype == np.float64


def test_dicts_learn_as_matrices_do_where_the_number_of_features_is_told():
    X, y = streams_of_words(features=9)
    model = Classifier("pa1", geometry="entropy", margin=0.3, n_features=9)
    table = Classifier("pa1", geometry="entropy", margin=0.3).partial_fit(X, y)
    for x, label in zip(X, y, strict=True):
        model.learn_one({f"w{j}": x[j] for j in np.flatnonzero(x)}, label)
    names = [int(name[1:]) for name in model.feature_names_]
    np.testing.assert_allclose(model.coef_[:, : len(names)], table.coef_[:, names], atol=1e-13)
    assert (model.n_mistakes_, model.n_updates_) == (table.n_mistakes_, table.n_updates_)
    row = {"w0": 1.0, "w1": 2.0}
    carried = sum(value for _, value in model.explain(row, y[0], top=None))
    assert carried == pytest.approx(model.decision_function([row])[0][list(model.classes_).index(y[0])])


def test_a_delay_fixes_the_prediction_and_learns_later():
    X, y = streams_of_words()
    prompt = Classifier("pa1", geometry="entropy", margin=0.3)
    late = Classifier("pa1", geometry="entropy", margin=0.3)
    a = hinged.evaluate.progressive(prompt, X, y, classes=range(5))
    b = hinged.evaluate.progressive(late, X, y, classes=range(5), delay=7)
    assert picture(prompt, X) == picture(late, X)
    assert b.flags[0] == a.flags[0] == 1
    assert list(b.flags) != list(a.flags)


# ------------------------------------------------------------------ guarantees
@settings(max_examples=40)
@given(st.integers(0, 10**6), st.sampled_from(KINDS), st.sampled_from(RULES[1:]), st.sampled_from([0.1, 1.0, 10.0]))
def test_weights_stay_on_the_simplex_and_the_certificate_never_falls(seed, kind, rule, C):
    stream = random_stream(kind, seed, rounds=20)
    model = Classifier(rule, C=C, margin=0.3, geometry=Entropy(2.0))
    before = 0.0
    for x, label in zip(stream.X, stream.y, strict=True):
        model.learn_one(x, label)
        if rule not in ("simperc", "uniform"):
            assert model.dual_ >= before - 1e-12 * (1.0 + abs(before))
        before = model.dual_
    np.testing.assert_allclose(model.coef_.sum(axis=1), 2.0, atol=1e-12)
    assert (model.coef_ >= 0.0).all()


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.sampled_from(KINDS), st.sampled_from(["pa1", "optimal"]))
def test_an_unbounded_step_meets_a_margin_within_reach_exactly(seed, kind, rule):
    stream = random_stream(kind, seed, rounds=12)
    model = Classifier(rule, C=50.0, margin=0.05, geometry=Entropy(2.0)).partial_fit(
        stream.X, stream.y, classes=stream.labels
    )
    x = stream.probes[0]
    if not x.any():
        return
    before = model.decision_function([x])[0]
    model.learn_one(x, 1)
    after = model.decision_function([x])[0]
    rivals = [0, 2, 3] if rule == "optimal" else [int(np.argmax(np.where(np.arange(4) == 1, -np.inf, before)))]
    reached = after[1] - after[rivals]
    assert (reached >= np.minimum(0.05, before[1] - before[rivals]) - 1e-9).all()
    if rule == "pa1" and before[1] - before[rivals[0]] < 0.05:
        assert reached[0] == pytest.approx(0.05, abs=1e-9)


def test_the_certificate_is_below_what_any_weights_on_the_simplex_pay():
    stream, rng = random_stream("binary", 3, rounds=60), np.random.default_rng(0)
    for rule in RULES:
        C = 1.0 if rule == "uniform" else 0.7
        model = Classifier(rule, C=C, margin=0.4, geometry="entropy")
        model.partial_fit(stream.X, stream.y, classes=stream.labels)
        for u in (model.coef_, rng.dirichlet(np.ones(9), 4), np.full((4, 9), 1 / 9)):
            scores = stream.X @ u.T
            own = scores[np.arange(60), stream.y]
            scores[np.arange(60), stream.y] = -np.inf
            losses = np.maximum(0.0, 0.4 - (own - scores.max(axis=1)))
            with np.errstate(divide="ignore", invalid="ignore"):
                price = np.nansum(u * np.log(9 * u)) + C * losses.sum()
            assert model.dual_ <= price + 1e-9


def test_permuting_labels_permutes_rows():
    X, y = streams_of_words()
    model = Classifier("simproj", geometry="entropy", margin=0.3).partial_fit(X, y, classes=range(5))
    turned = Classifier("simproj", geometry="entropy", margin=0.3)
    turned.partial_fit(X, [4 - label for label in y], classes=range(5))
    np.testing.assert_allclose(turned.coef_, model.coef_[::-1], atol=1e-12)


def test_empty_and_full_label_sets_ask_for_nothing():
    model = Ranker("pa1", geometry="entropy", margin=0.3)
    progress = hinged.evaluate.progressive(model, np.eye(3), [set(), {"a", "b"}, {"a"}], classes=["a", "b"])
    assert progress.flags.tolist() == [0, 0, 1]
    assert progress.updates == 1


def test_labels_are_merged_and_removed():
    X, y = streams_of_words()
    model = Classifier("pa1", geometry="entropy", margin=0.3).partial_fit(X, y, classes=range(5))
    theta = np.log(model.coef_)
    model.merge_labels(0, 1).remove_label(4)
    assert list(model.classes_) == [1, 2, 3]
    together = np.exp(theta[0] + theta[1])
    np.testing.assert_allclose(model.coef_[0], together / together.sum(), rtol=1e-9)
    assert model.dual_ is None
    assert model.partial_fit(X, np.array(y) % 3 + 1).n_rounds_ == 120


# ------------------------------------------------------------------ the two solvers through the learner
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("geometry", ["euclidean", "entropy"])
def test_both_solvers_learn_the_same(geometry, kind):
    stream = random_stream(kind, 11, rounds=40)
    models = [
        Classifier(hinged.rules.Optimal(solver), C=2.0, margin=0.3, geometry=geometry).partial_fit(
            stream.X, stream.y, classes=stream.labels
        )
        for solver in ("search", "interior-point")
    ]
    scores = [model.decision_function(stream.probes) for model in models]
    np.testing.assert_allclose(scores[0], scores[1], atol=1e-7)
    assert models[0].dual_ == pytest.approx(models[1].dual_, abs=1e-9)
    assert 0 < models[1].solver_iterations_ <= 40
    assert models[1].solver_gap_ <= 1e-9
    with pytest.raises(AttributeError, match="solver_gap_ exists for rule=hinged"):
        models[0].solver_gap_  # noqa: B018


# ------------------------------------------------------------------ refusals
X2, Y2 = np.eye(2), ["a", "b"]
REFUSED = {
    "an unknown geometry": ({"geometry": "polar"}, ValueError, r"geometry must be .*; got geometry='polar'"),
    "a radius of 0": ({"geometry": Entropy(0.0)}, ValueError, r"radius must be positive and finite; got radius=0\.0"),
    "a radius that is a word": ({"geometry": Entropy("1")}, TypeError, r"radius must be a number; got radius='1'"),
    "signs that are a number": ({"geometry": Entropy(1.0, 1)}, ValueError, r"signed must be True or False; got"),
    "pa": ({"rule": "pa"}, ValueError, r"geometry='entropy' takes the rules .*; got rule='pa'\. .* C=inf"),
    "pa2": ({"rule": "pa2"}, ValueError, r"takes the rules .*; got rule='pa2'"),
    "mira": ({"rule": "mira"}, ValueError, r"takes the rules .*; got rule='mira'"),
    "shared vectors": ({"sharing": "single", "features": "first"}, ValueError, r"sharing='multi'; got .*'single'"),
    "groups": ({"sharing": hinged.sharing.Groups([{"a"}])}, ValueError, r"sharing='multi'; got sharing=Groups"),
    "single precision": ({"dtype": "float32"}, ValueError, r"computes in float64.*got dtype='float32'"),
    "an unknown solver": ({"rule": hinged.rules.Optimal("guess")}, ValueError, r"solver must be 'search' or 'interior"),
    "points without a cap": (
        {"rule": hinged.rules.Optimal("interior-point"), "C": np.inf},
        ValueError,
        r"C must be finite for solver='interior-point'",
    ),
    "too few features": ({"n_features": 1}, ValueError, r"over 1 features, fixed .*; got 2\. Give n_features=2"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_meaning_is_refused_by_name(name):
    params, error, sentence = REFUSED[name]
    with pytest.raises(error, match=sentence):
        Classifier(**{"geometry": "entropy", "margin": 0.5, **params}).fit(X2, Y2)


def test_interior_points_on_shared_vectors_are_refused():
    with pytest.raises(ValueError, match=r"solver='interior-point' needs labels with vectors of their own"):
        Classifier(hinged.rules.Optimal("interior-point"), sharing="single", features="first").fit(X2, Y2)


def test_columns_beyond_the_first_width_are_refused_and_change_nothing():
    model = Classifier("pa1", geometry="entropy", margin=0.5).partial_fit(X2, Y2)
    before = picture(model, X2)
    with pytest.raises(ValueError, match=r"over 2 features, fixed by the first rows.*; got 3"):
        model.partial_fit(np.eye(3), [*Y2, "c"])
    assert picture(model, X2) == before
    assert model.n_features_in_ == 2


def test_names_beyond_the_declared_number_are_refused_and_change_nothing():
    with pytest.raises(ValueError, match=r"dicts do not tell; give n_features="):
        Classifier("pa1", geometry="entropy").learn_one({"a": 1.0}, "x")
    model = Classifier("pa1", geometry="entropy", margin=0.5, n_features=2)
    model.learn_one({"a": 1.0}, "x")
    model.learn_one({"b": 1.0}, "y")
    for _ in range(2):
        with pytest.raises(ValueError, match=r"over 2 features.*; got 3"):
            model.learn_one({"a": 1.0, "c": 1.0}, "x")
    assert model.feature_names_ == ["a", "b"]
    model.learn_one({"a": 1.0, "b": 1.0}, "x")
    assert model.predict_one({"never": 1.0}) in ("x", "y")


def test_a_margin_out_of_reach_warns_once_and_takes_the_longest_steps():
    model = Classifier("pa1", C=0.25, geometry="entropy")
    with pytest.warns(UserWarning, match=r"margin=1\.0 is out of reach on some rows.*radius \(1\)") as told:
        model.fit(X2, Y2)
    assert len(told) == 1
    with warnings.catch_warnings(record=True) as again:
        warnings.simplefilter("always")
        model.partial_fit(X2, Y2)
    assert not again
    theta = np.log(model.coef_)
    np.testing.assert_allclose(theta[:, 0] - theta[:, 1], [1.0, -1.0])  # four steps of 1/4, each on both labels
    assert Classifier("pa1", C=np.inf, geometry="entropy").partial_fit(X2, Y2, classes=Y2).n_updates_ == 0


def test_the_geometry_stays_until_the_next_fit():
    model = Classifier("pa1", geometry="entropy", margin=0.5).fit(X2, Y2)
    with pytest.raises(ValueError, match=r"geometry cannot change once something is learnt"):
        model.set_params(geometry="euclidean").partial_fit(X2, Y2)
    assert model.fit(X2, Y2).coef_.tolist() == [[0.25, -0.25], [-0.25, 0.25]]


def of_three_labels():
    """A learner that has learnt something of three labels, and what it holds of it besides weights."""
    model = Classifier("pa1", geometry="entropy", margin=0.5, novel="learn").declare(["a", "b", "c"])
    return model.partial_fit(np.eye(3), ["a", "b", "c"]), lambda: [array.copy() for array in model.model_.ledger]


def test_a_new_label_in_a_round_of_weight_0_is_neither_scored_nor_known():
    model, ledger = of_three_labels()
    coef, row = model.coef_.tobytes(), Rows(np.array([0, 2]), np.array([0, 1], np.int32), np.ones(2))
    for number in (-1, 3):  # no number, and one that it would have
        counts, *before = ledger()
        told = model.model_.learn(row, Targets(np.arange(2), np.array([number]), np.zeros(1)), ["a", "b", "c", "d"])
        assert (told.flags.tolist(), told.losses.tolist(), told.ranks.tolist()) == ([-1], [0.0], [0])
        counts[[ROUNDS, NOVEL]] += 1
        for array, expected in zip(ledger()[:3], (counts, *before), strict=False):
            np.testing.assert_array_equal(array, expected)
    assert model.coef_.tobytes() == coef


def test_a_round_that_brings_a_label_tells_nothing_of_the_threshold_or_of_confidence():
    model, ledger = of_three_labels()
    before, updates = ledger(), model.n_updates_
    model.partial_fit([[1.0, 1.0, 0.0]], ["d"])
    assert model.n_updates_ == updates + 1
    after = ledger()
    assert after[1][[THRESHOLD, RANKED]].tolist() == before[1][[THRESHOLD, RANKED]].tolist()
    np.testing.assert_array_equal(after[2], before[2])
    assert not after[3][3:].any()
    model.partial_fit([[1.0, 1.0, 0.0]], ["d"])
    assert ledger()[1][RANKED] == before[1][RANKED] + 1
