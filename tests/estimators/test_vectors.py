"""Learners of one vector against their plain twins, the paper's theorems, and what a user may do wrong."""

import copy
import pickle
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import NotFittedError
from tests import plain as papers
from tests.reference.streams import values
from tests.reference.vectors import BallTwin, VectorTwin

import hinged
from hinged.evaluate import progressive

PASSIVE_AGGRESSIVE = hinged.Regressor._rules
ORDINAL_RULES = tuple(name for name in hinged.OrdinalClassifier._rules if name != "mira")
OPTIONS = (
    {},
    {"scaling": "idf", "normalize": True},
    {"bias": 0.5, "average": True},
    {"scaling": "idf", "normalize": True, "bias": -1.0, "average": True},
    {"metric": 0.5, "bias": 0.5, "average": True},
)
N = 6


def stream(seed, n_rows=40, ranks=4):
    """Rows of one kind or another, and targets of each task that can partly be learnt."""
    rng = np.random.default_rng(seed)
    X = values(("real", "count", "binary")[seed % 3], rng, (n_rows, N)).astype(float)
    score = X @ rng.normal(size=N) + 0.3 * rng.normal(size=n_rows)
    cuts = np.quantile(score, np.arange(1, ranks) / ranks)
    return X, {"binary": (score > 0).astype(int), "regression": score, "ordinal": np.searchsorted(cuts, score)}


def made(task, rule, C, options):
    options = dict(options)
    if "metric" in options:
        options["geometry"] = hinged.geometry.Adaptive(options.pop("metric"))
    if task == "regression":
        return papers.Regressor(rule, C, epsilon=0.1, **options)
    return (papers.BinaryClassifier if task == "binary" else papers.OrdinalClassifier)(rule, C, **options)


def cases():
    rules = {"binary": hinged.BinaryClassifier._rules, "regression": PASSIVE_AGGRESSIVE, "ordinal": ORDINAL_RULES}
    for place, (task, options) in enumerate(product(rules, OPTIONS)):
        for rule in rules[task]:  # what the exact step leaves level is level up to rounding: real values, no ties
            seed = 3 * place if rule == "optimal" else place
            yield pytest.param(task, rule, options, seed, id=f"{task}-{rule}-{'-'.join(options) or 'plain'}")


@pytest.mark.parametrize(("task", "rule", "options", "seed"), list(cases()))
def test_a_vector_learner_agrees_with_its_plain_twin(task, rule, options, seed):
    X, targets = stream(seed)
    y, k = targets[task], 4
    weights = np.random.default_rng(seed).choice([0.0, 0.5, 1.0, 2.0], len(X)) if seed % 2 else None
    twin = VectorTwin(N, task, rule, 0.4, k=k, **options).run(X, y, weights)
    model = made(task, rule, 0.4, options)
    classes = None if task == "regression" else range(2 if task == "binary" else k)
    told = progressive(model, X, y, classes=classes, sample_weight=weights)
    assert told.flags.tolist() == twin.flags
    assert told.losses == pytest.approx(twin.losses, abs=1e-10)
    assert (told.updates, model.n_rounds_, model.n_mistakes_) == (twin.updates, len(X), sum(twin.flags))
    assert model.coef_ == pytest.approx(twin.coef, abs=1e-10)
    assert model.dual_ == pytest.approx(twin.dual, abs=1e-9)
    if task == "ordinal":
        assert model.thresholds_ == pytest.approx(twin.thresholds, abs=1e-10)


