"""All spellings of the same rows: one set of weights, and the input is left as it was."""

import collections
import copy
import pickle
import types

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from tests import plain as papers

import hinged

ROWS = np.array(
    [
        [1.0, 0.0, 2.0, 0.0],
        [0.0, 3.0, 0.0, -1.0],
        [2.0, 0.0, 0.0, 1.0],
        [0.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, -2.0, 0.0],
        [1.0, 1.0, 0.0, 3.0],
    ]
)
Y = ["a", "b", "c", "a", "b", "c"]
NAMES = ["w", "x", "y", "z"]
SETTINGS = (
    {},
    {"rule": "simproj", "sharing": "hybrid", "features": "frequency"},
    {"scaling": "idf", "normalize": True, "average": True, "bias": 0.5},
)


def with_long_indices(X):
    X = sparse.csr_array(X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def unsorted(X):
    """CSR with the columns of each row falling."""
    X = sparse.csr_array(X)
    order = np.concatenate([np.arange(b - 1, a - 1, -1) for a, b in zip(X.indptr, X.indptr[1:], strict=False)])
    return sparse.csr_array((X.data[order], X.indices[order], X.indptr), shape=X.shape)


def duplicated(X):
    """CSR with every value in two equal halves."""
    X = sparse.csr_array(X)
    return sparse.csr_array((np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr), shape=X.shape)


def with_zeros(X):
    """CSR that stores every zero."""
    n, width = X.shape
    return sparse.csr_array((X.ravel(), np.tile(np.arange(width), n), width * np.arange(n + 1)), shape=X.shape)


def negative_zeros(X):
    return np.where(X == 0, -0.0, X)


def readonly(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def as_dicts(X):
    return [{name: float(v) for name, v in zip(NAMES, row, strict=True) if v} for row in X]


SPELLINGS = {
    "csr_matrix": sparse.csr_matrix,
    "csr_array": sparse.csr_array,
    "csc_matrix": sparse.csc_matrix,
    "csc_array": sparse.csc_array,
    "coo_matrix": sparse.coo_matrix,
    "coo_array": sparse.coo_array,
    "lil_array": sparse.lil_array,
    "dok_array": sparse.dok_array,
    "bsr_array": sparse.bsr_array,
    "dia_array": sparse.dia_array,
    "int64 indices": with_long_indices,
    "unsorted": unsorted,
    "duplicates": duplicated,
    "explicit zeros": with_zeros,
    "negative zeros": negative_zeros,
    "fortran order": np.asfortranarray,
    "strided": lambda X: np.repeat(np.repeat(X, 2, 0), 3, 1)[::2, ::3],
    "read-only": readonly,
    "integers": lambda X: X.astype(np.int64),
    "small integers": lambda X: X.astype(np.int8),
    "sparse integers": lambda X: sparse.csr_array(X.astype(np.int16)),
    "objects": lambda X: X.astype(object),
    "lists": lambda X: X.tolist(),
    "lists of integers": lambda X: X.astype(int).tolist(),
    "tuple of arrays": tuple,
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "pandas without names": pd.DataFrame,
    "pandas integers": lambda X: pd.DataFrame(X.astype(int), columns=NAMES),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES, orient="row"),
    "half precision": lambda X: X.astype(np.float16),
    "pandas sparse": lambda X: pd.DataFrame.sparse.from_spmatrix(sparse.csr_array(X), columns=NAMES),
    "pandas sparse integers": lambda X: pd.DataFrame.sparse.from_spmatrix(sparse.csr_array(X.astype(int))),
    "arrays in an array": lambda X: np.array([*X, None], object)[:-1],
}


def contents(X):
    """Everything an input holds, to compare byte for byte."""
    if sparse.issparse(X):
        parts = {name: value for name, value in vars(X).items() if isinstance(value, np.ndarray)}
        return type(X), X.shape, {name: (a.dtype, a.tobytes()) for name, a in parts.items()}, X.toarray().tobytes()
    if isinstance(X, np.ndarray) and X.dtype != object:
        return X.dtype, X.shape, X.strides, X.tobytes()
    return pickle.dumps(X)


def weights(model):
    shown = [np.asarray(model.coef_)]
    if hasattr(model, "shared_coef_"):
        shown.append(model.shared_coef_)
    return shown


def assert_same_weights(model, other):
    for a, b in zip(weights(model), weights(other), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_spelling_of_the_rows_gives_the_same_weights_to_the_last_bit(spelling, settings):
    plain = papers.Classifier(**settings).partial_fit(ROWS, Y).partial_fit(ROWS, Y)
    X = SPELLINGS[spelling](ROWS)
    model = papers.Classifier(**settings).partial_fit(X, Y).partial_fit(X, Y)
    assert_same_weights(model, plain)
    np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(ROWS))


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_dicts_give_the_same_weights_where_their_names_appear_in_column_order(settings):
    plain = papers.Classifier(**settings).partial_fit(ROWS, Y).partial_fit(ROWS, Y)
    named = [dict.fromkeys(NAMES, 0.0) | row for row in as_dicts(ROWS)]
    model = papers.Classifier(**settings).partial_fit(named, Y).partial_fit(as_dicts(ROWS), Y)
    assert_same_weights(model, plain)
    np.testing.assert_array_equal(model.decision_function(as_dicts(ROWS)), plain.decision_function(ROWS))


@pytest.mark.parametrize(
    "one",
    [lambda r: r, list, tuple, sparse.csr_array, sparse.coo_matrix, lambda r: r[None, :], pd.Series],
    ids=range(7),
)
def test_every_spelling_of_one_row_gives_the_same_weights(one):
    plain = papers.Classifier().partial_fit(ROWS, Y)
    model = papers.Classifier()
    for row, y in zip(ROWS, Y, strict=True):
        model.learn_one(one(row), y)
    assert_same_weights(model, plain)
    assert [model.predict_one(one(row)) for row in ROWS] == plain.predict(ROWS).tolist()


def test_bools_count_as_ones():
    X = ROWS != 0
    expected = papers.Classifier().partial_fit(X.astype(float), Y)
    for spelled in (X, sparse.csr_array(X), X.tolist(), pd.DataFrame(X), pl.DataFrame(X)):
        assert_same_weights(papers.Classifier().partial_fit(spelled, Y), expected)
    named = [{name: bool(v) for name, v in zip(NAMES, row, strict=True)} for row in X]
    assert_same_weights(papers.Classifier().partial_fit(named, Y), expected)


def test_dict_values_may_be_any_kind_of_number():
    kinds = (float, int, np.float32, np.float64, np.int16, bool)
    plain = hinged.Classifier()
    for kind in kinds:
        plain.learn_one({"a": float(kind(1)), "b": 1.0}, "x" if kind in (int, bool) else "y")
    model = hinged.Classifier()
    for kind in kinds:
        model.learn_one({"a": kind(1), "b": kind(1)}, "x" if kind in (int, bool) else "y")
    assert_same_weights(model, plain)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("kind", [sparse.coo_array, sparse.csr_array])
def test_duplicates_of_small_integers_are_summed_as_numbers(kind, dtype):
    values, columns = np.array([100, 100, 100, 1]).astype(dtype), np.array([0, 0, 0, 1])
    if kind is sparse.csr_array:
        X = sparse.csr_array((values, columns, np.array([0, 3, 4])), shape=(2, 2))
    else:
        X = sparse.coo_array((values, (np.array([0, 0, 0, 1]), columns)), shape=(2, 2))
    summed = np.array([[3.0 * float(values[0]), 0.0], [0.0, 1.0]])
    expected = papers.Classifier().partial_fit(summed, ["a", "b"]).partial_fit(summed, ["a", "b"])
    assert_same_weights(papers.Classifier().partial_fit(X, ["a", "b"]).partial_fit(X, ["a", "b"]), expected)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_an_input_is_never_changed(spelling):
    X = SPELLINGS[spelling](ROWS)
    before = contents(X)
    model = hinged.Classifier(scaling="idf", normalize=True).fit(X, Y)
    model.partial_fit(X, Y)
    model.predict(X)
    model.rank(X)
    hinged.evaluate.progressive(model, X, Y)
    assert contents(X) == before


def test_dicts_labels_and_weights_are_never_changed():
    X, y, w = as_dicts(ROWS), list(Y), np.arange(6.0)
    kept = copy.deepcopy((X, y, w.tobytes()))
    model = hinged.Classifier(scaling="idf", class_weight={"a": 2.0}).partial_fit(X, y, sample_weight=w)
    model.learn_one(X[0], "b", sample_weight=0.5)
    model.explain(X[0], "b")
    assert (X, y, w.tobytes()) == kept


# ------------------------------------------------------------------ the weights' type
@pytest.mark.parametrize(
    ("first", "expected"),
    [
        (ROWS.astype(np.float32), np.float32),
        (sparse.csc_array(ROWS.astype(np.float32)), np.float32),
        (pd.DataFrame(ROWS.astype(np.float32)), np.float32),
        (pl.DataFrame(ROWS.astype(np.float32)), np.float32),
        (ROWS, np.float64),
        (ROWS.astype(np.int32), np.float64),
        (ROWS.astype(np.float16), np.float64),
        (ROWS.tolist(), np.float64),
        (as_dicts(ROWS), np.float64),
        (pd.DataFrame({0: ROWS[:, 0].astype(np.float32), 1: ROWS[:, 1]}), np.float64),
    ],
    ids=range(10),
)
def test_the_type_of_the_weights_follows_the_first_input(first, expected):
    assert hinged.Classifier().partial_fit(first, Y).coef_.dtype == expected


def test_the_type_of_the_weights_stays_whatever_comes_next():
    model = hinged.Classifier().partial_fit(ROWS.astype(np.float32), Y).partial_fit(ROWS, Y)
    assert model.coef_.dtype == np.float32
    model = hinged.Classifier().partial_fit(ROWS, Y).partial_fit(ROWS.astype(np.float32), Y)
    assert model.coef_.dtype == np.float64


@pytest.mark.parametrize("dtype", [np.float32, np.float64, "float32", np.dtype("float64")])
def test_a_type_asked_for_by_name_wins_over_the_input(dtype):
    for X in (ROWS, ROWS.astype(np.float32), as_dicts(ROWS)):
        assert hinged.Classifier(dtype=dtype).partial_fit(X, Y).coef_.dtype == np.dtype(dtype)


# ------------------------------------------------------------------ growing
def test_a_wider_matrix_grows_the_model_as_if_the_columns_had_been_zero_before():
    wide = np.hstack([ROWS, ROWS[::-1]])
    expected = papers.Classifier().partial_fit(np.hstack([ROWS, np.zeros_like(ROWS)]), Y).partial_fit(wide, Y)
    model = papers.Classifier().partial_fit(ROWS, Y).partial_fit(wide, Y)
    assert model.n_features_in_ == 8
    assert_same_weights(model, expected)
    by_row = papers.Classifier().partial_fit(ROWS, Y)
    for row, y in zip(wide, Y, strict=True):
        by_row.learn_one(row, y)
    assert_same_weights(by_row, expected)


def test_names_may_appear_at_any_time_and_unknown_ones_add_nothing_to_a_score():
    model = papers.Classifier()
    for row, y in zip(as_dicts(ROWS), Y, strict=True):
        model.learn_one(row, y)
    model.learn_one({"new": 1.0}, "a")
    known = model.decision_function([{"w": 1.0, "x": 2.0}])
    np.testing.assert_array_equal(model.decision_function([{"w": 1.0, "x": 2.0, "unheard of": 7.0}]), known)
    assert model.explain({"new": 2.0}, "a") == [("new", 2 * model.coef_[0, -1])]


def test_predicting_teaches_no_name():
    model = hinged.Classifier().partial_fit(as_dicts(ROWS), Y)
    before = model.coef_.shape
    model.predict([{"unheard of": 1.0}])
    model.learn_one({"w": 1.0}, "a")
    assert model.coef_.shape == before


def test_names_may_be_any_hashable():
    names = ["text", 3, ("subject", "tax"), None, b"bytes", 2.5]
    model = hinged.Classifier()
    for i, name in enumerate(names * 2):
        model.learn_one({name: 1.0}, i % len(names))
    assert [model.predict_one({name: 1.0}) for name in names] == list(range(len(names)))


@pytest.mark.parametrize(
    "frame", [lambda X, names: pd.DataFrame(X, columns=names), pl.DataFrame], ids=["pandas", "polars"]
)
def test_a_wider_frame_brings_its_names(frame):
    wide, names = np.hstack([ROWS, ROWS[::-1, :1]]), [*NAMES, "new"]
    model = hinged.Classifier().partial_fit(frame(ROWS, NAMES), Y).partial_fit(frame(wide, names), Y)
    expected = hinged.Classifier().partial_fit(ROWS, Y).partial_fit(wide, Y)
    assert_same_weights(model, expected)
    assert model.feature_names_in_.tolist() == names
    assert model.predict(frame(wide, names)).tolist() == expected.predict(wide).tolist()


def test_a_wider_frame_with_its_columns_in_another_order_is_refused():
    model = hinged.Classifier().partial_fit(pd.DataFrame(ROWS, columns=NAMES), Y)
    before = model.coef_.copy()
    other = pd.DataFrame(np.hstack([ROWS[:, :1], ROWS]), columns=["new", *NAMES])
    with pytest.raises(ValueError, match=r"(?i)feature names"):
        model.partial_fit(other, Y)
    np.testing.assert_array_equal(model.coef_, before)


def test_a_frame_with_its_columns_in_another_order_is_refused():
    model = hinged.Classifier().partial_fit(pd.DataFrame(ROWS, columns=NAMES), Y)
    with pytest.raises(ValueError, match=r"(?i)feature names"):
        model.predict(pd.DataFrame(ROWS, columns=NAMES[::-1]))


def test_a_model_of_a_frame_takes_dicts_by_its_names():
    model = papers.Classifier().partial_fit(pd.DataFrame(ROWS, columns=NAMES), Y)
    np.testing.assert_array_equal(model.decision_function(as_dicts(ROWS)), model.decision_function(_frame(ROWS)))


def _frame(X):
    return pd.DataFrame(X, columns=NAMES)


def test_a_model_of_matrices_takes_dicts_by_column_number():
    model = papers.Classifier().partial_fit(ROWS, Y)
    numbered = [{i: float(v) for i, v in enumerate(row) if v} for row in ROWS]
    np.testing.assert_array_equal(model.decision_function(numbered), model.decision_function(ROWS))
    model.learn_one({5: 1.0}, "a")
    assert model.coef_.shape == (3, 6)


def test_a_declared_width_makes_room_in_advance():
    model = hinged.Classifier(n_features=6).partial_fit(np.hstack([ROWS, np.zeros((6, 2))]), Y)
    assert model.coef_.shape == (3, 6)


def test_matrices_up_to_the_declared_width_are_welcome_at_any_time():
    wide = np.hstack([ROWS, np.zeros((6, 3))])
    expected = papers.Classifier().partial_fit(wide, Y).partial_fit(wide, Y).partial_fit(wide, Y)
    model = papers.Classifier(n_features=7).partial_fit(ROWS, Y).partial_fit(wide[:, :6], Y).partial_fit(ROWS, Y)
    assert_same_weights(model, expected)
    assert model.n_features_in_ == 7
    for X in (ROWS, wide[:, :5], wide, sparse.csr_array(ROWS)):
        assert model.predict(X).tolist() == expected.predict(wide).tolist()
    assert model.predict_one(ROWS[0]) == expected.predict_one(wide[0])
    model.learn_one(ROWS[0], "a")
    with pytest.raises(ValueError, match=r"X has 8 features.*expecting 7"):
        model.predict(np.hstack([ROWS, ROWS]))


def test_a_model_that_outgrew_its_declared_width_keeps_to_both():
    wide = np.hstack([ROWS, ROWS])
    model = hinged.Classifier(n_features=5).partial_fit(ROWS, Y).partial_fit(wide, Y)
    assert model.n_features_in_ == 8
    model.partial_fit(ROWS, Y).partial_fit(wide, Y)
    with pytest.raises(ValueError, match=r"X has 6 features.*expecting 8"):
        model.partial_fit(wide[:, :6], Y)


def test_a_frame_narrower_than_the_declared_width_keeps_its_names():
    model = hinged.Classifier(n_features=6).partial_fit(_frame(ROWS), Y).partial_fit(_frame(ROWS), Y)
    assert model.predict(_frame(ROWS)).tolist() == model.predict(_frame(ROWS)[NAMES]).tolist()
    assert model.explain(_frame(ROWS).iloc[0], "a")[0][0] in NAMES
    for wrong in (_frame(ROWS)[NAMES[::-1]], _frame(ROWS)[["x", "w"]]):
        with pytest.raises(ValueError, match=r"(?i)feature names"):
            model.predict(wrong)
    wide = pd.DataFrame(np.hstack([ROWS, ROWS[:, :1]]), columns=[*NAMES, "new"])
    assert model.partial_fit(wide, Y).feature_names_in_.tolist() == [*NAMES, "new"]
    assert model.partial_fit(_frame(ROWS), Y).feature_names_in_.tolist() == [*NAMES, "new"]


# ------------------------------------------------------------------ dicts by any road
class OwnMapping(collections.abc.Mapping):
    """As little as a mapping can be."""

    def __init__(self, content):
        self.content = content

    def __getitem__(self, key):
        return self.content[key]

    def __iter__(self):
        return iter(self.content)

    def __len__(self):
        return len(self.content)


MAPPINGS = {
    "read-only": types.MappingProxyType,
    "ordered": collections.OrderedDict,
    "counter": collections.Counter,
    "user's": collections.UserDict,
    "chain": collections.ChainMap,
    "least": OwnMapping,
}


@pytest.mark.parametrize("kind", MAPPINGS)
def test_every_kind_of_mapping_is_a_row(kind):
    plain, model = hinged.Classifier(), hinged.Classifier()
    for row, y in zip(as_dicts(ROWS), Y, strict=True):
        plain.learn_one(row, y)
        model.learn_one(MAPPINGS[kind](row), y)
    assert_same_weights(model, plain)
    rows = [MAPPINGS[kind](row) for row in as_dicts(ROWS)]
    assert_same_weights(hinged.Classifier().partial_fit(rows, Y), plain)
    assert [model.predict_one(row) for row in rows] == plain.predict(as_dicts(ROWS)).tolist()
    assert model.rank_one(rows[0]) == plain.rank_one(as_dicts(ROWS)[0])
    assert model.explain(rows[0], "a") == plain.explain(as_dicts(ROWS)[0], "a")


BATCHES = {
    "generator": lambda rows: (row for row in rows),
    "iterator": iter,
    "map": lambda rows: map(dict, rows),
    "series": pd.Series,
    "array": np.array,
    "tuple": tuple,
}


@pytest.mark.parametrize("kind", BATCHES)
def test_dicts_come_in_anything_that_has_an_order(kind):
    rows, make = as_dicts(ROWS), BATCHES[kind]
    expected = hinged.Classifier().partial_fit(rows, Y).partial_fit(rows, Y)
    model = hinged.Classifier().partial_fit(make(rows), iter(Y))
    hinged.evaluate.progressive(model, make(rows), Y, show=True)
    assert_same_weights(model, expected)
    assert model.predict(make(rows)).tolist() == expected.predict(rows).tolist()
    assert_same_weights(hinged.Classifier(epochs=2).fit(make(rows), Y), hinged.Classifier(epochs=2).fit(rows, Y))


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ({"w": 1.0}, r"one row per answer; got a single dict.*list.*learn_one"),
        (frozenset({(1.0, 2.0)}), r"rows of X need an order; got a frozenset.*list"),
        (pl.DataFrame(ROWS).lazy(), r"got a LazyFrame.*\.collect\(\)"),
        (object(), r"matrix, a data frame or a list of dicts.*got a object"),
    ],
    ids=["dict", "set", "lazy", "object"],
)
def test_what_holds_no_rows_gets_a_sentence_of_ours(X, words):
    model = hinged.Classifier().partial_fit(ROWS, Y)
    for call in (lambda: model.partial_fit(X, Y), lambda: model.fit(X, Y), lambda: model.predict(X)):
        with pytest.raises(TypeError, match=words):
            call()
    assert model.n_rounds_ == 6


