"""Dicts read by compiled code hold what Python reads in them, whatever their names and numbers."""

import copy
import pickle
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config
from tests.reference.strategies import patience

import hinged
from hinged.estimators import dicts
from hinged.estimators.dicts import BEYOND, FeatureNames, one_dict_row
from hinged.loops.named import NameTable, can_read


def compiled(test):
    """A test of compiled code alone, which nothing collects where nothing is compiled."""
    return None if config.DISABLE_JIT else test


PLAIN_NAMES = st.one_of(st.text(max_size=3), st.integers(-3, 40), st.sampled_from([2**31, 2**61 - 1, 2**61, -(2**70)]))
NAMES = st.one_of(PLAIN_NAMES, st.booleans(), st.sampled_from([1.0, 2.5, (1, "a"), None, b"a"]))
PLAIN_VALUES = st.one_of(st.floats(-1e3, 1e3), st.integers(-5, 5), st.booleans(), st.floats(-9, 9).map(np.float64))
VALUES = st.one_of(PLAIN_VALUES, st.just(np.float32(0.1)), st.just(np.int8(3)), st.just(2**30 + 1), st.just(-1))


def by_python(x, names, dtype, whole):
    """What `one_dict_row` says where nothing is compiled."""
    columns, data, new = dicts._read(x, names.column, dtype, whole)
    return columns.tolist(), data.tolist(), new


def by_table(x, names, dtype, whole):
    rows, new = one_dict_row(x, names, dtype, whole)
    assert (rows.indices.dtype, rows.data.dtype) == (np.int32, dtype)
    assert rows.indptr.tolist() == [0, len(rows.indices)]
    return rows.indices.tolist(), rows.data.tolist(), new


def test_objects_lie_where_they_are_looked_for():
    assert can_read() == (not config.DISABLE_JIT)


@given(
    st.lists(st.dictionaries(NAMES, VALUES, max_size=12), max_size=12),
    st.sampled_from([np.dtype(np.float32), np.dtype(np.float64)]),
    st.booleans(),
)
@settings(max_examples=30 if config.DISABLE_JIT else 100 * patience)
def test_a_stream_of_dicts_is_read_as_python_reads_it(rows, dtype, whole):
    names = FeatureNames()
    for x in rows:
        expected = by_python(x, names, dtype, whole)
        assert by_table(x, names, dtype, whole) == expected
        asked = one_dict_row(x, names, dtype, whole, first=BEYOND)[0]
        known = len(names.listed)
        assert [c if c < known else c - BEYOND + known for c in asked.indices.tolist()] == expected[0]
        assert asked.data.tolist() == expected[1]
        names.extend(expected[2])
    assert names.column == {name: i for i, name in enumerate(names.listed)}


@compiled
def test_plain_names_go_the_quick_way_and_others_do_not():
    names = FeatureNames(["a", 7])
    for usual in ({"a": 1, 7: True}, {"a": -1, 7: -1.0}):
        assert names.table().read(usual, np.dtype(np.float64), whole=False) is not None, usual
    for odd in ({True: 1.0}, {7.0: 1.0}, {("a",): 1.0}, {"a": np.float32(1)}, {"a": "1"}, {"a": None}, {"a": [1.0]}):
        assert names.table().read(odd, np.dtype(np.float64), whole=False) is None, odd
    for wrong in (float("nan"), float("inf"), 1e20, 2**1100, -(2**1100)):
        assert names.table().read({"a": wrong}, np.dtype(np.float64), whole=False) is None, wrong
    names.extend([("odd",)])
    assert names.table() is None
    names = FeatureNames(names.listed[:1])
    names.extend(["b"])
    columns, _, new = names.table().read({"b": 1.0, 7: 2.0, "a": 3.0}, np.dtype(np.float64), whole=True)
    assert (columns.tolist(), new) == ([0, 1, 2], [7])


@compiled
def test_equal_names_are_the_same_wherever_they_lie():
    names = [f"name {i}" for i in range(5000)] + list(range(2**40, 2**40 + 5000 * 2**20, 2**20))
    table = NameTable()
    for first in range(0, len(names), 700):
        assert table.enter(names[first : first + 700])
    again = ["".join(["name ", str(i)]) for i in range(5000)] + [int(str(name)) for name in names[5000:]]
    assert not any(a is b for a, b in zip(names, again, strict=True))
    columns, _, new = table.read(dict.fromkeys(reversed(again), 1.0), np.dtype(np.float64), whole=True)
    assert (columns.tolist(), new) == (list(range(10_000)), [])


@compiled
def test_names_with_the_same_hash_are_told_apart():
    names = [2**61 - 1 + i for i in range(50)]  # hashes 0, 1, 2, ..., as those of small numbers
    table = NameTable()
    assert table.enter(names)
    assert table.enter(list(range(50)))
    columns, _, new = table.read(dict.fromkeys([0, 5, 2**61 + 4, 99], 1.0), np.dtype(np.float64), whole=True)
    assert (columns.tolist(), new) == ([5, 50, 55, 100], [99])


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


def test_readers_together_beside_a_writer_find_every_name():
    model = hinged.Classifier()
    model.learn_one({"w0": 1.0}, 0)
    model.learn_one({"w1": 1.0}, 1)
    wrong, ends = [], threading.Event()

    def read():
        while not ends.is_set():
            names = model._parts.reader.names
            listed = list(names.listed)
            table = names.table()
            if table is not None:
                found = table.read(dict.fromkeys(listed, 1.0), np.dtype(np.float64), whole=False)
                if found[0].tolist() != list(range(len(listed))):
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


@compiled
def test_a_table_keeps_its_names():
    table = NameTable()
    assert table.enter(f"name {i}" for i in range(3000))  # nobody else holds them
    others = [f"other {i}" for i in range(3000)]  # and these may lie where they lay
    x = dict.fromkeys([*others, *(f"name {i}" for i in range(3000))], 1.0)
    columns, _, new = table.read(x, np.dtype(np.float64), whole=True)
    assert (columns.tolist(), new) == (list(range(6000)), others)
