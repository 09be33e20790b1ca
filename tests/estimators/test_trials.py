"""Raw trials: the rules of the table on plain constraints, and the other learners as special cases of it."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from tests import plain as papers
from tests.reference import rules
from tests.reference.entropy import Simplices
from tests.reference.learner import Mira
from tests.reference.streams import random_stream, rounds_without_near_ties

import hinged
from hinged.geometry import Entropy
from hinged.rules.table import entropic

RULES = tuple(hinged.rules.RULES)
ENTROPIC = tuple(name for name, row in hinged.rules.RULES.items() if entropic(row.words))


def random_trials(seed, n_trials=30, n=6, most=4, binary=False):
    """Trials of one to `most` instances, their labels mostly those of a hidden vector."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=n)
    for _ in range(n_trials):
        X = rng.normal(size=(int(rng.integers(1, most + 1)), n)) * (rng.random((1, n)) < 0.7)
        X = (X > 0).astype(float) if binary else X
        noise = rng.normal(size=len(X))
        yield X, np.where(X @ u + 0.3 * noise > 0, 1, -1)


class Plain:
    """The plain twin: one vector, the multipliers of `rules.RULES` or of a simplex."""

    def __init__(self, rule, C, margin, simplex=None):
        self.rule, self.C, self.margin, self.simplex = rule, C, margin, simplex
        self.theta, self.gain, self.mistakes, self.updates = np.zeros(6), 0.0, 0, 0

    @property
    def weights(self):
        return self.theta if self.simplex is None else self.simplex.weights(self.theta)

    def learn(self, X, y):
        Z = X * y[:, None]
        trial = rules.Trial(Z, Z @ self.weights, self.margin)
        if self.simplex is None:
            lam = rules.RULES[self.rule](trial, self.C)
        else:
            lam = self.simplex.multipliers(self.rule, self.theta, trial, np.full(len(X), self.C))
        self.mistakes += bool(np.any(trial.mistaken))
        self.updates += bool(np.any(lam > 0))
        self.theta = self.theta + lam @ Z
        self.gain += self.margin * lam.sum() - (lam @ lam / (4 * self.C) if self.rule == "pa2" else 0.0)

    @property
    def dual(self):
        return self.gain - (
            0.5 * self.theta @ self.theta if self.simplex is None else self.simplex.potential(self.theta)
        )


# ------------------------------------------------------------------ twins
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", range(3))
def test_every_rule_equals_its_twin(rule, seed):
    C = {"uniform": 1.0, "mira": 0.3}.get(rule, 0.4)
    margin = 0.2 if rule == "mira" else 0.8
    spelt = hinged.rules.Mira(beta=margin, cap=C) if rule == "mira" else rule
    model, twin = hinged.Trials(spelt, C=C, margin=margin), Plain(rule, C, margin)
    for X, y in random_trials(seed):
        model.learn_one(csr_matrix(X) if seed else X, y)
        twin.learn(X, y)
    np.testing.assert_allclose(model.coef_, twin.theta, atol=1e-8)
    assert (model.n_mistakes_, model.n_updates_, model.n_rounds_) == (twin.mistakes, twin.updates, 30)
    assert model.dual_ == pytest.approx(twin.dual, abs=1e-8)


@pytest.mark.parametrize("rule", ENTROPIC)
@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("binary", [False, True])
def test_every_rule_on_the_simplex_equals_its_twin(rule, signed, binary):
    C, margin = (1.0 if rule == "uniform" else 1.5), 0.3
    model = hinged.Trials(rule, C=C, margin=margin, geometry=Entropy(2.0, signed))
    twin = Plain(rule, C, margin, Simplices(1, 2.0, signed))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "margin=0.3 is out of reach")
        for X, y in random_trials(7, n_trials=20, most=3, binary=binary):
            achieved = X @ twin.weights * y
            if np.min(np.abs(np.append(achieved, margin - achieved)[1:]), initial=1.0) > 1e-9:  # no near ties
                model.learn_one(X, y)
                twin.learn(X, y)
    np.testing.assert_allclose(model.coef_, twin.weights, atol=1e-7)
    assert (model.n_mistakes_, model.n_updates_) == (twin.mistakes, twin.updates)
    assert model.dual_ == pytest.approx(twin.dual, abs=1e-8)


