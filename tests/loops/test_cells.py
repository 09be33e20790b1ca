"""Stores of many columns: small blocks in chains, and the cells that files keep of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.loops.test_pages import dense, histories, play, put, ready

from hinged.estimators.state import Kind, blocks_of_pages
from hinged.loops.cells import Cells
from hinged.loops.memory import Paged, restored_stores
from hinged.loops.store import PAGE, SEGMENT


def in_wide_blocks(paged, n_features, columns):
    """The store as files of version 2 describe it: blocks of 64 columns, numbered as a table says."""
    layers, segments = paged.store.depth * paged.store.each, -(-columns // SEGMENT)
    owners = paged.learnt()
    values = np.stack([dense(paged, n_features, columns, layer) for layer in range(layers)], axis=1)[owners]
    wide = np.zeros((len(owners), layers, segments * SEGMENT), paged.store.like.dtype)
    wide[:, :, :columns] = values
    by_block = wide.reshape(len(owners), layers, segments, SEGMENT).swapaxes(1, 2)
    held = by_block.any(axis=(2, 3))
    held[:, 0] |= ~held.any(axis=1)  # a feature has a block at least
    table = np.zeros(held.shape, np.uint32)
    n_blocks = np.count_nonzero(held)
    numbers = np.arange(n_blocks, 0, -1)  # in no order
    table[held] = numbers
    blocks = np.zeros((-(-(n_blocks + 1) // PAGE) * PAGE, layers * SEGMENT), paged.store.like.dtype)
    blocks[numbers] = by_block[held].reshape(n_blocks, -1)
    pages = {f"page{i}": page for i, page in enumerate(np.split(blocks, len(blocks) // PAGE))}
    features, owners = np.array([owners.max() + 1]), owners.astype(np.uint32)
    return {"features": features, "owners": owners, "table": table, "blocks": np.array([n_blocks]), **pages}


def wide_histories(depth):
    return histories(depth).filter(lambda steps: steps[-1][2] > SEGMENT)


@pytest.mark.parametrize("depth", [1, 2])
@given(data=st.data())
def test_files_of_wide_blocks_give_the_same_store(depth, data):
    steps = data.draw(wide_histories(depth))
    paged, plain = play(steps, depth)
    width = steps[-1][2]
    again = Paged.from_arrays(in_wide_blocks(paged, 61, width), paged)
    for layer in range(depth):
        np.testing.assert_array_equal(dense(again, 61, width, layer), plain.dense(61, width, layer))
    for name, array in paged.arrays().items():
        np.testing.assert_array_equal(again.arrays()[name], array, name)


@pytest.mark.parametrize("depth", [1, 2])
@given(data=st.data())
def test_states_have_blocks_of_64_columns_and_give_the_same_store(depth, data):
    steps = data.draw(wide_histories(depth))
    paged, _ = play(steps, depth)
    kept = blocks_of_pages(
        {f"store0.{name}": array for name, array in paged.arrays().items()}, {"store0": Kind(depth, np.dtype(float))}
    )
    assert kept["store0.values"].shape == (np.count_nonzero(kept["store0.held"]), depth, SEGMENT)
    (again,) = restored_stores(kept, [paged], 61)
    for name, array in paged.arrays().items():
        np.testing.assert_array_equal(again.arrays()[name], array, name)


@given(st.data())
def test_cells_are_what_is_not_0_by_feature_and_column(data):
    steps = data.draw(wide_histories(2))
    paged, plain = play(steps, 2)
    width = steps[-1][2]
    cells = Cells.of_chains(paged.store)
    assert cells.owners.tolist() == paged.learnt().tolist()
    values = np.stack([plain.dense(61, width, layer) for layer in (0, 1)], axis=2)[cells.owners]
    slots, columns = np.nonzero(values.any(axis=2))
    assert cells.columns.tolist() == columns.tolist()
    assert cells.ends.tolist() == np.searchsorted(slots, np.arange(len(cells.owners)), side="right").tolist()
    np.testing.assert_array_equal(cells.values, values[slots, columns])


def test_columns_beyond_two_bytes_are_kept():
    paged = Paged(np.float32)
    for column in (3, 70_000):
        ready(paged, [5], 70_001)
        put(paged.store, 5, column, 0, 1.5)
    again = Paged.from_arrays(paged.arrays(), paged)
    assert paged.arrays()["columns"].dtype == np.uint32
    assert np.flatnonzero(again.rows(70_001)[1][0]).tolist() == [3, 70_000]


def test_a_feature_takes_memory_for_labels_it_was_learnt_with_and_few_others():
    """As of a large mailbox: most words were met in a few of many folders."""
    paged, n, width = Paged(np.float32), 20_000, 500
    rng = np.random.default_rng(1)
    for f, columns in enumerate(rng.integers(0, width, (n, 3)).tolist()):
        ready(paged, [f], width)
        for column in columns:
            put(paged.store, f, column, 0, 1.0)
    store, pages = paged.view
    filled = int(store.used[1]) / PAGE * pages[0].nbytes  # pages to come take no memory yet
    assert filled < 3 * n * 48
    assert sum(array.nbytes for array in paged.arrays().values()) < 3 * n * 12


def test_a_view_keeps_its_numbers_while_the_store_is_put_into_chains_and_grows():
    paged = Paged(np.float64)
    ready(paged, [5], 3)
    put(paged.store, 5, 2, 0, 1.5)
    narrow = paged.view
    ready(paged, [5], 100)
    put(paged.store, 5, 99, 0, 2.5)
    chained = paged.view
    for f in range(2 * PAGE):
        ready(paged, [f], 300)
        for column in (1, 200, 299):
            put(paged.store, f, column, 0, 1.0)
    for (store, _), columns in ((narrow, [2]), (chained, [2, 99])):
        row = np.zeros(100)
        held = Paged(np.float64)
        held.view = (store, ())
        row = dense(held, 6, 100)[5]
        assert [row[c] for c in columns] == [1.5, 2.5][: len(columns)]
