"""Squared norms, in the order of additions that every loop relies on."""

import numpy as np
import pytest

from hinged.loops.rows import sum_of_squares


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_squares_are_summed_in_four_sums(dtype):
    v = np.random.default_rng(5).normal(size=30).astype(dtype)
    for n in range(len(v) + 1):
        sums = [0.0] * 4
        for j in range(n):
            sums[j % 4 if j < n & ~3 else 0] += float(v[j]) * float(v[j])
        assert sum_of_squares(v, n) == (sums[0] + sums[1]) + (sums[2] + sums[3])