@pytest.mark.parametrize(("rule", "learns"), list(product(PASSIVE_AGGRESSIVE, (False, True))))
def test_a_ball_agrees_with_its_plain_twin(rule, learns):
    rng = np.random.default_rng(5)
    X = values("real", rng, (60, N)) + np.array([3.0, 0, 0, 0, 0, 0])
    twin = BallTwin(N, rule, 0.4, 2.0, learns)
    for x in X:
        twin.learn(x)
    model = hinged.Uniclass(rule, 0.4, radius="learn", max_radius=2.0) if learns else hinged.Uniclass(rule, 0.4, 2.0)
    told = progressive(model, sparse.csr_array(X), None)
    assert told.flags.tolist() == twin.flags
    assert told.losses == pytest.approx(twin.losses, abs=1e-10)
    assert model.center_ == pytest.approx(twin.center, abs=1e-10)
    assert model.radius_ == pytest.approx(twin.current_radius, abs=1e-10)
    assert model.dual_ is None
    distances = np.linalg.norm(X - twin.center, axis=1)
    assert model.score_samples(X) == pytest.approx(-distances)
    assert model.decision_function(X) == pytest.approx(twin.current_radius - distances)
    assert (model.predict(X) == np.where(model.decision_function(X) >= 0, 1, -1)).all()


def test_a_centre_kept_as_a_multiple_stays_true_over_many_updates():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 3)) + 5.0
    model, twin = hinged.Uniclass("pa1", 0.5, radius=0.1).fit(X), BallTwin(3, "pa1", 0.5, 0.1, False)
    for x in X:
        twin.learn(x)
    assert model.center_ == pytest.approx(twin.center, abs=1e-9)


MODELS = [
    pytest.param(papers.BinaryClassifier(average=True, bias=0.5), "binary", id="binary"),
    pytest.param(papers.Regressor(scaling="idf"), "regression", id="regression"),
    pytest.param(papers.OrdinalClassifier("optimal", average=True), "ordinal", id="ordinal"),
    pytest.param(hinged.Uniclass(radius="learn", max_radius=3.0), None, id="uniclass"),
]


def weights_of(model):
    if isinstance(model, hinged.Uniclass):
        return [*model.center_.tolist(), model.radius_]
    return [*model.coef_.tolist(), model.intercept_, *getattr(model, "thresholds_", ())]


@pytest.mark.parametrize(("model", "task"), MODELS)
def test_rows_learnt_one_by_one_or_at_once_give_the_same_bits(model, task):
    X, targets = stream(7)
    y = None if task is None else targets[task]
    at_once, dense, singly, again, dicts = (copy.deepcopy(model) for _ in range(5))
    if task in ("binary", "ordinal"):
        for some in (at_once, dense, singly, again, dicts):
            some.declare(np.unique(y).tolist())
    at_once.partial_fit(sparse.csr_matrix(X), y)
    dense.partial_fit(X, y)
    for i, x in enumerate(X):
        singly.learn_one(x, None if y is None else y[i])
        again.learn_one(sparse.csr_array(x[np.newaxis]), None if y is None else y[i])
        dicts.learn_one({j: v for j, v in enumerate(x) if v}, None if y is None else y[i])
    assert weights_of(at_once) == weights_of(dense) == weights_of(singly) == weights_of(again)
    assert at_once.predict(sparse.csr_array(X)).tolist() == dense.predict(X).tolist()
    named = dict(dicts.explain(dict.fromkeys(range(N), 1.0), top=None))
    if task not in (None, "regression"):  # the order in which names came is another order of sums
        assert [named.get(j, 0.0) for j in range(N)] == pytest.approx(at_once.coef_.tolist(), abs=1e-12)
    assert at_once.n_rounds_ == singly.n_rounds_ == len(X)
    assert at_once.dual_ == singly.dual_


@pytest.mark.parametrize(("model", "task"), MODELS)
def test_a_vector_learner_survives_a_file_and_a_pickle_and_goes_on(model, task, tmp_path):
    X, targets = stream(9)
    y = [None] * len(X) if task is None else targets[task].tolist()
    whole = copy.deepcopy(model)
    whole.partial_fit(X[:20], y[:20], **({} if task in (None, "regression") else {"classes": sorted(set(y))}))
    whole.save(tmp_path / "model")
    for other in (hinged.load(tmp_path / "model"), pickle.loads(pickle.dumps(whole))):
        assert weights_of(other) == weights_of(whole)
        other.partial_fit(X[20:], y[20:])
        on = copy.deepcopy(whole).partial_fit(X[20:], y[20:])
        assert weights_of(other) == weights_of(on)
        assert other.n_mistakes_ == on.n_mistakes_
        assert other.predict(X).tolist() == on.predict(X).tolist()
        assert other.predict_one(X[3]) == on.predict(X[3:4])[0]


