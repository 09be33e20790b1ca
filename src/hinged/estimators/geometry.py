"""What the entropic geometry asks of an estimator's settings and rows, and what it has to tell."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from hinged.geometry.entropy import resolve
from hinged.loops.entropic import EntropicModel, beyond
from hinged.loops.ledger import UNREACHED
from hinged.rules.table import RULES, Step, entropic
from hinged.sharing.plan import Plan

__all__ = ["check_entropic", "check_entropic_rule", "check_space", "tell"]


def check_entropic_rule(rule: Any, step: Step) -> None:
    """Refuse, by name, a rule that has no meaning for weights on a simplex."""
    if not entropic(step.words):
        names = ", ".join(repr(name) for name, row in RULES.items() if entropic(row.words))
        raise ValueError(
            f"geometry='entropy' takes the rules {names}; got rule={rule!r}. For a plain step use 'pa1' with C=inf."
        )


def check_entropic(who: Any, step: Step, plan: Plan) -> None:
    """Refuse, by name, what has no meaning for weights on a simplex."""
    check_entropic_rule(who.rule, step)
    if not plan.per_label or plan.parts:
        raise ValueError(
            f"geometry='entropy' gives each label a simplex of its own, sharing='multi'; got sharing={who.sharing!r}. "
            "Shared vectors are Euclidean."
        )
    if who.dtype is not None and np.dtype(who.dtype) != np.float64:
        raise ValueError(
            f"geometry='entropy' computes in float64, whose range exponentials need; got dtype={who.dtype!r}. "
            "Leave it out: float32 rows are welcome."
        )


def check_space(who: Any, batch: Any) -> None:
    """Refuse features beyond those that the weights are spread over."""
    model = who._model
    if not isinstance(model, EntropicModel) and (model is not None or resolve(who.geometry) is None):
        return
    fixed = who.n_features if model is None or model.n_features == 0 else model.n_features
    if batch.names is None:
        width = batch.width
    elif fixed is None:
        raise ValueError(
            "geometry='entropy' spreads weights over a fixed number of features, which dicts do not tell; "
            "give n_features=, as many as may ever come, or learn from a matrix."
        )
    else:
        width = len(batch.names) + (0 if who._names is None else len(who._names.listed))
    if fixed is not None and width > fixed:
        raise ValueError(beyond(fixed, width))


def tell(who: Any, model: Any) -> None:
    """Warn, once, where the margin cannot be met."""
    if isinstance(model, EntropicModel) and model.notes[UNREACHED] > 0 and not model.told:
        model.told = True
        warnings.warn(
            f"margin={who.margin!r} is out of reach on some rows: with geometry='entropy' scores of a row differ by "
            f"less than the radius ({model.geometry.radius:g}) times the range of its values. The steps there are C. "
            "Use a smaller margin, or hinged.geometry.Entropy(radius=...) larger than the margin.",
            stacklevel=4,
        )
