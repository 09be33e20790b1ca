"""Labels that share all they are told apart by: no move separates them, and rounding must not do it either."""

import numpy as np
import pytest
from tests.plain import Classifier, Ranker
from tests.reference.learner import Twin

import hinged
from hinged.evaluate import progressive

LABELS = list(range(6))
SCHEMES = {
    "one set": ([{0, 1, 2, 3}], None),
    "sets": ([{0, 1, 2, 3}, {0}, {4, 5}], None),
    "apart": ([{0, 1, 2}, {3, 4}], None),
    "sets with features": ([{0, 1, 2, 3}, {2, 3, 4}], ["frequency", "first"]),
    "single": ("single", "tfidf"),
}


def learner(kind, rule, sharing, features):
    if isinstance(sharing, str):
        return kind(rule, sharing=sharing, features=features)
    return kind(rule, sharing=hinged.sharing.Groups(sharing, features=features))


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("kind", [Classifier, Ranker])
@pytest.mark.parametrize("rule", ["simperc", "simproj", "conproj", "optimal"])
def test_labels_that_no_move_separates_stay_level(rule, kind, scheme):
    sharing, features = SCHEMES[scheme]
    compared = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 2, size=(10, 4)).astype(float), rng.integers(0, 6, size=10).tolist()
        if kind is Ranker:
            y = [sorted(set(rng.integers(0, 6, size=rng.integers(1, 4)).tolist())) for _ in X]
        twin = Twin(4, LABELS, rule, sharing=sharing, features=features, classes=LABELS).run(X, y)
        if min(twin.history.nearest) < 1e-12:  # a tie that rounding broke in the twin
            continue
        compared += 1
        model = learner(kind, rule, sharing, features)
        assert progressive(model, X, y, classes=LABELS).flags.tolist() == twin.history.flags
        assert (model.n_updates_, model.dual_) == (twin.history.updates, pytest.approx(twin.dual, abs=1e-9))
    assert compared


@pytest.mark.parametrize("rule", ["simperc", "simproj", "conproj", "optimal", "uniform"])
@pytest.mark.parametrize("n_right", [1, 3])
def test_a_set_of_all_labels_moves_nothing_so_that_a_label_outside_of_it_ties(rule, n_right):
    for n in (5, 6, 7, 11):
        kind, right = (Classifier, 0) if n_right == 1 else (Ranker, list(range(n_right)))
        model = kind(rule, C=0.3, sharing=hinged.sharing.Groups([set(range(n))])).declare(range(n))
        X = np.array([[1.0, 3.0], [0.1, 0.7]])
        model.partial_fit(X, [right, right])
        assert model.n_updates_ == 2
        model.declare([n])
        assert not model.decision_function(X).any()
        flags = progressive(model, X[:1], [0] if n_right == 1 else [[0]]).flags
        assert flags.tolist() == [1]


@pytest.mark.parametrize("rule", ["perceptron", "pa1", "pa2", "simperc", "simproj", "conproj", "optimal"])
@pytest.mark.parametrize("kind", [Classifier, Ranker])
def test_labels_that_are_the_same_to_a_kernel_move_nothing(rule, kind):
    right = [0, 1] if kind is Ranker else 0
    for n in (5, 6, 7, 11):
        model = kind(rule, C=0.3, sharing="single", kernel=hinged.mercer.Centred(0.3)).declare(range(n))
        model.partial_fit([[1.0, 3.0]], [right])  # no label has a mean yet
        assert (model.n_updates_, model.dual_) == (1, pytest.approx(0.3))
        assert not model.decision_function([[0.3, 0.9]]).any()


@pytest.mark.parametrize("average", [False, True])
def test_sets_of_one_label_in_any_order_learn_as_vectors_of_their_own(average):
    n, rng = 130, np.random.default_rng(1)  # more than two segments of weights
    X, y = rng.normal(size=(40, 5)), rng.integers(0, n, 40)
    groups = hinged.sharing.Groups([{label} for label in rng.permutation(n).tolist()])
    own, grouped = (
        Classifier("simproj", average=average, sharing=sharing).partial_fit(X, y, classes=range(n))
        for sharing in ("multi", groups)
    )
    assert grouped.decision_function(X) == pytest.approx(own.decision_function(X), abs=1e-10)
