"""scaling="standard" and "mixed": rows of every kind are scaled by what has been seen of their features, exactly."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from tests.plain import BinaryClassifier, OrdinalClassifier, Regressor
from tests.reference.learner import Twin
from tests.reference.vectors import VectorTwin

import hinged
from hinged.loops.rows import _least_of_columns

ROWS, COLUMNS, LABELS = 60, 6, 4
SCALES = 10.0 ** np.array([-6, -2, 0, 0, 3, 6])


def stream(seed, zeros=0.3):
    """Columns of very different sizes, far from 0 and with zeros; the fourth is constant, the fifth has an outlier."""
    rng = np.random.default_rng(seed)
    X = SCALES * (rng.normal(size=(ROWS, COLUMNS)) + 5 * rng.normal(size=COLUMNS))
    X[rng.random(X.shape) < zeros] = 0.0
    X[:, 3] = 7.0
    X[45, 4] = 1e6
    return X, rng.integers(LABELS, size=ROWS)


def as_dicts(X, dense):
    return [{f"c{i}": float(v) for i, v in enumerate(x) if dense or v != 0} for x in X]


def close(found, expected):
    found = found.toarray() if hasattr(found, "toarray") else np.asarray(found)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * max(1.0, np.max(np.abs(expected), initial=0.0)))


KINDS = {
    "dense": (np.asarray, True),
    "sparse": (csr_matrix, False),
    "full dicts": (lambda X: as_dicts(X, True), True),
    "dicts": (lambda X: as_dicts(X, False), False),
}


@pytest.mark.parametrize("scaling", ["standard", "mixed"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "more", [{}, {"normalize": True, "bias": 0.5}, {"average": True}, {"rule": "optimal", "C": 0.1}], ids=str
)
def test_labels_are_learnt_as_the_twin_learns_them(more, seed, kind, scaling):
    (X, y), (given, dense) = stream(seed), KINDS[kind]
    weights = np.where(np.arange(ROWS) % 7 == 5, 0.0, 1.0 + (np.arange(ROWS) % 3))
    settings = {"rule": "pa1", "C": 0.3, "scaling": scaling, "normalize": False, "bias": 0.0, **more}
    twin = Twin(COLUMNS, range(LABELS), classes=range(LABELS), **settings)
    twin.scaler.dense = dense
    twin.run(X[:-5], y[:-5], weights[:-5])
    model = hinged.Classifier(**settings)
    rows = given(X[:-5])
    told = hinged.evaluate.progressive(model, rows, y[:-5], classes=range(LABELS), sample_weight=weights[:-5])
    clear = np.array(twin.history.nearest) > 1e-12  # others are ties that rounding decides in the twin
    assert clear.mean() > 0.9
    assert told.flags[clear].tolist() == np.array(twin.history.flags)[clear].tolist()
    close(told.losses, twin.history.losses)
    close(model.decision_function(given(X[-5:])), twin.scores(X[-5:]))
    close(model.dual_, twin.dual)


@pytest.mark.parametrize("scaling", ["standard", "mixed"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("task", "estimator"),
    [("binary", BinaryClassifier), ("regression", Regressor), ("ordinal", OrdinalClassifier)],
)
def test_one_vector_is_learnt_as_the_twin_learns_it(task, estimator, kind, scaling):
    (X, y), (given, dense) = stream(5), KINDS[kind]
    y = {"binary": y % 2, "regression": np.sin(np.arange(ROWS)), "ordinal": y}[task]
    more = {"epsilon": 0.05} if task == "regression" else {}
    twin = VectorTwin(COLUMNS, task, "pa1", 0.5, k=LABELS, scaling=scaling, bias=0.25, **more)
    twin.scaler.dense = dense
    twin.run(X, y)
    model = estimator(rule="pa1", C=0.5, scaling=scaling, bias=0.25, **more)
    if task != "regression":
        model.declare(sorted(set(y.tolist())))
    told = hinged.evaluate.progressive(model, given(X), y.tolist())
    assert told.flags.tolist() == twin.flags
    close(told.losses, twin.losses)
    close(model.dual_, twin.dual)
    close(model.coef_.ravel(), twin.coef)


def test_a_row_alone_and_in_a_batch_saved_and_copied_gives_the_same_bits(tmp_path):
    X, y = stream(1)
    whole = hinged.Classifier(scaling="standard").partial_fit(X, y)
    alone = hinged.Classifier(scaling="standard").partial_fit(X[:20], y[:20])
    alone.save(tmp_path / "model")
    alone = hinged.load(tmp_path / "model")
    for x, label in zip(X[20:], y[20:], strict=True):
        alone.learn_one(x, label)
    assert np.array_equal(whole.coef_, alone.coef_)
    assert np.array_equal(whole.decision_function(X), alone.decision_function(X))


def test_zeros_that_a_sparse_matrix_stores_are_no_values():
    X, y = stream(2)
    rows = csr_matrix(X)
    stored = csr_matrix((np.ones(X.size), np.tile(np.arange(COLUMNS), ROWS), COLUMNS * np.arange(ROWS + 1)))
    stored.data[:] = X.ravel()
    assert stored.nnz == X.size > rows.nnz
    models = [hinged.Classifier(scaling="standard").partial_fit(given, y) for given in (rows, stored)]
    assert np.array_equal(models[0].coef_, models[1].coef_)
    assert stored.nnz == X.size


def test_predicting_changes_nothing():
    X, y = stream(3)
    model = hinged.Classifier(scaling="standard").partial_fit(X[:30], y[:30])
    first = model.decision_function(X[30:])
    assert np.array_equal(model.decision_function(X[30:]), first)
    assert np.array_equal(np.vstack([model.decision_function(x[None, :]) for x in X[30:]]), first)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("factor", [1e-6, 1.0, 1e6])
def test_the_unit_of_a_column_does_not_matter(factor, dtype):
    X, y = stream(4, zeros=0.0)
    X = X / SCALES
    scores = [
        hinged.Classifier(scaling="standard").fit((c * X).astype(dtype), y).decision_function((c * X).astype(dtype))
        for c in (1.0, factor)
    ]
    np.testing.assert_allclose(scores[0], scores[1], atol=2e-3 if dtype is np.float32 else 1e-9)


def test_a_value_that_is_missing_now_and_then_does_not_end_the_centring():
    rng = np.random.default_rng(0)
    label = rng.integers(2, size=600)
    model, wrong = hinged.Classifier(scaling="standard", bias=0.5), 0
    for i, y in enumerate(label.tolist()):
        x = {} if i % 50 == 49 else {"pressure": 1013.0 + 2 * y + rng.normal() / 2}
        wrong += i >= 300 and bool(x) and model.predict_one(x) != y
        model.learn_one(x, y)
    assert wrong < 30


def test_label_features_that_count_words_are_refused():
    with pytest.raises(ValueError, match="count the rows that have a word"):
        hinged.Classifier(sharing="hybrid", features="frequency", scaling="standard").fit([[1.0], [2.0]], [0, 1])


def test_a_constant_column_has_no_weight_and_a_first_row_is_safe():
    model = hinged.Classifier(scaling="standard", bias=0.5)
    for i in range(20):
        model.learn_one({"constant": 0.1 + 0.2 if i % 2 else 0.3, "x": float(i % 5)}, i % 2)
        assert np.isfinite(model.coef_).all()
    assert (model.coef_[:, model.feature_names_.index("constant")] == 0).all()


def test_a_feature_is_a_column_if_nine_rows_of_ten_have_it():
    for rounds in range(300):
        least = next(count for count in range(rounds + 1) if 10 * (count + 1) >= 9 * (rounds + 1))
        assert _least_of_columns(rounds) == least
