"""kernel=Fourier(n) and kernel=Products(): a linear learner on other features, with every way of learning of one."""

import pickle
from collections.abc import Callable
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from tests.plain import BinaryClassifier, Classifier, OrdinalClassifier, Regressor
from tests.reference.fourier import FourierScaler, frequencies
from tests.reference.learner import Twin
from tests.reference.products import ProductsScaler
from tests.reference.scaling import Scaler
from tests.reference.vectors import VectorTwin

import hinged
from hinged.loops.rows import Dense
from hinged.mercer import Budget, Fourier, Gaussian, Products

ROWS, LABELS = 60, 3
FOURIER = Fourier(12, 0.8, random_state=3)
PRODUCTS = Products(6, most=5, weight=1.0, random_state=3)


def rings(seed):
    """A label by the distance from the middle, of columns with means and deviations of their own, some values 0."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, 4))
    y = np.digitize((X**2).sum(axis=1), [2.5, 4.5])
    X = X * [1.0, 10.0, 0.1, 2.0] + [0.0, 50.0, 0.0, 0.0]
    X[rng.random(X.shape) < 0.2] = 0.0
    return X, y


def words(seed):
    """Words, the label by which two stand together; some rows have more than five."""
    rng = np.random.default_rng(seed)
    X = (rng.random((ROWS, 7)) < 0.5) * rng.integers(1, 4, (ROWS, 7)).astype(float)
    return X, np.where((X[:, 0] > 0) == (X[:, 1] > 0), 0, np.where(X[:, 2] > 0, 1, 2))


def of_fourier(scaler, bias):
    omega = frequencies(4, FOURIER.n, FOURIER.coefficient, FOURIER.random_state)
    return FourierScaler(scaler, omega, bias)


class Map(NamedTuple):
    """A feature map, rows and labels that suit it, and its twin around a twin of the scaler."""

    kernel: Any
    columns: int
    stream: Callable[[int], tuple[np.ndarray, np.ndarray]]
    twin: Callable[[Scaler, float], Any]

    def scaler(self, scaling=None, normalize=False, bias=0.0, dense=True):
        return self.twin(Scaler(self.columns, scaling, normalize, dense=dense), bias)


MAPS = {
    "fourier": Map(FOURIER, 4, rings, of_fourier),
    "products": Map(PRODUCTS, 7, words, lambda scaler, bias: ProductsScaler(scaler, PRODUCTS, bias)),
}
READ = {
    "as they are": {"scaling": None},
    "standardised": {"scaling": "standard", "bias": 0.25},
    "units": {"scaling": "idf", "normalize": True},
}
each_map = pytest.mark.parametrize("of", MAPS.values(), ids=list(MAPS))


def close(found, expected, dtype=np.float64):
    within = {np.float32: 2e-4, np.float64: 1e-10}[dtype] * max(1.0, np.max(np.abs(expected), initial=0.0))
    np.testing.assert_allclose(found, expected, rtol=0, atol=within)


# ------------------------------------------------------------------ twins
@each_map
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("read", READ)
@pytest.mark.parametrize(
    "more", [{}, {"rule": "optimal", "C": 0.2}, {"rule": "simproj", "average": True}, {"metric": 0.5}], ids=str
)
def test_labels_are_learnt_as_the_twin_learns_them(more, read, dtype, of):
    (X, y), settings = of.stream(0), {"rule": "pa1", "C": 0.5, **READ[read], **more}
    rows = X.astype(dtype)
    X = rows.astype(np.float64)
    weights = np.where(np.arange(ROWS) % 7 == 5, 0.0, 1.0 + (np.arange(ROWS) % 3))
    twin = Twin(of.kernel.n, range(LABELS), classes=range(LABELS), **settings)
    twin.scaler = of.scaler(**READ[read])
    twin.run(X[:-5], y[:-5], weights[:-5])
    if "metric" in settings:
        settings["geometry"] = hinged.geometry.Adaptive(settings.pop("metric"))
    model = Classifier(kernel=of.kernel, **settings)
    told = hinged.evaluate.progressive(model, rows[:-5], y[:-5], classes=range(LABELS), sample_weight=weights[:-5])
    assert told.flags.tolist() == twin.history.flags
    assert 5 < told.mistakes < ROWS - 5
    close(told.losses, twin.history.losses, dtype)
    close(model.decision_function(rows[-5:]), twin.scores(X[-5:]), dtype)
    if model.dual_ is not None:
        close(model.dual_, twin.dual, dtype)


@each_map
@pytest.mark.parametrize("read", ["as they are", "standardised"])
@pytest.mark.parametrize(
    ("task", "estimator"), [("binary", BinaryClassifier), ("regression", Regressor), ("ordinal", OrdinalClassifier)]
)
def test_one_vector_is_learnt_as_the_twin_learns_it(task, estimator, read, of):
    X, y = of.stream(1)
    y = {"binary": np.minimum(y, 1), "regression": np.sin(np.arange(ROWS)), "ordinal": y}[task]
    more = {"epsilon": 0.05} if task == "regression" else {}
    twin = VectorTwin(of.kernel.n, task, "pa1", 0.5, k=LABELS, bias=READ[read].get("bias", 0.0), **more)
    twin.scaler = of.scaler(**READ[read])
    twin.run(X, y)
    model = estimator(rule="pa1", C=0.5, kernel=of.kernel, **READ[read], **more)
    if task != "regression":
        model.declare(sorted(set(y.tolist())))
    told = hinged.evaluate.progressive(model, X, y.tolist())
    assert told.flags.tolist() == twin.flags
    close(told.losses, twin.losses)
    close(model.dual_, twin.dual)
    close(model.coef_.ravel(), twin.coef)


@each_map
def test_sparse_rows_and_dicts_are_read_as_dense_rows_without_their_zeros(of):
    X, y = of.stream(2)
    twin = Twin(of.kernel.n, range(LABELS), classes=range(LABELS), rule="pa1", C=0.5)
    twin.scaler = of.scaler("mixed", dense=False)
    twin.run(X, y)
    dicts = [{i: v for i, v in enumerate(x) if v} for x in X.tolist()]
    for rows in (csr_matrix(X), dicts):
        model = Classifier(C=0.5, kernel=of.kernel, scaling="mixed").declare(range(LABELS))
        if rows is dicts:  # columns in the order of their names
            model.partial_fit([dict.fromkeys(range(of.columns), 0.0)], [0], sample_weight=[0.0])
        close(hinged.evaluate.progressive(model, rows, y).losses, twin.history.losses)


@each_map
def test_rows_are_shown_to_theory_as_they_are_learnt(of):
    X, _ = of.stream(11)
    learner, scaler = Classifier(kernel=of.kernel, scaling="standard", bias=0.5), of.scaler("standard", bias=0.5)
    model = learner.check_settings().new_model(learner, np.float64)
    model.widen(of.columns)
    indptr, columns, values = model.scaled(Dense(X).rows())
    for i, x in enumerate(X):
        z, some = np.zeros(of.kernel.n + 1), slice(indptr[i], indptr[i + 1])
        z[columns[some]] = values[some]
        assert len(set(columns[some].tolist())) == len(columns[some])
        close(z, scaler.row(x))
        scaler.enter(x)


# ------------------------------------------------------------------ the same bits
def targets(y):
    return {
        "Classifier": (hinged.Classifier, y),
        "Ranker": (hinged.Ranker, [{int(r), int(r + 1) % LABELS} for r in y]),
        "BinaryClassifier": (hinged.BinaryClassifier, y > 0),
        "Regressor": (hinged.Regressor, y + 0.5),
        "OrdinalClassifier": (hinged.OrdinalClassifier, y),
    }


def said(model, X):
    return (model.predict if isinstance(model, hinged.Regressor) else model.decision_function)(X)


def reload(path):
    def through(model):
        model.save(path)
        return hinged.load(path)

    return through


@each_map
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", targets(np.zeros(1, int)))
def test_a_row_alone_and_in_a_batch_saved_and_copied_gives_the_same_bits(kind, dtype, sparse, of, tmp_path):
    X, y = of.stream(3)
    X, (estimator, y) = X.astype(dtype), targets(y)[kind]
    X = csr_matrix(X) if sparse else X
    more = {"order": [0, 1, 2]} if kind == "OrdinalClassifier" else {}
    whole = estimator(kernel=of.kernel, **more).partial_fit(X, y)
    alone = estimator(kernel=of.kernel, **more).partial_fit(X[:7], y[:7])
    ways = [deepcopy, lambda model: pickle.loads(pickle.dumps(model)), reload(tmp_path / "model"), lambda model: model]
    for i in range(7, ROWS):
        alone = ways[i % 4](alone) if i < 15 else alone
        if i == 12:
            assert np.array_equal(said(ways[2](alone), X), said(alone, X))
        if sparse:
            alone.partial_fit(X[i : i + 1], y[i : i + 1])
        else:
            alone.learn_one(X[i], y[i])
    assert whole.coef_.dtype == dtype
    assert np.array_equal(whole.coef_, alone.coef_)
    assert np.array_equal(said(whole, X), said(alone, X))
    assert np.array_equal(said(whole, X), np.concatenate([said(whole, X[i : i + 1]) for i in range(ROWS)]))


@each_map
def test_a_late_answer_is_learnt_with_what_was_known_when_it_came(of):
    X, y = of.stream(4)
    late = hinged.Classifier(kernel=of.kernel, C=1.0).declare(range(LABELS))
    told = hinged.evaluate.progressive(late, X, y, delay=6)
    model, flags = hinged.Classifier(kernel=of.kernel, C=1.0).declare(range(LABELS)), []
    for t in range(ROWS + 6):
        if 0 < t < ROWS:
            scores = model.decision_function(X[t : t + 1])[0] if t > 6 else np.zeros(LABELS)
            flags.append(int(scores[y[t]] <= np.delete(scores, y[t]).max()))
        if t >= 6:
            model.partial_fit(X[t - 6 : t - 5], y[t - 6 : t - 5])
    assert told.flags[1:].tolist() == flags
    assert np.array_equal(late.coef_, model.coef_)


@each_map
def test_columns_that_come_later_change_nothing_of_the_others(of):
    X, y = of.stream(5)
    without, wide = (np.hstack([X, more]) for more in (np.zeros((ROWS, 40)), np.full((ROWS, 40), 0.5)))
    settings = {"kernel": of.kernel, "scaling": None, "C": 1.0}
    narrow = hinged.Classifier(**settings).partial_fit(X[:30], y[:30]).partial_fit(without[30:], y[30:])
    known = hinged.Classifier(**settings).partial_fit(without, y)
    for rows in (without, wide):
        assert np.array_equal(narrow.coef_, known.coef_)
        assert np.array_equal(narrow.decision_function(wide), known.decision_function(wide))
        assert not np.array_equal(known.decision_function(wide), known.decision_function(without))
        for model in (narrow, known):
            model.partial_fit(rows, y)
    assert np.array_equal(narrow.coef_, known.coef_)
    assert narrow.coef_.shape == (LABELS, of.kernel.n)


@each_map
def test_labels_can_be_edited_and_settings_are_told(of, tmp_path):
    X, y = of.stream(7)
    model = hinged.Classifier(kernel=of.kernel).partial_fit(X, y)
    scores = dict(zip(model.classes_.tolist(), model.decision_function(X).T, strict=True))
    model.rename_label(1, 5)
    model.merge_labels(2, 0)
    first, second = (scores[1] if r == 5 else scores[0] + scores[2] for r in model.classes_.tolist())
    close(model.decision_function(X), second - first)
    assert len(model.experts_) == 3
    assert model.settled_["scaling"] == "standard"
    reload(tmp_path / "model")(model)
    assert hinged.load(tmp_path / "model").kernel == of.kernel


# ------------------------------------------------------------------ what one of them is about
def test_a_row_without_values_is_the_middle():
    model = hinged.Classifier(kernel=FOURIER, scaling=None, C=1.0)
    for x, label in [({}, "middle"), ({"a": 3.0}, "far"), ({}, "middle"), ({"a": 3.0}, "far")] * 5:
        model.learn_one(x, label)
    assert [model.predict_one(x) for x in ({}, {"a": 3.0}, {"never met": 5.0})] == ["middle", "far", "middle"]
    one = hinged.BinaryClassifier(kernel=FOURIER, scaling=None).fit([{}, {"a": 3.0}] * 9, ["middle", "far"] * 9)
    assert [one.predict_one(x) for x in ({}, {"a": 3.0})] == ["middle", "far"]


def test_it_learns_what_the_exact_kernel_learns():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(800, 2))
    y = (X**2).sum(axis=1) > 1.4
    exact = hinged.Classifier("pa1", C=1.0, kernel=Gaussian(0.5)).fit(X, y)
    ours = Classifier(C=1.0, kernel=Fourier(2048, 0.5)).fit(X, y)
    line = Classifier(C=1.0).fit(X, y)
    agree = (ours.predict(X) == exact.predict(X)).mean()
    assert agree > 0.97
    assert line.n_mistakes_ > 2 * ours.n_mistakes_
    assert abs(ours.n_mistakes_ - exact.n_mistakes_) < 0.25 * exact.n_mistakes_


def test_what_two_values_say_together_is_learnt():
    rows = [{f"{a}{i}": 1.0 for i, a in enumerate(word)} for word in ("xx", "xy", "yx", "yy")] * 30
    y = ["same", "other", "other", "same"] * 30
    model, line = (hinged.Classifier(kernel=k, scaling=None, normalize=True) for k in (Products(12), None))
    assert model.fit(rows, y).predict(rows[:4]).tolist() == y[:4]
    assert line.fit(rows, y).n_mistakes_ > 4 * model.n_mistakes_


@pytest.mark.parametrize("estimator", [hinged.Classifier, hinged.BinaryClassifier])
def test_a_file_holds_the_seed_and_no_frequencies(estimator, tmp_path):
    X, frequencies_alone = np.random.default_rng(8).normal(size=(50, 500)), 500 * 32 * 8
    model = estimator(kernel=Fourier(64), C=1.0, average=False).fit(X, np.arange(50) % 2)
    model.save(tmp_path / "model")
    assert (tmp_path / "model").stat().st_size < frequencies_alone
    assert hinged.load(tmp_path / "model").kernel == Fourier(64)
    assert np.array_equal(hinged.load(tmp_path / "model").decision_function(X), model.decision_function(X))
    assert len(pickle.dumps(model)) < frequencies_alone


# ------------------------------------------------------------------ what is refused
OF_BOTH = [
    ({"geometry": "entropy"}, "do not go with geometry='entropy'"),
    ({"sharing": "hybrid", "features": "first"}, "labels cannot share a vector"),
    ({"budget": Budget(5)}, "Set one that remembers rows"),
]
REFUSED = [
    *((name, settings, message) for name in MAPS for settings, message in OF_BOTH),
    ("fourier", {"kernel": Fourier(), "scaling": None}, "gamma='scale' is for rows that the learner scales"),
    ("fourier", {"kernel": Fourier(), "scaling": "idf", "normalize": False}, "give gamma a number"),
    ("fourier", {"kernel": Fourier}, r"kernel must be .*Fourier\(n\)"),
    ("products", {"kernel": Products}, r"kernel must be .*Products\(\)"),
]


@pytest.mark.parametrize(("name", "settings", "message"), REFUSED, ids=str)
def test_what_makes_no_sense_is_refused_by_name(name, settings, message):
    with pytest.raises(ValueError, match=message):
        hinged.Classifier(**{"kernel": MAPS[name].kernel, **settings}).fit(*MAPS[name].stream(0))


UNSOUND = [
    (Fourier, {"n": 7}, "n must be an even whole number"),
    (Fourier, {"n": 0}, "n must be an even whole number"),
    (Fourier, {"n": 2.0}, "n must be an even whole number"),
    (Fourier, {"gamma": "auto"}, "gamma must be 'scale' or a positive number"),
    (Fourier, {"gamma": -1.0}, "gamma must be 'scale' or a positive number"),
    (Fourier, {"gamma": float("inf")}, "gamma must be 'scale' or a positive number"),
    (Products, {"bits": 3}, "bits must be a whole number from 4 to 22; got bits=3"),
    (Products, {"bits": 18.0}, "bits must be"),
    (Products, {"most": 1}, "most must be a whole number from 2 to 1,024"),
    (Products, {"most": True}, "most must be"),
    (Products, {"weight": 0.0}, "weight must be a positive number"),
    (Products, {"weight": float("nan")}, "weight must be a positive number"),
    *(
        (kind, {"random_state": seed}, "random_state must be a whole number")
        for kind in (Fourier, Products)
        for seed in (None, -1)
    ),
]


@pytest.mark.parametrize(("kind", "values", "message"), UNSOUND, ids=str)
def test_unsound_features_are_refused_by_name(kind, values, message):
    with pytest.raises(ValueError, match=message):
        kind(**values)


def test_more_columns_than_frequencies_may_be_kept_for_are_refused_and_nothing_changes():
    small = hinged.Classifier(kernel=Fourier(512))
    with pytest.raises(ValueError, match=r"for 16,384 columns at most; got 70,000"):
        small.partial_fit(csr_matrix(np.ones((2, 1)), shape=(2, 70_000)), ["a", "b"])
    assert not hasattr(small, "classes_")


def test_numbers_of_numpy_are_numbers():
    X, y = rings(10)
    same = Fourier(np.int64(12), np.float64(0.8), np.int64(3))
    a, b = (hinged.Classifier(kernel=kernel, scaling=None).fit(X, y) for kernel in (FOURIER, same))
    assert np.array_equal(a.coef_, b.coef_)


@each_map
def test_plain_arrays_are_learnt_without_features_and_nothing_is_explained(of):
    X, y = of.stream(9)
    with pytest.raises(ValueError, match=r"is for estimators such as hinged\.Classifier"):
        hinged.mercer.learn(X, y, of.kernel)
    for model in (hinged.Classifier(kernel=of.kernel).fit(X, y), hinged.Regressor(kernel=of.kernel).fit(X, y)):
        with pytest.raises(ValueError, match="a feature mixes several columns"):
            model.explain(X[0], *([0] if isinstance(model, hinged.Classifier) else []))
        with pytest.raises(AttributeError, match="support_ exists for learners with a kernel that remembers rows"):
            model.support_  # noqa: B018


def test_ranks_take_no_kernel_that_remembers_rows():
    with pytest.raises(ValueError, match=r"for ranks, kernel must be hinged\.mercer\.Fourier\(n\)"):
        hinged.OrdinalClassifier(kernel=Gaussian()).fit(*rings(9))
