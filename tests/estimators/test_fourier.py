"""kernel=Fourier(n): a linear learner on random features, with every rule, option and way of learning of one."""

import pickle
from copy import deepcopy

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from tests.plain import BinaryClassifier, Classifier, OrdinalClassifier, Regressor
from tests.reference.fourier import FourierScaler, frequencies
from tests.reference.learner import Twin
from tests.reference.scaling import Scaler
from tests.reference.vectors import VectorTwin

import hinged
from hinged.loops.rows import Dense
from hinged.mercer import Budget, Fourier, Gaussian

ROWS, COLUMNS, LABELS = 60, 4, 3
FOURIER = Fourier(12, 0.8, random_state=3)


def stream(seed=0):
    """A label by the distance from the middle, of columns with means and deviations of their own, some values 0."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, COLUMNS))
    y = np.digitize((X**2).sum(axis=1), [2.5, 4.5])
    X = X * [1.0, 10.0, 0.1, 2.0] + [0.0, 50.0, 0.0, 0.0]
    X[rng.random(X.shape) < 0.2] = 0.0
    return X, y


def plain_scaler(scaling=None, normalize=False, bias=0.0, dense=True):
    omega = frequencies(COLUMNS, FOURIER.n, FOURIER.coefficient, FOURIER.random_state)
    return FourierScaler(Scaler(COLUMNS, scaling, normalize, dense=dense), omega, bias)


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * max(1.0, np.max(np.abs(expected), initial=0.0)))


READ = {
    "as they are": {"scaling": None},
    "standardised": {"scaling": "standard", "bias": 0.25},
    "units": {"scaling": "idf", "normalize": True},
}


@pytest.mark.parametrize("read", READ)
@pytest.mark.parametrize(
    "more", [{}, {"rule": "optimal", "C": 0.2}, {"rule": "simproj", "average": True}, {"metric": 0.5}], ids=str
)
def test_labels_are_learnt_as_the_twin_learns_them(more, read):
    (X, y), settings = stream(), {"rule": "pa1", "C": 0.5, **READ[read], **more}
    weights = np.where(np.arange(ROWS) % 7 == 5, 0.0, 1.0 + (np.arange(ROWS) % 3))
    twin = Twin(FOURIER.n, range(LABELS), classes=range(LABELS), **settings)
    twin.scaler = plain_scaler(**READ[read])
    twin.run(X[:-5], y[:-5], weights[:-5])
    if "metric" in settings:
        settings["geometry"] = hinged.geometry.Adaptive(settings.pop("metric"))
    model = Classifier(kernel=FOURIER, **settings)
    told = hinged.evaluate.progressive(model, X[:-5], y[:-5], classes=range(LABELS), sample_weight=weights[:-5])
    assert told.flags.tolist() == twin.history.flags
    assert 5 < told.mistakes < ROWS - 5
    close(told.losses, twin.history.losses)
    close(model.decision_function(X[-5:]), twin.scores(X[-5:]))
    if model.dual_ is not None:
        close(model.dual_, twin.dual)


@pytest.mark.parametrize("read", ["as they are", "standardised"])
@pytest.mark.parametrize(
    ("task", "estimator"), [("binary", BinaryClassifier), ("regression", Regressor), ("ordinal", OrdinalClassifier)]
)
def test_one_vector_is_learnt_as_the_twin_learns_it(task, estimator, read):
    X, y = stream(1)
    y = {"binary": np.minimum(y, 1), "regression": np.sin(np.arange(ROWS)), "ordinal": y}[task]
    more = {"epsilon": 0.05} if task == "regression" else {}
    twin = VectorTwin(FOURIER.n, task, "pa1", 0.5, k=LABELS, bias=READ[read].get("bias", 0.0), **more)
    twin.scaler = plain_scaler(**READ[read])
    twin.run(X, y)
    model = estimator(rule="pa1", C=0.5, kernel=FOURIER, **READ[read], **more)
    if task != "regression":
        model.declare(sorted(set(y.tolist())))
    told = hinged.evaluate.progressive(model, X, y.tolist())
    assert told.flags.tolist() == twin.flags
    close(told.losses, twin.losses)
    close(model.dual_, twin.dual)
    close(model.coef_.ravel(), twin.coef)


def test_sparse_rows_and_dicts_are_read_as_dense_rows_without_their_zeros():
    X, y = stream(2)
    twin = Twin(FOURIER.n, range(LABELS), classes=range(LABELS), rule="pa1", C=0.5)
    twin.scaler = plain_scaler("mixed", dense=False)
    twin.run(X, y)
    dicts = [{i: v for i, v in enumerate(x) if v} for x in X.tolist()]
    for rows in (csr_matrix(X), dicts):
        model = Classifier(C=0.5, kernel=FOURIER, scaling="mixed").declare(range(LABELS))
        if rows is dicts:  # columns in the order of their names
            model.partial_fit([dict.fromkeys(range(COLUMNS), 0.0)], [0], sample_weight=[0.0])
        close(hinged.evaluate.progressive(model, rows, y).losses, twin.history.losses)


def targets(y):
    sets = [{int(r), int(r + 1) % LABELS} for r in y]
    return {
        "Classifier": (hinged.Classifier, y),
        "Ranker": (hinged.Ranker, sets),
        "BinaryClassifier": (hinged.BinaryClassifier, y > 0),
        "Regressor": (hinged.Regressor, y + 0.5),
        "OrdinalClassifier": (hinged.OrdinalClassifier, y),
    }


def said(model, X):
    return (model.predict if isinstance(model, hinged.Regressor) else model.decision_function)(X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", targets(np.zeros(1, int)))
def test_a_row_alone_and_in_a_batch_saved_and_copied_gives_the_same_bits(kind, dtype, tmp_path):
    X, y = stream(3)
    X, (estimator, y) = X.astype(dtype), targets(y)[kind]
    more = {"order": [0, 1, 2]} if kind == "OrdinalClassifier" else {}
    whole = estimator(kernel=Fourier(30), **more).partial_fit(X, y)
    alone = estimator(kernel=Fourier(30), **more).partial_fit(X[:7], y[:7])
    ways = [deepcopy, lambda model: pickle.loads(pickle.dumps(model)), reload(tmp_path / "model"), lambda model: model]
    for i in range(7, ROWS):
        alone = ways[i % 4](alone) if i < 15 else alone
        if i == 12:
            assert np.array_equal(said(ways[2](alone), X), said(alone, X))
        alone.learn_one(X[i], y[i])
    assert whole.coef_.dtype == dtype
    assert np.array_equal(whole.coef_, alone.coef_)
    assert np.array_equal(said(whole, X), said(alone, X))
    assert np.array_equal(said(whole, X), np.concatenate([said(whole, x[None]) for x in X]))


def reload(path):
    def through(model):
        model.save(path)
        return hinged.load(path)

    return through


def test_a_late_answer_is_learnt_with_what_was_known_when_it_came():
    X, y = stream(4)
    late = hinged.Classifier(kernel=FOURIER, C=1.0).declare(range(LABELS))
    told = hinged.evaluate.progressive(late, X, y, delay=6)
    model, flags = hinged.Classifier(kernel=FOURIER, C=1.0).declare(range(LABELS)), []
    for t in range(ROWS + 6):
        if 0 < t < ROWS:
            scores = model.decision_function(X[t : t + 1])[0] if t > 6 else np.zeros(LABELS)
            flags.append(int(scores[y[t]] <= np.delete(scores, y[t]).max()))
        if t >= 6:
            model.partial_fit(X[t - 6 : t - 5], y[t - 6 : t - 5])
    assert told.flags[1:].tolist() == flags
    assert np.array_equal(late.coef_, model.coef_)


def test_columns_that_come_later_change_no_frequency_of_the_others():
    X, y = stream(5)
    wide = np.hstack([X, np.zeros((ROWS, 40))])
    settings = {"kernel": FOURIER, "scaling": None, "C": 1.0}
    narrow = hinged.Classifier(**settings).partial_fit(X[:30], y[:30]).partial_fit(wide[30:], y[30:])
    known = hinged.Classifier(**settings).partial_fit(wide, y)
    assert np.array_equal(narrow.coef_, known.coef_)
    wide[:, COLUMNS:] = np.random.default_rng(0).normal(size=(ROWS, 40))
    assert np.array_equal(narrow.decision_function(wide), known.decision_function(wide))
    assert not np.array_equal(
        narrow.decision_function(wide)[:, 0], narrow.decision_function(np.hstack([X, 0 * wide[:, 4:]]))[:, 0]
    )


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


def test_labels_can_be_edited_and_settings_are_told():
    X, y = stream(7)
    model = hinged.Classifier(kernel=FOURIER).partial_fit(X, y)
    before = model.decision_function(X)[:, np.argsort(model.classes_)]
    model.merge_labels(2, 0)
    after = model.decision_function(X)
    close(
        after if after.ndim == 1 else after[:, 1] - after[:, 0],
        (before[:, 1] - before[:, 0] - before[:, 2]) * np.where(model.classes_[0] == 0, 1, -1),
    )
    assert model.settled_["scaling"] == "standard"
    assert model.coef_.shape == (2, FOURIER.n)
    assert len(model.experts_) == 3


@pytest.mark.parametrize("estimator", [hinged.Classifier, hinged.BinaryClassifier])
def test_a_file_holds_the_seed_and_no_frequencies(estimator, tmp_path):
    X, frequencies_alone = np.random.default_rng(8).normal(size=(50, 500)), 500 * 32 * 8
    model = estimator(kernel=Fourier(64), C=1.0, average=False).fit(X, np.arange(50) % 2)
    model.save(tmp_path / "model")
    assert (tmp_path / "model").stat().st_size < frequencies_alone
    assert hinged.load(tmp_path / "model").kernel == Fourier(64)
    assert np.array_equal(hinged.load(tmp_path / "model").decision_function(X), model.decision_function(X))
    assert len(pickle.dumps(model)) < frequencies_alone


REFUSED = [
    ({"kernel": FOURIER, "geometry": "entropy"}, "do not go with geometry='entropy'"),
    ({"kernel": FOURIER, "sharing": "hybrid", "features": "first"}, "labels cannot share a vector"),
    ({"kernel": FOURIER, "budget": Budget(5)}, "Set one that remembers rows"),
    ({"kernel": Fourier(), "scaling": None}, "gamma='scale' is for rows that the learner scales"),
    ({"kernel": Fourier(), "scaling": "idf", "normalize": False}, "give gamma a number"),
    ({"kernel": Fourier}, "kernel must be"),
]


@pytest.mark.parametrize(("settings", "message"), REFUSED, ids=str)
def test_what_makes_no_sense_is_refused_by_name(settings, message):
    with pytest.raises(ValueError, match=message):
        hinged.Classifier(**settings).fit(*stream())


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"n": 7}, "n must be an even whole number"),
        ({"n": 0}, "n must be an even whole number"),
        ({"n": 2.0}, "n must be an even whole number"),
        ({"gamma": "auto"}, "gamma must be 'scale' or a positive number"),
        ({"gamma": -1.0}, "gamma must be 'scale' or a positive number"),
        ({"gamma": float("inf")}, "gamma must be 'scale' or a positive number"),
        ({"random_state": None}, "random_state must be a whole number"),
        ({"random_state": -1}, "random_state must be a whole number"),
    ],
    ids=str,
)
def test_unsound_features_are_refused_by_name(values, message):
    with pytest.raises(ValueError, match=message):
        Fourier(**values)


def test_more_columns_than_frequencies_may_be_kept_for_are_refused_and_nothing_changes():
    small = hinged.Classifier(kernel=Fourier(512))
    with pytest.raises(ValueError, match=r"for 16,384 columns at most; got 70,000"):
        small.partial_fit(csr_matrix(np.ones((2, 1)), shape=(2, 70_000)), ["a", "b"])
    assert not hasattr(small, "classes_")


def test_plain_arrays_are_learnt_without_features_and_numpy_numbers_are_numbers():
    X, y = stream(10)
    with pytest.raises(ValueError, match=r"is for estimators such as hinged\.Classifier"):
        hinged.mercer.learn(X, y, FOURIER)
    same = Fourier(np.int64(12), np.float64(0.8), np.int64(3))
    a, b = (hinged.Classifier(kernel=kernel, scaling=None).fit(X, y) for kernel in (FOURIER, same))
    assert np.array_equal(a.coef_, b.coef_)


def test_rows_are_shown_to_theory_as_they_are_learnt():
    X, _ = stream(11)
    learner, scaler = Classifier(kernel=FOURIER, scaling="standard", bias=0.5), plain_scaler("standard", bias=0.5)
    model = learner.check_settings().new_model(learner, np.float64)
    model.widen(COLUMNS)
    indptr, columns, values = model.scaled(Dense(X).rows())
    assert columns.reshape(ROWS, -1).tolist() == [list(range(FOURIER.n + 1))] * ROWS
    for z, x in zip(values.reshape(ROWS, -1), X, strict=True):
        close(z, scaler.row(x))
        scaler.enter(x)
    assert indptr[-1] == len(values)


def test_ranks_take_no_kernel_that_remembers_rows_and_nothing_is_explained():
    X, y = stream(9)
    with pytest.raises(ValueError, match=r"for ranks, kernel must be hinged\.mercer\.Fourier\(n\)"):
        hinged.OrdinalClassifier(kernel=Gaussian()).fit(X, y)
    for model in (hinged.Classifier(kernel=FOURIER).fit(X, y), hinged.Regressor(kernel=FOURIER).fit(X, y)):
        with pytest.raises(ValueError, match="a feature mixes several columns"):
            model.explain(X[0], *([0] if isinstance(model, hinged.Classifier) else []))
        with pytest.raises(AttributeError, match="support_ exists for learners with a kernel that remembers rows"):
            model.support_  # noqa: B018