@pytest.mark.parametrize("make", [list, pl.DataFrame, pd.DataFrame], ids=["lists", "polars", "pandas"])
def test_a_column_of_words_gets_a_sentence_of_ours(make):
    rows = [[1.0, 2.0], ["red", "blue"]]
    X = (
        make({"size": rows[0], "colour": rows[1]})
        if make is not list
        else [list(row) for row in zip(*rows, strict=True)]
    )
    with pytest.raises(ValueError, match=r"X must hold numbers.*'red'.*get_dummies"):
        hinged.Classifier().fit(X, ["a", "b"])


# ------------------------------------------------------------------ one row of a frame
@pytest.mark.parametrize("row", [lambda f, i: f.iloc[i], lambda f, i: f.iloc[[i]]], ids=["series", "frame"])
def test_a_row_of_a_pandas_frame_brings_its_names(row):
    frame = _frame(ROWS)
    expected = hinged.Classifier().partial_fit(frame, Y).partial_fit(frame, Y)
    for model in (hinged.Classifier().partial_fit(frame, Y), hinged.Classifier()):
        if model._model is None:
            for i in range(6):
                model.learn_one(row(frame, i), Y[i])
        for i in range(6):
            model.learn_one(row(frame, i), Y[i])
        assert_same_weights(model, expected)
        assert model.feature_names_in_.tolist() == NAMES
        assert [model.predict_one(row(frame, i)) for i in range(6)] == expected.predict(frame).tolist()
        with pytest.raises(ValueError, match=r"(?i)feature names"):
            model.learn_one(row(frame[NAMES[::-1]], 0), "a")


