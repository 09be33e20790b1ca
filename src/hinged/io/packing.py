"""Labels and names as bytes, and back: only plain values, never code."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Iterable
from itertools import pairwise
from typing import Any

import numpy as np

__all__ = ["from_plain", "pack", "to_plain", "unpack"]

LONGEST_INT = 4300  # digits; Python reads no longer ones from text, lest a stranger's file keep it busy
LARGEST_INT = 10**LONGEST_INT
KINDS = "str, int, float, bool, None, bytes, or tuples of them"


def pack(values: Iterable[Hashable], what: str) -> tuple[np.ndarray, np.ndarray]:
    """Values as one run of bytes and the offsets between them.

    Examples
    --------
    >>> unpack(*pack(["a", 1, (None, True), b"x"], "labels"))
    ['a', 1, (None, True), b'x']
    """
    texts = (json.dumps(to_plain(value, what), ensure_ascii=False) for value in values)
    pieces = [text.encode("utf-8", "surrogatepass") for text in texts]
    offsets = np.zeros(len(pieces) + 1, np.int64)
    np.cumsum([len(piece) for piece in pieces], out=offsets[1:])
    return np.frombuffer(b"".join(pieces), np.uint8), offsets


def unpack(data: np.ndarray, offsets: np.ndarray) -> list[Hashable]:
    """The values that `pack` took."""
    run = data.tobytes()
    ends = offsets.tolist()
    return [from_plain(json.loads(run[a:b].decode("utf-8", "surrogatepass"))) for a, b in pairwise(ends)]


def to_plain(value: Any, what: str) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if type(value) is int and abs(value) >= LARGEST_INT:
        raise ValueError(
            f"{what} that are whole numbers can be saved up to {LONGEST_INT:,} digits; got one of about "
            f"{int(value.bit_length() * math.log10(2)) + 1:,}. Rename that one, or pickle the model."
        )
    if value is None or type(value) in (str, bool, int):
        return value
    if type(value) is float:
        return {"float": value.hex()}
    if type(value) is bytes:
        return {"bytes": value.hex()}
    if type(value) is tuple:
        return {"tuple": [to_plain(item, what) for item in value]}
    raise TypeError(f"{what} can be saved where they are {KINDS}; got {value!r}. Rename that one, or pickle the model.")


def from_plain(plain: Any) -> Any:
    if isinstance(plain, dict):
        ((kind, content),) = plain.items()
        if kind == "float":
            return float.fromhex(content)
        if kind == "bytes":
            return bytes.fromhex(content)
        return tuple(from_plain(item) for item in content)
    return plain