@pytest.mark.parametrize(("model", "task"), MODELS)
def test_a_delayed_answer_is_judged_by_the_model_of_its_moment(model, task):
    X, targets = stream(11)
    y = None if task is None else targets[task]
    delayed, plain = copy.deepcopy(model), copy.deepcopy(model)
    classes = None if task in (None, "regression") else np.unique(y)
    told = progressive(delayed, X, y, classes=classes, delay=3)
    plain.partial_fit(X, y, classes=classes)
    assert weights_of(delayed) == weights_of(plain)
    assert delayed.n_mistakes_ == told.mistakes
    first = progressive(copy.deepcopy(model), X[:4], None if y is None else y[:4], classes=classes, delay=4)
    zero = progressive(copy.deepcopy(model), np.repeat(X[:1], 1, 0), None if y is None else y[:1], classes=classes)
    assert told.flags[:4].tolist() == first.flags.tolist()
    assert told.flags[0] == zero.flags[0]


# ------------------------------------------------------------------ theorems
@given(st.integers(0, 10_000), st.sampled_from([0.1, 1.0, 10.0]))
def test_the_bounds_of_the_passive_aggressive_paper_hold(seed, C):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 3))
    u = rng.normal(size=3)
    y = (X @ u + 0.5 * rng.normal(size=40) > 0).astype(int)
    R2, norm = (X**2).sum(axis=1).max(), u @ u
    best = np.maximum(0.0, 1.0 - (2 * y - 1) * (X @ u))
    told = progressive(hinged.BinaryClassifier("pa1", C), X, y, classes=[0, 1])
    assert told.mistakes <= max(R2, 1 / C) * (norm + 2 * C * best.sum())  # theorem 4
    told = progressive(hinged.BinaryClassifier("pa2", C), X, y, classes=[0, 1])
    assert (told.losses**2).sum() <= (R2 + 1 / (2 * C)) * (norm + 2 * C * (best**2).sum())  # theorem 5
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    best = np.maximum(0.0, 1.0 - (2 * y - 1) * (unit @ u))
    told = progressive(hinged.BinaryClassifier("pa"), unit, y, classes=[0, 1])
    assert (told.losses**2).sum() <= (np.sqrt(norm) + 2 * np.sqrt((best**2).sum())) ** 2  # theorem 3
    clean = (X @ u > 0).astype(int)
    reach = u / np.abs(X @ u).min()
    told = progressive(hinged.BinaryClassifier("pa"), X, clean, classes=[0, 1])
    assert (told.losses**2).sum() <= R2 * (reach @ reach) * (1 + 1e-12)  # theorem 2
    target = X @ u + rng.normal(size=40)
    best = np.maximum(0.0, np.abs(X @ u - target) - 0.1)
    told = progressive(hinged.Regressor("pa2", C), X, target)
    assert (told.losses**2).sum() <= (R2 + 1 / (2 * C)) * (norm + 2 * C * (best**2).sum())  # theorem 5, section 5


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.5]))
def test_an_unbounded_step_meets_the_margin_and_a_met_one_moves_nothing(seed, bias):
    X, targets = stream(seed % 1000, n_rows=12)
    binary, number = papers.BinaryClassifier("pa", bias=bias).declare([0, 1]), papers.Regressor("pa", bias=bias)
    for x, label, target in zip(X, targets["binary"], targets["regression"], strict=True):
        if not x.any():
            continue
        binary.learn_one(x, label)
        assert (2 * label - 1) * binary.decision_function([x])[0] >= 1.0 - 1e-9
        number.learn_one(x, target)
        assert abs(number.predict([x])[0] - target) <= 0.1 + 1e-9
        if not bias:
            before = (binary.coef_.tolist(), binary.n_updates_)
            binary.learn_one(1.0000001 * x, label)
            assert (binary.coef_.tolist(), binary.n_updates_) == before


