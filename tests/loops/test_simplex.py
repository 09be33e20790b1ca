"""Masses and their sums keep step with θ: over many rounds, near the ends of the range, beside readers."""

import os
import threading

import numpy as np
import pytest
from numba import config
from scipy.special import logsumexp

from hinged.geometry import Entropy
from hinged.loops.entropic import EntropicModel
from hinged.loops.labels import Targets
from hinged.loops.rows import Rows
from hinged.loops.simplex import SHIFT, SWEEP, TOTAL, TOUCHES
from hinged.loops.steps import Setting
from hinged.rules import RULES

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
UNCOMPILED = bool(config.DISABLE_JIT)
ROUNDS = 300 if UNCOMPILED else 10_000_000 if LONG else 60_000
LABELS = ["a", "b", "c"]


def new_model(rule="pa1", C=1.0, margin=0.3, n=40, radius=1.0, signed=False):
    model = EntropicModel(Entropy(radius, signed), Setting(RULES[rule].words, C, margin, True))
    model.widen(n)
    model.declare(len(LABELS))
    return model


def random_rows(rng, n_rows, n=40, nnz=5, real=False):
    """Rows of a few values each, Zipf-like, and a noisy label for each."""
    ranks = np.minimum(rng.zipf(1.3, (n_rows, nnz)) - 1, n - 1)
    columns = np.sort(ranks, axis=1)
    fresh = np.ones_like(columns, np.bool_)
    fresh[:, 1:] = columns[:, 1:] != columns[:, :-1]
    data = rng.uniform(0.2, 1.0, fresh.sum()) if real else np.ones(fresh.sum())
    indptr = np.concatenate([[0], np.cumsum(fresh.sum(axis=1))])
    y = np.where(rng.random(n_rows) < 0.2, rng.integers(0, 3, n_rows), columns[:, -1] % 3)
    rows = Rows(indptr.astype(np.int64), columns[fresh].astype(np.int32), data)
    return rows, Targets(np.arange(n_rows + 1), y.astype(np.int64), np.zeros(0))


def drift(model):
    """Largest relative error of a weight against the same weights computed anew from θ."""
    simplex = model.simplex
    k, used = len(LABELS), int(simplex.used[0])
    theta = np.zeros((k, simplex.n))
    theta[:, :used] = simplex.theta[1 : used + 1, :k].T
    exact = theta - logsumexp(theta, axis=1, keepdims=True)
    kept = np.full((k, simplex.n), 1.0) * simplex.mass[0, :k][:, None]
    kept[:, :used] = simplex.mass[1 : used + 1, :k].T
    with np.errstate(divide="ignore"):
        now = np.log(kept) - np.log(simplex.labels[TOTAL, :k])[:, None]
    seen = exact > -400.0  # smaller masses may be below the smallest number, and come back from θ
    return float(np.abs(np.expm1(now - exact))[seen].max())


@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize("rule", ["perceptron", "pa1", "optimal"])
def test_weights_do_not_drift_over_many_rounds(rule, real):
    model, rng = new_model(rule), np.random.default_rng(0)
    rounds = ROUNDS // 4 if real else ROUNDS
    while rounds > 0:
        model.learn(*random_rows(rng, min(rounds, 100_000), real=real), LABELS)
        rounds -= 100_000
    assert drift(model) <= 1e-11
    np.testing.assert_allclose(model.coef().sum(axis=1), 1.0, atol=1e-13)


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("rule", ["perceptron", "pa1", "optimal", "simproj", "conproj"])
def test_weights_stay_right_where_exponents_leave_the_range_of_numbers(rule, signed):
    model, rng = new_model(rule, C=400.0, margin=2.0, n=12, signed=signed), np.random.default_rng(1)
    theta = np.zeros((3, 12))
    for _ in range(60 if UNCOMPILED else 300):
        rows, targets = random_rows(rng, 1, n=12, nnz=3)
        model.learn(rows, targets, LABELS)
        assert drift(model) <= 1e-9
        used = int(model.simplex.used[0])
        owners = model.simplex.owners[1 : used + 1].astype(int)
        plain = owners % 2 == 0 if signed else owners >= 0
        columns = owners[plain] // 2 - 1 if signed else owners[plain] - 1
        theta[:, columns] = model.simplex.theta[1 : used + 1, :3].T[:, plain]
        full = np.hstack([theta, -theta]) if signed else theta
        weights = np.exp(full - logsumexp(full, axis=1, keepdims=True))
        weights = weights[:, :12] - weights[:, 12:] if signed else weights
        np.testing.assert_allclose(model.coef(), weights, atol=1e-12)
        x = np.zeros(12)
        x[rows.indices] = 1.0
        np.testing.assert_allclose(model.score(rows, LABELS)[0], weights @ x, atol=1e-9)
    assert np.abs(theta).max() > 700.0
    assert np.isfinite(model.dual)


def test_a_mass_that_sank_below_the_smallest_number_comes_back():
    model = new_model("perceptron", C=100.0, n=3)
    row = Rows(np.array([0, 1], np.int64), np.array([0], np.int32), np.ones(1))
    for right in [0] * 1 + [1] * 20 + [2] * 40:
        model.learn(row, Targets(np.arange(2), np.array([right]), np.zeros(0)), LABELS)
    assert drift(model) <= 1e-12
    assert np.argmax(model.score(row, LABELS)[0]) == 2


def test_everything_is_computed_anew_after_enough_updates():
    model, rng = new_model("perceptron"), np.random.default_rng(2)
    model.simplex.labels[TOUCHES, :3] = SWEEP - 3
    model.learn(*random_rows(rng, 30), LABELS)
    assert (model.simplex.labels[TOUCHES, :3] < SWEEP).all()
    assert model.rescaled % 2 == 0
    assert model.rescaled > 0
    assert (model.simplex.labels[SHIFT, :3] == 0.0).all()


def test_memory_follows_what_was_learnt():
    model = new_model("pa1", n=2_000_000)
    model.learn(*random_rows(np.random.default_rng(3), 200, n=2_000_000), LABELS)
    learnt = int(model.simplex.used[0])
    assert 0 < learnt <= 1000
    assert model.simplex.theta.nbytes < 1_000_000
    np.testing.assert_allclose(model.simplex.labels[TOTAL, :3], 2_000_000, rtol=0.1)


def test_readers_beside_a_writer_that_rescales_see_weights_of_some_moment():
    model, rng = new_model("perceptron", C=20.0, n=8), np.random.default_rng(4)
    probe, _ = random_rows(rng, 20, n=8, nnz=2)
    wrong, stop = [], threading.Event()

    def read():
        while not stop.is_set():
            scores = model.score(probe, LABELS)
            # of a round half written a mass may be e^20 too large; a column half rescaled would be e^300 off
            if not ((scores >= 0.0).all() and (scores <= 1e20).all()):
                wrong.append(scores)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for _ in range(150):
        model.learn(*random_rows(rng, 20, n=8, nnz=2), LABELS)
    stop.set()
    for reader in readers:
        reader.join()
    assert model.rescaled > 10
    assert not wrong
