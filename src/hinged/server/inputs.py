"""JSON as examples: texts, documents with fields, dicts of numbers, dense and sparse rows, sentences."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["as_label", "as_row"]

WIDEST = 1 << 24  # columns: memory for a table of them is the server's, a row is anybody's
LARGEST_WEIGHT, LONGEST_KEY = 1e6, 200
SPARSE = {"indices", "values"}
PLAIN = (str, int, float, bool)


def as_row(x: Any, width: int = 0) -> Any:
    """An example as learners take it.

    Parameters
    ----------
    x : as JSON has it
    width : columns a sparse row has at least

    Examples
    --------
    >>> as_row("tax form"), as_row({"tax": 1.0}), as_row([1, 2]).dtype.name
    ('tax form', {'tax': 1.0}, 'float64')
    >>> as_row({"indices": [0, 3], "values": [1.0, 2.0]}, 5).toarray().tolist()
    [[1.0, 0.0, 0.0, 2.0, 0.0]]
    """
    if type(x) is dict:
        if x.keys() >= SPARSE and isinstance(x["indices"], list):
            return _sparse(x, width)
        return x
    if type(x) is list and x and all(type(value) in (int, float) for value in x):
        if len(x) > WIDEST:
            raise ValueError(f"a row has at most {WIDEST:,} columns; got {len(x):,}.")
        return np.array(x, np.float64)
    return x


def _sparse(x: dict[str, Any], width: int) -> Any:
    from scipy.sparse import csr_array

    if x.keys() - SPARSE - {"width"}:
        raise ValueError("a sparse row is {'indices': […], 'values': […]}, with 'width' where it matters.")
    indices, values = x["indices"], x["values"]
    if not isinstance(values, list) or len(indices) != len(values):
        raise ValueError("the indices and the values of a sparse row must be lists of one length.")
    if not all(type(i) is int and 0 <= i < WIDEST for i in indices):
        raise ValueError(f"the indices of a sparse row must be whole numbers from 0 to {WIDEST - 1:,}.")
    if not all(type(value) in (int, float) for value in values):
        raise ValueError("the values of a sparse row must be numbers.")
    asked = x.get("width", 0)
    if type(asked) is not int or not 0 <= asked <= WIDEST or (asked and indices and max(indices) >= asked):
        raise ValueError(f"the width of a sparse row must be a whole number above its indices, at most {WIDEST:,}.")
    shape = (1, asked or max(width, max(indices, default=0) + 1))
    return csr_array((np.array(values, np.float64), np.array(indices, np.int64), [0, len(indices)]), shape=shape)


def as_label(y: Any) -> Any:
    """A label, or a list of them, as learners take it; null stands for no answer (outlier detectors need none).

    Examples
    --------
    >>> as_label("work"), as_label([1, "a"])
    ('work', [1, 'a'])
    """
    if y is None or type(y) in PLAIN or (type(y) is list and all(type(one) in PLAIN for one in y)):
        return y
    raise TypeError(f"a label is a text, a number, true or false, or a list of them; got {_named(y)}.")


def _named(y: Any) -> str:
    return "an object" if isinstance(y, dict) else "a list that holds something else"
