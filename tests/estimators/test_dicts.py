"""One dict at a time is read as the general code reads it, whatever its names and numbers."""

import copy
import pickle
import sys
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference.strategies import patience

import hinged
from hinged.estimators import dicts
from hinged.estimators.dicts import BEYOND, FeatureNames, as_dict_rows, one_dict_row
from hinged.native.dicts import read_dict

NAMES = st.one_of(
    st.text(max_size=3),
    st.integers(-3, 40),
    st.sampled_from([2**31, 2**61 - 1, 2**61, -(2**70)]),
    st.booleans(),
    st.sampled_from([1.0, 2.5, (1, "a"), None, b"a"]),
)
VALUES = st.one_of(
    st.floats(-1e3, 1e3),
    st.integers(-5, 5),
    st.booleans(),
    st.floats(-9, 9).map(np.float64),
    st.sampled_from([np.float32(0.1), np.int8(3), np.bool_(True), 2**30 + 1, -1]),
)
DOUBLE = np.dtype(np.float64)


def plain(rows):
    return rows.indptr.tolist(), rows.indices.tolist(), rows.data.tolist(), rows.indices.dtype, rows.data.dtype


@given(
    st.lists(st.dictionaries(NAMES, VALUES, max_size=12), max_size=12),
    st.sampled_from([np.dtype(np.float32), DOUBLE]),
    st.booleans(),
)
@settings(max_examples=100 * patience)
def test_a_stream_of_dicts_is_read_as_the_general_code_reads_it(rows, dtype, whole):
    names = FeatureNames()
    for x in rows:
        expected, new = as_dict_rows([x], names.column, dtype, whole)
        found = one_dict_row(x, names, dtype, whole)
        assert (plain(found[0]), found[1]) == (plain(expected), new)
        asked, unlisted = one_dict_row(x, names, dtype, whole, first=BEYOND)
        known = len(names.listed)
        assert [c if c < known else c - BEYOND + known for c in asked.indices.tolist()] == expected.indices.tolist()
        assert (asked.data.tolist(), unlisted) == (expected.data.tolist(), [])
        names.extend(new)
    assert names.column == {name: i for i, name in enumerate(names.listed)}


@given(st.dictionaries(st.one_of(st.text(max_size=3), st.integers(-3, 40)), VALUES, max_size=12))
@settings(max_examples=100 * patience)
def test_a_dict_is_read_the_same_with_and_without_compiled_code(x):
    names = FeatureNames(["", "a", 0, 1, 7])
    with pytest.MonkeyPatch.context() as patch:
        found = one_dict_row(x, names, DOUBLE, True)
        patch.setattr(dicts, "READS_DICTS", False)
        expected = one_dict_row(x, names, DOUBLE, True)
    assert (plain(found[0]), found[1]) == (plain(expected[0]), expected[1])


@pytest.mark.skipif(not dicts.READS_DICTS, reason="dicts are read by NumPy")
@pytest.mark.parametrize("places", [0, 5, 49, 51, 60])
def test_a_dict_that_changed_its_size_is_left_to_the_general_code(places):
    x = {f"k{i}": 1.0 for i in range(50)}
    columns, values = np.full(80, -7, np.int32), np.full(80, -7.0)
    found = read_dict(id(x), id({}), -1, dicts.KEYS, dicts.VALUES, columns[:places], values[:places])
    assert found[0] == dicts.UNUSUAL
    assert (columns == -7).all()
    assert (values == -7.0).all()


class Curious:
    """A name that is equal to a string by code of a user's."""

    def __hash__(self):
        return hash("name")

    def __eq__(self, other):
        raise RuntimeError("compared")


def test_names_of_a_class_of_the_users_are_compared_by_python_alone():
    names = FeatureNames([Curious()])
    with pytest.raises(RuntimeError, match="compared"):
        one_dict_row({"name": 1.0}, names, DOUBLE, whole=True)
    assert not names.are_plain
    assert FeatureNames(["a", 7]).column == {"a": 0, 7: 1}


def test_reading_a_dict_leaves_its_objects_alone():
    name, value = "".join(["na", "me"]), 0.1 + len("7")
    x, names = {name: value, 3: 2**40}, FeatureNames(["name"])
    before = sys.getrefcount(name), sys.getrefcount(value), sys.getrefcount(float), sys.getrefcount(str)
    for _ in range(100):
        one_dict_row(x, names, DOUBLE, True)
    assert (sys.getrefcount(name), sys.getrefcount(value), sys.getrefcount(float), sys.getrefcount(str)) == before


