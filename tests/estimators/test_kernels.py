"""Learners with a kernel: the plain twins' numbers, the calls of every other learner, and sentences where they end."""

import pickle
from itertools import product

import numpy as np
import pytest
import sklearn
from scipy import sparse
from tests import plain as papers
from tests.reference.kernels import KernelTwin, KernelVectorTwin, gaussian, polynomial

import hinged
from hinged.files.describe import describe
from hinged.journal import DurableModel
from hinged.mercer import Budget, Centred, Gaussian, Linear, Polynomial

RNG = np.random.default_rng(3)
X = RNG.normal(size=(60, 3))
Y = np.array(["c", "a", "b", "d"])[RNG.integers(0, 4, 60)]
SETS = [{"c"}, *({"a", "b", "c", "d"} - set(RNG.choice(list("abcd"), 2)) for _ in range(59))]
WEIGHTS = np.where(RNG.random(60) < 0.2, 0.0, 2.0 * RNG.random(60))


def odd(A, B):
    """A kernel of the user's own."""
    return (A @ B.T) ** 3 + A @ B.T


def close(got, expected):
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-10 * max(1.0, np.abs(expected).max()))


# ------------------------------------------------------------------ twins
@pytest.mark.parametrize("rule", ["pa1", "simproj"])
@pytest.mark.parametrize(
    ("sharing", "kernel", "plain"),
    [("multi", Polynomial(0.5, 2), polynomial(0.5, 2)), ("hybrid", Centred(0.3), gaussian(0.3))],
)
def test_label_sets_and_weights_go_as_in_the_plain_learner(rule, sharing, kernel, plain):
    twin = KernelTwin(plain, rule, 0.5, sharing=sharing, classes="abcd").run(X, SETS, WEIGHTS)
    model = hinged.Ranker(rule, C=0.5, sharing=sharing, kernel=kernel)
    progress = hinged.evaluate.progressive(model, X, SETS, classes=list("abcd"), sample_weight=WEIGHTS)
    np.testing.assert_array_equal(progress.flags, twin.flags)
    close(progress.losses, twin.losses)
    assert model.n_updates_ == twin.updates
    close(model.decision_function(X[:9]), twin.scores(X[:9]))
    close(model.dual_, twin.dual)


@pytest.mark.parametrize("rule", ["pa", "pa1", "pa2"])
def test_two_labels_and_numbers_go_as_in_the_plain_learner(rule):
    signs, numbers = (X[:, 0] * X[:, 1] > 0).astype(int), np.sin(2 * X[:, 0]) + X[:, 1]
    for model, twin, y in [
        (
            hinged.BinaryClassifier(rule, C=0.5, kernel=Polynomial(0.5, 2)).declare([0, 1]),
            KernelVectorTwin(polynomial(0.5, 2), rule, 0.5),
            signs,
        ),
        (
            hinged.Regressor(rule, C=0.5, epsilon=0.05, kernel=Gaussian(0.4)),
            KernelVectorTwin(gaussian(0.4), rule, 0.5, epsilon=0.05),
            numbers,
        ),
    ]:
        progress = hinged.evaluate.progressive(model, X, y, sample_weight=WEIGHTS)
        twin.run(X, y, WEIGHTS)
        np.testing.assert_array_equal(progress.flags, twin.flags)
        close(progress.losses, twin.losses)
        assert model.n_updates_ == twin.updates
        asked = model.predict if isinstance(model, hinged.Regressor) else model.decision_function
        close(asked(X[:9]), [twin.score(x) for x in X[:9]])
        close(model.dual_, twin.dual)
        assert sum(share for _, share in model.explain(X[0], top=None)) == pytest.approx(asked(X[:1])[0])


@pytest.mark.parametrize("rule", ["perceptron", "simproj", "optimal"])
def test_the_linear_kernel_is_the_learner_without_one(rule):
    plain, kernel = (papers.Classifier(rule, C=0.5, kernel=k).partial_fit(X, Y) for k in (None, Linear()))
    assert kernel.n_mistakes_ == plain.n_mistakes_
    close(kernel.decision_function(X), plain.decision_function(X))
    close(kernel.dual_, plain.dual_)
    close(kernel.confidence(X), plain.confidence(X))


