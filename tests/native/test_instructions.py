"""Instructions and their plain twins give the same bits, and both what plain Python gives."""

import os
import string
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import config, njit

from hinged.compiling import compiled
from hinged.native import BLOCK, instructions, plain
from hinged.native.memory import borrowed, segment

ROOT = Path(__file__).resolve().parents[2]
WORD = set((string.ascii_letters + string.digits + "_").encode())
BLOCKS = st.one_of(
    st.binary(min_size=BLOCK, max_size=BLOCK), st.just(bytes(range(BLOCK))), st.just((b"aZ_@[`{/:" * 8)[:BLOCK])
)
TWINS = pytest.mark.parametrize(
    "kind", [plain] if config.DISABLE_JIT else [plain, instructions], ids=lambda m: m.__name__
)


class Compiled:
    """The functions of a module, as compiled code calls them."""

    def __init__(self, kind):
        equal_bytes, wide_bytes, word_bytes, eight_bytes = (
            kind.equal_bytes,
            kind.wide_bytes,
            kind.word_bytes,
            kind.eight_bytes,
        )
        copy_block, sum_rows, add_rows, best_of = kind.copy_block, kind.sum_rows, kind.add_rows, kind.best_of
        lowest_bit, count_bits, fetch = kind.lowest_bit, kind.count_bits, kind.fetch

        @njit
        def masks(address, byte):
            return equal_bytes(address, byte), wide_bytes(address), word_bytes(address), eight_bytes(address + 3)

        @njit
        def copy(address, to, lower):
            copy_block(address, to, lower)

        @njit
        def sums(at, v, n, columns, s):
            fetch(at[0], columns * s.itemsize)
            sum_rows(at, v, n, columns, s)

        @njit
        def moves(at, v, n, columns, g):
            add_rows(at, v, n, columns, g, at)

        @njit
        def best(s, columns, among):
            return best_of(s, columns, among)

        @njit
        def places(number):
            return lowest_bit(number), count_bits(number)

        self.masks, self.copy, self.sums, self.places = masks, copy, sums, places
        self.moves, self.best = moves, best


CODE = {kind: Compiled(kind) for kind in (plain, instructions)}


@TWINS
@given(block=BLOCKS, byte=st.integers(0, 255))
def test_bits_say_which_bytes_are_what(kind, block, byte):
    array = np.frombuffer(block, np.uint8)
    equal, wide, word, number = CODE[kind].masks(array.ctypes.data, np.uint8(byte))
    for found, holds in ((equal, {byte}), (wide, range(0x80, 0x100)), (word, WORD)):
        assert [int(found) >> j & 1 for j in range(BLOCK)] == [b in holds for b in block]
    assert int(number) == int.from_bytes(block[3:11], "little")


@TWINS
@given(block=BLOCKS)
def test_a_block_is_copied_as_it_is_or_in_lower_case(kind, block):
    array, out = np.frombuffer(block, np.uint8), np.zeros(BLOCK + 1, np.uint8)
    for lower, expected in ((True, block.lower()), (False, block)):
        CODE[kind].copy(array.ctypes.data, out.ctypes.data, lower)
        assert out.tobytes() == expected + b"\0"


@TWINS
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("columns", instructions.WIDTHS)
def test_rows_are_summed_in_their_order(kind, columns, dtype):
    rng = np.random.default_rng(columns)
    rows, order, v = rng.normal(size=(40, 64)).astype(dtype), rng.permutation(40), rng.normal(size=40).astype(dtype)
    for n in (40, 1, 0):
        s, expected = np.full(64, 7, dtype), np.zeros(columns, dtype)
        for j, value in zip(order[:n], v[:n], strict=True):
            expected += value * rows[j, :columns]
        CODE[kind].sums(rows.ctypes.data + order * rows.strides[0], v, n, columns, s)
        assert s[:columns].tobytes() == expected.tobytes()
        assert (s[columns:] == 7).all()


