"""Labels, names and settings as JSON, and back: plain values and our own small objects, never code."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import fields
from functools import singledispatch
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from hinged.geometry import Adaptive, Entropy, HalfLife
from hinged.mercer import Budget, Centred, Fourier, Gaussian, Linear, Polynomial, Products
from hinged.rules import Mira, Optimal
from hinged.sharing import Distance, Evidence, First, Frequency, Groups, Tfidf
from hinged.tasks.cost import Tree

__all__ = ["from_json", "from_plain", "pack", "to_json", "to_plain", "unpack"]

LONGEST_INT = 4300  # digits; Python converts no longer ones from text, so that a stranger's file cannot keep it busy
LARGEST_INT = 10**LONGEST_INT
PLAIN = (str, int, bool, type(None))  # written in JSON as they are
LABELS = "str, int, float, bool, None, bytes, or tuples of them"
KINDS = (
    *(Mira, Optimal, Entropy, Adaptive, HalfLife, First, Frequency, Distance, Tfidf, Evidence, Tree, Budget),
    *(Centred, Fourier, Gaussian, Linear, Polynomial, Products),
)
OBJECTS: dict[str, Callable[..., object]] = {kind.__name__: kind for kind in KINDS}
FIELDS: dict[type, list[str]] = {kind: [field.name for field in fields(kind)] for kind in KINDS}
Marked: TypeAlias = dict[str, Any]  # the JSON form of what JSON lacks: a key says what it is, and what the others are


# ------------------------------------------------------------------ labels and names
def to_plain(value: object, what: str) -> object:
    """Return the JSON form of a label or a name; `what` names it in errors."""
    if isinstance(value, np.generic):
        value = value.item()
    if type(value) is int:
        _check_digits(value, what)
    if type(value) in PLAIN:
        return value
    if type(value) is float or type(value) is bytes:
        return {type(value).__name__: value.hex()}
    if type(value) is tuple:
        return {"tuple": [to_plain(item, what) for item in value]}
    raise TypeError(
        f"{what} can be saved where they are {LABELS}; got {value!r}. Rename that one, or pickle the model."
    )


def _check_digits(value: int, what: str) -> None:
    if abs(value) >= LARGEST_INT:
        raise ValueError(
            f"{what} that are whole numbers can be saved up to {LONGEST_INT:,} digits; got one of about "
            f"{int(value.bit_length() * math.log10(2)) + 1:,}. Rename that one, or pickle the model."
        )


def from_plain(plain: object) -> Hashable:
    """Return the label or name of a JSON form."""
    if not isinstance(plain, dict):
        return plain
    ((kind, content),) = plain.items()
    if kind == "float":
        return float.fromhex(content)
    if kind == "bytes":
        return bytes.fromhex(content)
    return tuple(from_plain(item) for item in content)


def pack(values: Iterable[Hashable], what: str) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Return labels or names as one run of bytes, and the offsets between them.

    Examples
    --------
    >>> unpack(*pack(["a", 1, (None, True), b"x"], "labels"))
    ['a', 1, (None, True), b'x']
    """
    pieces = [json.dumps(to_plain(v, what), ensure_ascii=False).encode("utf-8", "surrogatepass") for v in values]
    return np.frombuffer(b"".join(pieces), np.uint8), np.cumsum([0, *map(len, pieces)])


def unpack(data: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64]) -> list[Hashable]:
    """Return the values that `pack` was given."""
    run = data.tobytes()
    return [from_plain(json.loads(run[a:b].decode("utf-8", "surrogatepass"))) for a, b in pairwise(offsets.tolist())]


# ------------------------------------------------------------------ settings
def to_json(name: str, value: object) -> object:
    """Return the JSON form of a setting."""
    if name == "device" and not (isinstance(value, str) and value == "cpu"):
        return "auto"  # the file may be read on a machine without this device
    return value if type(value) in PLAIN else _encoded(value, name)


@singledispatch
def _encoded(value: object, name: str) -> object:
    """Return the JSON form of a setting, by its type; of a function, the name alone."""
    if type(value) in FIELDS:
        own = {field: to_json(field, getattr(value, field)) for field in FIELDS[type(value)]}
        return {"object": type(value).__name__, "with": own}
    if callable(value):
        return {"callable": getattr(value, "__name__", type(value).__name__)}
    raise TypeError(f"the setting {name}={value!r} cannot be saved; pickle the model instead.")


def _array_as_json(value: np.ndarray, name: str) -> Marked:
    if value.dtype.kind not in "biuf":
        raise TypeError(f"the setting {name}={value!r} cannot be saved; pickle the model instead.")
    return {"array": value.tolist(), "dtype": value.dtype.name}


def _groups_as_json(value: Groups, name: str) -> Marked:
    sets = [[to_plain(label, "labels") for label in sorted(s, key=repr)] for s in value.sets]
    return {"groups": sets, "features": [to_json(name, f) for f in value.features] if value.features else None}


#: From types of settings to the function that encodes them, and their subclasses.
ENCODERS: dict[tuple[type, ...], Callable[[Any, str], object]] = {
    (type(None), str, int): lambda value, name: value,
    (float,): lambda value, name: value if math.isfinite(value) else {"number": str(value)},
    (np.generic,): lambda value, name: _encoded(value.item(), name),
    (np.ndarray,): _array_as_json,
    (tuple, list): lambda value, name: {"tuple": [to_json(name, item) for item in value]},
    (dict,): lambda value, name: {"dict": [[to_plain(k, name), to_json(name, v)] for k, v in value.items()]},
    (type, np.dtype): lambda value, name: {"dtype": np.dtype(value).name},
    (np.random.RandomState,): lambda value, name: None,
    (Groups,): _groups_as_json,
}
for kinds, encoder in ENCODERS.items():
    for kind in kinds:
        _encoded.register(kind)(encoder)


def from_json(name: str, plain: object, given: Mapping[str, object]) -> Any:
    """Return the setting of a JSON form; functions come from `given`, what the caller passed to `load`."""
    if name in given:
        if '"callable"' not in json.dumps(plain):
            raise ValueError(f"this model was saved with {name}={plain!r}, which is not a function; leave {name} out.")
        return given[name]
    if not isinstance(plain, dict):
        return plain
    for kind, decoded in DECODERS.items():
        if kind in plain:
            return decoded(plain, name, given)
    raise ValueError(
        f"this model was saved with {name}={plain['callable']}, a function, and a file holds no code; "
        f"pass it again: hinged.load(path, {name}={plain['callable']})."
    )


def _groups_of(plain: Marked, name: str, given: Mapping[str, object]) -> Groups:
    features = plain["features"]
    sets = [{from_plain(label) for label in s} for s in plain["groups"]]
    return Groups(sets, None if features is None else [from_json(name, f, {}) for f in features])


#: From the key that marks a kind of setting to the function that decodes it.
DECODERS: dict[str, Callable[[Marked, str, Mapping[str, object]], object]] = {
    "number": lambda plain, name, given: float(plain["number"]),
    "object": lambda plain, name, given: OBJECTS[plain["object"]](
        **{k: from_json(k, v, given) for k, v in plain["with"].items()}
    ),
    "groups": _groups_of,
    "array": lambda plain, name, given: np.array(plain["array"], plain["dtype"]),
    "tuple": lambda plain, name, given: tuple(from_json(name, item, given) for item in plain["tuple"]),
    "dict": lambda plain, name, given: {from_plain(k): from_json(name, v, given) for k, v in plain["dict"]},
    "dtype": lambda plain, name, given: np.dtype(plain["dtype"]).type,
}
