"""Kernels on rows that the learner scales: gamma="scale", and every call of a learner that keeps rows as read."""

import pickle
from copy import deepcopy

import numpy as np
import pytest
from scipy import sparse
from tests import plain as papers
from tests.reference.kernels import KernelTwin, KernelVectorTwin, gaussian, polynomial
from tests.reference.scaling import Scaler

import hinged
from hinged.mercer import Budget, Centred, Fourier, Gaussian, Linear, Polynomial

ROWS, COLUMNS = 60, 4
RNG = np.random.default_rng(5)
X = RNG.normal(size=(ROWS, COLUMNS))
Y = np.digitize((X**2).sum(axis=1), [2.5, 4.5])
X = X * [1.0, 10.0, 0.1, 2.0] + [0.0, 50.0, 0.0, 0.0]
X[RNG.random(X.shape) < 0.2] = 0.0
SETS = [{int(r), int(r + 1) % 3} if i % 2 else {int(r)} for i, r in enumerate(Y)]
WEIGHTS = np.where(np.arange(ROWS) % 7 == 5, 0.0, 1.0 + np.arange(ROWS) % 3)
SCALE = Gaussian("scale")


def close(got, expected):
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-10 * max(1.0, np.abs(expected).max()))


def scaled_rows(scaler, weights=WEIGHTS):
    """Rows as plain code reads them, one after another; those of a weight are entered."""
    rows = []
    for x, weight in zip(X, weights, strict=True):
        rows.append(scaler.row(x))
        if weight > 0.0:
            scaler.enter(x)
    return np.array(rows)


# ------------------------------------------------------------------ twins
@pytest.mark.parametrize(
    ("settings", "plain", "sharing"),
    [
        ({"kernel": SCALE}, gaussian(1.0), "multi"),
        ({"kernel": SCALE, "scaling": "mixed", "normalize": True}, gaussian(1.0), "multi"),
        ({"kernel": Polynomial(0.5, 2), "scaling": "standard", "normalize": True}, polynomial(0.5, 2), "multi"),
        ({"kernel": Centred(0.3), "scaling": "standard"}, gaussian(0.3), "hybrid"),
    ],
    ids=["gaussian", "gaussian, mixed", "polynomial", "centred"],
)
def test_label_sets_and_weights_go_as_in_the_plain_learner(settings, plain, sharing):
    scaler = Scaler(COLUMNS, settings.get("scaling", "standard"), settings.get("normalize", False))
    Z = scaled_rows(scaler)
    twin = KernelTwin(plain, "pa1", 0.5, sharing=sharing, classes=range(3)).run(Z, SETS, WEIGHTS)
    model = hinged.Ranker("pa1", C=0.5, sharing=sharing, **settings)
    told = hinged.evaluate.progressive(model, X, SETS, classes=range(3), sample_weight=WEIGHTS)
    assert told.flags.tolist() == list(twin.flags)
    close(told.losses, twin.losses)
    close(model.decision_function(X[:9]), twin.scores([scaler.row(x) for x in X[:9]]))
    close(model.dual_, twin.dual)
    if sharing == "multi":
        close(model.support_vectors_, Z[model.support_])  # as they were read when they came


def test_two_labels_and_numbers_go_as_in_the_plain_learner():
    for task, y in (("binary", np.minimum(Y, 1)), ("numbers", np.sin(np.arange(ROWS)))):
        scaler = Scaler(COLUMNS, "standard")
        Z = scaled_rows(scaler)
        epsilon = {} if task == "binary" else {"epsilon": 0.05}
        twin = KernelVectorTwin(gaussian(1.0), "pa1", 0.5, **epsilon)
        twin.run(Z, y, WEIGHTS)
        estimator = hinged.BinaryClassifier if task == "binary" else hinged.Regressor
        model = estimator("pa1", C=0.5, kernel=SCALE, **epsilon)
        if task == "binary":
            model.declare([0, 1])
        told = hinged.evaluate.progressive(model, X, y, sample_weight=WEIGHTS)
        assert told.flags.tolist() == list(twin.flags)
        close(told.losses, twin.losses)
        close(said(model, X[:9]), [twin.score(scaler.row(x)) for x in X[:9]])
        close(model.dual_, twin.dual)


def said(model, rows):
    return (model.predict if isinstance(model, hinged.Regressor) else model.decision_function)(rows)


def answers(estimator):
    return {papers.Ranker: SETS, papers.BinaryClassifier: Y > 0, papers.Regressor: Y + 0.5}.get(estimator, Y)


