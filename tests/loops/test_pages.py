"""The paged store against a dict of dicts: whatever grows, widens, moves or is copied, the numbers are the same."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers import as_compiled

from hinged.loops import pages
from hinged.loops.memory import Paged
from hinged.loops.pages import PAGE, SEGMENT
from hinged.native import segment

column_of = getattr(pages.column_of, "py_func", pages.column_of)

add_means, add_scores, add_to = as_compiled(pages.add_means, pages.add_scores, pages.add_to)
gather, has_room, narrow_page, put = as_compiled(pages.gather, pages.has_room, pages.narrow_page, pages.put)

ROOT = Path(__file__).resolve().parents[2]

eighths = st.integers(-16, 16).map(lambda v: v / 8)
features = st.integers(0, 60)
columns = st.sampled_from([1, 2, 7, 8, 9, 20, 63, 64, 65, 100, 130])


class Plain:
    """What the store should hold: feature → column → [value, sum for the average]."""

    def __init__(self):
        self.rows = {}

    def add(self, feature, column, value, summed=0.0):
        cell = self.rows.setdefault(feature, {}).setdefault(column, [0.0, 0.0])
        cell[0] += value
        cell[1] += summed

    def dense(self, n_features, n_columns, layer=0):
        out = np.zeros((n_features, n_columns))
        for feature, cells in self.rows.items():
            for column, cell in cells.items():
                out[feature, column] = cell[layer]
        return out


def ready(paged, f, width, values=0):
    """Make room for a row of features in so many columns, as the loops ask for it that learn so many values."""
    segments = -(-width // SEGMENT)
    paged.fit_to(max(f) + 1, width)
    if not has_room(paged.store, len(f), len(f) * segments):
        paged.make_room(len(f), len(f) * segments, width, values, in_order=values > 0)
    while (page := narrow_page(paged.store, np.array(f), len(f), len(f) * segments, width)) >= 0:
        paged.widen(page, width)


def dense(paged, n_features, n_columns, layer=0):
    """The store's content, read feature by feature."""
    out = np.zeros((n_features, n_columns))
    for feature in range(n_features):
        row = np.full(n_columns, np.nan)
        gather(paged.store, feature, n_columns, layer, row)
        out[feature] = row
    return out


@st.composite
def histories(draw, depth):
    """Rows that are added to ever more columns: (features, values, columns that move with their coefficients)."""
    steps, width = [], 1
    for _ in range(draw(st.integers(1, 8))):
        width = max(width, draw(columns))
        f = sorted(draw(st.sets(features, min_size=1, max_size=5)))
        v = [draw(eighths) for _ in f]
        touched = sorted(draw(st.sets(st.integers(0, width - 1), min_size=1, max_size=4)))
        steps.append((f, v, width, {c: draw(eighths) for c in touched}, float(draw(st.integers(0, 9)))))
    return steps


