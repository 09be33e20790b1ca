"""Values of JSON as learners take them (examples, labels, numbers, estimators), and labels as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Set
from typing import TypeGuard

import numpy as np
import orjson
from scipy.sparse import csr_array

from hinged.compiling.arrays import Floats
from hinged.estimators.files import KINDS
from hinged.estimators.labels import in_order
from hinged.estimators.learner import Learner
from hinged.io import from_json
from hinged.journal.estimator_settings import new_estimator, plain_settings

__all__ = ["ESTIMATORS", "as_label", "as_number", "as_row", "make_estimator", "plain"]

DEEPEST = 16  # levels of nesting; a journal may be read again with a smaller stack
WIDEST = 1 << 24  # columns: a single row must not make the server allocate a huge table
LARGEST_WEIGHT, LONGEST_KEY, LONGEST_LABEL = 1e6, 200, 1000
LARGEST_LABEL = 1 << 63  # many JSON readers cannot represent larger integers
SPARSE = {"indices", "values"}
ESTIMATORS = tuple(sorted(KINDS.keys() - {"Trials"}))  # Trials learns from matrices only
MARKS = {"number", "object", "groups", "array", "tuple", "dict", "dtype"}
MOST_BITS = 24


def as_row(x: object, width: int = 0) -> object:
    """Return an example as learners take it.

    Parameters
    ----------
    x : value of JSON
    width : minimum number of columns of a sparse row

    Examples
    --------
    >>> as_row("tax form"), as_row({"tax": 1.0}), as_row([1, 2]).dtype.name
    ('tax form', {'tax': 1.0}, 'float64')
    >>> as_row({"indices": [0, 3], "values": [1.0, 2.0]}, 5).toarray().tolist()
    [[1.0, 0.0, 0.0, 2.0, 0.0]]
    """
    _check_depth(x, DEEPEST)
    if type(x) is dict and x.keys() >= SPARSE and isinstance(x["indices"], list):
        return _sparse(x, width)
    if type(x) is list and x and _are_numbers(x):
        if len(x) > WIDEST:
            raise ValueError(f"a row has at most {WIDEST:,} columns; got {len(x):,}.")
        return _numbers(x)
    return x


def _check_depth(x: object, left: int) -> None:
    if not isinstance(x, dict | list):
        return
    if left == 0:
        raise ValueError(f"an example may nest lists and objects {DEEPEST} levels deep at most.")
    for one in x.values() if isinstance(x, dict) else x:
        if type(one) in (dict, list):
            _check_depth(one, left - 1)


def _are_numbers(values: list[object]) -> TypeGuard[list[float]]:
    return all(type(value) in (int, float) for value in values)


def _are_indices(values: list[object]) -> TypeGuard[list[int]]:
    return all(type(i) is int and 0 <= i < WIDEST for i in values)


def _numbers(values: list[float]) -> Floats:
    try:
        return np.array(values, np.float64)
    except OverflowError:
        raise ValueError("values must not exceed 1e30; got a larger integer. Scale the features down.") from None


def _sparse(x: dict[str, object], width: int) -> csr_array:
    if x.keys() - SPARSE - {"width"}:
        raise ValueError("a sparse row is {'indices': […], 'values': […]}, and optionally 'width'.")
    indices, values = _pairs(x["indices"], x["values"])
    least = max(indices, default=-1) + 1
    shape = (1, _asked_width(x.get("width", 0), least) or max(width, least, 1))
    return csr_array((_numbers(values), np.array(indices, np.int64), [0, len(indices)]), shape=shape)


def _pairs(indices: object, values: object) -> tuple[list[int], list[float]]:
    """Return the indices and the values of a sparse row, checked."""
    if not isinstance(indices, list) or not isinstance(values, list) or len(indices) != len(values):
        raise ValueError("the indices and the values of a sparse row must be lists of the same length.")
    if not _are_indices(indices):
        raise ValueError(f"the indices of a sparse row must be integers from 0 to {WIDEST - 1:,}.")
    if not _are_numbers(values):
        raise ValueError("the values of a sparse row must be numbers.")
    return indices, values


def _asked_width(asked: object, least: int) -> int:
    """Return the width that a sparse row asks for, checked; 0 if it asks for none."""
    if type(asked) is not int or (asked and not max(least, 1) <= asked <= WIDEST):
        raise ValueError(f"the width of a sparse row must be an integer above its indices, at most {WIDEST:,}.")
    return asked


def as_label(y: object) -> object:
    """Return a label, or a list of labels, that JSON can represent; None for no label (outlier detectors need none).

    Examples
    --------
    >>> as_label("work"), as_label([1, "a"])
    ('work', [1, 'a'])
    >>> as_label(10**30)
    Traceback (most recent call last):
    ...
    ValueError: a label that is a number must be finite and have at most 64 bits; give a larger one as text.
    """
    if type(y) is list:
        for one in y:
            _check_label(one, "a list that holds something else")
    elif y is not None:
        _check_label(y, "an object")
    return y


def _check_label(y: object, otherwise: str) -> None:
    if type(y) is str:
        if len(y) > LONGEST_LABEL:
            raise ValueError(f"a label has at most {LONGEST_LABEL:,} characters; got one of {len(y):,}.")
    elif type(y) is int or type(y) is float or type(y) is bool:
        if not -LARGEST_LABEL < y < LARGEST_LABEL:  # true of NaN as well
            raise ValueError(
                "a label that is a number must be finite and have at most 64 bits; give a larger one as text."
            )
    else:
        raise TypeError(f"a label is a text, a number, true or false, or a list of them; got {otherwise}.")


def as_number(y: object) -> float:
    """Return the target of a regression: a finite number.

    Examples
    --------
    >>> as_number(2)
    2.0
    """
    if not (type(y) is int or type(y) is float):
        raise TypeError("y must be a number; this model learns a regression.")
    try:
        value = float(y)
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        raise ValueError("y must be a finite number.")
    return value


def plain(value: object) -> object:
    """Return a label, a set of labels or a number as JSON has it; integers beyond 64 bits become strings.

    Examples
    --------
    >>> plain({"b", "a"}), plain(np.float64(0.5)), plain((1, b"x"))
    (['a', 'b'], 0.5, [1, 'x'])
    """
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, Set):
        value = in_order(value)
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return _plain_one(value)


def _plain_one(value: object) -> object:
    if isinstance(value, int) and not -LARGEST_LABEL <= value < LARGEST_LABEL:
        return str(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, str):  # may contain a lone surrogate, which UTF-8 cannot encode
        return value.encode("utf-8", "replace").decode()
    return value


def make_estimator(kind: str, settings: Mapping[str, object]) -> Learner:
    """Return an unfitted estimator; settings that it would refuse later are refused now.

    Examples
    --------
    >>> make_estimator("Classifier", {"rule": "pa2", "C": 0.5}).get_params()["rule"]
    'pa2'
    >>> make_estimator("Classifier", {"rule": {"object": "Mira", "with": {"beta": 0.5}}}).rule
    Mira(beta=0.5, cap=inf)
    """
    if kind not in ESTIMATORS:
        raise ValueError(f"estimator must be one of {', '.join(ESTIMATORS)}; got {kind!r}.")
    known = new_estimator(kind, {}).get_params(deep=False)
    if unknown := [name for name in settings if name not in known]:
        raise ValueError(f"{unknown[0]} is not a setting of {kind}; its settings are {', '.join(known)}.")
    _check_range(settings, "n_features", WIDEST)
    _check_range(settings, "bits", MOST_BITS)
    try:
        given = {name: _setting(name, value) for name, value in settings.items()}
        tried = _tried(kind, given)
    except (AttributeError, KeyError, IndexError, TypeError, OverflowError) as problem:
        raise ValueError(f"these settings of {kind} are invalid: {problem}.") from problem
    try:
        orjson.dumps(plain_settings(tried))  # status must be able to show them
    except TypeError as problem:
        raise ValueError(f"these settings of {kind} cannot be shown as JSON: {problem}.") from None
    return new_estimator(kind, given)


def _check_range(settings: Mapping[str, object], name: str, most: int) -> None:
    value = settings.get(name)
    if value is not None and not (type(value) is int and 1 <= value <= most):
        raise ValueError(f"{name} must be an integer from 1 to {most:,} here; got {value!r}.")


def _tried(kind: str, settings: Mapping[str, object]) -> Learner:
    """Return an estimator whose settings have been used once."""
    tried = new_estimator(kind, settings)
    tried.check_settings()
    if kind.startswith("Text"):
        tried.text_space_.fit(["a text"])
    as_label(list(getattr(tried, "order", None) or ()))
    return tried


def _setting(name: str, value: object) -> object:
    """Return a setting as Python has it: lists become tuples, objects are encoded as in model files."""
    if isinstance(value, list):
        return tuple(_setting(name, one) for one in value)
    if not isinstance(value, dict):
        return value
    if "callable" in value:
        raise ValueError(f"{name} is a function; functions cannot be sent.")
    return from_json(name, value, {}) if value.keys() & MARKS else value