@given(st.integers(0, 10_000), st.sampled_from(["pa1", "simproj", "conproj", "optimal"]))
def test_the_certificate_of_ranks_never_falls_and_no_predictor_beats_it(seed, rule):
    X, targets = stream(seed % 1000)
    model, y = papers.OrdinalClassifier(rule, 0.3).declare(range(4)), targets["ordinal"]
    before = 0.0
    for x, rank in zip(X, y, strict=True):
        model.learn_one(x, rank)
        assert model.dual_ >= before - 1e-12 * (1 + abs(before))
        before = model.dual_
    rng = np.random.default_rng(seed)
    for w, b in [(np.zeros(N), np.zeros(3)), (model.coef_, model.thresholds_), (rng.normal(size=N), np.arange(-1, 2))]:
        sides = np.where(np.arange(3) < y[:, np.newaxis], 1, -1)
        loss = np.maximum(0.0, 1.0 - sides * ((X @ w)[:, np.newaxis] - b)).max(axis=1)
        assert model.dual_ <= 0.5 * (w @ w + b @ b) + 0.3 * loss.sum() + 1e-9


def test_ranks_are_a_special_case_of_raw_trials():
    X, targets = stream(1)
    for rule in ("perceptron", "pa1", "simperc", "simproj", "conproj", "optimal"):
        ranks, raw = papers.OrdinalClassifier(rule, 0.4).declare(range(4)), hinged.Trials(rule, 0.4)
        for x, rank in zip(X, targets["ordinal"], strict=True):
            ranks.learn_one(x, rank)
            raw.learn_one(np.hstack((np.tile(x, (3, 1)), -np.eye(3))), np.where(np.arange(3) < rank, 1, -1))
        assert np.append(ranks.coef_, ranks.thresholds_) == pytest.approx(raw.coef_, abs=1e-9)
        assert (ranks.n_mistakes_, ranks.n_updates_) == (raw.n_mistakes_, raw.n_updates_)


# ------------------------------------------------------------------ labels that come later
def test_the_first_round_of_a_label_is_not_counted_and_a_third_label_is_refused():
    model = papers.BinaryClassifier()
    told = progressive(model, np.eye(4), ["b", "b", "a", "a"])
    assert told.flags.tolist() == [-1, 0, -1, 1]
    assert model.classes_.tolist() == ["b", "a"]
    with pytest.raises(ValueError, match=r"'c' came beside 'b' and 'a'. Use hinged.Classifier"):
        model.partial_fit(np.eye(4), ["a", "b", "c", "a"])
    assert model.n_rounds_ == 4


def test_a_rank_may_come_later_past_either_end_and_never_in_between():
    model = hinged.OrdinalClassifier("pa1")
    told = progressive(model, np.eye(6), [3, 5, 3, 1, 9, 5])
    assert told.flags.tolist() == [-1, -1, 1, -1, -1, 1]
    assert model.classes_.tolist() == [1, 3, 5, 9]
    assert len(model.thresholds_) == 3
    before = (model.n_rounds_, model.coef_.tolist(), model.thresholds_.tolist())
    with pytest.raises(ValueError, match=r"got 4 between 1 and 10. Declare all ranks"):
        model.partial_fit(np.eye(6)[:3], [3, 10, 4])
    assert (model.n_rounds_, model.coef_.tolist(), model.thresholds_.tolist()) == before
    assert model.classes_.tolist() == [1, 3, 5, 9]
    with pytest.raises(TypeError, match="ranks must be comparable; got 'high' beside 1"):
        model.learn_one(np.eye(6)[0], "high")


