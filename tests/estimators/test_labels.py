"""Labels: their order in every process, and what stands for none."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import hinged
from hinged.estimators.labels import in_order
from hinged.evaluate import progressive

X = np.eye(4)

ORDER = """
import numpy as np, hinged
labels = {"b", "a", 10, 2, (1, "x"), ("x", 1), None, b"b", frozenset({"p", "q"}), frozenset({"q", "r", "s"}), 0.5}
def plain(model):
    return [("set", *sorted(label)) if isinstance(label, frozenset) else label for label in model.classes_.tolist()]
print(plain(hinged.Classifier().declare(labels)))
print(plain(hinged.Ranker().partial_fit(np.eye(2), [labels, {"a"}])))
sets = {frozenset({"p", "q"}), frozenset({"q", "r"}), frozenset({"r", "s", "t"}), frozenset({"u"})}
print(plain(hinged.Classifier().declare(sets)))
"""


def test_labels_that_cannot_be_compared_have_one_order_in_every_process():
    shown = set()
    for seed in "13":  # under these two, each of the sets above lists its members in another order
        run = [sys.executable, "-c", ORDER]
        env = os.environ | {"PYTHONHASHSEED": seed, "NUMBA_DISABLE_JIT": "1"}
        shown.add(subprocess.run(run, env=env, capture_output=True, text=True, check=True, timeout=300).stdout)
    assert len(shown) == 1


def test_labels_that_cannot_be_compared_are_ordered_by_type_and_spelling():
    assert in_order(["b", 10, "a", None, 2, b"z"]) == [None, b"z", 10, 2, "a", "b"]
    assert in_order([0.5, 2, True, False]) == [False, 0.5, True, 2]


def test_labels_without_a_spelling_stay_as_they_came():
    class Thing:
        pass

    things = [Thing() for _ in range(20)]
    assert in_order([*things, "a"]) == [*things, "a"]


# ------------------------------------------------------------------ no order, no label
@pytest.mark.parametrize("y", [set("abcd"), frozenset("abcd"), dict.fromkeys("abcd", 1), dict.fromkeys("abcd").keys()])
def test_answers_without_the_order_of_the_rows_are_refused(y):
    model = hinged.Classifier().partial_fit(X, list("abcd"))
    before = model.coef_.tolist()
    for call in (model.partial_fit, model.fit, lambda *args: progressive(model, *args)):
        with pytest.raises(TypeError, match=rf"in the order of the rows; got a {type(y).__name__}, .*Use a list"):
            call(X, y)
    assert model.coef_.tolist() == before
    assert model.n_rounds_ == 4


MISSING = {
    "NaN": ([1.0, 2.0, float("nan"), 1.0], "NaN"),
    "NaN among text": (["a", "b", float("nan"), "a"], "NaN"),
    "NaN in an array of objects": (np.array(["a", "b", np.nan, "a"], object), "NaN"),
    "NaN in a tuple": (["a", "b", ("c", float("nan")), "a"], r"\('c', nan\)"),
    "a time that is none": (np.array(["2020", "2021", "NaT", "2020"], "datetime64[s]"), "NaN|NaT|None"),
    "pandas text": (pd.Series(["a", "b", None, "a"]), "NaN|None"),
    "pandas objects": (pd.Series(["a", "b", None, "a"], dtype=object), "None"),
    "pandas string": (pd.Series(["a", "b", pd.NA, "a"], dtype="string"), "<NA>"),
    "pandas Int64": (pd.Series([1, 2, pd.NA, 1], dtype="Int64"), "<NA>"),
    "pandas boolean": (pd.Series([True, False, None, True], dtype="boolean"), "<NA>"),
    "pandas categories": (pd.Series(["a", "b", None, "a"], dtype="category"), "NaN"),
    "pandas times": (pd.to_datetime(pd.Series(["2020", "2021", None, "2020"])), "NaT"),
    "a list with NA": (["a", "b", pd.NA, "a"], "<NA>"),
    "polars text": (pl.Series(["a", "b", None, "a"]), "None"),
    "polars numbers": (pl.Series([1, 2, None, 1]), "None"),
    "arrow": (pa.array(["a", "b", None, "a"]), "None"),
    "arrow in pieces": (pa.chunked_array([["a", "b"], [None, "a"]]), "None"),
    "a masked array": (np.ma.array([1, 2, 3, 1], mask=[0, 0, 1, 0]), "None"),
}


@pytest.mark.parametrize("what", MISSING)
def test_a_missing_label_is_refused_before_anything_changes(what):
    y, name = MISSING[what]
    model = hinged.Classifier().partial_fit(X, list("abcd"))
    before = (model.coef_.tolist(), model.classes_.tolist(), model.n_rounds_)
    for call in (model.partial_fit, model.fit, lambda *args: progressive(model, *args)):
        with pytest.raises(ValueError, match=rf"y contains ({name}): that label is missing\. Drop such rows, or"):
            call(X, y)
    assert (model.coef_.tolist(), model.classes_.tolist(), model.n_rounds_) == before


@pytest.mark.parametrize("label", [float("nan"), pd.NA, pd.NaT, np.float32("nan"), np.datetime64("NaT")], ids=repr)
def test_a_missing_label_of_one_row_is_refused(label):
    model = hinged.Classifier().partial_fit(X, list("abcd"))
    for call in (
        lambda: model.learn_one(X[0], label),
        lambda: model.declare([label]),
        lambda: model.rename_label("a", label),
        lambda: hinged.Ranker().learn_one(X[0], {label}),
        lambda: model.explain(X[0], label),
    ):
        with pytest.raises(ValueError, match=r"that label is missing"):
            call()
    assert model.classes_.tolist() == list("abcd")


def test_none_is_a_label_in_lists_and_arrays():
    for y in ([None, "b", None, "b"], np.array([None, "b", None, "b"], object)):
        model = hinged.Classifier().fit(X[[0, 1, 0, 1]], y)
        assert model.predict(X[:2]).tolist() == [None, "b"]
        assert model.classes_.tolist() == [None, "b"]
    assert hinged.Classifier().declare(model.classes_).classes_.tolist() == [None, "b"]


def test_labels_come_from_arrow_too():
    for y in (pa.array(list("abca")), pa.chunked_array([list("ab"), list("ca")])):
        assert hinged.Classifier().fit(X, y).classes_.tolist() == ["a", "b", "c"]


def test_one_word_is_not_a_list_of_labels():
    for call in (
        lambda: hinged.Classifier().declare("spam"),
        lambda: hinged.Classifier().partial_fit(X, list("abcd"), classes="spam"),
    ):
        with pytest.raises(TypeError, match=r"labels to be declared come in a list; got 'spam'\. Use \['spam'\]"):
            call()


@pytest.mark.parametrize("merges", [("ac", "bc"), ("bc", "ac"), ("ab", "bc"), ("ba", "ac"), ("ba", "da", "ac")])
def test_merged_labels_keep_the_first_row_of_all_in_any_order(merges):
    model = hinged.Classifier(sharing="single", features="first").declare(list("abcdef"))
    rows = [([1.0, 3.0, 0.0], "a"), ([2.0, 0.0, 1.0], "b"), ([0.0, 1.0, 1.0], "e"), ([1.0, 1.0, 2.0], "b")]
    for x, label in rows:  # "c" and "d" are declared and never seen
        model.learn_one(x, label)
    probe = [1.0, 10.0, 100.0]
    expected = model.decision_function([probe])[0, 0]  # what "a" scores: its first row came first
    for source, into in merges:
        model.merge_labels(source, into)
    assert model.decision_function([probe])[0, model.classes_.tolist().index("c")] == expected
