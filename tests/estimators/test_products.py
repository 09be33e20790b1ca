"""kernel=Products(): a linear learner on hashed products, with every rule, option and way of learning of one."""

import pickle
from copy import deepcopy

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from tests.plain import BinaryClassifier, Classifier, OrdinalClassifier, Regressor
from tests.reference.learner import Twin
from tests.reference.products import ProductsScaler
from tests.reference.scaling import Scaler
from tests.reference.vectors import VectorTwin

import hinged
from hinged.loops.rows import Dense
from hinged.mercer import Budget, Products

ROWS, COLUMNS, LABELS = 60, 7, 3
PRODUCTS = Products(6, most=5, weight=1.0, random_state=3)


def stream(seed=0):
    """Words, the label by which two stand together; some rows have more than five."""
    rng = np.random.default_rng(seed)
    X = (rng.random((ROWS, COLUMNS)) < 0.5) * rng.integers(1, 4, (ROWS, COLUMNS)).astype(float)
    y = np.where((X[:, 0] > 0) == (X[:, 1] > 0), 0, np.where(X[:, 2] > 0, 1, 2))
    return X, y


def plain_scaler(scaling=None, normalize=False, bias=0.0, dense=True):
    return ProductsScaler(Scaler(COLUMNS, scaling, normalize, dense=dense), PRODUCTS, bias)


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
    twin = Twin(PRODUCTS.n, range(LABELS), classes=range(LABELS), **settings)
    twin.scaler = plain_scaler(**READ[read])
    twin.run(X[:-5], y[:-5], weights[:-5])
    if "metric" in settings:
        settings["geometry"] = hinged.geometry.Adaptive(settings.pop("metric"))
    model = Classifier(kernel=PRODUCTS, **settings)
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
    twin = VectorTwin(PRODUCTS.n, task, "pa1", 0.5, k=LABELS, bias=READ[read].get("bias", 0.0), **more)
    twin.scaler = plain_scaler(**READ[read])
    twin.run(X, y)
    model = estimator(rule="pa1", C=0.5, kernel=PRODUCTS, **READ[read], **more)
    if task != "regression":
        model.declare(sorted(set(y.tolist())))
    told = hinged.evaluate.progressive(model, X, y.tolist())
    assert told.flags.tolist() == twin.flags
    close(told.losses, twin.losses)
    close(model.dual_, twin.dual)
    close(model.coef_.ravel(), twin.coef)


def test_sparse_rows_and_dicts_are_read_as_dense_rows_without_their_zeros():
    X, y = stream(2)
    twin = Twin(PRODUCTS.n, range(LABELS), classes=range(LABELS), rule="pa1", C=0.5)
    twin.scaler = plain_scaler("mixed", dense=False)
    twin.run(X, y)
    dicts = [{i: v for i, v in enumerate(x) if v} for x in X.tolist()]
    for rows in (csr_matrix(X), dicts):
        model = Classifier(C=0.5, kernel=PRODUCTS, scaling="mixed").declare(range(LABELS))
        if rows is dicts:  # columns in the order of their names
            model.partial_fit([dict.fromkeys(range(COLUMNS), 0.0)], [0], sample_weight=[0.0])
        close(hinged.evaluate.progressive(model, rows, y).losses, twin.history.losses)


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


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", targets(np.zeros(1, int)))
def test_a_row_alone_and_in_a_batch_saved_and_copied_gives_the_same_bits(kind, dtype, sparse, tmp_path):
    X, y = stream(3)
    X, (estimator, y) = X.astype(dtype), targets(y)[kind]
    X = csr_matrix(X) if sparse else X
    more = {"order": [0, 1, 2]} if kind == "OrdinalClassifier" else {}
    whole = estimator(kernel=PRODUCTS, **more).partial_fit(X, y)
    alone = estimator(kernel=PRODUCTS, **more).partial_fit(X[:7], y[:7])
    ways = [deepcopy, lambda model: pickle.loads(pickle.dumps(model)), reload(tmp_path / "model"), lambda model: model]
    for i in range(7, ROWS):
        alone = ways[i % 4](alone) if i < 15 else alone
        if i == 12:
            assert np.array_equal(said(ways[2](alone), X), said(alone, X))
        alone.partial_fit(X[i : i + 1], y[i : i + 1])
    assert whole.coef_.dtype == dtype
    assert np.array_equal(whole.coef_, alone.coef_)
    assert np.array_equal(said(whole, X), said(alone, X))
    assert np.array_equal(said(whole, X), np.concatenate([said(whole, X[i : i + 1]) for i in range(ROWS)]))


