"""Reading rows: canonical, scaled by what has been seen of their features, and of unit length where asked."""

from __future__ import annotations

import math
from typing import NamedTuple, TypeVar

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats, Int32s, Ints, Uint32s
from hinged.loops.fading import Fading, multiply, statistics_left, weights_left
from hinged.loops.fourier import expand, length_of
from hinged.loops.moments import CONSTANT, welford
from hinged.loops.products import Hashing, cross, values_of

__all__ = [
    "Dense",
    "Rows",
    "Scaling",
    "enter_row",
    "keeps_columns",
    "longest_read",
    "longest_row",
    "make_unit",
    "norm",
    "part_of",
    "read_here",
    "read_row",
    "sum_of_squares",
    "usual_square",
]


# What keeps every number of a learner finite, together with the limits on settings in estimators/inputs.py: a vector
# is never longer than √rounds · max(margin / √LEAST_NORM, C · LARGEST_VALUE²), and its square must fit a float64, its
# entries and net coefficients the type of the weights. A squared norm below these counts as 0.
LEAST_NORM, LEAST_NORM_SINGLE = 1e-60, 1e-26
LEAST_SQUARES = 1e-200  # a float64 sum of squares above it has all its digits
LARGEST_VALUE = {"float64": 1e30, "float32": 1e10}
# A sum of squares below these holds neither NaN nor infinity nor a value that is too large.
USUAL_SQUARE, USUAL_SQUARE_SINGLE = 1e30, 1e20

NONE, ONE, TWO, THREE, FOUR = map(np.uint64, range(5))

FARTHEST = 5.0  # deviations from its mean that a value counts for at most

#: How values are scaled: not at all, by how rare their features are, to mean 0 and deviation 1, or, for each feature by
#: how many rows have it, one or the other.
UNSCALED, IDF, STANDARD, MIXED = range(4)
SCALINGS = {None: UNSCALED, "idf": IDF, "standard": STANDARD, "mixed": MIXED}
MOMENTS = ("standard", "mixed")  # scalings that know the mean and the spread of each feature
LEAST_SIZE, LARGEST_SIZE = 1.0, 4.0  # under MIXED, the typical size of a word's values, before IDF, is between these


def usual_square(dtype: np.dtype) -> float:
    """The sum of squares below which values of that type need no closer look."""
    return USUAL_SQUARE if dtype.itemsize == 8 else USUAL_SQUARE_SINGLE


class Rows(NamedTuple):
    """Rows in compressed form, columns rising and unique within a row."""

    indptr: np.ndarray  # int64 (rows + 1,)
    indices: np.ndarray  # int32
    data: np.ndarray  # float32 or float64


class Dense(NamedTuple):
    """A dense matrix as it is, for loops that read one."""

    values: np.ndarray  # (rows, columns) in C order

    @property
    def indptr(self) -> range:
        """Bounds of the rows, as `Rows` has them."""
        return range(0, self.values.size + 1, max(1, self.values.shape[1]))

    def rows(self) -> Rows:
        """The matrix in compressed form, zeros and all: the loops pass over them, and to look for them takes longer."""
        n, width = self.values.shape
        columns = np.arange(width, dtype=np.int32)
        if n > 1:
            columns = np.tile(columns, n)
        return Rows(width * np.arange(n + 1), columns, self.values.reshape(-1))


SomeRows = TypeVar("SomeRows", Rows, Dense, Rows | Dense)


class Scaling(NamedTuple):
    """What changes a row's values before anything else sees them."""

    kind: int  # UNSCALED, IDF, STANDARD or MIXED
    unit: bool
    bias: float
    counts: bool  # whether features are counted at all
    df: np.ndarray  # int32 (features + 1,): rounds that had each feature; the bias is feature 0
    logs: np.ndarray  # float64: log(n + 1/2) by n; for IDF and MIXED
    means: np.ndarray  # float64: each feature's mean over the rounds that had it; (features + 1,) for MOMENTS,
    spreads: np.ndarray  # (numbers + 1,) for IDF; and its sum of squared deviations from that mean
    turns: np.ndarray  # (features + 1, n/2): frequencies of random features, of the weights' type; no columns without
    hashing: Hashing
    fading: Fading
    held: np.ndarray  # float64, like means: what the rounds that had each feature count for, where some is forgotten


