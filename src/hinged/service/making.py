"""Estimators made from JSON."""

from __future__ import annotations

from typing import Any

import orjson

from hinged.estimators.files import KINDS
from hinged.io import from_json
from hinged.journal.estimator_settings import plain_settings
from hinged.service.values import WIDEST, as_label

__all__ = ["ESTIMATORS", "make_estimator"]

ESTIMATORS = tuple(sorted(KINDS.keys() - {"Trials"}))  # Trials learns from matrices only
MARKS = {"number", "object", "groups", "array", "tuple", "dict", "dtype"}
MOST_BITS = 24


def make_estimator(kind: str, settings: dict[str, Any]) -> Any:
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
    known = KINDS[kind]().get_params(deep=False)
    unknown = [name for name in settings if name not in known]
    if unknown:
        raise ValueError(f"{unknown[0]} is not a setting of {kind}; its settings are {', '.join(known)}.")
    for name, most in (("n_features", WIDEST), ("bits", MOST_BITS)):
        value = settings.get(name)
        if value is not None and not (type(value) is int and 1 <= value <= most):
            raise ValueError(f"{name} must be an integer from 1 to {most:,} here; got {value!r}.")
    try:
        given = {name: _setting(name, value) for name, value in settings.items()}
        tried: Any = KINDS[kind](**given)
        tried.check_settings()
        if kind.startswith("Text"):
            tried.text_space_.fit(["a text"])
        as_label(list(given.get("order") or ()))
    except (AttributeError, KeyError, IndexError, TypeError, OverflowError) as problem:
        raise ValueError(f"these settings of {kind} are invalid: {problem}.") from problem
    try:
        orjson.dumps(plain_settings(tried))  # status must be able to show them
    except TypeError as problem:
        raise ValueError(f"these settings of {kind} cannot be shown as JSON: {problem}.") from None
    return KINDS[kind](**given)


def _setting(name: str, value: Any) -> Any:
    """Return a setting as Python has it: lists become tuples, objects are encoded as in model files."""
    if isinstance(value, list):
        return tuple(_setting(name, one) for one in value)
    if not isinstance(value, dict):
        return value
    if "callable" in value:
        raise ValueError(f"{name} is a function; functions cannot be sent.")
    return from_json(name, value, {}) if value.keys() & MARKS else value
