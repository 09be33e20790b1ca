"""Labels: any hashable value, in a fixed order, new ones at any time."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import pairwise
from typing import Any

import numpy as np

__all__ = [
    "LabelIndex",
    "Numbers",
    "as_array",
    "as_labels",
    "check_labels",
    "given",
    "in_order",
    "to_declare",
    "without_rival",
]


def in_order(labels: Iterable[Hashable]) -> list[Hashable]:
    """Distinct labels, sorted where they can be compared, else by the names of their types and by how they are written.

    Examples
    --------
    >>> in_order(["b", "a", "b"]), in_order(["a", None, 2])
    (['a', 'b'], [None, 2, 'a'])
    """
    distinct = list(dict.fromkeys(labels))
    try:
        ordered: list[Any] = sorted(distinct)  # type: ignore[type-var]
        if all(a < b for a, b in pairwise(ordered)):  # frozensets compare too, but by inclusion, which is no order
            return ordered
    except TypeError:
        pass
    return sorted(distinct, key=_written)


def _written(label: Hashable) -> tuple[str, Any]:
    """What labels that cannot be compared are sorted by: the same in every process, whatever its hash seed."""
    kind = type(label)
    if isinstance(label, tuple):
        return kind.__name__, [_written(item) for item in label]
    if isinstance(label, frozenset):
        return kind.__name__, sorted(map(_written, label))
    return kind.__name__, "" if kind.__repr__ is object.__repr__ else repr(label)  # an address is no way to write it


def as_labels(y: object, n_rows: int) -> Sequence[Hashable]:
    """One label per row, as plain Python values; whole numbers stay in their array until they are looked at.

    None is a label like any other, except in a data frame's column, where it stands for a label that is missing.
    """
    answers, framed = given(y)
    if isinstance(answers, str | bytes) or not hasattr(answers, "__iter__"):
        raise ValueError(f"y must hold one label per row; got {answers!r}. Put the labels in a list.")
    column = _one_column(answers)
    array = column if isinstance(column, np.ndarray) else None
    kind = "O" if array is None else array.dtype.kind
    labels = Numbers(array) if array is not None and kind in "iu" and not framed else _listed(column)
    if len(labels) != n_rows:
        raise ValueError(f"X and y must have as many rows; got {n_rows} rows and {len(labels)} labels.")
    if kind in "biuU" and not framed:  # nothing can be wrong with these
        return labels
    check_labels(labels, framed)
    if array is not None and kind == "f" and np.isinf(array).any():
        raise ValueError("Input y contains infinity. A label that is a number must be finite; name it otherwise.")
    return labels


def _one_column(y: Iterable[Any]) -> Iterable[Any]:
    """Answers in one dimension, also where they come as a matrix of one column."""
    n_dims, shape = getattr(y, "ndim", 1), getattr(y, "shape", None)
    if n_dims == 2 and shape is not None and shape[1] == 1:
        from sklearn.utils.validation import column_or_1d

        return column_or_1d(y, warn=True)
    if n_dims != 1:
        raise ValueError(f"y should be a 1d array, one label per row; got an array of shape {shape} instead.")
    return y


def to_declare(labels: object) -> list[Hashable]:
    """Labels given to be made known, in order."""
    if isinstance(labels, str | bytes) or not hasattr(labels, "__iter__"):
        raise TypeError(f"labels to be declared come in a list; got {labels!r}. Use [{labels!r}].")
    listed = _listed(labels)
    return in_order(as_labels(listed, len(listed)))


def _listed(labels: Iterable[Any]) -> list[Any]:
    """Labels as plain Python values, whatever library holds them."""
    for road in ("tolist", "to_list", "to_pylist"):
        if hasattr(labels, road):
            return getattr(labels, road)()
    return list(labels)


def check_labels(labels: Sequence[object], framed: bool = False) -> None:
    """A label is hashable and equals itself; in a data frame's column None is no label."""
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
        if _is_missing(label) or (framed and label is None):
            what = "NaN" if isinstance(label, float | np.floating) else repr(label)
            raise ValueError(
                f"Input y contains {what}: that label is missing. Drop such rows, or give the label a name of its own."
            )


def _is_missing(label: object) -> bool:
    """Return True if a label, or a part of it, does not equal itself: NaN, NaT, pandas' NA."""
    if isinstance(label, tuple | frozenset):
        return any(map(_is_missing, label))
    try:
        return bool(label != label)
    except TypeError:  # NA says neither yes nor no
        return True


def given(y: object) -> tuple[object, bool]:
    """The answers, as an array where they come wrapped in something that can be one; whether from a data frame."""
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    if isinstance(y, Set | Mapping) and not hasattr(y, "shape"):  # some sparse matrices are dicts too
        raise TypeError(
            f"y must hold its answers in the order of the rows; got a {type(y).__name__}, which is not tied to them. "
            "Use a list."
        )
    if _may_lack_some(y):
        return y, True
    framed = hasattr(y, "columns") and hasattr(y, "__array__")
    wrapped = framed or (hasattr(y, "__array__") and not hasattr(y, "__iter__"))
    return np.asarray(y) if wrapped else y, framed or hasattr(y, "to_list") or hasattr(y, "to_pylist")