@compiled(helper=True)
def _squares(v: Floats, n: int) -> float:
    """‖v‖² in four sums side by side (one alone would wait for itself at every step)."""
    a = b = c = d = 0.0
    j, whole = NONE, np.uint64(n & ~3)  # unsigned: the test for an index from the end would prevent SIMD code
    while j < whole:
        a += np.float64(v[j]) * np.float64(v[j])
        b += np.float64(v[j + ONE]) * np.float64(v[j + ONE])
        c += np.float64(v[j + TWO]) * np.float64(v[j + TWO])
        d += np.float64(v[j + THREE]) * np.float64(v[j + THREE])
        j += FOUR
    for i in range(n & ~3, n):
        a += np.float64(v[i]) * np.float64(v[i])
    return (a + b) + (c + d)


@compiled(inline=True)
def norm(q: float, itemsize: int) -> float:
    """A squared norm, 0 where it is next to nothing."""
    return q if q >= (LEAST_NORM if itemsize == 8 else LEAST_NORM_SINGLE) else 0.0


@compiled(helper=True)
def sum_of_squares(v: Floats, n: int) -> float:
    """‖v‖²; 0 where it is next to nothing."""
    return norm(_squares(v, n), v.itemsize)


@compiled(helper=True, error_model="numpy")
def make_unit(v: Floats, n: int) -> float:
    """Divide `v` by its norm, however small that is; return its squared norm then, 0 for a row of zeros."""
    total = _squares(v, n)
    if total < LEAST_SQUARES:  # squares lose digits there, or vanish: bring the values near 1 first
        largest = 0.0
        for j in range(n):
            largest = max(largest, abs(np.float64(v[j])))
        if largest == 0.0:
            return 0.0
        for j in range(n):
            v[j] = v[j] / largest
        total = _squares(v, n)
    norm = math.sqrt(total)
    for j in range(n):
        v[j] = v[j] / norm
    return sum_of_squares(v, n)


@compiled(helper=True)
def _idf(logs: Floats, log_rounds: float, count: int) -> float:
    """How rare a feature is that `count` rounds had: max(0.1, log((T + 1) / (count + 1/2)))."""
    log_count = logs[count] if count < logs.shape[0] else math.log(count + 0.5)
    return max(0.1, log_rounds - log_count)


@compiled(helper=True)
def _scale(df: Int32s, logs: Floats, rounds: int, f: Ints | Uint32s, v: Floats, n: int) -> None:
    """Multiply each value by how rare its feature has been; features rise."""
    log_rounds, last = math.log(rounds + 1.0), logs.shape[0] - 1
    if n > 0 and rounds <= last and f[n - 1] < df.shape[0]:
        for j in range(n):  # a writer may have counted more rounds than the table had room for when this reader began
            log_count = logs[np.uint32(min(df[f[j]], last))]
            v[j] = v.dtype.type(v[j] * max(0.1, log_rounds - log_count))
        return
    for j in range(n):
        count = df[f[j]] if f[j] < df.shape[0] else 0
        v[j] = v.dtype.type(v[j] * _idf(logs, log_rounds, count))


@compiled(helper=True, forceinline=True)
def _held(scaling: Scaling, feature: int, count: int) -> float:
    """What the `count` rounds that had a feature count for by now."""
    return scaling.held[feature] if scaling.fading.statistics > 0.0 else float(count)


@compiled(helper=True, forceinline=True)
def _moments(scaling: Scaling, feature: int, value: float, weight: float) -> tuple[int, float, float]:
    """How many rounds had a feature before this one; its mean and variance in all of them, this value included."""
    mean, spread, count, held = 0.0, 0.0, 0, 0.0
    if feature < scaling.df.shape[0]:
        mean, spread, count = scaling.means[feature], scaling.spreads[feature], scaling.df[feature]
        held = _held(scaling, feature, count)
    mean, spread = welford(mean, spread, held, value, weight)
    return count, mean, max(0.0, spread) / (held + weight)  # a reader may meet a mean whose spread is yet to be written


@compiled(helper=True)
def _least_of_columns(rounds: int) -> int:
    """Least number of rounds before this one that had a feature which nine rows of ten have, the row at hand included.

    Examples
    --------
    >>> [_least_of_columns(rounds) for rounds in (0, 8, 9, 19)]
    [0, 8, 8, 17]
    """
    return (9 * (rounds + 1) + 9) // 10 - 1


@compiled(helper=True)
def _centred(value: float, mean: float, variance: float) -> float:
    """(v - mean) / deviation, an outlier cut to five deviations; 0 while all values are the same up to rounding."""
    if variance <= (CONSTANT * mean) ** 2:
        return 0.0
    return min(FARTHEST, max(-FARTHEST, (value - mean) / math.sqrt(variance)))