# ------------------------------------------------------------------ the calls of every learner
SETTINGS = [
    {"kernel": Polynomial(0.5, 3)},
    {"kernel": odd, "normalize": True},
    {"kernel": Centred(0.3), "sharing": "hybrid", "rule": "simproj"},
    {"kernel": Gaussian(0.3), "budget": Budget(12, "oldest")},
    {"kernel": Centred(kernel=odd), "sharing": "hybrid", "budget": Budget(12)},
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_one_row_at_a_time_is_a_batch(settings):
    batch = hinged.Classifier(**settings).partial_fit(X, Y)
    single = hinged.Classifier(**settings)
    for x, y in zip(X, Y.tolist(), strict=True):
        single.learn_one(x, y)
    halves = hinged.Classifier(**settings).partial_fit(sparse.csr_array(X[:31]), Y[:31]).partial_fit(X[31:], Y[31:])
    for other in (single, halves):
        assert other.classes_.tolist() == batch.classes_.tolist()
        assert (other.n_mistakes_, other.n_updates_, other.n_novel_) == (batch.n_mistakes_, batch.n_updates_, 4)
        close(other.decision_function(X), batch.decision_function(X))
        if batch.dual_ is None:
            assert "budget" in settings
            assert other.dual_ is None
        else:
            close(other.dual_, batch.dual_)


@pytest.mark.parametrize("settings", SETTINGS)
def test_a_model_goes_on_after_it_was_kept(settings, tmp_path):
    model = hinged.Classifier(**settings).partial_fit(X[:40], Y[:40])
    model.save(tmp_path / "model")
    own = {"kernel": settings["kernel"]} if "odd" in repr(settings["kernel"]) else {}
    kept = [hinged.load(tmp_path / "model", **own), pickle.loads(pickle.dumps(model))]
    model.partial_fit(X[40:], Y[40:])
    for other in kept:
        other.partial_fit(X[40:], Y[40:])
        np.testing.assert_array_equal(other.decision_function(X), model.decision_function(X))
        np.testing.assert_array_equal(other.support_, model.support_)
        assert other.dual_ == model.dual_


KERNELS = [
    *product([Gaussian(0.3), Polynomial(0.5, 2), Linear(), odd], ["multi"], [None, 5, Budget(5, "oldest")]),
    *product([Centred(0.3), Centred(kernel=odd)], ["single", "hybrid"], [None, 5, Budget(5, "oldest")]),
]
BEGINNINGS = {
    "an empty set": ([set()], None),
    "a weight of 0": ([{"a"}], [0.0]),
    "several": ([set(), {"a"}, {"a", "b"}], [1.0, 0.0, 0.0]),
}


@pytest.mark.parametrize(("kernel", "sharing", "budget"), KERNELS)
@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_first_rounds_that_ask_for_nothing_leave_nothing(kernel, sharing, budget, beginning, tmp_path):
    sets, weights = BEGINNINGS[beginning]
    n, settings = len(sets), {"kernel": kernel, "sharing": sharing, "budget": budget}
    begun, plain = hinged.Ranker(**settings).partial_fit(X[:n], sets, sample_weight=weights), hinged.Ranker(**settings)
    singly = hinged.Ranker(**settings)
    for x, labels, weight in zip(X, sets, weights or [1.0], strict=False):
        singly.learn_one(x, labels, sample_weight=weight)
    begun.save(tmp_path / "model")
    kept = hinged.load(tmp_path / "model", **({"kernel": kernel} if "odd" in repr(kernel) else {}))
    plain.partial_fit(X, SETS)
    for model in (begun, singly, kept):
        assert (model.n_rounds_, model.n_updates_, model.n_mistakes_, len(model.classes_)) == (n, 0, 0, 0)
        assert model.rank_one(X[0]) == []
        model.partial_fit(X, SETS)
        assert model.n_updates_ == plain.n_updates_ > 0
        np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))


@pytest.mark.parametrize(("kernel", "sharing", "budget"), KERNELS)
def test_one_label_or_a_set_of_all_of_them_asks_for_nothing(kernel, sharing, budget):
    for y in ([{"a"}] * 3, [{"a", "b"}] * 3):
        model = hinged.Ranker(kernel=kernel, sharing=sharing, budget=budget)
        assert hinged.evaluate.progressive(model, X[:3], y).flags.tolist() == [-1, 0, 0]
        assert (model.n_updates_, len(model.classes_)) == (0, len(y[0]))
        np.testing.assert_array_equal(model.decision_function(X), 0.0)


