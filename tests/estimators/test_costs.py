"""Mistakes that cost: against a plain twin, the theorem, and what a user may do wrong."""

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import plain as papers
from tests.reference.costs import CostTwin

import hinged
from hinged.evaluate import progressive

RULES = tuple(name for name in hinged.rules.RULES if name not in ("mira", "uniform"))
K, N = 4, 5


def stream(seed, n_rows=40):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, N))
    y = np.argmax(X @ rng.normal(size=(N, K)) + 0.5 * rng.normal(size=(n_rows, K)), axis=1)
    rho = rng.integers(0, 5, size=(K, K)).astype(float)
    np.fill_diagonal(rho, 0.0)
    return X, y, rho


@pytest.mark.parametrize("constraint", ["max-loss", "prediction"])
@pytest.mark.parametrize("rule", RULES)
def test_costs_agree_with_the_plain_twin(rule, constraint):
    X, y, rho = stream(RULES.index(rule))
    twin = CostTwin(N, K, rule, 0.3, rho, constraint)
    for x, label in zip(X, y, strict=True):
        twin.learn(x, label)
    model = papers.Classifier(rule, 0.3, cost=rho, constraint=constraint)
    told = progressive(model, X, y, classes=range(K))
    assert told.flags.tolist() == twin.flags
    assert told.losses == pytest.approx(twin.losses, abs=1e-10)
    assert told.cost == model.total_cost_ == twin.cost
    assert (model.n_updates_, model.coef_) == (twin.updates, pytest.approx(twin.W, abs=1e-10))
    assert model.dual_ == pytest.approx(twin.dual, abs=1e-9)


@pytest.mark.parametrize("constraint", ["max-loss", "prediction"])
@pytest.mark.parametrize("rule", RULES)
def test_costs_agree_with_the_plain_twin_on_ties_zero_rows_and_free_mistakes(rule, constraint):
    compared = 0
    for seed in range(8):  # small integers tie often; every fourth row is zero; half of the mistakes cost nothing
        rng = np.random.default_rng(seed)
        X, y = rng.integers(-1, 2, size=(30, N)).astype(float), rng.integers(0, K, size=30)
        X[::4] = 0.0
        rho = rng.choice([0.0, 0.0, 1.0, 4.0], size=(K, K)) * (1.0 - np.eye(K))
        twin = CostTwin(N, K, rule, 0.75, rho, constraint)
        for x, label in zip(X, y, strict=True):
            twin.learn(x, label)
        if twin.nearest < 1e-12:  # a tie that rounding broke: "optimal" is no finite sum
            continue
        compared += 1
        model = papers.Classifier(rule, 0.75, cost=rho, constraint=constraint)
        told = progressive(model, X, y, classes=range(K))
        assert (told.flags.tolist(), told.cost, model.n_updates_) == (twin.flags, twin.cost, twin.updates)
        assert told.losses == pytest.approx(twin.losses, abs=1e-10)
        assert model.coef_ == pytest.approx(twin.W, abs=1e-10)
        assert model.dual_ == pytest.approx(twin.dual, abs=1e-9)
    assert compared >= 2


@pytest.mark.parametrize("rule", ["simproj", "optimal"])
def test_the_simultaneous_rules_take_every_pair_whatever_the_prediction(rule):
    rho = np.array([[0.0, 4.0, 0.0], [0.0, 0.0, 4.0], [4.0, 0.0, 0.0]])
    for constraint in ("max-loss", "prediction"):
        model = papers.Classifier(rule, cost=rho, constraint=constraint).declare(range(3))
        model.partial_fit([[0.0]], [0])  # a zero row: √4 for the pair that has a loss, and no weight moves
        assert (model.dual_, model.n_updates_) == (2.0, 1)
        model = papers.Classifier(rule, cost=rho, constraint=constraint).declare(range(3))
        model.partial_fit([[1.0]], [1])  # the prediction ties and costs nothing, another pair misses its margin
        assert (model.n_updates_, model.coef_.tolist()) == (1, [[0.0], [1.0], [-1.0]])


@pytest.mark.parametrize("constraint", ["max-loss", "prediction"])
def test_a_tie_that_costs_nothing_is_no_loss_whatever_the_scores(constraint):
    for root in np.linspace(0.1, 1.9, 30):  # labels 0 and 1 go down together, then 0 is right and 1 costs nothing
        rho = np.zeros((3, 3))
        rho[2, :2] = root**2
        model = papers.Classifier("simproj", cost=rho, constraint=constraint).declare(range(3))
        model.partial_fit([[1.0], [1.0]], [2, 0])
        assert model.coef_[1, 0] == pytest.approx(-root / 4.0, abs=1e-15)  # only 2 was in the way of 0
        assert model.coef_[0, 0] == pytest.approx(model.coef_[2, 0], abs=1e-15)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("sharing", ["multi", "hybrid"])
def test_mistakes_that_all_cost_one_change_nothing(rule, sharing):
    X, y, _ = stream(11)
    features = None if sharing == "multi" else "frequency"
    plain = papers.Classifier(rule, 0.3, sharing=sharing, features=features)
    priced = papers.Classifier(rule, 0.3, sharing=sharing, features=features, cost=lambda a, b: float(a != b))
    told = progressive(plain, X, y), progressive(priced, X, y)
    assert told[0].flags.tolist() == told[1].flags.tolist()
    assert plain.coef_ == pytest.approx(priced.coef_, abs=1e-12)
    assert plain.dual_ == pytest.approx(priced.dual_, abs=1e-12)


