"""Experts in the quick loop: every outcome, share and weight has the bits of the general loop."""

import numpy as np
import pytest
from scipy import sparse

import hinged
from hinged.loops.labels import WEIGHTS
from hinged.loops.pages import SEGMENT
from hinged.loops.prototypes import new_lane

RULES = ("pa1", "pa2", "simproj", "optimal", "perceptron")
FEATURES = 40


def stream(seed, n_labels, n_rows=70, dense=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, FEATURES)) * (rng.random((n_rows, FEATURES)) < (1.0 if dense else 0.2))
    y = np.argmax(X @ rng.normal(size=(FEATURES, n_labels)) + rng.normal(size=(n_rows, n_labels)), axis=1)
    return (X if dense else sparse.csr_array(X)), y


def learnt(general, X, y, weights, classes, **settings):
    """A model that has learnt a stream in three calls, and what became of each row."""
    model, told = hinged.Classifier(C="auto", **settings), []
    for begin, end in ((0, 1), (1, 30), (30, X.shape[0])):
        part = slice(begin, end)
        told.append(model.learn_rounds(X[part], y[part], classes, None if weights is None else weights[part]))
        if general:  # room for more than one segment of labels is what the quick loop has not
            model.model_.stores[WEIGHTS].fit_to(1, SEGMENT + 1)
    return model, [np.concatenate(column) for column in zip(*told, strict=True)]


def check_same(X, y, weights=None, classes=None, **settings):
    quick, told = learnt(False, X, y, weights, classes, **settings)
    general, told_there = learnt(True, X, y, weights, classes, **settings)
    assert len(quick.experts_) > 1
    assert quick.model_.stores[WEIGHTS].store.table.shape[1] == 1
    assert quick.experts_ == general.experts_
    for ours, theirs in zip(told, told_there, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    for ours, theirs in zip(
        (*quick.model_.ledger, *quick.model_.experts), (*general.model_.ledger, *general.model_.experts), strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)
    owners, order = (model.model_.stores[WEIGHTS].rows(1)[0] for model in (quick, general))
    assert sorted(owners.tolist()) == sorted(order.tolist())
    for e in range(quick.model_.each):
        factors = np.eye(quick.model_.each)[e]
        ours, theirs = (m.model_.stores[WEIGHTS].rows(SEGMENT, 0, factors)[1] for m in (quick, general))
        np.testing.assert_array_equal(ours[np.argsort(owners)], theirs[np.argsort(order)])
    np.testing.assert_array_equal(quick.decision_function(X), general.decision_function(X))
    np.testing.assert_array_equal(quick.model_.metric.seen, general.model_.metric.seen)
    return quick


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("n_labels", [2, 33, 64])
def test_columns_of_numbers_have_the_bits_of_the_general_loop(n_labels, rule, dtype):
    X, y = stream(n_labels, n_labels, dense=True)
    check_same(X, y, rule=rule, dtype=dtype, scaling="standard", bias=0.3, classes=range(n_labels))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("novel", ["learn", "skip"])
def test_words_have_the_bits_of_the_general_loop_while_labels_and_features_come(novel, rule, dtype):
    X, y = stream(len(rule), 40)
    weights = np.where(np.arange(len(y)) % 11 == 4, 0.0, 1.0 + np.arange(len(y)) % 2)
    model = check_same(X, y, weights, rule=rule, dtype=dtype, scaling="idf", normalize=True, novel=novel)
    assert set(model.model_.stores[WEIGHTS].store.stride.tolist()) - {8}  # pages were widened


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rule", RULES)
def test_a_metric_has_the_bits_of_the_general_loop(rule, dtype):
    X, y = stream(len(rule), 40)
    quick = check_same(X, y, rule=rule, dtype=dtype, scaling="idf", geometry="adaptive", bias=0.5)
    assert (quick.model_.metric.seen > 0).any()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rule", RULES)
def test_what_fades_has_the_bits_of_the_general_loop(rule, dtype):
    X, y = stream(len(rule), 40)
    quick = check_same(X, y, rule=rule, dtype=dtype, scaling="standard", geometry="adaptive", bias=0.5, half_life=1.0)
    assert quick.model_.metric.fading.origin > 0


@pytest.mark.parametrize("scaling", ["standard", "idf", None])
def test_pages_of_several_widths_have_the_bits_of_the_general_loop(scaling):
    rng = np.random.default_rng(3)
    X = sparse.random_array((160, 3000), density=0.01, rng=rng, format="csr")
    y = np.where(np.arange(160) < 110, rng.integers(0, 4, 160), rng.integers(0, 30, 160))
    model = check_same(X, y, rule="optimal", scaling=scaling)
    store = model.model_.stores[WEIGHTS].store
    assert store.used[1] > 1024  # more than a page
    assert store.each == len(model.experts_)


def test_features_in_order_have_the_bits_of_the_general_loop():
    X, y = stream(9, 3, n_rows=100, dense=True)
    model = hinged.Classifier("optimal", C="auto", scaling="standard", bias=0.5)
    told = model.learn_rounds(X, y, range(3))
    store = model.model_.stores[WEIGHTS].store
    assert getattr(new_lane, "py_func", new_lane)(store, 3).in_order
    late = hinged.Classifier("optimal", C="auto", scaling="standard", bias=0.5)
    late.learn_rounds(X, y, range(3), delay=1)
    assert told.flags.sum() > 0
    assert model.experts_ == late.experts_
    np.testing.assert_array_equal(model.coef_, late.coef_)