def test_features_and_labels_may_appear_in_dicts():
    model, twin = hinged.Classifier(kernel=Gaussian(0.5)), hinged.Classifier(kernel=Gaussian(0.5))
    rows = [{"a": 1.0}, {"b": 2.0}, {"a": 1.0, "c": 0.5}, {"b": 1.0}]
    matrix = np.array([[1.0, 0, 0], [0, 2.0, 0], [1.0, 0, 0.5], [0, 1.0, 0]])
    for x, y in zip(rows, "pqpq", strict=True):
        model.learn_one(x, y)
    twin.partial_fit(matrix, list("pqpq"))
    close(model.decision_function(rows), twin.decision_function(matrix))
    far = model.decision_function([{"a": 1.0, "new": 9.0}])  # what nobody knows lies far from everything
    assert np.abs(far).max() < 1e-10


def test_labels_can_be_joined_and_removed():
    model = hinged.Classifier(kernel=Gaussian(0.5)).fit(X, Y)
    before = model.decision_function(X)
    model.merge_labels("a", into="b").remove_label("d").rename_label("c", "z")
    assert model.classes_.tolist() == ["b", "z"]
    close(model.decision_function(X), before[:, 2] - before[:, 0] - before[:, 1])
    assert model.partial_fit(X, np.where(Y == "a", "b", "z")).dual_ is None


@pytest.mark.parametrize("settings", SETTINGS)
def test_past_rounds_explain_a_score(settings):
    model = hinged.Classifier(**settings).fit(X, Y)
    for at, label in enumerate(model.classes_):
        told = model.explain(X[5], label, top=None)
        assert sum(share for _, share in told) == pytest.approx(model.decision_function(X[5:6])[0, at])
        assert [abs(share) for _, share in told] == sorted((abs(share) for _, share in told), reverse=True)
        assert {t for t, _ in told} <= set(model.support_.tolist())
    assert len(model.support_) == (12 if "budget" in settings else model.n_updates_)
    assert len(model.support_) == len(model.support_vectors_) == len(model.dual_coef_)
    with pytest.raises(AttributeError, match="coef_ does not exist with a kernel"):
        model.coef_  # noqa: B018


def test_a_gamma_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match="gamma must be a finite positive number"):
        Gaussian("auto")


def test_a_late_answer_is_judged_when_it_was_given():
    settings = {"C": 0.5, "kernel": Polynomial(0.5, 2)}
    late = hinged.evaluate.progressive(hinged.Classifier(**settings), X, Y, delay=5)
    model = hinged.Classifier(**settings)
    flags, losses = [], []
    for t in range(len(X)):
        known = [] if t <= 5 else model.classes_.tolist()
        flag, gap = -1, np.inf
        if Y[t] in known:
            scores = model.scored(X[t : t + 1]).scores[0]
            at = known.index(Y[t])
            gap = scores[at] - np.delete(scores, at).max(initial=-np.inf)
            flag = int(gap <= 0.0)
        flags.append(flag)
        losses.append(max(0.0, 1.0 - gap))
        if t >= 5:
            model.learn_one(X[t - 5], Y[t - 5])
    np.testing.assert_array_equal(late.flags, flags)
    close(late.losses, losses)


# ------------------------------------------------------------------ what cannot be
@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"kernel": "rbf"}, "kernel must be hinged.mercer.Polynomial"),
        ({"kernel": Gaussian(), "geometry": "entropy"}, "geometry cannot be used with a kernel"),
        ({"kernel": Centred(), "sharing": "single", "features": "first"}, "features cannot be used with a kernel"),
        ({"kernel": Gaussian(), "cost": np.ones((2, 2))}, "cost cannot be used with a kernel"),
        ({"kernel": Gaussian(), "average": True}, "average cannot be used with a kernel"),
        ({"kernel": Gaussian(), "bias": 1.0}, "bias cannot be used with a kernel"),
        ({"kernel": Gaussian(), "sharing": "single"}, "needs a kernel that tells labels apart"),
        ({"kernel": Centred()}, "is for one vector shared by labels"),
        ({"kernel": Gaussian(), "sharing": hinged.sharing.Groups([{"a"}])}, "sharing must be 'multi', 'single' or"),
        ({"kernel": Gaussian(), "rule": hinged.rules.Optimal("interior-point")}, "use solver='search'"),
        ({"kernel": Gaussian(), "device": "tpu"}, "device must be 'cpu', 'cuda', 'auto' or a torch.device"),
        ({"device": "cuda"}, "device='cuda'"),
        ({"budget": 5}, "got budget=5 and no kernel"),
        ({"kernel": Gaussian(), "budget": 0}, "a budget must be a whole number of at least 1"),
        ({"kernel": Centred(), "sharing": "single", "budget": Budget(5, "project")}, "drop='project' is for sharing"),
    ],
)
def test_what_has_no_meaning_with_a_kernel_is_refused_by_name(settings, says):
    with pytest.raises(ValueError, match=says):
        hinged.Classifier(**settings).fit(X, Y)


