"""Questions to a model; none of them changes it."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterable
from contextlib import suppress
from typing import TypeVar

from hinged.estimators.auto import settled_as_json
from hinged.estimators.learner import Learner
from hinged.estimators.scored import Scored
from hinged.journal import DurableModel, Example
from hinged.journal.estimator_settings import complete
from hinged.service.values import LARGEST_WEIGHT, LONGEST_KEY, as_label, as_number, as_row, plain
from hinged.text import window

__all__ = ["BatchedPredictions", "example_for", "explain", "predict", "predict_many", "rank", "settle", "status"]

Answer = TypeVar("Answer")
TEXTS = ({str}, {dict})
ALONE = ("sequence", "outliers")  # tasks that take one row at a time
EXPLAINS = {
    "sequence": "a tag at a position; give the position, and a label unless you mean the predicted one",
    "binary": "its score; omit the label",
    "regress": "its score; omit the label",
    "ordinal": "its score; omit the label",
    "outliers": "its distance; omit the label",
}
BEST, MOST_TAGGINGS = 5, 100  # default and maximum; the search keeps that many taggings at every token


def row_for(model: Learner, x: object) -> object:
    """Return an example as this model takes it; a sparse row without a width gets the model's.

    A tagger's sentence may be a list of words, whose features `hinged.text.window` makes.
    """
    if model.task == "sequence" and type(x) is list and all(type(token) is str for token in x):
        return window(x)
    return as_row(x, getattr(model, "n_features_in_", 0))


def example_for(model: Learner, x: object, y: object, key: object, weight: object) -> Example:
    """Return an example to learn; only an outlier detector needs no label."""
    if y is None and model.task != "outliers":
        raise ValueError("y is missing, or null; an example needs its correct answer.")
    key, weight = _key(key), _weight(weight)
    return Example(row_for(model, x), as_number(y) if model.task == "regress" else as_label(y), key, weight)


def _key(key: object) -> str | None:
    if key is None or (type(key) is str and len(key) <= LONGEST_KEY):
        return key
    raise ValueError(f"a key is a string of at most {LONGEST_KEY} characters.")


def _weight(weight: object) -> float | None:
    if weight is None or ((type(weight) is int or type(weight) is float) and 0 <= weight <= LARGEST_WEIGHT):
        return weight
    raise ValueError(f"a weight is a number from 0 to {LARGEST_WEIGHT:,.0f}.")


def predict(model: Learner, x: object) -> object:
    """Return the prediction for one example."""
    return plain(model.predict_one(row_for(model, x)))


def predict_many(model: Learner, rows: list[object]) -> list[object]:
    """Return a prediction, or the exception that refused it, for each row; texts and dicts are predicted in a batch."""
    kinds = {type(x) for x in rows}
    if len(rows) > 1 and kinds in TEXTS and model.task not in ALONE:
        with suppress(TypeError, ValueError):  # predicting one by one finds the bad row
            return [plain(y) for y in model.predict(rows)]
    return [_predict_or_refuse(model, x) for x in rows]


def _predict_or_refuse(model: Learner, x: object) -> object:
    try:
        return predict(model, x)
    except Exception as problem:
        return problem


def rank(model: Learner, x: object, top: int | None) -> list[dict[str, object]]:
    """Return labels with their scores, best first; for a tagger, the best taggings."""
    if not hasattr(model, "rank_one"):
        raise TypeError(f"a {type(model).__name__} ranks no labels; ask it to predict.")
    row = row_for(model, x)
    best = _best_taggings(model, row, top) if model.task == "sequence" else _best_labels(model, row, top)
    return [{"label": plain(label), "score": float(score)} for label, score in best]


def _best_taggings(model: Learner, row: object, top: int | None) -> Iterable[tuple[object, float]]:
    if top is not None and top > MOST_TAGGINGS:
        raise ValueError(f"top must be at most {MOST_TAGGINGS} for a tagger; got {top:,}.")
    return model.rank_one(row, top or BEST)


def _best_labels(model: Learner, row: object, top: int | None) -> Iterable[tuple[object, float]]:
    if not model.known_labels():
        return []
    said: Scored = model.scored_one(row)
    return [(said.labels[r], said.scores[0, r]) for r in said.order(0, top)]


def explain(model: Learner, x: object, label: object, position: int | None, top: int | None) -> list[dict[str, object]]:
    """Return the features that contribute to a score, largest first; for a tagger, to that of a tag at a position."""
    if not hasattr(model, "explain"):
        raise TypeError(f"a {type(model).__name__} cannot explain its answers.")
    given = [one for one in (position, None if label is None else as_label(label)) if one is not None]
    fits = (position is not None) == (model.task == "sequence")
    try:
        inspect.signature(model.explain).bind(x, *given, top=top)
    except TypeError:
        fits = False
    if not fits:
        raise TypeError(f"a {type(model).__name__} explains {EXPLAINS.get(model.task, 'a label')}.")
    carrying = model.explain(row_for(model, x), *given, top=top)
    return [{"feature": plain(feature), "weight": float(weight)} for feature, weight in carrying]


def status(name: str, kept: DurableModel) -> dict[str, object]:
    """Return the kind, the settings and the progress of a model."""
    model, stored = kept.model, kept.journal.get("model")
    learnt = hasattr(model, "model_")
    counts = ("rounds", "mistakes", "updates", "novel")
    return {
        "name": name,
        "estimator": stored["estimator"],
        "settings": complete(stored)["settings"],
        "settled": settled_as_json(model),
        **{name: int(getattr(model, f"n_{name}_", 0)) if learnt else 0 for name in counts},
        "labels": [plain(label) for label in kept.labels()],
        "journal": kept.journal.last,
    }


class BatchedPredictions:
    """Batches the predictions that requests ask of one model in the same turn of the event loop.

    A batch costs little more than a single prediction.
    """

    def __init__(self) -> None:
        self._waiting: list[tuple[object, asyncio.Future[object]]] = []

    async def predict(self, model: Learner, x: object) -> object:
        """Return the prediction for one example, or raise what refuses it."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[object] = loop.create_future()
        self._waiting.append((x, done))
        if len(self._waiting) == 1:
            loop.call_soon(self._answer, model)
        return await done

    def _answer(self, model: Learner) -> None:
        turn, self._waiting = self._waiting, []
        answers = predict_many(model, [x for x, _ in turn])
        for (_, done), answer in zip(turn, answers, strict=True):
            settle(done, answer)


def settle(done: asyncio.Future[Answer], answer: Answer | Exception) -> None:
    """Answer a request that waits, or raise what refuses it, unless it was cancelled meanwhile."""
    if done.done():
        return
    if isinstance(answer, Exception):
        done.set_exception(answer)
    else:
        done.set_result(answer)