@TWINS
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("columns", instructions.WIDTHS)
def test_moves_are_added_to_rows(kind, columns, dtype):
    rng = np.random.default_rng(columns)
    rows, order, v = rng.normal(size=(40, 64)).astype(dtype), rng.permutation(40), rng.normal(size=40).astype(dtype)
    for n in (40, 1, 0):
        g, moved, expected = rng.normal(size=columns).astype(dtype), rows.copy(), rows.copy()
        for j, value in zip(order[:n], v[:n], strict=True):
            expected[j, :columns] += value * g
        CODE[kind].moves(moved.ctypes.data + order * moved.strides[0], v, n, columns, g)
        assert moved.tobytes() == expected.tobytes()


@TWINS
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("columns", instructions.WIDTHS)
def test_the_best_of_some_scores_is_the_first_of_the_largest(kind, columns, dtype):
    rng = np.random.default_rng(columns)
    for k in range(2, columns + 1):
        s = rng.integers(-3, 4, size=64).astype(dtype)  # many ties
        s[k:] = 9  # scores whose bit is not set do not count
        among = set(rng.permutation(k)[: rng.integers(1, k + 1)].tolist())
        if k % 3 == 0:
            s[rng.integers(k)] = np.nan
        if k % 5 == 0:
            s[rng.integers(k)] = np.inf
        if k % 7 == 0:
            s[:k] = -np.inf
        others = [r for r in sorted(among) if s[r] == s[r]]
        best = max((s[r] for r in others), default=-np.inf)
        value, where = CODE[kind].best(s, columns, np.uint64(sum(1 << r for r in among)))
        assert value == best
        assert where == next((r for r in others if s[r] == best), 64)


@TWINS
def test_without_a_score_there_is_no_best(kind):
    assert CODE[kind].best(np.full(64, np.nan), 8, np.uint64(0b11011)) == (-np.inf, 64)
    assert CODE[kind].best(np.zeros(64), 8, np.uint64(0)) == (-np.inf, 64)


@TWINS
@given(number=st.integers(0, 2**64 - 1))
def test_bits_are_found_and_counted(kind, number):
    lowest, count = CODE[kind].places(np.uint64(number))
    assert count == number.bit_count()
    assert lowest == (64 if number == 0 else (number & -number).bit_length() - 1)


def test_memory_is_read_and_written_where_it_lies():
    array = np.arange(12.0).reshape(3, 4)
    part = segment(array.ctypes.data + 2 * 8, 3, array)
    part[1] = -1.0
    assert (part.tolist(), array[0].tolist()) == ([2.0, -1.0, 4.0], [0.0, 1.0, 2.0, -1.0])
    same = compiled(lambda array: borrowed(array))(array)
    same[2, 3] = 7.0
    assert (same.shape, array[2, 3]) == ((3, 4), 7.0)


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="uncompiled code has no reference counts to leave out")
def test_only_arrays_and_tuples_of_them_can_be_borrowed():
    with pytest.raises(Exception, match="only arrays, and tuples of them, can be borrowed"):
        compiled(lambda words: borrowed(words))("a string")


PROGRAM = """
import zlib
import numpy as np, scipy.sparse, hinged, hinged.native
rng = np.random.default_rng(3)
X = scipy.sparse.csr_array((rng.random((300, 500)) * (rng.random((300, 500)) < 0.05)).astype(np.float32))
y = rng.integers(20, size=300)
texts = [" ".join(f"Word{w} wörd" for w in row.nonzero()[0]) for row in X.toarray()]
print(hinged.native.PLAIN)
for settings in ({}, {"rule": "pa1"}, {"rule": "simproj", "scaling": "idf", "normalize": True}):
    model = hinged.Classifier(**settings).partial_fit(X, y)
    print(zlib.crc32(model.coef_.tobytes()))
model = hinged.TextClassifier(rule="pa1", sharing="multi", features=None, bits=None).partial_fit(texts, y)
print(zlib.crc32(model.coef_.tobytes()))
"""


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="compiled code is compared")
def test_weights_are_the_same_with_plain_code():
    def weights(switch):
        environment = os.environ | {"HINGED_PLAIN": switch}
        environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
        ran = [sys.executable, "-c", PROGRAM]
        done = subprocess.run(ran, env=environment, capture_output=True, text=True, timeout=1800, check=False, cwd=ROOT)
        assert done.returncode == 0, done.stderr
        switched, *sums = done.stdout.split()
        assert switched == str(bool(switch))
        return sums

    assert weights("1") == weights("")