def test_both_solvers_take_the_same_joint_step():
    for geometry in ("euclidean", Entropy(2.0)):
        models = [hinged.Trials(hinged.rules.Optimal(s), 0.7, geometry, 0.3) for s in ("search", "interior-point")]
        for X, y in random_trials(3, n_trials=15):
            for model in models:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    model.learn_one(X, y)
        np.testing.assert_allclose(models[0].coef_, models[1].coef_, atol=1e-6)


# ------------------------------------------------------------------ special cases
def pairs_of(x, right, n_labels):
    """V_r - V_s for right labels r and the others s, with a block of weights per label."""
    rows = []
    for r in right:
        for s in set(range(n_labels)) - set(right):
            z = np.zeros((n_labels, len(x)))
            z[r], z[s] = x, -x
            rows.append(z.ravel())
    return np.array(rows)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("sets", [False, True])
def test_multiclass_and_multilabel_learning_are_raw_trials(rule, sets):
    params = {"rule": Mira() if rule == "mira" else rule}
    for seed in range(9):
        stream = random_stream("real", seed, rounds=30, features=5, labels=3, sets=sets)
        rounds = rounds_without_near_ties(stream, params, stream.labels)
        if rounds >= 15:
            break
    estimator = papers.Ranker if sets else papers.Classifier
    model, raw = estimator(rule), hinged.Trials(rule)
    progress = hinged.evaluate.progressive(model, stream.X[:rounds], stream.y[:rounds], classes=range(3))
    for x, y in zip(stream.X[:rounds], stream.y[:rounds], strict=True):
        right = sorted(y) if sets else [y]
        if 0 < len(right) < 3:
            Z = pairs_of(x, right, 3)
            raw.learn_one(Z, np.ones(len(Z), int))
    assert (raw.n_mistakes_, raw.n_updates_) == (progress.mistakes, progress.updates)
    np.testing.assert_allclose(raw.coef_.reshape(3, 5), model.coef_, atol=1e-7)
    assert raw.dual_ == (None if model.dual_ is None else pytest.approx(model.dual_, abs=1e-8))


def ordinal_twin(X, y, k, C):
    """Simultaneous projections on thresholds, straight from SP section 3: weights w and thresholds b_1 ... b_(k-1)."""
    w, b, mistakes = np.zeros(X.shape[1]), np.zeros(k - 1), 0
    for x, rank in zip(X, y, strict=True):
        sign = np.where(np.arange(1, k) < rank, 1.0, -1.0)
        margin = sign * (w @ x - b)
        missed = np.flatnonzero(margin < 1.0)
        mistakes += bool(np.any(margin <= 0.0))
        steps = np.minimum(C, (1.0 - margin[missed]) / (x @ x + 1.0)) / max(1, len(missed))
        w = w + np.sum(steps * sign[missed]) * x
        b[missed] -= steps * sign[missed]
    return w, b, mistakes


def test_ordinal_learning_is_raw_trials():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 4))
    y = np.digitize(X @ [1.0, -1.0, 0.5, 0.0] + 0.3 * rng.normal(size=60), [-1.0, 0.0, 1.0]) + 1
    w, b, mistakes = ordinal_twin(X, y, 4, 0.3)
    model = hinged.Trials("simproj", C=0.3)
    for x, rank in zip(X, y, strict=True):
        rows = np.hstack([np.tile(x, (3, 1)), -np.eye(3)])
        model.learn_one(rows, np.where(np.arange(1, 4) < rank, 1, -1))
    np.testing.assert_allclose(model.coef_, [*w, *b], atol=1e-12)
    assert model.n_mistakes_ == mistakes


# ------------------------------------------------------------------ weights of constraints
def test_weights_of_one_change_nothing():
    for rule in RULES:
        if rule != "pa2":
            plain, weighted = hinged.Trials(rule), hinged.Trials(rule)
            for X, y in random_trials(1):
                plain.learn_one(X, y)
                weighted.learn_one(X, y, nu=np.ones(len(X)))
            assert weighted.coef_.tobytes() == plain.coef_.tobytes()


