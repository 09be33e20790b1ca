"""scikit-learn's own suite over the estimators on rows; what fails by design is named here with its reason."""

from sklearn.utils.estimator_checks import parametrize_with_checks

import hinged

ONLINE = "a row of weight 2 is one step of up to 2C, not two rounds: an online learner sees it once"
NO_OP = "a weight of 0 is a documented no-op, for one row or for all of them"
FRACTIONS = "labels are any hashable, fractions among them"
THROUGH_ZERO = "no bias by default, and through the origin no label can win on both sides"
UNORDERED = "the check's three groups lie in no order, and one score cannot tell them apart"
ALWAYS = {
    "check_sample_weight_equivalence_on_dense_data": ONLINE,
    "check_sample_weight_equivalence_on_sparse_data": ONLINE,
    "check_all_zero_sample_weights_error": NO_OP,
}
LABELS = ALWAYS | {"check_classifiers_regression_target": FRACTIONS, "check_class_weight_classifiers": THROUGH_ZERO}
EXPECTED = {
    hinged.Classifier: LABELS,
    hinged.Ranker: ALWAYS,
    hinged.BinaryClassifier: LABELS,
    hinged.Regressor: ALWAYS,
    hinged.Uniclass: ALWAYS,
    hinged.OrdinalClassifier: ALWAYS
    | {
        "check_classifiers_regression_target": FRACTIONS,
        "check_classifiers_classes": UNORDERED,
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
    return EXPECTED[type(estimator)]


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures, xfail_strict=True)
def test_an_estimator_keeps_the_habits_of_scikit_learn(estimator, check):
    check(estimator)


def test_few_checks_are_expected_to_fail():
    assert all(len(reasons) <= 5 for kind, reasons in EXPECTED.items() if kind is not hinged.OrdinalClassifier)