@pytest.mark.parametrize("settings", [{"kernel": Gaussian(0.3)}, {"kernel": Centred(0.3), "sharing": "single"}])
def test_automatic_features_are_those_of_the_kernel(settings, tmp_path):
    usual, auto = (hinged.Classifier(**settings, features=features) for features in (None, "auto"))
    assert auto.fit(X, Y).predict(X).tolist() == usual.fit(X, Y).predict(X).tolist()
    with DurableModel(tmp_path, hinged.Classifier(**settings, features="auto")) as kept:
        kept.learn({"a": 1.0}, "p")
    with DurableModel(tmp_path) as kept:
        assert kept.model.features is None


def test_bounds_on_weights_are_not_computed_for_a_kernel():
    with pytest.raises(ValueError, match="got a learner with kernel="):
        hinged.bounds.mistake_bound(papers.Classifier(kernel=Gaussian()), X, Y)


def odd_rows(A, B):
    """Where one of two rows breaks a kernel."""
    return (A[:, :1] > 90) | (B[:, :1] > 90).T


def with_nan(A, B):
    return np.where(odd_rows(A, B), np.nan, A @ B.T)


def one_sided(A, B):
    return A @ B.T + 1e6 * (A[:, :1] > 90)


def negative(A, B):
    return np.where(odd_rows(A, B), -1.0, 1.0) * (A @ B.T)


@pytest.mark.parametrize(
    ("kernel", "says"),
    [
        (with_nan, "the kernel gives NaN"),
        (one_sided, "a kernel must be symmetric"),
        (negative, r"K\(x, x\) must not be negative"),
    ],
)
@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize(("kind", "y"), [(hinged.Classifier, Y), (hinged.Regressor, X[:, 1])])
def test_a_kernel_that_fails_leaves_everything_as_it_was(kind, y, many, kernel, says):
    model = kind(kernel=kernel).partial_fit(X[:30], y[:30])
    before = pickle.dumps((model.n_rounds_, model.support_, model.dual_, model.n_features_in_))
    rows = np.concatenate([np.tile(X[30:], (20, 1)), [[99.0, 1.0, 1.0]]])[-600 if many else -1 :]
    answers = np.append(np.tile(y[30:], 20), y[:1])[-len(rows) :]
    with pytest.raises(ValueError, match=says):
        model.partial_fit(rows, answers)
    with pytest.raises(ValueError, match=says):
        model.learn_one(rows[-1], answers[-1])
    assert pickle.dumps((model.n_rounds_, model.support_, model.dual_, model.n_features_in_)) == before
    fresh = kind(kernel=kernel)
    if many or kernel is not one_sided:  # one row alone is always symmetric
        with pytest.raises(ValueError, match=says):
            fresh.partial_fit(rows, answers)
        assert not hasattr(fresh, "n_rounds_")


def test_the_memory_that_a_call_may_use_is_a_setting():
    usual = hinged.Classifier(kernel=Gaussian(0.5)).fit(X, Y)
    with sklearn.config_context(working_memory=0.0001):  # a hundred bytes
        little = hinged.Classifier(kernel=Gaussian(0.5)).fit(X, Y)
        assert little._model.tile == 13
        close(little.decision_function(X), usual.decision_function(X))


def test_a_file_of_a_kernel_learner_can_be_described(tmp_path):
    hinged.Classifier(kernel=Gaussian(0.5)).fit(np.eye(4), list("abab")).save(tmp_path / "model.hinged")
    facts = describe(tmp_path / "model.hinged")
    assert (facts["rows"], facts["features"], len(facts["labels"])) == (4, 4, 2)


def test_read_gives_compressed_rows_also_with_a_kernel():
    linear, with_kernel = (hinged.Classifier(kernel=kernel).fit(np.eye(3), list("abc")) for kernel in (None, Linear()))
    for ours, expected in zip(with_kernel.read(np.eye(3)), linear.read(np.eye(3)), strict=True):
        assert ours.tolist() == expected.tolist()