def test_a_lower_rank_leaves_the_meaning_of_the_others_alone():
    X, targets = stream(2)
    model = papers.OrdinalClassifier("simproj", novel="skip").declare([1, 2, 3])
    model.partial_fit(X, np.minimum(targets["ordinal"], 2) + 1)
    before = model.thresholds_.tolist()
    model.learn_one(X[0], 0)
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert model.thresholds_.tolist() == [0.0, *before]


def test_a_declared_order_is_kept_and_nothing_else_is_known():
    model = hinged.OrdinalClassifier(order=["poor", "fair", "good"])
    model.learn_one({"stars": 1}, "good")
    assert model.classes_.tolist() == ["poor", "fair", "good"]
    with pytest.raises(ValueError, match="label 'best' is not in order"):
        model.learn_one({"stars": 9}, "best")
    fitted = hinged.OrdinalClassifier(order=["poor", "fair", "good"]).fit([[1.0], [5.0]], ["poor", "good"])
    assert fitted.classes_.tolist() == ["poor", "fair", "good"]


# ------------------------------------------------------------------ bad input
@pytest.mark.parametrize(("make", "said"), [
    (lambda: hinged.Regressor(epsilon=-1.0), "epsilon must be a finite number that is not negative; got epsilon=-1.0"),
    (lambda: hinged.Regressor("simproj"), "rule must be one of pa, pa1, pa2; got rule='simproj'"),
    (lambda: hinged.Regressor(C=-1.0), "C must be positive; got C=-1.0"),
    (lambda: hinged.BinaryClassifier("optimal"), "rule must be one of perceptron, pa, pa1, pa2; got rule='optimal'"),
    (lambda: hinged.BinaryClassifier(margin=0.0), "margin must be positive"),
    (lambda: hinged.BinaryClassifier(scaling="tfidf"), "scaling must be 'auto', None, 'idf', 'standard' or 'mixed'"),
    (lambda: hinged.OrdinalClassifier(hinged.rules.Optimal("interior-point")), "use solver='search'"),
    (lambda: hinged.OrdinalClassifier(order="abc"), "order must be a list of labels"),
    (lambda: hinged.OrdinalClassifier(order=[1, 1]), "order must hold each label once"),
    (lambda: hinged.Uniclass(radius="learn"), "needs max_radius"),
    (lambda: hinged.Uniclass(radius="grow"), "radius must be a positive number or 'learn'"),
    (lambda: hinged.Uniclass(radius=0.0), "radius must be positive"),
    (lambda: hinged.Uniclass("perceptron"), "rule must be one of pa, pa1, pa2"),
])  # fmt: skip
def test_a_setting_that_makes_no_sense_gets_a_sentence(make, said):
    y = ["a"] if make().__class__ is not hinged.Regressor else [1.0]
    with pytest.raises(ValueError, match=said):
        make().fit([[1.0]], y)


@pytest.mark.parametrize("target", [float("nan"), float("inf"), "much", None, 1e60])
def test_a_target_that_is_no_number_changes_nothing(target):
    model = hinged.Regressor().fit([[1.0, 2.0]], [3.0])
    before = model.coef_.tolist()
    with pytest.raises((TypeError, ValueError)):
        model.learn_one([1.0, 0.0], target)
    with pytest.raises((TypeError, ValueError)):
        model.partial_fit([[1.0, 0.0], [1.0, 1.0]], [1.0, target])
    assert (model.coef_.tolist(), model.n_rounds_) == (before, 1)


