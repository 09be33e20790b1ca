"""Several right labels per row: collections of labels, or an indicator matrix whose columns stand for labels."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import islice, pairwise
from numbers import Real
from typing import NamedTuple

import numpy as np
from scipy import sparse

from hinged.estimators.inputs import is_sparse
from hinged.estimators.labels import as_labels, check_labels, given, in_order

__all__ = ["LabelSets", "as_label_sets"]

HINT = "For labels by name give a collection of labels per row, such as a list of sets."


class LabelSets(NamedTuple):
    """The right labels of each row, and what y looked like."""

    sets: list[list[Hashable]]
    columns: dict[Hashable, Hashable] | None = None  # of an indicator matrix: each column's name and its label
    single: bool = False  # whether y is one column of labels


def as_label_sets(
    y: object, n_rows: int, columns: dict[Hashable, Hashable] | None = None, single: bool = False
) -> LabelSets:
    """The right labels of each row.

    Parameters
    ----------
    y : collections of labels, an indicator matrix, or one column of labels
    n_rows : how many rows there are
    columns : columns and labels of earlier indicator matrices, None where there was none
    single : whether earlier answers were one column of labels
    """
    names = list(y.columns) if hasattr(y, "columns") else None
    answers, framed = given(y)
    if getattr(answers, "ndim", 1) == 2:
        table = answers if is_sparse(answers) else np.asarray(answers)
        if table.shape[0] != n_rows:
            raise ValueError(f"X and y must have as many rows; got {n_rows} and {table.shape[0]}.")
        if table.shape[1] == 1 and not is_sparse(table) and (single or _other_value(table)):
            return _one_column(table[:, 0], framed)
        return _by_columns(table, names, columns)
    if isinstance(answers, str | bytes) or not hasattr(answers, "__iter__"):
        raise ValueError(f"y must hold a collection of labels per row; got {answers!r}.")
    sets = [_one_set(labels) for labels in answers]
    if len(sets) != n_rows:
        raise ValueError(f"X and y must have as many rows; got {n_rows} rows and {len(sets)} label sets.")
    return LabelSets(sets)


def _one_column(column: np.ndarray, framed: bool) -> LabelSets:
    """One right label for each row, all of them in one column."""
    labels = as_labels(column, len(column))
    check_labels(labels, framed)
    return LabelSets([[label] for label in labels], None, True)


def _by_columns(
    table: np.ndarray | sparse.sparray, names: list[Hashable] | None, known: dict[Hashable, Hashable] | None
) -> LabelSets:
    """The labels that the columns of an indicator matrix stand for, where it has ones."""
    ones = _ones(table)
    columns = _matched(table.shape[1], names, known)
    labels = list(columns.values()) if names is None else [columns[name] for name in names]
    return LabelSets([in_order(labels[c] for c in row) for row in ones], columns)


def _one_set(labels: object) -> list[Hashable]:
    if isinstance(labels, str | bytes) or not hasattr(labels, "__iter__"):
        raise ValueError(
            f"each y must be a collection of labels, such as a set or a list; got {labels!r}. "
            "For one label per row use hinged.Classifier."
        )
    if isinstance(labels, Mapping):
        raise TypeError(f"each y must hold the right labels alone; got a dict, {labels!r}. Give a set of those.")
    told: list[Hashable] = labels.tolist() if hasattr(labels, "tolist") else list(labels)
    check_labels(told)
    distinct = in_order(told)
    if len(distinct) < len(told) and set(distinct) <= {0, 1}:
        raise ValueError(
            f"each y must be a collection of labels; got {told!r}, which looks like a row of an indicator matrix. "
            "Give the whole matrix as an array."
        )
    return distinct


def _ones(table: np.ndarray | sparse.sparray) -> list[list[int]]:
    """Where the ones of an indicator matrix stand, row by row."""
    if isinstance(table, np.ndarray):
        for value in _other_value(table):
            raise ValueError(f"an indicator matrix y holds 0 and 1 only; got {value!r}. {HINT}")
        table = table.astype(bool)
    found = sparse.csr_array(table)
    found.sum_duplicates()
    found.eliminate_zeros()
    if not (found.data == 1).all():
        raise ValueError(f"an indicator matrix y holds 0 and 1 only; got {found.data[found.data != 1][0]}. {HINT}")
    return [found.indices[a:b].tolist() for a, b in pairwise(found.indptr.tolist())]


def _other_value(table: np.ndarray) -> list[object]:
    """The first value that is neither 0 nor 1; nothing where there is none."""
    if table.dtype.kind in "biuf":
        return table[(table != 0) & (table != 1)][:1].tolist()
    found = (v for v in table.ravel().tolist() if not isinstance(v, Real | np.bool_) or v not in (0, 1))
    return [*islice(found, 1)]


def _check_names(names: list[Hashable], width: int) -> None:
    check_labels(names)
    if len(set(names)) != width:
        raise ValueError(f"the columns of y stand for labels and need names of their own; got {names!r}.")


def _matched(
    width: int, names: list[Hashable] | None, known: dict[Hashable, Hashable] | None
) -> dict[Hashable, Hashable]:
    """The columns and their labels: those of earlier matrices, if these are the same, else each its own name."""
    if names is not None:
        _check_names(names, width)
    if known is None:
        return {name: name for name in (range(width) if names is None else names)}
    if width != len(known):
        raise ValueError(f"y has {width} columns, but earlier ones had {len(known)}.")
    if names is not None and set(names) != set(known):
        raise ValueError(f"the columns of y must keep their names; got {names!r}, earlier ones were {list(known)!r}.")
    return known