@given(st.integers(0, 10_000), st.sampled_from(["prediction", "max-loss"]))
def test_the_cost_stays_below_theorem_10(seed, constraint):
    X, y, rho = stream(seed)
    rho = rho + 1.0 - np.eye(K)
    rng = np.random.default_rng(seed)
    told = hinged.bounds.as_stream(X, y.tolist(), classes=list(range(K)))
    model = papers.Classifier("pa1", 0.5, cost=rho, constraint=constraint).declare(range(K)).partial_fit(X, y)
    for u in (model.coef_, rng.normal(size=(K, N)), np.zeros((K, N))):
        assert model.total_cost_ <= hinged.bounds.pa_theorem_10(told, u, rho, C=0.5).value * (1 + 1e-12)


def test_costs_may_come_as_a_dict_a_function_or_a_tree_and_survive_a_file(tmp_path):
    X, y, _ = stream(3)
    names = ["work/tax", "work/travel", "home", "home/cake"]
    labels = [names[i] for i in y]
    tree = hinged.costs.Tree()
    pairs = {(a, b): tree(a, b) for a in names for b in names if a != b}
    models = [papers.Classifier(cost=cost).fit(X, labels) for cost in (tree, pairs)]
    matrix = hinged.costs.cost_matrix(tree, models[0].classes_.tolist())
    models.append(papers.Classifier(cost=matrix).fit(X, labels))
    for model in models:
        assert model.total_cost_ == models[0].total_cost_ > 0
        model.save(tmp_path / "model")
        loaded = hinged.load(tmp_path / "model")
        assert loaded.total_cost_ == model.total_cost_
        again, loaded = copy.deepcopy(model).partial_fit(X, labels), loaded.partial_fit(X, labels)
        assert (again.coef_ == loaded.coef_).all()
        assert again.total_cost_ == loaded.total_cost_


def test_a_label_that_appears_or_is_renamed_brings_its_own_cost():
    cost = {("a", "b"): 4.0, ("z", "b"): 9.0}
    model = papers.Classifier("pa", cost=cost, novel="skip")
    for x, label in [([1.0, 0.0], "b"), ([0.0, 1.0], "a"), ([1.0, 0.0], "a")]:
        model.learn_one(x, label)
    assert model.total_cost_ == 4.0
    assert model.decision_function([[1.0, 0.0]])[0] == pytest.approx(2.0)  # √4, the margin of that pair
    model.rename_label("a", "z")
    model.learn_one([0.0, 1.0], "z")
    assert model.total_cost_ == 13.0
    assert model.decision_function([[0.0, 1.0]])[0] == pytest.approx(3.0)


def test_a_delayed_answer_costs_what_was_said_at_its_moment():
    X, y, rho = stream(5)
    late = papers.Classifier(cost=rho)
    told = progressive(late, X, y, classes=range(K), delay=len(X))
    assert told.cost == rho[y, 0].sum()  # nothing was learnt before the last prediction
    assert late.total_cost_ == told.cost
    assert told.losses.tolist() == np.sqrt(rho[y].max(axis=1)).tolist()


@pytest.mark.parametrize(("cost", "said"), [
    (-np.ones((4, 4)), r"costs must be finite and not negative; got -1.0 in row 0, column 0"),
    (np.ones((4, 4)), "the right answer costs nothing; got cost 1.0"),
    (np.zeros((2, 3)), r"square matrix in the order of classes_; got shape \(2, 3\)"),
    (np.zeros((2, 2)), "a matrix for 2 labels, and there are 4 now"),
    ({"a": 1.0}, r"by \(right, answered\) pairs of labels; got the key 'a'"),
    ({(0, 1): -2.0}, "costs must be finite and not negative"),
    ({(0, 1): float("nan")}, "costs must be finite and not negative"),
])  # fmt: skip
def test_a_cost_that_makes_no_sense_gets_a_sentence_and_changes_nothing(cost, said):
    X, y, _ = stream(1)
    model = papers.Classifier(cost=cost)
    with pytest.raises(ValueError, match=said):
        model.partial_fit(X, y)
    assert not hasattr(model, "n_rounds_")
    with pytest.raises(ValueError, match=said):
        model.fit(X, y)


@pytest.mark.parametrize("settings", [
    {"cost": "much"}, {"constraint": "worst"}, {"cost": np.zeros((4, 4)), "geometry": "entropy", "margin": 0.5},
    {"cost": lambda a, b: "much"},
])  # fmt: skip
def test_settings_of_costs_are_refused_by_name(settings):
    X, y, _ = stream(1)
    with pytest.raises((TypeError, ValueError), match=r"cost|constraint"):
        papers.Classifier(**settings).fit(X, y)
    with pytest.raises(ValueError, match="a Ranker has none"):
        papers.Ranker(cost=np.zeros((4, 4))).fit(X, [[label] for label in y])


def test_the_cost_of_a_delayed_prediction_counts_once():
    for seed in range(4):
        X, y, rho = stream(seed)
        model, twin, total = papers.Classifier(cost=rho), papers.Classifier(cost=rho).declare(range(K)), 0.0
        progressive(model, X, y, classes=range(K), delay=2)
        for t, (x, label) in enumerate(zip(X, y, strict=True)):
            predicted = twin.predict([x])[0] if t > 2 else 0
            total += rho[label, predicted]
            if t >= 2:
                twin.partial_fit(X[[t - 2]], y[[t - 2]])
        assert model.total_cost_ == total


def test_a_circle_is_no_tree():
    with pytest.raises(ValueError, match="no circles"):
        hinged.costs.Tree(parents={"a": "b", "b": "a"})("a", "b")
    with pytest.raises(TypeError, match="labels must be paths"):
        hinged.costs.Tree()(1, 2)