def test_a_row_of_a_polars_frame_brings_its_names():
    frame = pl.DataFrame(ROWS, schema=NAMES, orient="row")
    model = hinged.Classifier().partial_fit(frame, Y)
    for i in range(6):
        model.learn_one(frame[i], Y[i])
    assert_same_weights(model, hinged.Classifier().partial_fit(frame, Y).partial_fit(frame, Y))
    with pytest.raises(ValueError, match=r"one row is .*; got a data frame of shape \(6, 4\)"):
        model.learn_one(frame, "a")


def test_a_row_of_nothing_is_a_row():
    for nothing in ({}, np.zeros(4), sparse.csr_array((1, 4))):
        model = papers.Classifier()
        model.learn_one(nothing, "a")
        model.learn_one(nothing, "b")
        model.learn_one(nothing, "a")
        assert (model.n_rounds_, model.n_mistakes_, model.n_novel_) == (3, 1, 2)
        assert model.predict_one(nothing) == "a"


def test_labels_come_as_lists_arrays_and_series():
    expected = hinged.Classifier().partial_fit(ROWS, Y)
    for y in (tuple(Y), np.array(Y), np.array(Y, object), pd.Series(Y), pd.Series(Y, dtype="category"), pl.Series(Y)):
        model = hinged.Classifier().partial_fit(ROWS, y)
        assert model.classes_.tolist() == ["a", "b", "c"]
        assert_same_weights(model, expected)
