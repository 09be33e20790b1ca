"""scikit-learn's own suite over the estimators on rows; what fails by design is named here with its reason."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.utils.estimator_checks import check_classifiers_train, parametrize_with_checks

import hinged

ONLINE = "a row of weight 2 is one step of up to 2C, not two rounds: an online learner sees it once"
NO_OP = "a weight of 0 is a documented no-op, for one row or for all of them"
FRACTIONS = "labels are any hashable, fractions among them"
THROUGH_ZERO = "shared vectors have no bias by default, and through the origin no label can win on both sides"
UNORDERED = "the check's three groups lie in no order, and one score cannot tell them apart"
ONE_SCORE = "decision_function is one score for each row whatever the ranks; the check wants a column for each"
ALWAYS = {
    "check_sample_weight_equivalence_on_dense_data": ONLINE,
    "check_sample_weight_equivalence_on_sparse_data": ONLINE,
    "check_all_zero_sample_weights_error": NO_OP,
}
LABELS = ALWAYS | {"check_classifiers_regression_target": FRACTIONS}
EXPECTED = {
    hinged.Classifier: LABELS,
    hinged.Ranker: ALWAYS,
    hinged.BinaryClassifier: LABELS,
    hinged.Regressor: ALWAYS,
    hinged.Uniclass: ALWAYS,
    hinged.OrdinalClassifier: ALWAYS
    | {
        "check_classifiers_regression_target": FRACTIONS,
        "check_classifiers_classes": ONE_SCORE,
        "check_classifiers_train": UNORDERED,
    },
}

VARIANTS = (
    {},
    {"rule": "simproj"},
    {"rule": "optimal"},
    {"sharing": "hybrid", "features": "frequency"},
    {"average": True},
)
ESTIMATORS = [
    *(kind(**settings) for kind in (hinged.Classifier, hinged.Ranker) for settings in VARIANTS),
    *(kind() for kind in EXPECTED if kind not in (hinged.Classifier, hinged.Ranker)),
]


def expected_failures(estimator):
    shared = type(estimator) is hinged.Classifier and estimator.sharing != "multi"
    return EXPECTED[type(estimator)] | ({"check_class_weight_classifiers": THROUGH_ZERO} if shared else {})


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures, xfail_strict=True)
def test_an_estimator_keeps_the_habits_of_scikit_learn(estimator, check):
    check(estimator)


def test_few_checks_are_expected_to_fail():
    assert all(len(reasons) <= 5 for kind, reasons in EXPECTED.items() if kind is not hinged.OrdinalClassifier)


# ------------------------------------------------------------------ two ranks
class TwoRanks(hinged.OrdinalClassifier):
    """Told to scikit-learn as a learner of two classes, so that its checks stop there."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


@pytest.mark.parametrize("options", [{}, {"average": True}, {"bias": 1.0}, {"rule": "optimal"}], ids=str)
def test_two_ranks_pass_the_check_that_three_fail(options):
    check_classifiers_train("OrdinalClassifier", TwoRanks(**options))


@pytest.mark.parametrize("kind", [hinged.Classifier, hinged.BinaryClassifier, hinged.OrdinalClassifier])
@pytest.mark.parametrize("options", [{}, {"average": True}, {"bias": 1.0}], ids=str)
def test_the_sign_of_the_decision_is_the_answer_of_two_labels(kind, options):
    X, y = make_blobs(200, 4, centers=2, cluster_std=8.0, random_state=1)
    model = kind(**options).fit(X, np.array(["high", "low"])[y])
    decision, answers = model.decision_function(X), model.predict(X)
    assert 20 < np.count_nonzero(decision > 0) < 180
    assert model.classes_[(decision > 0).astype(int)].tolist() == answers.tolist()
    assert [model.predict_one(x) for x in X[:20]] == answers[:20].tolist()


def test_a_tie_of_two_labels_is_the_first_and_of_two_ranks_the_upper():
    nothing = np.zeros((1, 2))
    for kind, answer in [(hinged.Classifier, 0), (hinged.BinaryClassifier, 0), (hinged.OrdinalClassifier, 1)]:
        model = kind().declare([0, 1]).partial_fit(np.zeros((1, 2)), [0], sample_weight=[0.0])
        assert model.decision_function(nothing).tolist() == [0.0]
        assert model.predict(nothing).tolist() == [answer]


def test_the_shares_of_two_ranks_sum_to_the_decision():
    X, y = make_blobs(60, 3, centers=2, cluster_std=5.0, random_state=2)
    model = hinged.OrdinalClassifier(bias=0.5).fit(X, y)
    shares = dict(model.explain(X[0], top=None))
    assert sum(shares.values()) == pytest.approx(model.decision_function(X[:1])[0])
    assert shares["threshold"] == -model.thresholds_[0] != 0.0
    assert len(model.explain(X[0], top=2)) == 2
    more = hinged.OrdinalClassifier().fit(X, np.arange(60) % 3)
    assert sum(share for _, share in more.explain(X[0])) == pytest.approx(more.decision_function(X[:1])[0])