def test_a_late_answer_is_learnt_with_what_was_known_when_it_came():
    X, y = stream(4)
    late = hinged.Classifier(kernel=PRODUCTS, C=1.0).declare(range(LABELS))
    told = hinged.evaluate.progressive(late, X, y, delay=6)
    model, flags = hinged.Classifier(kernel=PRODUCTS, C=1.0).declare(range(LABELS)), []
    for t in range(ROWS + 6):
        if 0 < t < ROWS:
            scores = model.decision_function(X[t : t + 1])[0] if t > 6 else np.zeros(LABELS)
            flags.append(int(scores[y[t]] <= np.delete(scores, y[t]).max()))
        if t >= 6:
            model.partial_fit(X[t - 6 : t - 5], y[t - 6 : t - 5])
    assert told.flags[1:].tolist() == flags
    assert np.array_equal(late.coef_, model.coef_)


def test_columns_that_come_later_are_hashed_like_the_others():
    X, y = stream(5)
    wide = np.hstack([X, np.random.default_rng(0).integers(0, 2, (ROWS, 40))])
    settings = {"kernel": PRODUCTS, "scaling": None, "C": 1.0}
    narrow = hinged.Classifier(**settings).partial_fit(X[:30], y[:30]).partial_fit(wide[30:], y[30:])
    known = hinged.Classifier(**settings).partial_fit(np.hstack([X[:30], np.zeros((30, 40))]), y[:30])
    known.partial_fit(wide[30:], y[30:])
    assert np.array_equal(narrow.coef_, known.coef_)
    assert narrow.coef_.shape == (LABELS, PRODUCTS.n)


def test_what_two_values_say_together_is_learnt():
    rows = [{f"{a}{i}": 1.0 for i, a in enumerate(word)} for word in ("xx", "xy", "yx", "yy")] * 30
    y = ["same", "other", "other", "same"] * 30
    model, line = (hinged.Classifier(kernel=k, scaling=None, normalize=True) for k in (Products(12), None))
    assert model.fit(rows, y).predict(rows[:4]).tolist() == y[:4]
    assert line.fit(rows, y).n_mistakes_ > 4 * model.n_mistakes_


def test_labels_can_be_edited_and_settings_are_told(tmp_path):
    X, y = stream(7)
    model = hinged.Classifier(kernel=PRODUCTS).partial_fit(X, y)
    scores = dict(zip(model.classes_.tolist(), model.decision_function(X).T, strict=True))
    model.merge_labels(2, 0)
    first, second = (scores[r] + (scores[2] if r == 0 else 0.0) for r in model.classes_.tolist())
    close(model.decision_function(X), second - first)
    assert len(model.experts_) == 3
    reload(tmp_path / "model")(model)
    assert hinged.load(tmp_path / "model").kernel == PRODUCTS


REFUSED = [
    ({"geometry": "entropy"}, "do not go with geometry='entropy'"),
    ({"sharing": "hybrid", "features": "first"}, "labels cannot share a vector"),
    ({"budget": Budget(5)}, "Set one that remembers rows"),
    ({"kernel": Products}, r"kernel must be .*Products\(\)"),
]


@pytest.mark.parametrize(("settings", "message"), REFUSED, ids=str)
def test_what_makes_no_sense_is_refused_by_name(settings, message):
    with pytest.raises(ValueError, match=message):
        hinged.Classifier(**{"kernel": PRODUCTS, **settings}).fit(*stream())


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"bits": 3}, "bits must be a whole number from 4 to 22; got bits=3"),
        ({"bits": 18.0}, "bits must be"),
        ({"most": 1}, "most must be a whole number from 2 to 1,024"),
        ({"most": True}, "most must be"),
        ({"weight": 0.0}, "weight must be a positive number"),
        ({"weight": float("nan")}, "weight must be a positive number"),
        ({"random_state": -1}, "random_state must be a whole number"),
        ({"random_state": None}, "random_state must be a whole number"),
    ],
    ids=str,
)
def test_unsound_products_are_refused_by_name(values, message):
    with pytest.raises(ValueError, match=message):
        Products(**values)


def test_plain_arrays_are_learnt_without_products_and_nothing_is_explained():
    X, y = stream(10)
    with pytest.raises(ValueError, match=r"is for estimators such as hinged\.Classifier"):
        hinged.mercer.learn(X, y, PRODUCTS)
    with pytest.raises(ValueError, match="a feature mixes several columns"):
        hinged.Classifier(kernel=PRODUCTS).fit(X, y).explain(X[0], 0)


def test_rows_are_shown_to_theory_as_they_are_learnt():
    X, _ = stream(11)
    learner, scaler = Classifier(kernel=PRODUCTS, scaling="standard", bias=0.5), plain_scaler("standard", bias=0.5)
    model = learner.check_settings().new_model(learner, np.float64)
    model.widen(COLUMNS)
    indptr, columns, values = model.scaled(Dense(X).rows())
    for i, x in enumerate(X):
        z, some = np.zeros(PRODUCTS.n + 1), slice(indptr[i], indptr[i + 1])
        z[columns[some]] = values[some]
        close(z, scaler.row(x))
        scaler.enter(x)
