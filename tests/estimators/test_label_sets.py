"""Several right labels per row: sets and indicator matrices, whose columns keep to their labels whatever happens."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import hinged

X = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 0.0], [3.0, 0.0, 1.0], [0.0, 2.0, 1.0], [1.0, 1.0, 1.0]])
TABLE = np.array([[1, 0, 1, 0], [0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
NAMES = ["p", "q", "r", "s"]


def sets_of(table, labels):
    return [{label for label, one in zip(labels, row, strict=True) if one} for row in table.tolist()]


# ------------------------------------------------------------------ columns and edits of labels
def test_the_column_of_a_renamed_label_stands_for_its_new_name():
    plain = hinged.Ranker().fit(X, TABLE).partial_fit(X, TABLE)
    model = hinged.Ranker().fit(X, TABLE).rename_label(1, "one").partial_fit(X, TABLE)
    assert model.classes_.tolist() == [0, "one", 2, 3]
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    assert model.score(X, TABLE) == plain.score(X, TABLE)


def test_the_columns_of_merged_labels_both_stand_for_the_one_that_is_left():
    model = hinged.Ranker().fit(X, TABLE).merge_labels(0, into=2).partial_fit(X, TABLE)
    of_sets = hinged.Ranker().declare(range(4)).partial_fit(X, sets_of(TABLE, range(4))).merge_labels(0, into=2)
    of_sets.partial_fit(X, sets_of(TABLE, [2, 1, 2, 3]))
    assert model.classes_.tolist() == of_sets.classes_.tolist() == [1, 2, 3]
    np.testing.assert_array_equal(model.coef_, of_sets.coef_)
    answers = model.predict(X)
    assert answers.shape == TABLE.shape
    np.testing.assert_array_equal(answers[:, 0], answers[:, 2])
    assert sets_of(answers, [2, 1, 2, 3]) == of_sets.predict(X)


def test_the_column_of_a_removed_label_is_empty_until_it_is_told_again():
    model = hinged.Ranker().fit(X, TABLE).remove_label(1)
    answers = model.predict(X)
    assert answers.shape == TABLE.shape
    np.testing.assert_array_equal(answers[:, 1], 0)
    without = TABLE * [1, 0, 1, 1]
    model.partial_fit(X, without)
    assert model.classes_.tolist() == [0, 2, 3]
    model.partial_fit(X, TABLE).partial_fit(X, TABLE)
    assert model.classes_.tolist() == [0, 2, 3, 1]
    assert sets_of(model.predict(X), range(4)) == [
        {label for label in range(4) if row[label]} for row in model.predict(X).tolist()
    ]


def test_a_label_without_a_column_is_ranked_but_not_shown():
    model = hinged.Ranker().fit(X, TABLE).declare(["extra"]).partial_fit(X, TABLE)
    assert model.predict(X).shape == TABLE.shape
    assert set(model.rank(X)[0]) == {0, 1, 2, 3, "extra"}


@pytest.mark.parametrize("how", ["declare", "classes"])
def test_labels_that_no_column_stands_for_are_refused_before_the_first_matrix(how):
    model = hinged.Ranker()
    if how == "declare":
        model.declare(["a", "b", "c", "d"])
    with pytest.raises(ValueError, match=r"columns of y stand for the labels \[0, 1, 2, 3\], but \['a'.*data frame"):
        model.partial_fit(X, TABLE, classes=["a", "b", "c", "d"] if how == "classes" else None)
    assert model.partial_fit(X, sets_of(TABLE, "abcd")).predict(X)[0] <= {"a", "b", "c", "d"}
    assert hinged.Ranker().partial_fit(X, TABLE, classes=range(4)).predict(X).shape == TABLE.shape


# ------------------------------------------------------------------ data frames
FRAMES = {
    "pandas": lambda table, names: pd.DataFrame(table, columns=names),
    "pandas of truths": lambda table, names: pd.DataFrame(table.astype(bool), columns=names),
    "pandas sparse": lambda table, names: pd.DataFrame.sparse.from_spmatrix(sparse.csr_array(table), columns=names),
    "polars": lambda table, names: pl.DataFrame(table, schema=names),
    "polars of truths": lambda table, names: pl.DataFrame(table.astype(bool), schema=names),
}


@pytest.mark.parametrize("frame", FRAMES)
def test_the_columns_of_a_frame_are_named_by_their_labels(frame):
    of_sets = hinged.Ranker().declare(NAMES).partial_fit(X, sets_of(TABLE, NAMES))
    y = FRAMES[frame](TABLE, NAMES)
    for model in (hinged.Ranker().fit(X, y), hinged.Ranker().partial_fit(X, y)):
        assert model.classes_.tolist() == NAMES
        np.testing.assert_array_equal(model.coef_, of_sets.coef_)
        assert sets_of(model.predict(X), NAMES) == of_sets.predict(X)
        assert model.score(X, y) == of_sets.score(X, sets_of(TABLE, NAMES))


@pytest.mark.parametrize("frame", ["pandas", "polars"])
def test_columns_in_another_order_are_the_same_columns(frame):
    make = FRAMES[frame]
    model = hinged.Ranker().fit(X, make(TABLE, NAMES)).rename_label("q", "new").partial_fit(X, make(TABLE, NAMES))
    other = hinged.Ranker().fit(X, make(TABLE, NAMES)).rename_label("q", "new")
    other.partial_fit(X, make(TABLE[:, ::-1], NAMES[::-1]))
    np.testing.assert_array_equal(other.coef_, model.coef_)
    np.testing.assert_array_equal(other.predict(X), model.predict(X))
    other.partial_fit(X, TABLE)  # without names, by place
    assert other.classes_.tolist() == ["p", "new", "r", "s"]


def test_columns_by_other_names_are_refused():
    model = hinged.Ranker().fit(X, pd.DataFrame(TABLE, columns=NAMES))
    with pytest.raises(ValueError, match=r"columns of y must keep their names; got \['p', 'q', 'r', 'z'\], earlier"):
        model.partial_fit(X, pd.DataFrame(TABLE, columns=["p", "q", "r", "z"]))
    with pytest.raises(ValueError, match=r"columns of y must keep their names.*earlier ones were \[0, 1, 2, 3\]"):
        hinged.Ranker().fit(X, TABLE).partial_fit(X, pd.DataFrame(TABLE, columns=NAMES))
    with pytest.raises(ValueError, match=r"names of their own; got \['p', 'p', 'r', 's'\]"):
        hinged.Ranker().fit(X, pd.DataFrame(TABLE, columns=["p", "p", "r", "s"]))


def test_a_frame_without_names_is_a_matrix():
    model = hinged.Ranker().fit(X, pd.DataFrame(TABLE)).partial_fit(X, TABLE)
    assert model.classes_.tolist() == [0, 1, 2, 3]


# ------------------------------------------------------------------ one row, one column
def test_the_rows_of_an_indicator_are_learnt_one_at_a_time_too():
    whole = hinged.Ranker().fit(X, TABLE).partial_fit(X, TABLE)
    for kind in (np.asarray, sparse.coo_array):
        model = hinged.Ranker().fit(X, TABLE)
        for x, y in zip(X, TABLE, strict=True):
            model.learn_one(x, kind(y))
        np.testing.assert_array_equal(model.coef_, whole.coef_)


def test_a_row_that_looks_like_an_indicator_is_not_taken_for_labels():
    for call in (lambda m: m.fit(X, TABLE.tolist()), lambda m: m.learn_one(X[0], TABLE[0])):
        with pytest.raises(ValueError, match=r"got \[1, 0, 1, 0\], which looks like a row of an indicator.*array"):
            call(hinged.Ranker())
    assert hinged.Ranker().fit(X, [[0, 1], [1], [0], [], [1, 0]]).classes_.tolist() == [0, 1]


def test_a_column_of_labels_stays_one_where_a_batch_holds_zeros_and_ones_only():
    model = hinged.Ranker().partial_fit(X, np.array([[0], [1], [2], [0], [1]]))
    model.partial_fit(X[:2], np.array([[0], [1]]))
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.predict(X).shape == (5, 1)


# ------------------------------------------------------------------ what is no label set
@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.array(list("abcde")), r"each y must be a collection of labels.*got np\.str_\('a'\).*hinged\.Classifier"),
        (np.array(list("abcde"), object), r"each y must be a collection of labels.*got 'a'.*hinged\.Classifier"),
        (pd.Series(list("abcde")), r"each y must be a collection of labels.*got 'a'.*hinged\.Classifier"),
        (np.array([["a", "b"]] * 5), r"0 and 1 only; got 'a'.*collection of labels per row"),
        (np.array([["a", 1]] * 5, object), r"0 and 1 only; got 'a'.*collection of labels per row"),
        (pd.DataFrame({"p": ["a"] * 5, "q": [1] * 5}), r"0 and 1 only; got 'a'.*collection of labels per row"),
        (pd.DataFrame({"p": [1, 0, 1, 0, 1], "q": pd.array([1, 0, None, 0, 1], "Int64")}), r"0 and 1 only; got <NA>"),
        (sparse.csr_array(TABLE * 2), r"0 and 1 only; got 2"),
        ([{"a": 1, "b": 0}] * 5, r"right labels alone; got a dict.*set"),
        ({"a", "b", "c", "d", "e"}, r"order of the rows; got a set.*list"),
        ({key: {"a"} for key in "abcde"}, r"order of the rows; got a dict.*list"),
    ],
    ids=range(11),
)  # fmt: skip
def test_what_holds_no_label_sets_gets_a_sentence_of_ours(y, words):
    for model in (hinged.Ranker(), hinged.Ranker().partial_fit(X, sets_of(TABLE, NAMES))):
        before = [] if model._model is None else model.coef_.tolist()
        for call in (model.partial_fit, model.fit):
            with pytest.raises((TypeError, ValueError), match=words):
                call(X, y)
        assert ([] if model._model is None else model.coef_.tolist()) == before
