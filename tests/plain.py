"""The papers' plain learners: one rule, one C, rows as they are. Tests of the mathematics use these by name."""
# ruff: noqa: N802 - functions are named after the estimators that they make

import hinged

PLAIN = {"scaling": None, "normalize": False, "average": False, "bias": 0.0}


def Classifier(rule="pa1", C=1.0, **settings):
    return hinged.Classifier(rule, C, **(PLAIN | settings))


def Ranker(rule="pa1", C=1.0, **settings):
    return hinged.Ranker(rule, C, **(PLAIN | settings))


def BinaryClassifier(rule="pa1", C=1.0, **settings):
    return hinged.BinaryClassifier(rule, C, **(PLAIN | settings))


def Regressor(rule="pa1", C=1.0, epsilon=0.1, **settings):
    return hinged.Regressor(rule, C, epsilon, **(PLAIN | {"target_scaling": None} | settings))


def OrdinalClassifier(rule="simproj", C=1.0, **settings):
    return hinged.OrdinalClassifier(rule, C, **(PLAIN | settings))
