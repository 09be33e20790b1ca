"""Labels: any hashable value, in a fixed order, new ones at any time."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["LabelIndex", "as_label_sets", "as_labels", "in_order", "is_column"]


def in_order(labels: Iterable[Hashable]) -> list[Hashable]:
    """Distinct labels, sorted where they can be compared, else as they came.

    Examples
    --------
    >>> in_order(["b", "a", "b"]), in_order([2, "a"])
    (['a', 'b'], [2, 'a'])
    """
    distinct = list(dict.fromkeys(labels))
    try:
        return sorted(distinct)  # type: ignore[type-var]
    except TypeError:
        return distinct


def as_labels(y: Any, n_rows: int) -> list[Hashable]:
    """One label per row, as plain Python values."""
    y = _given(y)
    if isinstance(y, str | bytes) or not hasattr(y, "__iter__"):
        raise ValueError(f"y must hold one label per row; got {y!r}. Put the labels in a list.")
    if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1:
        from sklearn.utils.validation import column_or_1d

        y = column_or_1d(y, warn=True)
    if getattr(y, "ndim", 1) != 1:
        raise ValueError(f"y should be a 1d array, one label per row; got an array of shape {y.shape} instead.")
    labels = y.tolist() if hasattr(y, "tolist") else y.to_list() if hasattr(y, "to_list") else list(y)
    if len(labels) != n_rows:
        raise ValueError(f"X and y must have as many rows; got {n_rows} rows and {len(labels)} labels.")
    if getattr(getattr(y, "dtype", None), "kind", "O") not in "iubU":
        _check_labels(labels)
    if isinstance(y, np.ndarray) and y.dtype.kind == "f" and np.isinf(y).any():
        raise ValueError("Input y contains infinity. A label that is a number must be finite; name it otherwise.")
    return labels


def _check_labels(labels: list) -> None:
    """A label is hashable and equals itself."""
    kinds = set(map(type, labels))
    if kinds <= {str, int, bool}:
        return
    for label in labels:
        try:
            hash(label)
        except TypeError:
            raise TypeError(
                f"a label must be hashable (str, int, ...); got a {type(label).__name__}, {label!r}. Use a tuple."
            ) from None
        if label != label:
            raise ValueError("Input y contains NaN. A label must equal itself; drop those rows or name the label.")


def _given(y: Any) -> Any:
    """The answers, as an array where they come wrapped in something that can be one."""
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    return np.asarray(y) if hasattr(y, "__array__") and not hasattr(y, "__iter__") else y


def is_column(y: Any) -> bool:
    """Whether a matrix of answers is one column of labels rather than an indicator of one label."""
    return y.shape[1] == 1 and not sparse.issparse(y) and not np.isin(np.asarray(y), (0, 1)).all()


def as_label_sets(y: Any, n_rows: int) -> tuple[list[list[Hashable]], int | None]:
    """The right labels of each row, and the number of columns where y is an indicator matrix."""
    y = _given(y)
    if getattr(y, "ndim", 1) == 2:
        if y.shape[0] != n_rows:
            raise ValueError(f"X and y must have as many rows; got {n_rows} and {y.shape[0]}.")
        if is_column(y):
            return [[label] for label in as_labels(np.asarray(y)[:, 0], n_rows)], None
        table = sparse.csr_array(y)
        table.eliminate_zeros()
        if not (table.data == 1).all():
            raise ValueError("an indicator matrix y holds 0 and 1 only; got other values.")
        indices, ends = table.indices.tolist(), table.indptr.tolist()
        return [sorted(indices[a:b]) for a, b in pairwise(ends)], y.shape[1]
    if isinstance(y, str | bytes) or not hasattr(y, "__iter__"):
        raise ValueError(f"y must hold a collection of labels per row; got {y!r}.")
    sets = []
    for labels in y:
        if isinstance(labels, str | bytes) or not hasattr(labels, "__iter__"):
            raise ValueError(
                f"each y must be a collection of labels, such as a set or a list; got {labels!r}. "
                "For one label per row use hinged.Classifier."
            )
        labels = list(labels)
        _check_labels(labels)
        sets.append(in_order(labels))
    if len(sets) != n_rows:
        raise ValueError(f"X and y must have as many rows; got {n_rows} rows and {len(sets)} label sets.")
    return sets, None


class LabelIndex:
    """The known labels and their positions.

    Examples
    --------
    >>> index = LabelIndex(["a", "b"])
    >>> ids, new = index.encode(["b", "c", "a", "c"], [1, 1, 1, 1])
    >>> ids.tolist(), new
    ([1, 2, 0, 2], ['c'])
    """

    def __init__(self, labels: Iterable[Hashable] = ()) -> None:
        self.labels: list[Hashable] = list(labels)
        self.position = {label: i for i, label in enumerate(self.labels)}

    def __len__(self) -> int:
        return len(self.labels)

    def encode(
        self, labels: Sequence[Hashable], weights: Sequence[float] | np.ndarray | None
    ) -> tuple[np.ndarray, list[Hashable]]:
        """Positions of labels, and the new ones among them in order of appearance; a row of weight 0 adds none."""
        try:
            return np.fromiter(map(self.position.__getitem__, labels), np.int64, len(labels)), []
        except KeyError:
            pass
        position, new = dict(self.position), []
        ids = np.empty(len(labels), np.int64)
        for i, label in enumerate(labels):
            at = position.get(label, -1)
            if at < 0 and (weights is None or weights[i] > 0):
                at = position[label] = len(position)
                new.append(label)
            ids[i] = at
        return ids, new

    def extend(self, labels: Iterable[Hashable]) -> None:
        """Add labels at the end."""
        for label in labels:
            self.position[label] = len(self.labels)
            self.labels.append(label)

    def array(self) -> np.ndarray:
        """The labels as an array: of their own type where they share one, else of objects."""
        labels = list(self.labels)  # a writer may add some meanwhile
        kinds = {type(label) for label in labels}
        if len(kinds) == 1 and kinds <= {str, int, float, bool, bytes}:
            try:
                array = np.array(labels)
                if array.dtype != object and array.tolist() == labels:
                    return array
            except OverflowError:
                pass
        array = np.empty(len(labels), object)
        array[:] = labels
        return array