@pytest.mark.parametrize(("model", "task"), MODELS)
def test_rows_that_are_refused_change_nothing(model, task):
    X, targets = stream(3)
    y = [None] * len(X) if task is None else targets[task].tolist()
    model = copy.deepcopy(model).fit(X, y)
    before = (weights_of(model), model.n_rounds_)
    for bad in ([[np.nan] * N], [[np.inf] * N], [[1.0] * (N - 1)], [["a"] * N], np.zeros((0, N))):
        with pytest.raises(ValueError):
            model.partial_fit(bad, y[:1])
    with pytest.raises(ValueError, match="NaN"):
        model.learn_one(np.full(N, np.nan), y[0])
    if task is not None:
        with pytest.raises(ValueError, match="as many rows"):
            model.partial_fit(X, y[:3])
    assert (weights_of(model), model.n_rounds_) == before
    with pytest.raises(NotFittedError, match="has learnt nothing"):
        type(model)().predict(X)


def test_a_zero_weight_and_a_zero_row_move_no_weight():
    model = hinged.BinaryClassifier("pa2", 0.5).declare([0, 1])
    model.learn_one([0.0, 0.0], 1)
    assert model.coef_.tolist() == [0.0, 0.0]
    assert (model.n_mistakes_, model.n_updates_) == (1, 1)
    model.learn_one([1.0, 0.0], 1, sample_weight=0.0)
    assert (model.coef_.tolist(), model.n_rounds_) == ([0.0, 0.0], 2)


def test_float32_rows_keep_float32_weights():
    X, targets = stream(4)
    for model, task in ((hinged.Regressor(), "regression"), (hinged.Uniclass(), None)):
        model.fit(X.astype(np.float32), None if task is None else targets[task])
        assert (model.coef_ if task else model.center_).dtype == np.float32


def test_a_reason_names_the_features_that_carry_the_score():
    X, targets = stream(5)
    model = hinged.Regressor(bias=1.0).fit(X, targets["regression"])
    assert sum(value for _, value in model.explain(X[0], top=None)) == pytest.approx(model.predict(X[:1])[0])
    ball = hinged.Uniclass(radius=0.5).fit(X)
    apart = ball.explain(X[0], top=None)
    assert sum(value**2 for _, value in apart) == pytest.approx(ball.score_samples(X[:1])[0] ** 2)
    assert hinged.BinaryClassifier(class_weight={0: 1.0, 1: 0.0}).fit(X, targets["binary"]).n_updates_ > 0


@pytest.mark.parametrize("novel", ["learn", "skip"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("task", [hinged.BinaryClassifier, hinged.OrdinalClassifier])
def test_labels_in_an_array_are_learnt_like_those_in_a_list(task, weighted, novel):
    """New ones are looked for in other ways."""
    rng = np.random.default_rng(0)
    X, first = rng.normal(size=(300, 4)), [1, 0] if task is hinged.BinaryClassifier else [40, 39, 41, 38]
    y = np.concatenate([np.repeat(first, 3), rng.choice(first, 300 - 3 * len(first))])
    if task is hinged.OrdinalClassifier:
        y[250:260] = np.arange(37, 27, -1)
    weights = np.tile([0.0, 1.0, 2.0], 100) if weighted else None
    if weighted:
        weights[250:260] = 1.0
    quick, plain, single = task(novel=novel), task(novel=novel), task(novel=novel)
    told = quick.learn_rounds(X, y, sample_weight=weights)
    for ours, theirs in zip(told, plain.learn_rounds(X, y.tolist(), sample_weight=weights), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    for i in range(300):
        single.learn_one(X[i], y[i].item(), None if weights is None else weights[i])
    for other in (plain, single):
        assert (other.classes_ == quick.classes_).all()
        assert (other.n_novel_, other.n_mistakes_) == (quick.n_novel_, quick.n_mistakes_)
        np.testing.assert_array_equal(other.coef_, quick.coef_)


@pytest.mark.parametrize("place", [1, 2, *range(31, 36), *range(95, 100)])
def test_a_new_label_is_found_wherever_it_stands_in_an_array(place):
    """Known labels are looked for in stretches of 32, 64, 128 ... rows."""
    y = np.zeros(130, np.int64)
    y[place] = 1
    flags = hinged.BinaryClassifier().learn_rounds(np.eye(130, 3), y).flags
    assert np.flatnonzero(flags == -1).tolist() == [0, place]
