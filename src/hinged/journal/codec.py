"""Examples as bytes, and back: texts, documents with fields, dicts of features, dense and sparse rows; never code."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Hashable, Mapping, Set
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from hinged.estimators.labels import in_order
from hinged.io.values import from_plain, to_plain

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["Label", "decode", "encode", "label_from_text", "label_to_text"]

Label = Hashable | list[Hashable]  # one, or several

PLAIN, PACKED, PAIRS, ARRAY, SPARSE = b"j", b"z", b"p", b"a", b"s"
WORTH_PACKING = 200  # bytes; compressing fewer gains nothing


def encode(x: object) -> bytes:
    """Return an example as bytes.

    Examples
    --------
    >>> for x in ("tax form", {"subject": "tax", "body": "due"}, {"tax": 0.1}, {("a", 1): 2}, np.array([0.5])):
    ...     print(decode(encode(x)))
    tax form
    {'subject': 'tax', 'body': 'due'}
    {'tax': 0.1}
    {('a', 1): 2}
    [0.5]
    """
    if type(x) is str:
        return _packed(_text(x))
    if isinstance(x, Mapping):
        return _bytes_of_dict(x)
    if isinstance(x, np.ndarray) and x.ndim == 1 and x.dtype.kind in "biuf":
        return ARRAY + _header({"dtype": x.dtype.str}) + x.tobytes()
    if hasattr(x, "tocsr") and hasattr(x, "shape") and x.shape[0] == 1:
        return _bytes_of_sparse(x.tocsr())
    return _packed(_json(x))


def _bytes_of_dict(x: Mapping[Hashable, object]) -> bytes:
    if all(type(name) is str for name in x):
        return _packed(_json(dict(x)))
    return PAIRS + _json([[to_plain(name, "names of features"), _number(value)] for name, value in x.items()])


def _bytes_of_sparse(row: csr_array) -> bytes:
    about = {"dtype": row.data.dtype.str, "width": int(row.shape[1]), "n": len(row.data)}
    return SPARSE + _header(about) + row.indices.astype(np.int64).tobytes() + row.data.tobytes()


def _packed(text: bytes) -> bytes:
    return PACKED + zlib.compress(text, 1) if len(text) > WORTH_PACKING else PLAIN + text


def decode(data: bytes) -> object:
    """Return the example that `encode` was given; a sparse row becomes a SciPy row."""
    if data[:1] not in DECODERS:
        raise ValueError(f"an example of an unknown kind, {data[:1]!r}; it was written by a newer hinged.")
    return DECODERS[data[:1]](data[1:])


def _array_of(content: bytes) -> np.ndarray:
    about, values = _after_header(content)
    return np.frombuffer(values, about["dtype"]).copy()


def _sparse_row_of(content: bytes) -> csr_array:
    from scipy.sparse import csr_array

    about, arrays = _after_header(content)
    n = about["n"]
    indices, values = np.frombuffer(arrays, np.int64, n), np.frombuffer(arrays, about["dtype"], n, 8 * n).copy()
    return csr_array((values, indices, [0, n]), shape=(1, about["width"]))


#: From the first byte of an example to what decodes the others.
DECODERS: dict[bytes, Callable[[bytes], object]] = {
    PLAIN: json.loads,
    PACKED: lambda content: json.loads(zlib.decompress(content)),
    PAIRS: lambda content: {from_plain(name): value for name, value in json.loads(content)},
    ARRAY: _array_of,
    SPARSE: _sparse_row_of,
}


def label_to_text(y: object) -> str:
    """Return a label as text, the same for equal labels; several labels (a set, a list of tags) as a list.

    Examples
    --------
    >>> label_to_text("work"), label_to_text({"b", "a"}), label_from_text(label_to_text((1, None)))
    ('"work"', '{"list": ["a", "b"]}', (1, None))
    """
    if isinstance(y, Set):
        y = in_order(y)
    if isinstance(y, list | np.ndarray):
        plain: object = {"list": [to_plain(one, "labels") for one in y]}
    else:
        plain = to_plain(y, "labels")
    return json.dumps(plain)


def label_from_text(text: str) -> Label:
    """Return the label of `label_to_text`; several labels as a list."""
    plain = json.loads(text)
    if isinstance(plain, dict) and "list" in plain:
        return [from_plain(one) for one in plain["list"]]
    return from_plain(plain)


def _text(x: str) -> bytes:
    try:
        return orjson.dumps(x)
    except TypeError:  # a lone surrogate, which UTF-8 cannot encode
        return _json(x)


def _json(x: object) -> bytes:
    try:
        return json.dumps(x, default=_number, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError):
        raise TypeError(
            "a journal can store a text, a dict of field → text, a dict of feature → number, a list of these, a 1-D "
            f"array or a sparse row; got {type(x).__name__} that is, or contains, something else."
        ) from None


def _number(value: object) -> float:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, int | float):
        return value
    raise TypeError(f"{type(value).__name__} is not a number")


def _header(about: Mapping[str, object]) -> bytes:
    return json.dumps(about).encode() + b"\n"


def _after_header(content: bytes) -> tuple[dict[str, Any], bytes]:
    """Return what `_header` was given, and the bytes after it."""
    line, _, rest = content.partition(b"\n")
    return json.loads(line), rest
