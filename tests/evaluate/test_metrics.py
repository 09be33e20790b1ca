"""Ranking metrics beside scikit-learn's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

from hinged.evaluate import ranking_metrics


@given(st.integers(1, 12), st.integers(2, 7), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_the_means_are_those_of_scikit_learn(n, k, levels, seed):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, levels, (n, k)).astype(float)  # few levels, many ties
    right = rng.random((n, k)) < rng.random()
    ours = ranking_metrics(scores, right)
    truth = right.astype(int)
    assert ours.coverage.mean() == pytest.approx(sk.coverage_error(truth, scores))
    assert ours.ranking_loss.mean() == pytest.approx(sk.label_ranking_loss(truth, scores))
    assert ours.average_precision.mean() == pytest.approx(sk.label_ranking_average_precision_score(truth, scores))


@given(st.integers(1, 8), st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_labels_not_known_yet_change_nothing(n, k, seed):
    rng = np.random.default_rng(seed)
    scores, right = rng.integers(0, 3, (n, k)).astype(float), rng.random((n, k)) < 0.5
    wider = np.hstack([scores, np.full((n, 2), -np.inf)])
    unknown = ranking_metrics(wider, np.hstack([right, np.zeros((n, 2), bool)]), np.full(n, k))
    for ours, expected in zip(unknown, ranking_metrics(scores, right), strict=True):
        assert ours.tolist() == pytest.approx(expected.tolist())


def test_one_error_is_about_the_best_label():
    scores = np.array([[2.0, 1.0], [2.0, 1.0], [1.0, 1.0], [1.0, 2.0]])
    right = np.array([[True, False], [False, True], [True, False], [False, False]])
    assert ranking_metrics(scores, right).one_error.tolist() == [0.0, 1.0, 0.0, 0.0]
