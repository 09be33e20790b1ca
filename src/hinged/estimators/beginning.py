"""A learner before its first round: what the first rows decide is decided, and nothing is learnt of them."""

from __future__ import annotations

from typing import TypeVar

from hinged.estimators.row_learner import RowLearner

__all__ = ["begin"]

L = TypeVar("L", bound=RowLearner)


def begin(learner: L, X: object, y: object) -> L:
    """Let a learner that has learnt nothing settle by these rows what it would have settled by learning them.

    Several learners that learn parts of one stream must begin alike to be merged. What is "auto" follows the first row,
    as always; the names of the rows' features are known afterwards, their labels are not.

    Examples
    --------
    >>> import hinged
    >>> model = begin(hinged.Classifier(), [[1.0, 2.0]], ["a"])
    >>> model.settled_["scaling"], model.n_rounds_, model.n_features_in_, model.known_labels()
    ('standard', 0, 2, ())
    """
    if learner.__sklearn_is_fitted__():
        raise ValueError("this learner has begun already: it has learnt something. Give a new one.")
    with learner._or_undone(several=True):
        checked = learner._check(X, y, None)
        learner._learn(checked.part(slice(0, 0)))
    return learner
