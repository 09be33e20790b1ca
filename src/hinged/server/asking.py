"""What a model can be asked; nothing here changes it."""

from __future__ import annotations

import inspect
from typing import Any

from hinged.journal import DurableModel, Example
from hinged.server.answers import plain
from hinged.server.inputs import LARGEST_WEIGHT, LONGEST_KEY, as_label, as_number, as_row
from hinged.text import window

__all__ = ["example_for", "explain", "predict", "predict_many", "rank", "status"]

ALONE = ("sequence", "outliers")  # tasks whose rows are no batch as they come
TEXTS = (str, dict)
WANTS = {
    "sequence": "a tag at a position; give the position, and a label unless the predicted one is meant",
    "binary": "its score; leave the label out",
    "regress": "its score; leave the label out",
    "ordinal": "its score; leave the label out",
    "outliers": "its distance; leave the label out",
}
BEST, MOST_TAGGINGS = 5, 100  # where nobody says how many; finding more takes room for each of them at every token


def row_for(model: Any, x: Any) -> Any:
    """An example as this model takes it: a sparse row is as wide as the model, where it does not say.

    A tagger's sentence may be a list of words: `hinged.text.window` makes their features.
    """
    if _is_tagger(model) and type(x) is list and all(type(token) is str for token in x):
        return window(x)
    return as_row(x, getattr(model, "n_features_in_", 0))


def _is_tagger(model: Any) -> bool:
    return bool(model.task == "sequence")


def example_for(model: Any, x: Any, y: Any, key: Any, weight: Any) -> Example:
    """Something to teach this model; only a detector of outliers needs no answer."""
    if y is None and model.task != "outliers":
        raise ValueError("y is missing, or null; an example is taught with its right answer.")
    if key is not None and (type(key) is not str or len(key) > LONGEST_KEY):
        raise ValueError(f"a key is a text of at most {LONGEST_KEY} characters.")
    if weight is not None and (type(weight) not in (int, float) or not 0 <= weight <= LARGEST_WEIGHT):
        raise ValueError(f"a weight is a number from 0 to {LARGEST_WEIGHT:,.0f}.")
    return Example(row_for(model, x), as_number(y) if model.task == "regress" else as_label(y), key, weight)


def predict(model: Any, x: Any) -> Any:
    """The answer for one example."""
    return plain(model.predict_one(row_for(model, x)))


def predict_many(model: Any, rows: list[Any]) -> list[Any]:
    """The answer for each, or the exception that refused it; texts and dicts are read as one batch."""
    kinds = {type(x) for x in rows}
    if len(rows) > 1 and len(kinds) == 1 and kinds <= set(TEXTS) and model.task not in ALONE:
        try:
            return [plain(y) for y in model.predict(rows)]
        except (TypeError, ValueError):
            pass  # whose fault it is will be seen one by one
    answers: list[Any] = []
    for x in rows:
        try:
            answers.append(predict(model, x))
        except Exception as problem:
            answers.append(problem)
    return answers


def rank(model: Any, x: Any, top: int | None) -> list[dict[str, Any]]:
    """The labels from best to worst with their scores; for a tagger, the best taggings."""
    if not hasattr(model, "rank_one"):
        raise TypeError(f"a {type(model).__name__} ranks no labels; ask it to predict.")
    row = row_for(model, x)
    if _is_tagger(model):
        if top is not None and top > MOST_TAGGINGS:
            raise ValueError(f"top must be at most {MOST_TAGGINGS} for a tagger; got {top:,}.")
        best = model.rank_one(row, top or BEST)
        return [{"label": plain(tags), "score": float(score)} for tags, score in best]
    if not model.known_labels():
        return []
    said = model.scored_one(row)
    return [{"label": plain(said.labels[r]), "score": float(said.scores[0, r])} for r in said.order(0, top)]


def explain(model: Any, x: Any, label: Any, position: int | None, top: int | None) -> list[dict[str, Any]]:
    """The features that carry a label's score, or an answer that needs no label; for a tagger, a tag at a position."""
    if not hasattr(model, "explain"):
        raise TypeError(f"a {type(model).__name__} cannot explain its answers.")
    given = [one for one in (position, None if label is None else as_label(label)) if one is not None]
    fits = (position is not None) == _is_tagger(model)
    try:
        inspect.signature(model.explain).bind(x, *given, top=top)
    except TypeError:
        fits = False
    if not fits:
        raise TypeError(f"a {type(model).__name__} explains {WANTS.get(model.task, 'a label')}.")
    carrying = model.explain(row_for(model, x), *given, top=top)
    return [{"feature": plain(feature), "weight": float(weight)} for feature, weight in carrying]


def status(name: str, kept: DurableModel) -> dict[str, Any]:
    """What a model is, and how far it has come."""
    model, stored = kept.model, kept.journal.get("model")
    learnt = hasattr(model, "model_")
    counts = {
        called: int(getattr(model, f"n_{called}_", 0)) if learnt else 0
        for called in ("rounds", "mistakes", "updates", "novel")
    }
    return {
        "name": name,
        "estimator": stored["estimator"],
        "settings": stored["settings"],
        **counts,
        "labels": [plain(label) for label in kept.labels()],
        "journal": kept.journal.last,
    }
