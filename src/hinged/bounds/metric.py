"""A mistake bound for the adaptive geometry: steps gain at most what u, its losses and the growth of the metric cost.

Its argument is that of Duchi, Hazan and Singer (2011) for mirror descent in a changing metric;
docs/maths.md, "A metric that learns". Unlike the theorems of the papers it needs the learner's own weights, so it runs
the learner.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy import sparse

from hinged.bounds import formulas
from hinged.bounds.comparators import as_comparator, sums_of
from hinged.bounds.formulas import Bound, last
from hinged.bounds.proven import named_rule_of
from hinged.bounds.streams import Stream, as_stream
from hinged.compiling.arrays import Floats
from hinged.estimators.label_learner import LabelLearner
from hinged.estimators.stream import settled_like
from hinged.geometry.adaptive import Adaptive
from hinged.geometry.choice import metric_of
from hinged.loops.columns import PER_LABEL
from hinged.loops.labels import WEIGHTS
from hinged.loops.memory import values_of
from hinged.loops.model import LabelModel

__all__ = ["adaptive_bound"]


def adaptive_bound(model: LabelLearner, X: Iterable, y: Iterable, u: object, classes: Iterable | None = None) -> Bound:
    r"""A bound for ``geometry="adaptive"``: :math:`M \le (\frac12‖u‖^2 + C \sum_t ℓ_t(u) + E) / λ`.

    :math:`E = \frac12 \sum_t \sum_i (1/σ_{t+1,i} - 1/σ_{t,i}) \sum_r (w_{t+1,r,i} - u_{r,i})^2` is what the metric's
    growth costs, and λ what a mistake gains at least, as in `lr_equation_2`. E depends on the weights that the learner
    had, so a fresh learner runs over the stream.

    Parameters
    ----------
    model : Classifier or Ranker
        With ``geometry="adaptive"``, ``sharing="multi"`` and a rule by name; it learns nothing.
    X, y : rows and right answers, in order
    u : matrix (labels, features) or Comparator
        Its rows follow the learner's `classes_`.
    classes : labels known from the start, optional

    Returns
    -------
    Bound
        E over λ is its `mixed` part.

    References
    ----------
    Duchi, Hazan and Singer (2011), the analysis of mirror descent with a diagonal metric.

    Examples
    --------
    >>> import hinged
    >>> like = hinged.Classifier("pa1", C=0.5, geometry=hinged.geometry.Adaptive(r=1 / 3), scaling=None)
    >>> adaptive_bound(like, np.eye(2)[[0, 1] * 4], [0, 1] * 4, 0.5 * np.eye(2), classes=[0, 1])
    Bound(mistakes ≤ 10 by the metric's growth: 1 for complexity, 8 for loss, 1 for both)
    """
    geometry = metric_of(model.geometry)
    if geometry is None:
        raise ValueError(
            f"adaptive_bound is for geometry='adaptive'; got geometry={model.geometry!r}. "
            "Use hinged.bounds.mistake_bound."
        )
    rule, C = named_rule_of(model)
    stream = as_stream(X, y, classes, like=model)
    if stream.columns.kind != PER_LABEL or stream.n_parts:
        raise ValueError(f"adaptive_bound is for sharing='multi'; got sharing={model.sharing!r}.")
    s, own = sums_of(stream, u), as_comparator(stream, u).own
    fresh = settled_like(model)
    if classes is not None:
        fresh.declare(classes)
    growth = _growth(fresh, stream, X, y, own.toarray() if sparse.issparse(own) else own, geometry)
    terms, gain = formulas.dual_ascent(rule, s, C), formulas.gain_per_mistake(rule, s, C)
    with np.errstate(divide="ignore", invalid="ignore"):
        mixed = np.where(gain > 0, np.cumsum(growth) / gain, 0.0)
    return last("the metric's growth", terms._replace(mixed=mixed))


def _growth(fresh: LabelLearner, stream: Stream, X: Iterable, y: Iterable, u: Floats, geometry: Adaptive) -> np.ndarray:
    """What the metric's growth costs in each round, ½ Σ_i (1/σ' - 1/σ) Σ_r (w' - u)²."""
    rows, answers = X if hasattr(X, "__getitem__") else list(X), list(y)
    growth, seen, updates = np.zeros(len(stream)), np.zeros(stream.X.shape[1]), 0
    has_bias = bool(stream.X.shape[1] > 0 and settled_like(fresh).bias)
    for t in range(len(stream)):
        fresh.partial_fit(rows[t : t + 1], answers[t : t + 1])
        if fresh.n_updates_ == updates:
            continue
        updates, model = fresh.n_updates_, fresh.model_
        assert isinstance(model, LabelModel)
        span = slice(stream.X.indptr[t], stream.X.indptr[t + 1])
        columns, x = stream.X.indices[span], stream.X.data[span]
        features = np.where(has_bias & (columns == stream.X.shape[1] - 1), 0, columns + 1)
        w = np.zeros((len(columns), len(u)))
        known = len(fresh.classes_)
        w[:, :known] = values_of(model.stores[WEIGHTS].store, features, known, 0, 0, np.float64)
        before = np.sqrt(1.0 + seen[columns] / geometry.r)
        seen[columns] += x * x
        stiffer = np.sqrt(1.0 + seen[columns] / geometry.r) - before
        growth[t] = 0.5 * stiffer @ np.square(w - u[:, columns].T).sum(axis=1)
    return growth
