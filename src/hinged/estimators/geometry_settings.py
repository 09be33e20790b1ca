"""What a geometry can be combined with, checked by name."""

from __future__ import annotations

from hinged.estimators.options import Rule
from hinged.geometry.choice import on_simplex
from hinged.rules.table import RULES, Step, check_no_slack, entropic
from hinged.sharing.plan import Plan

__all__ = ["check_entropic_rule", "check_metric", "check_no_simplex"]


def check_entropic_rule(rule: Rule, step: Step) -> None:
    """Refuse, by name, a rule that has no meaning for weights on a simplex."""
    check_no_slack("with geometry='entropy'", rule)
    if not entropic(step.words):
        names = ", ".join(repr(name) for name, row in RULES.items() if entropic(row.words))
        raise ValueError(
            f"geometry='entropy' takes the rules {names}; got rule={rule!r}. For a plain step use 'pa1' with C=inf."
        )


def check_metric(plan: Plan) -> None:
    """Refuse, by name, label features that have no part in a metric of the row's features."""
    if plan.functions:
        raise ValueError(
            "geometry='adaptive' keeps a variance for each feature of the rows, and label features of your own have "
            "others; got features=, a function. Use features='frequency', 'first', 'distance' or 'tfidf', or "
            "geometry='euclidean'."
        )


def check_no_simplex(geometry: object, where: str) -> None:
    """Refuse, by name, weights on a simplex where there are no labels that could have one each."""
    if on_simplex(geometry) is not None:
        raise ValueError(
            f"geometry must be 'euclidean', 'adaptive' or hinged.geometry.Adaptive(...) {where}; got "
            f"geometry={geometry!r}. Weights on a simplex are for Classifier and Ranker."
        )
