"""An estimator's settings as JSON: plain values as they are, our own small objects and callables by name."""

from __future__ import annotations

import json
import math
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from hinged.geometry import Entropy
from hinged.io.packing import from_plain, to_plain
from hinged.mercer import Budget, Centred, Gaussian, Linear, Polynomial
from hinged.rules import Mira, Optimal
from hinged.sharing import Distance, First, Frequency, Groups, Tfidf
from hinged.tasks.cost import Tree

__all__ = ["from_json", "to_json"]

KINDS = (Mira, Optimal, Entropy, First, Frequency, Distance, Tfidf, Tree, Budget, Centred, Gaussian, Linear, Polynomial)
OBJECTS = {kind.__name__: kind for kind in KINDS}


def to_json(name: str, value: Any) -> Any:
    """A setting's JSON form."""
    if name == "device" and not (isinstance(value, str) and value == "cpu"):
        return "auto"  # a file may be read where there is no such device
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": str(value)}
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if is_dataclass(value) and not isinstance(value, type) and type(value).__name__ in OBJECTS:
        held = {field.name: getattr(value, field.name) for field in fields(value)}
        return {"object": type(value).__name__, "with": {k: to_json(k, v) for k, v in held.items()}}
    if isinstance(value, Groups):
        sets = [[to_plain(label, "labels") for label in sorted(s, key=repr)] for s in value.sets]
        return {"groups": sets, "features": [to_json(name, f) for f in value.features] if value.features else None}
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        return {"array": value.tolist(), "dtype": value.dtype.name}
    if isinstance(value, tuple | list):
        return {"tuple": [to_json(name, item) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[to_plain(k, name), to_json(name, v)] for k, v in value.items()]}
    if isinstance(value, type | np.dtype):
        return {"dtype": np.dtype(value).name}
    if callable(value):
        return {"callable": getattr(value, "__name__", type(value).__name__)}
    if isinstance(value, np.random.RandomState):
        return None
    raise TypeError(f"the setting {name}={value!r} cannot be saved; pickle the model instead.")


def from_json(name: str, plain: Any, given: dict[str, Any]) -> Any:
    """The setting of a JSON form; callables come from `given`, what the caller passed to `load`."""
    asked = '"callable"' in json.dumps(plain)
    if name in given and asked:
        return given[name]
    if name in given:
        raise ValueError(f"this model was saved with {name}={plain!r}, which is no function; leave {name} out.")
    if not isinstance(plain, dict):
        return plain
    if "number" in plain:
        return float(plain["number"])
    if "object" in plain:
        return OBJECTS[plain["object"]](**{k: from_json(k, v, given) for k, v in plain["with"].items()})
    if "groups" in plain:
        sets = [{from_plain(label) for label in s} for s in plain["groups"]]
        features = plain["features"]
        return Groups(sets, None if features is None else [from_json(name, f, {}) for f in features])
    if "array" in plain:
        return np.array(plain["array"], plain["dtype"])
    if "tuple" in plain:
        return tuple(from_json(name, item, given) for item in plain["tuple"])
    if "dict" in plain:
        return {from_plain(k): from_json(name, v, given) for k, v in plain["dict"]}
    if "dtype" in plain:
        return np.dtype(plain["dtype"]).type
    raise ValueError(
        f"this model was saved with {name}={plain['callable']}, a function, and a file holds no code; "
        f"pass it again: hinged.load(path, {name}={plain['callable']})."
    )
