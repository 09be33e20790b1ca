"""JSON without the package `json`, which imports `re`: that takes 5 ms and 1 MB, as much as Python's own start.

The parser and the quoting of strings are those of `json`, which has them in C; where they are missing, `json` is used.
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing takes longer than the rest of this file
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["decode", "encode"]


def encode(value: object) -> str:
    """Return JSON in ASCII of None, booleans, integers, strings, and of lists and dicts of them.

    Examples
    --------
    >>> encode({"command": ["pin", "é"], "columns": 80, "out": True})
    '{"command":["pin","\\\\u00e9"],"columns":80,"out":true}'
    """
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return _quote(value)
    if isinstance(value, dict):
        return "{" + ",".join([f"{_quote(name)}:{encode(one)}" for name, one in value.items()]) + "}"
    if isinstance(value, list):
        return "[" + ",".join([encode(one) for one in value]) + "]"
    raise TypeError(f"a {type(value).__name__} cannot be sent; send text, integers, booleans, lists and dicts.")


def decode(text: str) -> Any:
    """Return the value of JSON; raise ValueError if it is none.

    Examples
    --------
    >>> decode('{"out": "a line\\\\n"}')
    {'out': 'a line\\n'}
    """
    text = text.strip(" \t\r\n")
    try:
        value, end = _scan(text, 0)
    except StopIteration:
        end = -1
    if end != len(text):
        raise ValueError("this is not JSON.")
    return value


class _Plain:
    """What the scanner reads its settings from."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int = float, int

    @staticmethod
    def parse_constant(name: str) -> float:
        """Refuse NaN and Infinity, which are no JSON."""
        raise ValueError(f"{name} is not JSON.")


_quote: Callable[[str], str]
_scan: Callable[[str, int], tuple[Any, int]]
try:
    from _json import encode_basestring_ascii as _quote
    from _json import make_scanner

    _scan = make_scanner(_Plain)  # type: ignore[arg-type]
except ImportError:
    import json

    _quote, _scan = json.dumps, json.JSONDecoder(parse_constant=_Plain.parse_constant).raw_decode