@pytest.mark.parametrize("geometry", ["euclidean", Entropy(20.0)])
@pytest.mark.parametrize("rule", ["perceptron", "pa1", "simperc", "simproj", "conproj", "optimal"])
def test_weights_divide_the_cap(rule, geometry):
    """Both margins are out of reach of small steps, so every rule's step is its cap."""
    model = hinged.Trials(rule, C=0.01, geometry=geometry, margin=8.0)
    model.learn_one([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [1, 1], nu=[2.0, 4.0])
    moved = np.log(model.coef_ / model.coef_[2])[:2] if geometry != "euclidean" else model.coef_[:2]
    if geometry != "euclidean" and rule in ("perceptron", "simperc", "conproj"):
        assert not moved.any()  # nothing is on the wrong side of equal weights
    elif rule in ("perceptron", "pa1", "optimal"):
        np.testing.assert_allclose(moved, [0.005, 0.0], atol=1e-9)
    else:
        np.testing.assert_allclose(moved, [0.0025, 0.00125], atol=1e-12)


def test_the_joint_step_with_weights_is_the_best_of_all():
    rng = np.random.default_rng(2)
    for _ in range(20):
        Z, nu, C = rng.normal(size=(3, 4)), rng.uniform(0.2, 3.0, 3), 0.5
        model = hinged.Trials("optimal", C=C)
        model.learn_one(Z, np.ones(3, int), nu=nu)
        for other in rng.dirichlet(np.ones(4), 200)[:, :3] * C / nu:
            assert model.dual_ >= other.sum() - 0.5 * np.sum((other @ Z) ** 2) - 1e-9


def test_a_weight_of_zero_takes_the_cap_off():
    model = hinged.Trials("pa1", C=0.01)
    model.learn_one([[2.0, 0.0]], [1], nu=[0.0])
    assert model.coef_.tolist() == [0.5, 0.0]
    model = hinged.Trials("optimal", C=0.01)
    model.learn_one([[2.0, 0.0], [0.0, 2.0]], [1, 1], nu=[0.0, 1.0])
    np.testing.assert_allclose(model.coef_, [0.5, 0.02], atol=1e-7)


# ------------------------------------------------------------------ keeping, answering, refusing
@pytest.mark.parametrize("geometry", ["euclidean", "entropy", Entropy(2.0, True)])
def test_a_saved_model_goes_on_as_if_nothing_had_happened(geometry, tmp_path):
    whole, parts = hinged.Trials("simproj", 0.5, geometry, 0.1), hinged.Trials("simproj", 0.5, geometry, 0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i, (X, y) in enumerate(random_trials(4)):
            whole.learn_one(X, y)
            parts.learn_one(X, y)
            if i == 10:
                parts.save(tmp_path / "trials")
                parts = hinged.load(tmp_path / "trials")
            if i == 20:
                parts = pickle.loads(pickle.dumps(copy.deepcopy(parts)))
    assert parts.coef_.tobytes() == whole.coef_.tobytes()
    assert (parts.dual_, parts.n_mistakes_, parts.n_updates_) == (whole.dual_, whole.n_mistakes_, whole.n_updates_)
    assert parts.get_params() == whole.get_params()


def test_lists_of_trials_are_learnt_in_order():
    trials = list(random_trials(6))
    one_by_one = hinged.Trials("conproj")
    for X, y in trials:
        one_by_one.learn_one(X, y)
    together = hinged.Trials("conproj").fit([X for X, _ in trials], [y for _, y in trials])
    assert together.coef_.tobytes() == one_by_one.coef_.tobytes()
    assert [a.tolist() for a in together.predict([trials[0][0]])] == [together.predict_one(trials[0][0]).tolist()]
    with pytest.raises(ValueError, match="as many trials; got 1 matrices and 0"):
        together.partial_fit([np.eye(6)], [])


def test_wider_trials_are_welcome_unless_weights_are_on_a_simplex():
    model = hinged.Trials("pa1")
    model.learn_one([[1.0]], [1])
    model.learn_one([[0.0, 2.0]], [-1])
    assert model.coef_.tolist() == [1.0, -0.5]
    assert model.decision_function([[3.0]]).tolist() == [3.0]
    with pytest.raises(ValueError, match="X has 3 features, but Trials is expecting 2"):
        model.predict_one([[1.0, 1.0, 1.0]])
    model = hinged.Trials("pa1", geometry="entropy", margin=0.2)
    model.learn_one([[1.0, 0.0]], [1])
    with pytest.raises(ValueError, match=r"over 2 features, fixed .*; got 3"):
        model.learn_one([[1.0, 0.0, 0.0]], [1])


def test_a_margin_out_of_reach_warns_once():
    model = hinged.Trials("simproj", geometry="entropy")
    with pytest.warns(UserWarning, match=r"margin=1\.0 is out of reach of some instances") as told:
        model.learn_one([[1.0, 0.0]], [1])
    assert len(told) == 1
    with warnings.catch_warnings(record=True) as again:
        warnings.simplefilter("always")
        model.learn_one([[1.0, 0.0]], [1])
    assert not again


def test_settings_may_change_between_trials_but_not_the_geometry():
    model = hinged.Trials("pa1")
    model.learn_one([[1.0]], [1])
    model.set_params(C=0.125, rule="simproj").learn_one([[1.0]], [-1])
    assert model.coef_.tolist() == [0.875]
    assert model.dual_ is None
    with pytest.raises(ValueError, match="geometry cannot change once something is learnt"):
        model.set_params(geometry="entropy").learn_one([[1.0]], [1])


def test_commands_say_that_they_read_no_trials(tmp_path):
    from hinged.files import load_learner

    model = hinged.Trials("pa1")
    model.learn_one([[1.0]], [1])
    model.save(tmp_path / "trials")
    with pytest.raises(ValueError, match="holds a model of trials, which no file of examples can feed"):
        load_learner(tmp_path / "trials")


REFUSED = {
    "labels that are no signs": ({}, ([[1.0]], [0]), r"labels of a trial must be -1 or \+1; got \[0\]"),
    "labels that are truths": ({}, ([[1.0]], [True]), r"labels of a trial must be -1 or \+1"),
    "a label too many": ({}, ([[1.0]], [1, 1]), r"one label per instance; got shape \(2,\) for 1 instances"),
    "no instance": ({}, (np.zeros((0, 2)), []), r"at least one row|minimum of 1"),
    "a value that is not finite": ({}, ([[np.nan]], [1]), r"contains NaN"),
    "a weight too many": ({}, ([[1.0]], [1], [1.0, 1.0]), r"nu must hold one number per instance"),
    "a negative weight": ({}, ([[1.0]], [1], [-1.0]), r"nu must hold finite numbers that are not negative"),
    "no cap where the step is the cap": ({"rule": "simperc"}, ([[1.0]], [1], [0.0]), r"a nu of 0 takes the cap off"),
    "weights without a cap": ({"rule": "pa2"}, ([[1.0]], [1], [1.0]), r"rule='pa2' has no cap"),
    "a rule without a simplex": ({"rule": "pa", "geometry": "entropy"}, ([[1.0]], [1]), r"takes the rules .*rule='pa'"),
    "a joint step without a cap": (
        {"rule": "optimal", "C": np.inf, "geometry": "entropy"},
        ([[1.0]], [1]),
        r"C must be finite for rule='optimal' with geometry='entropy'",
    ),
    "a function": ({"rule": np.sign}, ([[1.0]], [1]), r"a rule of your own reads scores of labels"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_gets_a_sentence_and_changes_nothing(name):
    params, trial, sentence = REFUSED[name]
    model = hinged.Trials(**params)
    with pytest.raises(ValueError, match=sentence):
        model.learn_one(*trial)
    assert not hasattr(model, "coef_")
    with pytest.raises(ValueError, match="nothing to save yet"):
        model.save("nowhere")
    with pytest.raises(ValueError, match="not fitted yet"):
        model.predict_one([[1.0]])
