"""A stream of rows and answers as a learner that starts from zero reads it, for theory."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np

from hinged.estimators.label_learner import LabelLearner
from hinged.estimators.labels import LabelIndex
from hinged.loops.labels import Targets
from hinged.loops.model import LabelModel
from hinged.loops.rows import Rows

__all__ = ["Reading", "read_stream", "settled_like"]

L = TypeVar("L", bound=LabelLearner)


class Reading(NamedTuple):
    """A stream as a learner that starts from zero reads it.

    Attributes
    ----------
    rows : Rows
        Before scaling.
    targets : Targets
        Positions of the right labels of each row.
    labels : list
        Every label, after the last row.
    n_known : int
        How many of them are known before the first row.
    new_model : function
        Makes an empty model of the learner's settings that knows these labels and columns.
    describe : function
        A scaled row as a dict, for label features of the user's own.
    """

    rows: Rows
    targets: Targets
    labels: list[Hashable]
    n_known: int
    new_model: Callable[[], LabelModel]
    describe: Callable[[np.ndarray, np.ndarray], dict[Hashable, float]]


def settled_like(learner: L) -> L:
    """A fresh learner of the settings that a learner goes by: what it has chosen, or would, in place of "auto".

    Examples
    --------
    >>> import hinged
    >>> settled_like(hinged.Classifier(C=1.0)).rule
    'optimal'
    """
    from sklearn.base import clone

    return clone(learner._plainly())


def read_stream(learner: LabelLearner, X: object, y: object, classes: object = None) -> Reading:
    """Rows and answers as a fresh learner would read them; it learns their labels' and features' names, no more."""
    checked = learner._check(X, y, None)  # which chooses what is "auto", by the first row
    plain = settled_like(learner)
    plain.rule, plain.C, plain.geometry = "perceptron", 1.0, "euclidean"  # rounds depend on none of these
    settled = plain.check_settings()
    learner._expect_classes(classes, checked)
    index = learner._labels or LabelIndex()
    n_known, dtype = len(index), checked.batch.dtype
    indptr, flat = learner._flat(checked.answers)
    ids, new = index.encode(flat, None)

    def new_model(width: int = 0) -> LabelModel:
        model = settled.new_model(plain, dtype)
        assert isinstance(model, LabelModel)
        model.declare(n_known)
        model.widen(width)
        return model

    learner._parts = learner._parts._replace(labels=index, model=new_model())
    learner._take_in(checked.batch)
    width = learner.model_.n_features
    learner._parts = learner._parts._replace(model=None)
    targets = Targets(np.asarray(indptr, np.int64), ids, np.zeros(0))
    labels = [*index.labels, *new]
    return Reading(checked.batch.rows, targets, labels, n_known, partial(new_model, width), learner._describe)
