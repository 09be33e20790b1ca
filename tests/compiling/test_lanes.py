"""Sums in lanes: the instructions give the bits of the definition, on every processor."""

import re
from pathlib import Path

import numpy as np
import pytest

from hinged.compiling import compiled
from hinged.compiling.lanes import LANES, dot, moments, squared_distance

SOURCES = Path(__file__).parents[2] / "src"
WIDTHS = [0, 1, 15, 16, 17, 31, 32, 33, 100]


def values(dtype, n):
    rng = np.random.default_rng(n)
    return rng.normal(size=n + 3).astype(dtype), rng.normal(size=n + 3).astype(dtype)


def in_order(n, term):
    """Return what the module's first lines say, in NumPy; `term` is a vector of terms."""
    whole = n - n % LANES
    sums = np.zeros(LANES, term.dtype)
    for first in range(0, whole, LANES):
        sums = sums + term[first : first + LANES]
    while len(sums) > 1:
        sums = sums[: len(sums) // 2] + sums[len(sums) // 2 :]
    total = sums[0]
    for i in range(whole, n):
        total = total + term[i]
    return total


@compiled
def run_dot(a, b, n):
    return dot(a, b, n)


@compiled
def run_squared_distance(a, b, n):
    return squared_distance(a, b, n)


@compiled
def run_moments(a, b, n):
    return moments(a, b, n, -1.5, 2.5)


@pytest.mark.parametrize("n", WIDTHS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_terms_are_added_in_the_order_of_the_definition(dtype, n):
    a, b = values(dtype, n)
    assert run_dot(a, b, n) == in_order(n, a * b)
    assert run_squared_distance(a, b, n) == in_order(n, (a - b) ** 2)


@pytest.mark.parametrize("n", WIDTHS)
def test_moments_are_added_in_the_order_of_the_definition(n):
    w, v = values(np.float64, n)
    up, down = v + 1.5, 2.5 - v
    expected = tuple(in_order(n, term) for term in (w, w * up, w * down, w * up * down))
    assert run_moments(w, v, n) == expected


def test_no_compiled_function_leaves_the_order_of_a_sum_to_the_compiler():
    # It would choose another one for every processor, and answers would differ in their last bits.
    assert not [path for path in SOURCES.rglob("*.py") if re.search(r"fastmath\s*=", path.read_text(encoding="utf-8"))]
