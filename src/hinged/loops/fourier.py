"""Random Fourier features of a row, with the same bits on every processor and in every version of NumPy.

Frequencies are kept in turns (2π of phase), so that the whole turns of a phase are subtracted without rounding. Only
sums, products, quotients and square roots are used, which IEEE 754 defines to the last bit; logarithms and cosines
from a library differ between systems.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import DTypeLike

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats, Ints, Uint32s
from hinged.mercer.fourier import Fourier

__all__ = ["cosine", "expand", "frequencies", "length_of", "room_for"]

LOG_2, ROOT_HALF = math.log(2.0), math.sqrt(0.5)
#: (-1)^i (2π)^(2i+1) / (2i+1)!, the series of sin(2πc); at c = 1/4 the first term left out is 3e-16.
S0, S1, S2, S3, S4, S5, S6, S7, S8, S9 = (
    (-1.0) ** i * (2.0 * math.pi) ** (2 * i + 1) / math.factorial(2 * i + 1) for i in range(10)
)


@compiled(helper=True)
def cosine(turns: float) -> float:
    """cos(2π · turns), to 1e-15; of numbers or arrays.

    Examples
    --------
    >>> [round(float(cosine(turns)), 15) for turns in (0.0, 0.5, 1.25, -1 / 6)]
    [1.0, -1.0, 0.0, 0.5]
    """
    c = 0.25 - abs(turns - np.floor(turns + 0.5))  # cos(2πt) = sin(2πc), with c in [-1/4, 1/4]
    q = c * c
    high = S5 + q * (S6 + q * (S7 + q * (S8 + q * S9)))
    return c * (S0 + q * (S1 + q * (S2 + q * (S3 + q * (S4 + q * high)))))


def _logarithm(u: np.ndarray) -> np.ndarray:
    """log u of positive numbers, by 2 artanh((m - √½) / (m + √½)) for u = m · 2^e."""
    m, e = np.frexp(u)
    s = (m - ROOT_HALF) / (m + ROOT_HALF)  # at most 0.172
    q, total = s * s, np.zeros_like(s)
    for i in range(19, 0, -2):
        total = total * q + 1.0 / i
    return 2.0 * s * total + (e - 0.5) * LOG_2


def frequencies(fourier: Fourier, first: int, last: int, dtype: DTypeLike) -> np.ndarray:
    """Frequencies of columns `first` to `last` (last excluded), in turns: (columns, n/2).

    Normal numbers of variance 2·gamma, divided by 2π, from raw numbers of the bit generator Philox (its key is the
    seed, its counter begins at the column's number times that of its numbers) by the transform of Box and Muller.

    Examples
    --------
    >>> both = frequencies(Fourier(4), 0, 2, np.float64)
    >>> both.shape, np.array_equal(both[1:], frequencies(Fourier(4), 1, 2, np.float64))
    ((2, 2), True)
    """
    m, seed = int(fourier.n) // 2, int(fourier.random_state)
    blocks = -(-m // 4)  # the generator makes four numbers of 64 bits for each count
    raw = np.random.Philox(key=seed, counter=first * blocks).random_raw((last - first) * 4 * blocks)
    u = ((raw >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    u = u.reshape(last - first, 2, 2 * blocks)
    radius, angle = np.sqrt(-2.0 * _logarithm(u[:, 0])), u[:, 1]
    normal = np.hstack((radius * cosine(angle), radius * cosine(angle - 0.25)))[:, :m]
    return (normal * (math.sqrt(2.0 * fourier.coefficient) / (2.0 * math.pi))).astype(dtype)


def room_for(fourier: Fourier | None, longest: int) -> int:
    """Values that a row of at most `longest` takes up while it is read: see `expand`.

    Examples
    --------
    >>> room_for(None, 10), room_for(Fourier(4), 10), room_for(Fourier(40), 10)
    (10, 12, 60)
    """
    return longest if fourier is None else max(longest, fourier.n) + fourier.n // 2


@compiled(helper=True)
def length_of(turns: Floats, n: int) -> int:
    """How many values a row of `n` has once it is read, without the constant feature."""
    return 2 * turns.shape[1] if turns.shape[1] > 0 else n


@compiled(helper=True)
def expand(turns: Floats, f: Ints | Uint32s, v: Floats, n: int) -> int:
    """Replace a row's `n` features and values by its random ones, numbered from 1; return how many they are.

    Phases are summed behind the values: column after column, each for all frequencies, so that the order of every sum
    is that of the columns whatever the processor. A column without frequencies counts as 0.
    """
    m = turns.shape[1]
    at = max(n, 2 * m)
    phases = v[at : at + m]
    phases[:] = 0.0
    for j in range(n):
        if f[j] < turns.shape[0] and v[j] != 0.0:
            x, of_column = v[j], turns[f[j]]
            for k in range(m):
                phases[k] += x * of_column[k]
    size = 1.0 / math.sqrt(m)
    for k in range(m):
        v[k] = size * cosine(np.float64(phases[k]))
    for k in range(m):
        v[m + k] = size * cosine(np.float64(phases[k]) - 0.25)
    for k in range(2 * m):
        f[k] = k + 1
    return 2 * m