def _may_lack_some(y: object) -> bool:
    """Return True for arrays that, as a list, hold None where nothing is."""
    return isinstance(y, np.ma.MaskedArray) or (isinstance(y, np.ndarray) and y.dtype.kind in "mM")


class Numbers(Sequence[Hashable]):
    """Labels that are whole numbers, in the array they came in: a table finds their positions faster than a dict."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, at: Any) -> Any:
        found = self.array[at]
        return Numbers(found) if isinstance(found, np.ndarray) else found.item()

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.array.tolist())


class LabelIndex:
    """The known labels and their positions.

    `labels` is replaced whole when some are added: a reader takes it once and keeps it while a writer adds more.

    Examples
    --------
    >>> index = LabelIndex(["a", "b"])
    >>> ids, new = index.encode(["b", "c", "a", "c"], [1, 1, 1, 1])
    >>> ids.tolist(), new
    ([1, 2, 0, 2], ['c'])
    """

    def __init__(self, labels: Iterable[Hashable] = ()) -> None:
        self.labels: tuple[Hashable, ...] = tuple(labels)
        self.position = {label: i for i, label in enumerate(self.labels)}

    def __len__(self) -> int:
        return len(self.labels)

    def find(self, label: Hashable) -> int:
        """The position of a label; a ValueError names the known ones."""
        (label,) = as_labels([label], 1)
        at = self.position.get(label, -1)
        if not 0 <= at < len(self.labels):
            raise ValueError(f"label {label!r} is not known; known are {list(self.labels[:10])!r}.")
        return at

    def now(self) -> LabelIndex:
        """The labels of this moment, for a reader: what a writer adds later is not among them."""
        twin = object.__new__(LabelIndex)
        twin.labels, twin.position = self.labels, self.position
        return twin

    def encode(
        self, labels: Sequence[Hashable], weights: Sequence[float] | np.ndarray | None
    ) -> tuple[np.ndarray, list[Hashable]]:
        """Positions of labels, and the new ones among them in order of appearance; a row of weight 0 adds none."""
        if isinstance(labels, Numbers) and (ids := self._by_table(labels.array)) is not None:
            return ids, []
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

    def _by_table(self, labels: np.ndarray) -> np.ndarray | None:
        """Positions of whole numbers that lie close together; None where they do not, or some are new."""
        low, high = (int(labels.min()), int(labels.max())) if len(labels) else (0, 0)
        if 16 * (high - low) >= len(labels) or max(high, -low) >= 1 << 62:
            return None
        table = np.array([self.position.get(label, -1) for label in range(low, high + 1)])
        ids = table[labels.astype(np.int64, copy=False) - low]
        return ids if ids.min() >= 0 else None

    def extend(self, labels: Iterable[Hashable]) -> None:
        """Add labels at the end."""
        n, new = len(self.labels), tuple(labels)
        self.position.update(zip(new, range(n, n + len(new)), strict=True))
        self.labels += new  # last: readers go by it

    def cut(self, n: int) -> None:
        """Forget all but the first `n` labels."""
        gone, self.labels = self.labels[n:], self.labels[:n]
        for label in gone:
            del self.position[label]

    def array(self) -> np.ndarray:
        """The labels as an array."""
        return as_array(self.labels)


def as_array(labels: Sequence[Hashable]) -> np.ndarray:
    """Labels as an array: of their own type where they share one, else of objects."""
    kinds = {type(label) for label in labels}
    if len(kinds) == 1 and kinds <= {str, int, float, bool, bytes}:
        try:
            array = np.array(labels)
            if array.dtype != object and array.tolist() == list(labels):
                return array
        except OverflowError:
            pass
    array = np.empty(len(labels), object)
    array[:] = labels
    return array


def without_rival(indptr: np.ndarray, labels: np.ndarray, n_known: int, delay: int = 0) -> np.ndarray:
    """Which rounds have no constraint: no label is right, or every label known when the row comes is.

    Parameters
    ----------
    indptr, labels : the right labels of each row, numbered by appearance; -1 for one that stays unknown
    n_known : labels known before the first row
    delay : how many rows later the answers come

    Examples
    --------
    >>> without_rival(np.array([0, 1, 1, 3, 4]), np.array([0, 0, 1, 0]), 1).tolist()
    [True, True, False, False]
    """
    n_right = np.diff(indptr)
    has_any = n_right > 0
    lowest, highest = np.zeros(len(n_right), np.int64), np.full(len(n_right), -1)
    if has_any.any():
        starts = indptr[:-1][has_any]
        lowest[has_any], highest[has_any] = np.minimum.reduceat(labels, starts), np.maximum.reduceat(labels, starts)
    met = np.maximum(n_known, np.maximum.accumulate(highest) + 1)  # after each row was learnt
    known = np.concatenate([np.full(delay + 1, n_known), met])[: len(n_right)]
    return ~has_any | ((n_right == known) & (highest < known) & (lowest >= 0))
