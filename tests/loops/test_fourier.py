"""Random Fourier features: their inner products, their frequencies, and the same bits wherever they are made."""

import numpy as np
import pytest
from tests.reference.fourier import frequencies as plain_frequencies

import hinged
from hinged.loops.fourier import cosine, expand, frequencies, room_for
from hinged.loops.rows import Rows
from hinged.mercer import Fourier


def one_row(x, dtype=np.float64):
    return Rows(np.array([0, len(x)]), np.arange(len(x), dtype=np.int32), np.asarray(x, dtype))


def by_python(fourier, x, dtype):
    """Features of a row by the function as it is written, which Python runs where it is called from Python."""
    turns = np.vstack([np.zeros((1, fourier.n // 2)), frequencies(fourier, 0, len(x), np.float64)]).astype(dtype)
    f, v = np.zeros(room_for(fourier, len(x)), np.int64), np.zeros(room_for(fourier, len(x)), dtype)
    f[: len(x)], v[: len(x)] = 1 + np.arange(len(x)), x
    n = expand(turns, f, v, len(x))
    return f[:n], v[:n]


@pytest.mark.parametrize("gamma", [0.05, 0.5, 2.0])
def test_inner_products_are_the_gaussian_kernel_up_to_what_n_allows(gamma):
    X, fourier = np.random.default_rng(0).normal(size=(12, 5)), Fourier(2048, gamma, random_state=1)
    Z = np.array([by_python(fourier, x, np.float64)[1] for x in X])
    exact = np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    assert np.abs(Z @ Z.T - exact).max() < 5 / np.sqrt(1024)  # 5 deviations of a mean of 1,024 values in [-1, 1]
    np.testing.assert_allclose((Z**2).sum(axis=1), 1.0, rtol=1e-12)


@pytest.mark.parametrize(("n", "gamma", "seed"), [(2, 1.0, 0), (12, 0.25, 7), (512, "scale", 123)])
def test_frequencies_are_those_of_the_definition(n, gamma, seed):
    fourier = Fourier(n, gamma, seed)
    expected = plain_frequencies(9, n, fourier.coefficient, seed) / (2 * np.pi)
    np.testing.assert_allclose(frequencies(fourier, 0, 9, np.float64), expected, rtol=1e-12, atol=1e-14)
    assert np.array_equal(frequencies(fourier, 4, 9, np.float64), frequencies(fourier, 0, 9, np.float64)[4:])
    assert frequencies(fourier, 0, 9, np.float32).dtype == np.float32


def test_frequencies_stay_those_of_files_written_today():
    # by the definition in decimal arithmetic of 50 digits, from the raw numbers of keys 0 and 5, columns 0 and 3
    for seed, column, expected in [(0, 0, 2.28444148477740914), (5, 3, 1.86479549768225213)]:
        found = frequencies(Fourier(2, 0.5, seed), column, column + 1, np.float64)
        assert 2 * np.pi * found[0, 0] == pytest.approx(expected, rel=4e-16)


def test_frequencies_are_normal_and_independent():
    omega = frequencies(Fourier(2000, 0.5), 0, 50, np.float64) * 2 * np.pi  # of variance 1
    assert abs(omega.mean()) < 5 / np.sqrt(omega.size)
    assert abs(omega.var() - 1) < 5 * np.sqrt(2 / omega.size)
    assert abs((omega**4).mean() - 3) < 5 * np.sqrt(96 / omega.size)
    among = np.corrcoef(omega) - np.eye(50)
    assert np.abs(among).max() < 5.5 / np.sqrt(1000)


def test_cosines_are_right_wherever_the_phase_is():
    turns = np.concatenate([np.linspace(-3, 3, 1201), np.arange(-8, 8) / 4.0, [1e6 + 0.125, -1e9 - 0.25]])
    np.testing.assert_allclose(cosine(turns), np.cos(2 * np.pi * (turns % 1.0)), rtol=0, atol=1e-15)
    far = np.array([1e300, -1e300, 2.0**52 + 1, 2.0**53])
    assert (np.abs(cosine(far)) <= 1 + 1e-5).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [2, 6, 64])
def test_compiled_code_makes_the_bits_of_the_plain_function(n, dtype):
    fourier, rng = Fourier(n, 0.7, 3), np.random.default_rng(n)
    model = hinged.Classifier(kernel=fourier, scaling=None, dtype=dtype).fit(np.eye(9, dtype=dtype), range(9)).model_
    for x in [
        *rng.normal(size=(4, 9)),
        1e5 * rng.normal(size=9),
        np.zeros(9),
        rng.normal(size=9) * (rng.random(9) < 0.5),
    ]:
        f, v = model.read(one_row(x, dtype))
        expected = by_python(fourier, x.astype(dtype), dtype)
        assert f.tolist() == expected[0].tolist() == list(range(1, n + 1))
        assert v.dtype == dtype
        assert np.array_equal(v, expected[1])
