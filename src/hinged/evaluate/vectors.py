"""How well two labels, numbers, ranks and outliers are predicted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hinged.estimators.regressor import Regressor
from hinged.estimators.uniclass import Uniclass
from hinged.files.answers import answer_vectors
from hinged.files.vectors import vector_answers, vector_rows
from hinged.io.examples.chunk import Chunk

__all__ = ["VectorAssessment", "predict", "predict_then_learn"]


@dataclass
class VectorAssessment:
    """How well a model of one score does.

    Attributes
    ----------
    task : str
    examples, skipped, unlabelled : int
    truth, predicted : list
        Right answers and predictions, in order; None is the truth of outliers.
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
        >>> VectorAssessment("regress", [1.0, 3.0], [2.0, 3.0]).figures()
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


def predict(model: Any, chunk: Chunk, result: VectorAssessment) -> None:
    """Count the answers of a model that does not learn."""
    result.predicted += answer_vectors(model, chunk)[0]
    result.truth += vector_answers(model, chunk) or [None] * len(chunk)
    result.ranks = _ranks(model)


def predict_then_learn(model: Any, chunk: Chunk, result: VectorAssessment) -> None:
    """Count the answer to each example, then learn it; the first of all, and of each label, is not counted."""
    truth = vector_answers(model, chunk) or [None] * len(chunk)
    rows = vector_rows(model, chunk, True)
    for i in range(len(chunk)):
        row = rows[i] if isinstance(rows, list) else rows[[i]]
        known = isinstance(model, Regressor | Uniclass) or truth[i] in model.known_labels()
        if known and hasattr(model, "model_"):
            result.predicted.append(_plain(model.predict_one(row)))
            result.truth.append(truth[i])
        model.learn_one(row, truth[i])
    result.ranks = _ranks(model)


def _ranks(model: Any) -> list[Any]:
    return [] if isinstance(model, Regressor | Uniclass) else list(model.known_labels())


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