def play(steps, depth, dtype=np.float64, least=8, values=0):
    """Both stores after the same history; eighths add up exactly."""
    paged, plain = Paged(dtype, depth, least), Plain()
    for f, v, width, moves, age in steps:
        ready(paged, f, width, values)
        g = np.zeros(-(-width // SEGMENT) * SEGMENT, dtype)
        for c, step in moves.items():
            g[c] = step
        touched = np.array(sorted(moves), np.int64)
        add_to(paged.store, np.array(f, np.int64), np.array(v, dtype), len(f), g, touched, len(touched), age)
        for feature, value in zip(f, v, strict=True):
            for c, step in moves.items():
                plain.add(feature, c, value * step, age * value * step)
    return paged, plain


FEW_OR_MANY = pytest.mark.parametrize("values", [0, PAGE**2], ids=["", "many values"])


@FEW_OR_MANY
@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("least", [1, 8])
@given(data=st.data())
def test_a_store_holds_what_was_added_to_it(depth, least, values, data):
    steps = data.draw(histories(depth))
    paged, plain = play(steps, depth, least=least, values=values)
    width = steps[-1][2]
    for layer in range(depth):
        np.testing.assert_array_equal(dense(paged, 61, width, layer), plain.dense(61, width, layer))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(data=st.data())
def test_scores_are_sums_over_the_row(dtype, data):
    steps = data.draw(histories(1))
    paged, plain = play(steps, 1, dtype)
    width = steps[-1][2]
    f = np.array(sorted(data.draw(st.sets(st.integers(0, 80), min_size=1, max_size=6))), np.int64)
    v = np.array([data.draw(eighths) for _ in f], dtype)
    s = np.zeros(-(-width // SEGMENT) * SEGMENT, dtype)
    add_scores(paged.store, f, v, len(f), width, s)
    np.testing.assert_array_equal(s[:width], v @ plain.dense(81, width).astype(dtype)[f])


@given(data=st.data())
def test_mean_scores_take_the_sums_off(data):
    steps = data.draw(histories(2))
    paged, plain = play(steps, 2)
    width, rounds = steps[-1][2], 16
    f = np.array(sorted(data.draw(st.sets(features, min_size=1, max_size=6))), np.int64)
    v = np.array([data.draw(eighths) for _ in f])
    s = np.zeros(-(-width // SEGMENT) * SEGMENT)
    add_means(paged.store, f, v, len(f), width, rounds, s)
    means = plain.dense(61, width) - plain.dense(61, width, 1) / rounds
    np.testing.assert_array_equal(s[:width], v @ means[f])


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("each", [2, 3])
@given(data=st.data())
def test_experts_have_the_values_of_stores_of_their_own(each, depth, data):
    histories_of_all = [data.draw(histories(depth)) for _ in range(each)]
    together, apart = Paged(np.float64, depth, each=each), [play(steps, depth) for steps in histories_of_all]
    for e, steps in enumerate(histories_of_all):
        for f, v, width, moves, age in steps:
            ready(together, f, width)
            columns = {column_of(each, r, e): step for r, step in moves.items()}
            g = np.zeros(-(-width // SEGMENT) * SEGMENT * each)
            for c, step in columns.items():
                g[c] = step
            touched = np.array(sorted(columns), np.int64)
            add_to(together.store, np.array(f, np.int64), np.array(v), len(f), g, touched, len(touched), age)
    width = max(steps[-1][2] for steps in histories_of_all)
    copied = Paged.from_arrays(together.arrays(), together)
    backwards = copied.moved(np.arange(width)[::-1].copy(), width)
    f, v = np.arange(61), np.linspace(-1.0, 1.0, 61)
    s = np.zeros(-(-width // SEGMENT) * SEGMENT * each)
    add_scores(copied.store, f, v, 61, width, s)
    for e, (_, plain) in enumerate(apart):
        for layer in range(depth):
            expected = plain.dense(61, width, layer)
            np.testing.assert_array_equal(dense(copied, 61, width, e * depth + layer), expected)
            np.testing.assert_array_equal(dense(backwards, 61, width, e * depth + layer), expected[:, ::-1])
        own = [s[column_of(each, r, e)] for r in range(width)]
        np.testing.assert_allclose(own, v @ plain.dense(61, width), atol=1e-12)


@given(histories(2), st.integers(1, 9))
def test_rows_list_what_was_learnt_and_nothing_else(steps, rounds):
    paged, plain = play(steps, 2)
    width = steps[-1][2]
    owners, values = paged.rows(width)
    assert len(set(owners.tolist())) == len(owners)
    assert set(owners.tolist()) == set(plain.rows)
    np.testing.assert_array_equal(values, plain.dense(61, width)[owners])
    owners, means = paged.rows(width, rounds)
    expected = plain.dense(61, width) - plain.dense(61, width, 1) / rounds
    np.testing.assert_allclose(means, expected[owners], atol=1e-12)


@given(st.data())
def test_moved_columns_add_up_where_they_go(data):
    steps = data.draw(histories(2))
    paged, plain = play(steps, 2)
    width = steps[-1][2]
    after = data.draw(st.integers(1, width))
    onto = np.array([data.draw(st.integers(-1, after - 1)) for _ in range(width)])
    before = [dense(paged, 61, width, layer) for layer in (0, 1)]
    moved = paged.moved(onto, after)
    for layer in (0, 1):
        expected = np.zeros((61, after))
        for c, to in enumerate(onto):
            if to >= 0:
                expected[:, to] += plain.dense(61, width, layer)[:, c]
        np.testing.assert_array_equal(dense(moved, 61, after, layer), expected)
        np.testing.assert_array_equal(dense(paged, 61, width, layer), before[layer])  # the old one is untouched


@pytest.mark.parametrize("depth", [1, 2])
@FEW_OR_MANY
@given(steps=histories(2), later=histories(2))
def test_a_copy_through_arrays_is_the_same_store_and_another(steps, later, values, depth):
    paged, plain = play(steps, depth, values=values)
    again = Paged.from_arrays({name: a.copy() for name, a in paged.arrays().items()}, paged)
    width = max(steps[-1][2], later[-1][2])
    for layer in range(depth):
        np.testing.assert_array_equal(dense(again, 61, width, layer), plain.dense(61, width, layer))
    for f, v, _, moves, _ in later:  # learning goes on in the copy, and the first one does not notice
        ready(again, f, width)
        for feature, value in zip(f, v, strict=True):
            for c in moves:
                put(again.store, feature, c, 0, value)
    np.testing.assert_array_equal(dense(paged, 61, width), plain.dense(61, width))
    for f, v, _, moves, _ in later:
        for feature, value in zip(f, v, strict=True):
            for c in moves:
                plain.add(feature, c, value)
    np.testing.assert_array_equal(dense(again, 61, width), plain.dense(61, width))


def placed(features, width, values, dtype=np.float64, each=1):
    """A store that gives all features their places, if so many values are enough."""
    paged = Paged(dtype, each=each)
    paged.fit_to(features, width)
    paged.make_room(1, 1, width, values, in_order=True)
    return paged


def test_features_get_their_places_in_order_where_they_take_no_more_room_than_the_values_learnt():
    few, many = (placed(3 * PAGE, 5, values, np.float32) for values in (12 * PAGE - 1, 12 * PAGE))
    assert (few.store.used[4], many.store.used[4]) == (0, 3 * PAGE)  # 32 bytes a feature, 8 a value
    some = [0, 1, PAGE - 1, PAGE, 3 * PAGE - 1]
    for feature in some:
        put(many.store, feature, 4, 0, np.float32(feature + 0.5))
        row = segment(many.store.address[0] + (feature + 1) * 32, 8, many.store.like)
        assert row.tolist() == [0.0] * 4 + [feature + 0.5] + [0.0] * 3
    assert many.rows(5)[0].tolist() == many.learnt().tolist() == many.arrays()["owners"].tolist() == some


@pytest.mark.parametrize("each", [2, 3])
def test_each_expert_may_take_as_much_room_as_the_values_learnt(each):
    few, many = (placed(3 * PAGE, 5, values, np.float32, each) for values in (12 * PAGE - 1, 12 * PAGE))
    assert (few.store.used[4], many.store.used[4]) == (0, 3 * PAGE)


@pytest.mark.parametrize("growth", ["features", "columns", "segments"])
def test_a_store_that_grows_gives_up_its_order_and_keeps_its_values(growth):
    paged = placed(3 * PAGE, 5, PAGE**2)
    for feature in (7, PAGE, 2 * PAGE):
        put(paged.store, feature, feature % 5, 0, 1.0 + feature)
    before = dense(paged, 3 * PAGE, 5)
    paged.fit_to(3 * PAGE, 5)
    assert paged.store.used[4] == 3 * PAGE
    more, width = {"features": (3 * PAGE, 5), "columns": (2, 9), "segments": (2, 65)}[growth]
    ready(paged, [more], width)
    assert growth == "segments" or paged.store.used[4] == 0
    put(paged.store, more, width - 1, 0, 0.5)
    np.testing.assert_array_equal(dense(paged, 3 * PAGE, 5)[3:], before[3:])
    assert paged.learnt().tolist() == sorted([7, PAGE, 2 * PAGE, more])
    again = Paged.from_arrays(paged.arrays(), paged)
    np.testing.assert_array_equal(dense(again, 3 * PAGE + 1, width), dense(paged, 3 * PAGE + 1, width))


def test_features_have_no_order_where_a_page_was_there_before():
    paged = Paged(np.float64)
    paged.fit_to(2 * PAGE, 8)
    paged.make_room(1, 1, 8)
    paged.make_room(2 * PAGE, 2 * PAGE, 8, PAGE**2, in_order=True)
    assert (paged.store.used[0], paged.store.used[4]) == (0, 0)


@settings(max_examples=5)
@given(st.integers(0, 2**31), st.sampled_from([np.int32, np.float32, np.float64]))
def test_thousands_of_features_fill_more_than_one_page(seed, dtype):
    rng = np.random.default_rng(seed)
    paged, plain = Paged(dtype), Plain()
    for width in (3, 70, 140):
        for _ in range(900):
            f = int(rng.integers(0, 5 * PAGE))
            ready(paged, [f], width)
            c = int(rng.integers(0, width))
            put(paged.store, f, c, 0, dtype(2))
            plain.add(f, c, 2.0)
    assert int(paged.store.used[1]) > PAGE
    owners, values = paged.rows(140)
    np.testing.assert_array_equal(values, plain.dense(5 * PAGE, 140)[owners])
    assert set(owners.tolist()) == set(plain.rows)


def test_a_new_label_widens_only_the_pages_it_is_written_to():
    paged = Paged(np.float64)
    for f in range(3 * PAGE):
        ready(paged, [f], 8)
        put(paged.store, f, f % 8, 0, 1.0)
    before = paged.store.stride.tolist()
    assert set(before) == {8}
    ready(paged, [0], 9)
    put(paged.store, 0, 8, 0, 5.0)
    widened = [a != b for a, b in zip(before, paged.store.stride.tolist(), strict=False)]
    assert 1 <= sum(widened) <= 2  # the page of feature 0, and the one that new blocks would come from
    row = np.zeros(9)
    gather(paged.store, 0, 9, 0, row)
    np.testing.assert_array_equal(row, [1, 0, 0, 0, 0, 0, 0, 0, 5])


def test_a_view_taken_before_keeps_its_numbers_while_the_store_grows():
    paged = Paged(np.float64)
    ready(paged, [5], 3)
    put(paged.store, 5, 2, 0, 1.5)
    held = paged.view
    for f in range(2 * PAGE):
        ready(paged, [f], 100)
        put(paged.store, f, 99, 0, 1.0)
    f, v, s = np.array([5]), np.ones(1), np.zeros(SEGMENT)
    add_scores(held[0], f, v, 1, 3, s)
    assert s[2] == 1.5


def ask_an_old_view():
    """As a reader does who began before the writer went on: new features and pages are unknown to it, not fatal."""
    for depth in (1, 2):
        paged = Paged(np.float64, depth)
        paged.fit_to(2 * PAGE + 200, 3)
        ready(paged, [0], 3)
        put(paged.store, 0, 0, 0, 1.0)
        held = paged.view
        for f in range(1, 2 * PAGE + 200):
            ready(paged, [f], 3)
            put(paged.store, f, 1, 0, 1.0)
        for f in range(0, 2 * PAGE + 300, 50):
            s, row = np.zeros(SEGMENT), np.zeros(3)
            ask = add_scores if depth == 1 else add_means
            ask(held[0], np.array([f]), np.ones(1), 1, 3, *(() if depth == 1 else (4,)), s)
            gather(held[0], f, 3, 0, row)
            assert np.isfinite(s).all()
            assert np.isfinite(row).all()
            assert f > 0 or s[0] == row[0] == 1.0


@pytest.mark.uncompiled
def test_a_view_taken_before_a_feature_was_learnt_can_still_be_asked_about_it():
    """Uncompiled, where an index out of range is an error and not somebody else's memory."""
    program = "from tests.loops.test_pages import ask_an_old_view; ask_an_old_view()"
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(["", *sys.path])}
    ran = [sys.executable, "-c", program]
    done = subprocess.run(ran, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr


def test_memory_follows_what_was_learnt():
    paged = Paged(np.float32)
    paged.fit_to(1_000_000, 1000)
    for f in range(0, 1_000_000, 10_000):
        ready(paged, [f], 1000)
        put(paged.store, f, 0, 0, 1.0)
    tables = paged.store.slots.nbytes + paged.store.owners.nbytes + paged.store.table.nbytes
    assert paged.nbytes() - tables < 20_000_000