@compiled(helper=True, forceinline=True)
def _standardise(
    scaling: Scaling, rounds: int, weight: float, f: Ints | Uint32s, v: Floats, n: int, root: float
) -> None:
    """Bring each value to the scale of its feature so far, this value of `weight` included, and divide it by `root`.

    A feature that nine of ten rounds have had, this one included, is centred: (v - mean) / deviation, 0 while it is
    constant. A feature that is rarer keeps its zeros: v / root mean square.
    """
    column_from = _least_of_columns(rounds)
    for j in range(n):
        value = np.float64(v[j])
        count, mean, variance = _moments(scaling, f[j], value, weight)
        square = variance + mean * mean
        if count >= column_from:
            v[j] = _centred(value, mean, variance) / root
        else:
            v[j] = value / (math.sqrt(square) * root) if square > 0.0 else 0.0


@compiled(helper=True)
def _to_size_of_counts(square: float, n: float) -> float:
    """Factor that brings n values, `square` the sum of their squares, to a root mean square of 1 to 4."""
    if LEAST_SIZE**2 * n <= square <= LARGEST_SIZE**2 * n:
        return 1.0
    size = math.sqrt(square / n)
    return min(LARGEST_SIZE, max(LEAST_SIZE, size)) / size if size > 0.0 else 0.0


@compiled(helper=True)
def _mix(scaling: Scaling, rounds: int, weight: float, f: Ints | Uint32s, v: Floats, n: int) -> None:
    """Scale columns as `_standardise` does and all other features as words; the row gets a length of about 1.

    A word's value is brought to a typical size (root mean square so far) of 1 to 4, where counts are, and multiplied by
    how rare the word is. The n_w words of a row of n values have length √(n_w / n) together.
    """
    df, logs, log_rounds = scaling.df, scaling.logs, math.log(rounds + 1.0)
    n_words, squares, column_from = 0, 0.0, _least_of_columns(rounds)
    for j in range(n):
        value, known = np.float64(v[j]), f[j] < df.shape[0]
        count = np.int64(df[f[j]]) if known else 0
        if count >= column_from:
            _, mean, variance = _moments(scaling, f[j], value, weight)
            v[j] = _centred(value, mean, variance) / math.sqrt(n)
            continue
        square, total = weight * value * value, weight
        if known:
            held = _held(scaling, f[j], count)
            square, total = square + (scaling.spreads[f[j]] + held * scaling.means[f[j]] ** 2), held + weight
        if not LEAST_SIZE**2 * total <= square <= LARGEST_SIZE**2 * total:
            value *= _to_size_of_counts(square, total) * _idf(logs, log_rounds, count)
        else:
            value *= _idf(logs, log_rounds, count)
        n_words += 1
        v[j] = value
        squares += value * value
    if squares == 0.0:
        return
    unit = math.sqrt(n_words / (n * squares))
    for j in range(n):  # no branch for columns: where they stand in a row cannot be foreseen
        count = df[f[j]] if f[j] < df.shape[0] else 0
        v[j] = v[j] * (1.0 if count >= column_from else unit)


@compiled(helper=True)
def _scale_beside_numbers(scaling: Scaling, rounds: int, weight: float, f: Ints | Uint32s, v: Floats, n: int) -> None:
    """Centre the columns of numbers of a row, the first features; scale the words after them as `_scale` does."""
    head = 0
    while head < n and f[head] < scaling.means.shape[0]:
        head += 1
    # as if every round had had them: a missing number counts as the mean
    _standardise(scaling, 0, weight, f, v, head, 1.0)
    if rounds > 0:
        log_rounds = math.log(rounds + 1.0)
        for j in range(head, n):
            count = scaling.df[f[j]] if f[j] < scaling.df.shape[0] else 0
            v[j] = v.dtype.type(v[j] * _idf(scaling.logs, log_rounds, count))