@pytest.mark.parametrize("scaling", ["standard", "mixed"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "estimator", [papers.Classifier, papers.Ranker, papers.BinaryClassifier, papers.Regressor], ids=lambda e: e.__name__
)
@pytest.mark.parametrize("delay", [0, 5])
def test_the_linear_kernel_is_the_learner_without_one(estimator, dtype, scaling, delay):
    y, learnt = answers(estimator), []
    settings = {"C": 0.5, "scaling": scaling, "bias": 0.0, "normalize": scaling == "mixed"}
    for kernel in (None, Linear()):
        model = estimator(kernel=kernel, **settings)  # no label is known before its first row
        told = hinged.evaluate.progressive(model, X.astype(dtype), y, sample_weight=WEIGHTS, delay=delay)
        learnt.append((told.flags.tolist(), model.n_updates_, said(model, X)))
    assert learnt[0][:2] == learnt[1][:2]
    np.testing.assert_allclose(learnt[0][2], learnt[1][2], rtol=0, atol=1e-4 if dtype == np.float32 else 1e-10)


def test_random_features_approximate_what_the_exact_kernel_learns():
    rng = np.random.default_rng(6)
    rows = rng.normal(size=(600, 2))
    y = (rows**2).sum(axis=1) > 1.4
    rows = rows * [100.0, 0.1] + [5.0, 7.0]
    exact = hinged.Classifier("pa1", C=1.0, kernel=SCALE).fit(rows, y)
    ours = papers.Classifier("pa1", C=1.0, kernel=Fourier(2048), scaling="standard").fit(rows, y)
    assert (ours.predict(rows) == exact.predict(rows)).mean() > 0.97
    assert abs(ours.n_mistakes_ - exact.n_mistakes_) < 0.25 * exact.n_mistakes_


# ------------------------------------------------------------------ the calls of every learner
SETTINGS = [
    {"kernel": SCALE},
    {"kernel": SCALE, "scaling": "mixed", "budget": Budget(12, "oldest")},
    {"kernel": Polynomial(1.0, 2), "scaling": "standard", "normalize": True, "rule": "simproj"},
    {"kernel": Centred(0.3), "scaling": "standard", "sharing": "single"},
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_rows_alone_and_in_batches_saved_and_copied_are_learnt_alike(settings, dtype, tmp_path):
    rows = X.astype(dtype)
    whole = hinged.Classifier(**settings).partial_fit(rows, Y)
    halves = hinged.Classifier(**settings).partial_fit(rows[:31], Y[:31]).partial_fit(rows[31:], Y[31:])
    alone = hinged.Classifier(**settings).partial_fit(rows[:1], Y[:1])

    def reloaded(model):
        model.save(tmp_path / "model")
        return hinged.load(tmp_path / "model")

    ways = [deepcopy, lambda model: pickle.loads(pickle.dumps(model)), reloaded, lambda model: model]
    for i in range(1, ROWS):
        kept = ways[i % 4](alone) if i < 15 else alone
        np.testing.assert_array_equal(kept.decision_function(rows), alone.decision_function(rows))
        alone = kept
        alone.learn_one(rows[i], Y[i])
    for other in (alone, halves):
        assert (other.n_mistakes_, other.n_updates_) == (whole.n_mistakes_, whole.n_updates_)
        assert np.array_equal(other.support_vectors_, whole.support_vectors_)  # scaled rows have the same bits
        apart = np.abs(other.decision_function(rows) - whole.decision_function(rows)).max()
        assert apart < (1e-4 if dtype == np.float32 else 1e-10)


def test_sparse_rows_and_dicts_are_read_without_their_zeros():
    scaler = Scaler(COLUMNS, "mixed", dense=False)
    Z = scaled_rows(scaler, np.ones(ROWS))
    twin = KernelTwin(gaussian(1.0), "pa1", 0.5, classes=range(3)).run(Z, [{r} for r in Y.tolist()])
    dicts = [{i: v for i, v in enumerate(x) if v} for x in X.tolist()]
    for rows in (sparse.csr_array(X), dicts):
        model = hinged.Classifier("pa1", C=0.5, kernel=SCALE).declare(range(3))
        close(hinged.evaluate.progressive(model, rows, Y).losses, twin.losses)
        assert model.settled_["scaling"] == "mixed"
    assert np.isfinite(model.decision_function([{0: 1.0, "never met": 3.0}])).all()


def test_wide_rows_are_scaled_and_kept_sparse(tmp_path):
    wide = sparse.random_array((80, 700), density=0.02, rng=np.random.default_rng(2), format="csr")
    y = np.arange(80) % 3
    kept, plain = (hinged.Classifier("pa1", C=0.5, kernel=k, scaling="mixed", bias=0.0) for k in (Linear(), None))
    kept.partial_fit(wide, y)
    plain.set_params(average=False).partial_fit(wide, y)
    assert sparse.issparse(kept.support_vectors_)
    close(kept.decision_function(wide), plain.decision_function(wide))
    kept.save(tmp_path / "model")
    again = hinged.load(tmp_path / "model")
    for model in (kept, again, plain):
        model.partial_fit(wide[::-1], y[::-1])
    close(again.decision_function(wide.toarray()), kept.decision_function(wide))
    close(kept.decision_function(wide), plain.decision_function(wide))


def test_columns_may_come_later_and_labels_be_edited():
    settings = {"kernel": SCALE, "C": 1.0}
    narrow = hinged.Classifier(**settings).partial_fit(sparse.csr_array(X[:30, :2]), Y[:30])
    wide = sparse.csr_array(np.hstack([X[:, :2], np.zeros((ROWS, 3))]))
    narrow.partial_fit(wide[30:], Y[30:])
    known = hinged.Classifier(**settings).partial_fit(wide, Y)
    close(narrow.decision_function(wide), known.decision_function(wide))
    scores = dict(zip(known.classes_.tolist(), known.decision_function(wide).T, strict=True))
    known.merge_labels(2, into=0)
    first, second = (scores[r] + (scores[2] if r == 0 else 0.0) for r in known.classes_.tolist())
    close(known.decision_function(wide), second - first)
    assert known.partial_fit(wide, np.minimum(Y, 1)).n_updates_ > 0


def test_past_rounds_explain_a_score():
    model = hinged.Classifier(kernel=SCALE).fit(X, Y)
    told = model.explain(X[5], 1, top=None)
    at = model.classes_.tolist().index(1)
    assert sum(share for _, share in told) == pytest.approx(model.decision_function(X[5:6])[0, at])


def test_a_call_that_fails_leaves_what_is_known_of_columns(tmp_path):
    bad = {"fails": False}

    def kernel(A, B):
        return np.full((len(A), len(B)), np.nan) if bad["fails"] else A @ B.T

    model = hinged.Classifier("pa1", C=0.5, kernel=kernel, scaling="standard").partial_fit(X[:20], Y[:20])
    before, bad["fails"] = model.decision_function(X), True
    with pytest.raises(ValueError, match="the kernel gives NaN"):
        model.partial_fit(X[20:40], Y[20:40])
    bad["fails"] = False
    np.testing.assert_array_equal(model.decision_function(X), before)
    whole = hinged.Classifier("pa1", C=0.5, kernel=Linear(), scaling="standard").partial_fit(X, Y)
    close(model.partial_fit(X[20:], Y[20:]).decision_function(X), whole.decision_function(X))


def test_labels_joined_leave_a_model_of_its_own():
    model = hinged.Classifier(kernel=SCALE).partial_fit(X[:30], Y[:30])
    before = deepcopy(model)
    said_then = before.decision_function(X)
    model.partial_fit(X[30:], Y[30:])
    np.testing.assert_array_equal(before.decision_function(X), said_then)


@pytest.mark.parametrize("estimator", [hinged.Classifier, hinged.Ranker, hinged.BinaryClassifier, hinged.Regressor])
def test_auto_scales_rows_only_where_the_kernel_goes_by_it(estimator):
    y = {hinged.Ranker: SETS, hinged.BinaryClassifier: Y > 0}.get(estimator, Y)
    for settings, expected in [
        ({"kernel": SCALE}, "standard"),
        ({"kernel": SCALE, "normalize": True}, None),
        ({"kernel": Gaussian(1.0)}, None),
        ({"kernel": SCALE, "scaling": "mixed"}, "mixed"),
    ]:
        found = estimator(**settings).fit(X, y).settled_
        assert (found["scaling"], found["bias"], found["average"]) == (expected, 0.0, False)
        assert found.get("target_scaling") is None


def test_gamma_is_1_on_rows_that_are_scaled():
    for settings in ({"normalize": True}, {"scaling": "standard"}):
        scaled, number = (hinged.Classifier(kernel=Gaussian(g), **settings).fit(X, Y) for g in ("scale", 1.0))
        np.testing.assert_array_equal(scaled.decision_function(X), number.decision_function(X))


REFUSED = [
    ({"kernel": SCALE, "scaling": None}, r"gamma='scale' is for rows that the learner scales; got scaling=None"),
    ({"kernel": SCALE, "scaling": "idf"}, r"with a kernel, scaling must be 'standard', 'mixed' or None"),
    ({"kernel": Linear(), "scaling": "idf"}, r"with a kernel, scaling must be 'standard', 'mixed' or None"),
    ({"kernel": Linear(), "scaling": "standard", "bias": 1.0}, "bias cannot be used with a kernel"),
    ({"kernel": Centred(kernel=SCALE), "sharing": "single"}, r"not within Centred\. Give gamma a number"),
]


@pytest.mark.parametrize(("settings", "message"), REFUSED, ids=str)
def test_what_has_no_scale_is_refused_by_name(settings, message):
    with pytest.raises(ValueError, match=message):
        hinged.Classifier(**settings).fit(X, Y)


def test_plain_arrays_have_no_scale():
    with pytest.raises(ValueError, match=r"not on plain arrays"):
        hinged.mercer.learn(X, Y, SCALE)


def test_a_file_without_what_is_known_of_columns_is_refused(tmp_path):
    model = hinged.Classifier(kernel=SCALE).fit(X, Y)
    arrays = model.model_.arrays()
    for broken in ({"df": -arrays["df"]}, {"means": arrays["means"][:1]}, {"spreads": -1.0 - arrays["spreads"]}):
        with pytest.raises(ValueError, match="damaged"):
            deepcopy(model.model_).restore(arrays | broken, [], 3)