@pytest.mark.parametrize(
    "odd", ["1", None, [1.0], 1j, np.array(1.0), float("nan"), float("inf"), 1e20, 2**1100, -(2**1100)]
)
def test_values_that_need_a_closer_look_are_left_to_the_general_code(odd):
    names = FeatureNames(["a", 7])
    assert one_dict_row({"a": 1, 7: True}, names, DOUBLE, whole=False) is not None
    assert one_dict_row({"a": 1, 7: odd}, names, DOUBLE, whole=False) is None


def test_equal_names_are_the_same_wherever_they_lie():
    listed = [f"name {i}" for i in range(5000)] + list(range(2**40, 2**40 + 5000 * 2**20, 2**20))
    names = FeatureNames()
    for first in range(0, len(listed), 700):
        names.extend(listed[first : first + 700])
    again = ["".join(["name ", str(i)]) for i in range(5000)] + [int(str(name)) for name in listed[5000:]]
    assert not any(a is b for a, b in zip(listed, again, strict=True))
    rows, new = one_dict_row(dict.fromkeys(reversed(again), 1.0), names, DOUBLE, whole=True)
    assert (rows.indices.tolist(), new) == (list(range(10_000)), [])


def test_names_with_the_same_hash_are_told_apart():
    names = FeatureNames([2**61 - 1 + i for i in range(50)])  # hashes 0, 1, 2, ..., as those of small numbers
    names.extend(list(range(50)))
    rows, new = one_dict_row(dict.fromkeys([0, 5, 2**61 + 4, 99], 1.0), names, DOUBLE, whole=True)
    assert (rows.indices.tolist(), new) == ([5, 50, 55, 100], [99])


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_copy_knows_the_same_names(copied):
    model = hinged.Classifier()
    rows = [{f"w{i}": 1.0, f"w{i % 7}": 0.5} for i in range(300)]
    for i, x in enumerate(rows):
        model.learn_one(x, i % 3)
    other = copied(model)
    again = [{"".join(["w", name[1:]]): value for name, value in x.items()} for x in rows]
    assert [other.predict_one(x) for x in again] == [model.predict_one(x) for x in rows]
    other.learn_one({"w1": 1.0, "new": 2.0}, 0)
    assert (other.n_known_features, model.n_known_features) == (301, 300)


def test_a_dict_changed_between_question_and_answer_is_read_anew():
    model, plain = hinged.Classifier(), hinged.Classifier()
    for i in range(50):
        x = {f"w{i % 9}": 1.0, f"w{i % 4}": 2.0}
        model.predict_one(x)
        x[f"w{i % 5}"] = 0.5 * i
        model.learn_one(x, i % 3)
        plain.learn_one(dict(x), i % 3)
    assert np.array_equal(model.coef_, plain.coef_)


def test_a_dict_in_another_order_is_read_anew():
    model = hinged.Classifier()
    model.learn_one({"k": 1.0}, 0)
    model.predict_one({"a": 1.0, "b": 2.0, "k": 3.0})
    model.learn_one({"k": 3.0, "b": 2.0, "a": 1.0}, 1)
    assert model.feature_names_ == ["k", "b", "a"]


@pytest.mark.parametrize(
    ("before", "after"), [(np.float16(0.1), 0.1), (np.float32(2**24), 2**24 + 1), (np.float32(1.0), 10**400)]
)
def test_a_value_that_numpy_would_call_equal_is_read_anew(before, after):
    names = FeatureNames("k")
    one_dict_row({"k": before}, names, DOUBLE, whole=True)
    row = one_dict_row({"k": after}, names, DOUBLE, whole=True)
    assert (None if row is None else row[0].data.tolist()) == (None if after == 10**400 else [after])


def test_readers_together_beside_a_writer_find_every_name():
    model = hinged.Classifier()
    model.learn_one({"w0": 1.0}, 0)
    model.learn_one({"w1": 1.0}, 1)
    wrong, ends = [], threading.Event()

    def read():
        while not ends.is_set():
            names = model._parts.reader.names
            listed = list(names.listed)
            rows, _ = one_dict_row(dict.fromkeys(listed, 1.0), names, DOUBLE, whole=False)
            if rows.indices[: len(listed)].tolist() != list(range(len(listed))):
                wrong.append(len(listed))

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for i in range(2000):
        model.learn_one({f"w{i}": 1.0, f"w{2 * i}": 1.0}, i % 2)
    ends.set()
    for reader in readers:
        reader.join()
    assert wrong == []
