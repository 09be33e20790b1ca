"""Two labels, numbers, ranks and outliers from files, as their learners take them."""

from __future__ import annotations

import math
from collections.abc import Hashable
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from hinged.estimators.binary import BinaryClassifier
from hinged.estimators.ordinal import OrdinalClassifier
from hinged.estimators.regressor import Regressor
from hinged.estimators.uniclass import Uniclass
from hinged.io.examples.chunk import Chunk
from hinged.text import Vocabulary

__all__ = ["VECTOR_TASKS", "single", "vector_answers", "vector_rows"]

#: Name of each task on the command line → its learner.
VECTOR_TASKS = {
    "binary": BinaryClassifier,
    "regress": Regressor,
    "ordinal": OrdinalClassifier,
    "outliers": Uniclass,
}


def vector_rows(model: Any, chunk: Chunk, grow: bool) -> Any:
    """The rows of a chunk: a sparse matrix of numbered columns, or dicts of named features and words."""
    if chunk.columns is None:
        if getattr(model, "n_features_in_", None) is not None:
            raise ValueError(f"this model was taught numbered columns; {chunk.source} has named features or text.")
        return _dicts(chunk)
    if hasattr(model, "feature_names_"):
        raise ValueError(f"this model was taught named features or text; {chunk.source} has numbered columns.")
    indptr, indices, values = chunk.columns
    known = getattr(model, "n_features_in_", 0)
    width = max(known, int(indices.max(initial=-1)) + 1, 1)
    if width > known and not grow:  # columns not seen in learning have no weights
        kept = indices < known
        indptr = np.concatenate([[0], np.cumsum(kept)])[indptr]
        indices, values, width = indices[kept], values[kept], known
    return sparse.csr_array((values, indices, indptr), shape=(len(chunk), width))


def _dicts(chunk: Chunk) -> list[dict[Hashable, float]]:
    space = Vocabulary()
    rows = space.fit_transform(chunk)
    names = [space.name_of(column) for column in range(len(space))]
    values, columns, bounds = rows.data.tolist(), rows.indices.tolist(), rows.indptr.tolist()
    return [{names[c]: v for c, v in zip(columns[a:b], values[a:b], strict=True)} for a, b in pairwise(bounds)]


def vector_answers(model: Any, chunk: Chunk) -> Any:
    """The answers as a model takes them: numbers for regression, numbers for ranks that are written so, else labels."""
    if isinstance(model, Uniclass):
        return None
    answers = [single(answer, chunk, i) for i, answer in enumerate(chunk.answers)]
    if isinstance(model, Regressor):
        return [_number(answer, chunk, i) for i, answer in enumerate(answers)]
    if isinstance(model, OrdinalClassifier) and model.order is None:
        return [_rank(answer) for answer in answers]
    return answers


def single(answer: Any, chunk: Chunk, i: int, hint: str = ".") -> Any:
    """The one label of example i; more or fewer are an error."""
    if not isinstance(answer, list):
        return answer
    if len(answer) == 1:
        return answer[0]
    raise ValueError(f"{chunk.source}:{chunk.lines[i]}: there are {len(answer)} labels; expected one{hint}")


def _number(answer: str, chunk: Chunk, i: int) -> float:
    try:
        value = float(answer)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{chunk.source}:{chunk.lines[i]}: {answer!r} is not a number; expected one to regress.")
    return value


def _rank(answer: str) -> Hashable:
    try:
        value = float(answer)
    except ValueError:
        return answer
    return int(value) if value.is_integer() else value