@compiled(helper=True, forceinline=True, error_model="numpy")
def read_here(rows: Rows, i: int, scaling: Scaling, rounds: int, f: Ints | Uint32s, v: Floats) -> tuple[int, float]:
    """Do what `read_row` does, as part of the caller."""
    x, columns = rows.data[rows.indptr[i] : rows.indptr[i + 1]], rows.indices[rows.indptr[i] : rows.indptr[i + 1]]
    n, zeros = x.shape[0], 0
    for j in range(n):
        zeros += x[j] == 0
        f[j], v[j] = columns[j] + 1, x[j]
    numbers = scaling.means.shape[0]  # features below it, but the bias, are columns of numbers
    if zeros > 0 and scaling.kind < STANDARD:
        n = 0
        for j in range(x.shape[0]):
            if x[j] != 0 or columns[j] + 1 < numbers:
                f[n], v[n] = columns[j] + 1, x[j]
                n += 1
    weight = 1.0 / statistics_left(scaling.fading, rounds)
    if scaling.kind == IDF and numbers > 1:
        _scale_beside_numbers(scaling, rounds, weight, f, v, n)
    elif scaling.kind == IDF and rounds > 0:
        _scale(scaling.df, scaling.logs, rounds, f, v, n)
    elif scaling.kind == STANDARD:
        _standardise(scaling, rounds, weight, f, v, n, math.sqrt(n))
    elif scaling.kind == MIXED:
        _mix(scaling, rounds, weight, f, v, n)
    q = make_unit(v, n) if scaling.unit else sum_of_squares(v, n)
    if scaling.turns.shape[1] > 0:
        n = expand(scaling.turns, f, v, n)
        q = sum_of_squares(v, n)
    elif scaling.hashing.bits > 0:
        n = cross(scaling.hashing, f, v, n)
        q = sum_of_squares(v, n)
    if scaling.bias != 0.0:
        f[n] = 0
        v[n] = scaling.bias
        n += 1
        q += scaling.bias * scaling.bias
    multiply(v, n, weights_left(scaling.fading, rounds))
    return n, q


@compiled(error_model="numpy")
def read_row(rows: Rows, i: int, scaling: Scaling, rounds: int, f: Ints | Uint32s, v: Floats) -> tuple[int, float]:
    """Copy row `i` into (f, v), scaled, the bias last; return its length and its squared norm.

    Column c becomes feature c + 1; feature 0 is the bias. With IDF each value is multiplied by
    max(0.1, log((T + 1) / (df + 1/2))), T the rounds so far (by 1 when T = 0), except columns of numbers, which are
    centred and divided by their deviation; STANDARD is what `_standardise` does, divided by the root of the number of
    values, MIXED what `_mix` does. Then the row is divided by its norm, where it shall be a unit. Zeros are left out,
    except under STANDARD and MIXED and in columns of numbers. Where there are frequencies, random features of that row
    take its place, and hashed products where rows are hashed; (f, v) must have the room that `room_for` or
    `room_to_cross` says. Where weights fade, all values are multiplied by what is left of these at the end; the squared
    norm is that of the row before.
    """
    return read_here(rows, i, scaling, rounds, f, v)


@compiled(helper=True)
def keeps_columns(scaling: Scaling) -> bool:
    """Return True if a row's columns are its features."""
    return scaling.turns.shape[1] == 0 and scaling.hashing.bits == 0


@compiled(helper=True)
def longest_read(scaling: Scaling, n: int) -> int:
    """Most features that a row of `n` values has once it is read, without the constant one."""
    return values_of(scaling.hashing, n) if scaling.hashing.bits > 0 else length_of(scaling.turns, n)


def part_of(rows: SomeRows, some: slice) -> SomeRows:
    """Some of the rows."""
    if isinstance(rows, Dense):
        return Dense(rows.values[some])
    return Rows(rows.indptr[some.start : some.stop + 1], rows.indices, rows.data)


def longest_row(rows: Rows) -> int:
    """Most values in any row."""
    if len(rows.indptr) == 2:  # one row at a time is how streams come
        start, stop = rows.indptr.tolist()
        return stop - start
    return int(np.diff(rows.indptr).max(initial=0))


@compiled(helper=True, forceinline=True)
def enter_row(scaling: Scaling, rows: Rows, i: int, learnt: int) -> None:
    """Enter row `i`, as it came after so many learnt rounds, into what later rows are scaled by."""
    if not scaling.counts:
        return
    if scaling.bias != 0.0:
        scaling.df[0] += 1
    df, means, spreads = scaling.df, scaling.means, scaling.spreads
    x, columns = rows.data[rows.indptr[i] : rows.indptr[i + 1]], rows.indices[rows.indptr[i] : rows.indptr[i + 1]]
    if means.shape[0] <= 1:  # words alone: a loop of its own is quicker
        for j in range(x.shape[0]):
            df[np.uint32(columns[j] + 1)] += x[j] != 0
        return
    forgets, held, weight = scaling.fading.statistics > 0.0, scaling.held, 1.0 / statistics_left(scaling.fading, learnt)
    for j in range(x.shape[0]):
        f, value = np.uint32(columns[j] + 1), np.float64(x[j])
        if f < means.shape[0]:
            if value != means[f]:  # words mostly have one value
                before = held[f] if forgets else float(df[f])
                means[f], spreads[f] = welford(means[f], spreads[f], before, value, weight)
            if forgets:
                held[f] += weight
            df[f] += 1
        elif value != 0.0:
            df[f] += 1
