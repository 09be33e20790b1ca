"""How well two labels, numbers, ranks and outliers were predicted, by a finished model or by one that learns."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hinged.estimators.regressor import Regressor
from hinged.estimators.uniclass import Uniclass
from hinged.evaluate.examples import labelled
from hinged.evaluate.vector_tasks import task_of, vector_answers, vector_rows
from hinged.io.examples.chunk import Chunk

__all__ = ["Verdict", "judge", "said_of"]


def said_of(model: Any, chunk: Chunk) -> tuple[list[Any], np.ndarray]:
    """A model's answers to the examples of a chunk, and the scores behind them."""
    rows = vector_rows(model, chunk, False)
    scores = model.predict(rows) if isinstance(model, Regressor) else model.decision_function(rows)
    return (scores if isinstance(model, Regressor) else model.predict(rows)).tolist(), scores


@dataclass
class Verdict:
    """How a model did.

    Attributes
    ----------
    task : str
    examples, skipped, unlabelled : int
    truth, predicted : list
        Right answers and what was said, in order; no truth for outliers.
    ranks : list
        The known labels from low to high.
    seconds : float
    """

    task: str
    truth: list[Any] = field(default_factory=list)
    predicted: list[Any] = field(default_factory=list)
    skipped: int = 0
    unlabelled: int = 0
    ranks: list[Any] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def examples(self) -> int:
        """Examples judged."""
        return len(self.predicted)

    def figures(self) -> dict[str, float]:
        """The measures of the task, by name.

        Examples
        --------
        >>> Verdict("regress", [1.0, 3.0], [2.0, 3.0]).figures()
        {'mean absolute error': 0.5, 'root mean squared error': 0.7071067811865476, 'R²': 0.5}
        """
        if self.task == "outliers":
            return {"share outside": float(np.mean(np.array(self.predicted) == -1))}
        if self.task == "regress":
            y, said = np.array(self.truth, float), np.array(self.predicted, float)
            spread = float(((y - y.mean()) ** 2).sum())
            return {
                "mean absolute error": float(np.abs(y - said).mean()),
                "root mean squared error": float(np.sqrt(((y - said) ** 2).mean())),
                "R²": 1.0 - float(((y - said) ** 2).sum()) / spread if spread else 0.0,
            }
        right = [a == b for a, b in zip(self.truth, self.predicted, strict=True)]
        figures = {"accuracy": float(np.mean(right))}
        if self.task == "ordinal":
            order = {label: i for i, label in enumerate(self.ranks)}
            apart = [abs(order[a] - order[b]) for a, b in zip(self.truth, self.predicted, strict=True) if a in order]
            figures["mean ranks apart"] = float(np.mean(apart)) if apart else 0.0
        return figures


def judge(model: Any, chunks: Iterable[Chunk], learns: bool) -> Verdict:
    """Judge a model on examples; one that `learns` learns each after it was judged.

    The first example of all, and of each label, is not judged: a learner that knows nothing says nothing.
    """
    verdict, began = Verdict(task_of(model)), time.perf_counter()
    for whole in chunks:
        verdict.skipped += whole.skipped
        chunk = whole if isinstance(model, Uniclass) else labelled(whole)
        verdict.unlabelled += len(whole) - len(chunk)
        if not len(chunk):
            continue
        truth = vector_answers(model, chunk) or [None] * len(chunk)
        if learns:
            rows = vector_rows(model, chunk, True)
            for i in range(len(chunk)):
                row = rows[i] if isinstance(rows, list) else rows[[i]]
                known = isinstance(model, Regressor | Uniclass) or truth[i] in model.known_labels()
                if known and hasattr(model, "model_"):
                    verdict.predicted.append(_plain(model.predict_one(row)))
                    verdict.truth.append(truth[i])
                model.learn_one(row, truth[i])
        else:
            verdict.predicted += said_of(model, chunk)[0]
            verdict.truth += truth
    verdict.ranks = [] if isinstance(model, Regressor | Uniclass) else list(model.known_labels())
    verdict.seconds = time.perf_counter() - began
    return verdict


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
