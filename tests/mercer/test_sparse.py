"""Rows that are mostly zeros are remembered without them, and nothing else changes."""

import pickle

import numpy as np
import pytest
from numba import njit
from scipy import sparse

import hinged
from hinged.mercer import Budget, Centred, Gaussian, Linear, Polynomial
from hinged.mercer.sparse import Sparse

RNG = np.random.default_rng(5)
X = sparse.random_array((400, 700), density=0.03, rng=RNG, format="csr")
Y = np.array(["a", "b", "c", "d"])[(X @ RNG.normal(size=(700, 4))).argmax(axis=1)]


def close(got, expected):
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-10 * max(1.0, np.abs(expected).max()))


def kept_sparse(model):
    return model._model.machine.sparse


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("kernel", [Polynomial(0.5, 3), Gaussian(0.4), Linear()])
def test_rows_kept_sparse_are_learnt_as_those_kept_in_full(kernel, normalize):
    few, full = (hinged.Classifier(kernel=kernel, normalize=normalize).fit(rows, Y) for rows in (X, X.toarray()))
    assert kept_sparse(few)
    assert not kept_sparse(full)
    assert (few.n_mistakes_, few.n_updates_) == (full.n_mistakes_, full.n_updates_)
    for rows in (X, X.toarray(), X[:3]):
        close(few.decision_function(rows), full.decision_function(rows))
    close(few.dual_, full.dual_)
    close(few.support_vectors_.toarray(), full.support_vectors_)
    close(few.explain(X[[7]], "b", top=3), full.explain(X[[7]], "b", top=3))


def test_numbers_and_two_labels_too():
    y = X.sum(axis=1)
    few, full = (hinged.Regressor(kernel=Gaussian(0.4)).fit(rows, y) for rows in (X, X.toarray()))
    assert kept_sparse(few)
    close(few.predict(X), full.predict(X))
    few, full = (hinged.BinaryClassifier(kernel=Gaussian(0.4)).fit(rows, y > y.mean()) for rows in (X, X.toarray()))
    assert kept_sparse(few)
    close(few.decision_function(X), full.decision_function(X))


def test_a_model_goes_on_after_it_was_kept(tmp_path):
    model = hinged.Classifier(kernel=Gaussian(0.4)).partial_fit(X[:200], Y[:200])
    model.save(tmp_path / "model")
    kept = [hinged.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))]
    before = model.decision_function(X)
    model.partial_fit(X[200:], Y[200:])
    for other in kept:
        np.testing.assert_array_equal(other.decision_function(X), before)
        other.partial_fit(X[200:], Y[200:])
        assert kept_sparse(other)
        np.testing.assert_array_equal(other.decision_function(X), model.decision_function(X))


def test_names_that_keep_appearing_turn_a_memory_sparse():
    rows = [{f"w{c}": v for c, v in zip(X[[i]].indices, X[[i]].data, strict=True)} for i in range(200)]
    model = hinged.Classifier(kernel=Gaussian(0.4))
    for x, y in zip(rows, Y, strict=False):
        model.learn_one(x, y)
        assert not kept_sparse(model) or model._model.n_features >= 512
    assert kept_sparse(model)
    by_matrix = hinged.Classifier(kernel=Gaussian(0.4)).partial_fit(X[:200].toarray(), Y[:200])
    close(model.decision_function(rows), by_matrix.decision_function(X[:200]))
    model.merge_labels("a", into="b").remove_label("d")
    assert model.decision_function(rows[:3]).shape == (3,)


def test_memory_follows_what_rows_hold_and_not_their_width():
    wide = sparse.csr_array((X.data, X.indices.astype(np.int64) * 100_000, X.indptr), shape=(400, 70_000_000))
    model = hinged.Classifier(kernel=Gaussian(0.4)).fit(wide, Y)
    close(model.decision_function(wide), hinged.Classifier(kernel=Gaussian(0.4)).fit(X, Y).decision_function(X))
    assert model._model.machine.own.rows.data.nbytes < 1e6


@njit
def half(scores, right, norms, margin, C, g):
    """Half of pa's step along the worst pair."""
    y, rival = right[0], -1
    for r in range(scores.shape[0]):
        if r != y and (rival < 0 or scores[r] > scores[rival]):
            rival = r
    g[y] = 0.5 * (margin - scores[y] + scores[rival]) / norms[0, rival]
    g[rival] = -g[y]


def test_a_rule_of_the_users_own_goes_on():
    few, full = (hinged.Classifier(half, kernel=Gaussian(0.4)).fit(rows, Y) for rows in (X, X.toarray()))
    assert kept_sparse(few)
    close(few.decision_function(X), full.decision_function(X))


@pytest.mark.parametrize(
    "settings",
    [
        {"kernel": Centred(0.4), "sharing": "hybrid"},
        {"kernel": Gaussian(0.4), "budget": Budget(30)},
        {"kernel": lambda A, B: A @ B.T},
    ],
)
def test_what_needs_rows_in_full_keeps_them_in_full(settings):
    few, full = (hinged.Classifier(**settings).fit(rows, Y[:60]) for rows in (X[:60], X[:60].toarray()))
    assert not kept_sparse(few)
    close(few.decision_function(X), full.decision_function(X))


def test_some_rows_of_many():
    rows = Sparse.of(X.toarray())
    np.testing.assert_array_equal(rows[5:9].dense(700), X[5:9].toarray())
    at = np.array([3, 0, 399, 3])
    np.testing.assert_array_equal(rows[at].dense(700), X[at].toarray())
    assert len(rows[9:9]) == 0
    np.testing.assert_allclose(rows.squares(), X.multiply(X).sum(axis=1))
