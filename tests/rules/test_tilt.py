"""Tilted weights several values at a time, beside the plain sums."""

import math

import numpy as np
import pytest

from hinged.rules import Responses, by_search, interior_point
from hinged.rules.response import TILTED, level_of, respond
from hinged.rules.tilt import exponentials, tilted_level


def test_exponentials_are_right_to_the_last_digits():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(-700, 650, 500), rng.normal(size=500), [0.0, -0.0, 1.0, -708.0]])
    out = np.empty(len(x))
    exponentials(np.zeros(len(x)), x, 1.0, out)
    np.testing.assert_allclose(out, np.exp(x), rtol=4e-16)
    assert out[1000] == out[1001] == 1.0  # a label that does not move keeps its masses
    exponentials(np.array([-1e9, -np.inf]), np.zeros(2), 0.0, out[:2])
    assert (out[:2] == out[1003]).all()


def curves_of(rng, k, n, spread, signed):
    """Tilted curves of k labels on a row of n values out of 4 n coordinates."""
    theta = spread * rng.normal(size=(k, 4 * n))
    shares = np.exp(theta - np.logaddexp.reduce(theta, axis=1, keepdims=True))
    v = rng.normal(size=n) if signed else rng.uniform(0.1, 1.0, n)
    rest, logs = np.log(shares[:, n:].sum(axis=1)), np.ascontiguousarray(np.log(shares[:, :n]))
    return Responses(TILTED, rest, 0.0, 0.0, 2.0, logs, v, min(0.0, v.min()), max(0.0, v.max()))


@pytest.mark.parametrize("signed", [False, True])
def test_levels_are_those_of_the_plain_sums_or_none_at_all(signed):
    rng = np.random.default_rng(1)
    curves, scratch = curves_of(rng, 5, 9, 2.0, signed), np.empty(9)
    for r in range(5):
        for a in (0.0, 0.25, -3.0, 40.0):
            ends = curves.lowest, curves.highest
            got = tilted_level(curves.logs[r], curves.start[r], curves.values, *ends, a, scratch)
            np.testing.assert_allclose(got, level_of(curves, r, a), rtol=1e-11, atol=1e-12)
        far = tilted_level(curves.logs[r], curves.start[r], curves.values, *ends, 1e6, scratch)
        assert math.isnan(far[0])


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0, 3000.0])  # the last ones are out of reach of tangents
@pytest.mark.parametrize("signed", [False, True])
def test_the_search_by_tangents_earns_what_interior_points_earn(signed, C):
    for seed in range(6):
        rng = np.random.default_rng([2, seed])
        k = int(rng.integers(2, 30))
        curves = curves_of(rng, k, 8, float(rng.choice([0.1, 2.0, 8.0])), signed)
        right = np.zeros(k, np.bool_)
        right[: int(rng.integers(1, k))] = True
        scores = np.array([respond(curves, r, 0.0)[1] for r in range(k)])
        margin = float(rng.choice([0.1, 0.9, 1.9])) * (curves.highest - curves.lowest)
        g, other = np.zeros(k), np.zeros(k)
        total = by_search(curves, scores, right, margin, C, g)
        if total == 0.0:
            continue
        interior_point(curves, right, margin, C, 1e-13, 200, other)
        assert g[right].sum() == pytest.approx(total) == pytest.approx(-g[~right].sum())
        assert total <= C * (1 + 1e-12)
        assert (g[right] >= 0).all()
        assert (g[~right] <= 0).all()

        def gain(a, curves=curves, margin=margin, right=right):
            return margin * a[right].sum() - sum(
                respond(curves, r, a[r])[0] - respond(curves, r, 0.0)[0] for r in range(len(a))
            )

        assert gain(g) >= gain(other) - 1e-8 * (1 + abs(gain(other)))


def test_labels_alike_to_the_last_bit_move_alike():
    rng = np.random.default_rng(3)
    curves = curves_of(rng, 6, 7, 0.5, False)
    curves.logs[4], curves.start[4] = curves.logs[2], curves.start[2]
    scores = np.array([respond(curves, r, 0.0)[1] for r in range(6)])
    right, g = np.array([True, False, False, False, False, False]), np.zeros(6)
    by_search(curves, scores, right, 1.0, 5.0, g)
    assert g[2] == g[4] < 0
