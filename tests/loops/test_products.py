"""Hashed products: their inner products, and the same bits wherever they are made."""

import numpy as np
import pytest
from tests.reference.products import features

import hinged
from hinged.loops.products import cross, hashing_of, room_to_cross, values_of
from hinged.loops.rows import Rows
from hinged.mercer import Products


def by_python(products, x, dtype):
    """Features of a row by the function as it is written, which Python runs where it is called from Python."""
    hashing = hashing_of(products)
    f, v = np.zeros(room_to_cross(hashing, len(x)), np.int64), np.zeros(room_to_cross(hashing, len(x)), dtype)
    f[: len(x)], v[: len(x)] = 1 + np.arange(len(x)), x
    n = cross(hashing, f, v, len(x))
    return f[:n], v[:n]


def spread_out(products, x, dtype=np.float64):
    f, v = by_python(products, x, dtype)
    assert (np.diff(f) > 0).all()
    z = np.zeros(products.n)
    z[f - 1] = v
    return z


@pytest.mark.parametrize("products", [Products(4), Products(7, 5, 2.0, 3), Products(18, 64, 0.5, 2**62 + 9)], ids=str)
def test_features_are_those_of_the_definition(products):
    rng = np.random.default_rng(0)
    for n in (0, 1, 2, 5, 6, 30):
        x = rng.normal(size=n) * (rng.random(n) < 0.8)
        np.testing.assert_allclose(spread_out(products, x), features(x, products), rtol=0, atol=1e-13)


def test_features_stay_those_of_files_written_today():
    f, v = by_python(Products(10, random_state=5), np.array([3.0, 0.0, 4.0]), np.float64)
    assert f.tolist() == [402, 659, 794]
    np.testing.assert_allclose(v, [0.5 * np.sqrt(2) * 12 / 5, 4.0, 3.0], rtol=1e-15)


def test_inner_products_are_unbiased():
    x, z = np.array([1.0, 2.0, 0.0, 1.0, 0.5]), np.array([0.5, 1.0, 1.0, 0.0, 2.0])
    found = [
        spread_out(p, x) @ spread_out(p, z) for p in (Products(6, weight=1.0, random_state=s) for s in range(4000))
    ]
    exact = x @ z + ((x @ z) ** 2 - x**2 @ z**2) / (np.linalg.norm(x) * np.linalg.norm(z))
    assert abs(np.mean(found) - exact) < 5 * np.std(found) / np.sqrt(len(found))
    assert np.std(found) < 2.0


def test_rows_that_are_too_long_are_hashed_alone():
    products = Products(12, most=3)
    for most in (
        [values_of(hashing_of(products), n) for n in (2, 3, 4, 9)],
        [products.values(n) for n in (2, 3, 4, 9)],
    ):
        assert most == [3, 6, 6, 9]  # of four values one may be 0
    assert [len(by_python(products, np.ones(n), np.float64)[0]) for n in (2, 3, 4)] == [3, 6, 4]
    assert len(by_python(products, np.array([1.0, 0.0, 1.0, 1.0]), np.float64)[0]) == 6  # zeros do not count


def test_long_rows_of_many_zeros_find_room_for_their_products():
    rng = np.random.default_rng(1)
    X = (rng.random((400, 90)) < 0.6) * rng.normal(size=(400, 90))  # of 90 values about 54 are not zero
    y = rng.integers(0, 3, 400)
    whole = hinged.Classifier(kernel=Products(18), scaling=None).partial_fit(X, y)
    alone = hinged.Classifier(kernel=Products(18), scaling=None).partial_fit(X[:2], y[:2])
    for x, label in zip(X[2:], y[2:], strict=True):
        alone.learn_one(x, label)
    assert np.array_equal(whole.decision_function(X), alone.decision_function(X))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("bits", [4, 11, 18])
def test_compiled_code_makes_the_bits_of_the_plain_function(bits, dtype):
    products, rng = Products(bits, most=8, random_state=3), np.random.default_rng(bits)
    model = hinged.Classifier(kernel=products, scaling=None, dtype=dtype).fit(np.eye(9, dtype=dtype), range(9)).model_
    tiny = np.full(9, 1e-30, dtype)
    for x in [*rng.normal(size=(4, 9)), np.zeros(9), tiny, rng.normal(size=9) * (rng.random(9) < 0.5)]:
        f, v = model.read(Rows(np.array([0, 9]), np.arange(9, dtype=np.int32), x.astype(dtype)))
        expected = by_python(products, x.astype(dtype), dtype)
        assert f.tolist() == expected[0].tolist()
        assert v.dtype == dtype
        assert np.array_equal(v, expected[1])
