"""Looking at a learner through its public attributes, the same way for every scheme."""

import numpy as np


def dense(values):
    """Weights as a plain array, whatever they come as."""
    return values.toarray() if hasattr(values, "toarray") else np.array(values)


def scores_of(model, x):
    """The scores of one row, one per known label, in the order of `classes_`."""
    answer = np.asarray(model.decision_function(np.atleast_2d(x)))
    return np.array([0.0, answer[0]]) if answer.ndim == 1 else answer[0]


def worst_margin(model, x, label):
    """The rival that scores highest and the margin over it."""
    scores, y = scores_of(model, x), list(model.classes_).index(label)
    rivals = np.where(np.arange(len(scores)) == y, -np.inf, scores)
    rival = int(np.argmax(rivals))
    return rival, scores[y] - scores[rival]


def picture(model, probes):
    """Everything a round may change, as plain values to compare bit for bit."""
    shown = [np.asarray(model.decision_function(probes)), np.array(model.dual_ if model.dual_ is not None else 0.0)]
    for name in ("coef_", "shared_coef_"):
        if hasattr(model, name):
            shown.append(dense(getattr(model, name)))
    return list(model.classes_), [part.tobytes() for part in shown]


def weights_of(model):
    """All weights of a model with prototypes, a shared vector, or both."""
    parts = [dense(getattr(model, name)).ravel() for name in ("coef_", "shared_coef_") if hasattr(model, name)]
    return np.concatenate(parts)
