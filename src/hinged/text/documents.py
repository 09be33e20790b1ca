"""Documents from lists, dicts of fields, data frames and Arrow columns; the bytes of columns are not copied."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from hinged.compiling.arrays import Floats
from hinged.io.examples.chunk import Chunk, Strings
from hinged.text.rows import Documents

__all__ = ["as_documents", "side_by_side", "split_numbers", "tags_of"]

PANDAS_NULLS = ("NAType", "NaTType")
Whole = npt.NDArray[np.int64]
NUMERIC = ("int", "uint", "float", "halffloat", "double", "bool")  # how types of polars and Arrow begin
VIEW_INLINE = 12  # an Arrow view holds texts up to this long itself


def as_documents(X: Any) -> Documents:
    """Return the texts of X: one per document without a tag, or one per field, tagged by its name unless it is "text".

    Parameters
    ----------
    X : list, array or column of str or bytes; list of dicts field → text; data frame with a column per field
        A missing text (None, NaN, a null of pandas, polars or Arrow) is an empty one.
    """
    if isinstance(X, str | bytes | Mapping):
        raise TypeError(
            f"documents come as a list; got one {type(X).__name__}. Put it in a list, or use learn_one / predict_one."
        )
    if hasattr(X, "columns") and not hasattr(X, "ndim"):  # polars and Arrow tables
        names = getattr(X, "column_names", None) or list(X.columns)
        return _frame([str(name) for name in names], [X[name] for name in names])
    if getattr(X, "ndim", 1) == 2:
        if hasattr(X, "columns"):
            return _frame([str(name) for name in X.columns], [X[name] for name in X.columns])
        if X.shape[1] != 1:
            raise ValueError(f"an array of texts has one column; got shape {X.shape}. Use a data frame to name fields.")
        X = X[:, 0]
    if isinstance(X, Sequence | np.ndarray) and len(X) and isinstance(X[0], Mapping):
        return _of_dicts(X)
    return _frame([""], [X])


def split_numbers(X: Any, known: Sequence[str] | None) -> tuple[Any, dict[str, Floats]]:
    """Take the columns of numbers out of a table; return the rest, and the columns by name, NaN where one is missing.

    Parameters
    ----------
    X : what `as_documents` takes, or a chunk of a file
        Numbers may be in the columns of a chunk or a data frame, or in dicts.
    known : the columns of numbers, or None where these rows decide

    Examples
    --------
    >>> split_numbers([{"subject": "late", "hours": 3}, {"subject": "hi", "hours": None}], None)
    ([{'subject': 'late'}, {'subject': 'hi'}], {'hours': array([ 3., nan])})
    """
    if isinstance(X, Chunk):
        columns = X.numbers if known is None else {name: X.numbers[name] for name in known if name in X.numbers}
        if not X.texts and X.numbers:
            X = replace(X, texts={"text": Strings.joined([], len(X))})
        return X, dict(columns)
    if known == ():
        return X, {}
    if isinstance(X, Sequence | np.ndarray) and len(X) and isinstance(X[0], Mapping):
        return _split_dicts(list(X), known)
    return _split_frame(X, known) if hasattr(X, "columns") else (X, {})


def _split_dicts(X: Sequence[Any], known: Sequence[str] | None) -> tuple[Sequence[Any], dict[str, Floats]]:
    """Do the same for dicts: a field is a number if its first value that is not missing is one."""
    if known is None:
        first: dict[str, Any] = {}
        for x in X:
            for name, value in x.items() if isinstance(x, Mapping) else ():
                if name not in first and not _is_missing(value):
                    first[name] = value
        known = [name for name, value in first.items() if isinstance(value, Real | np.bool_)]
    if not known:
        return X, {}
    columns: dict[str, Floats] = {name: np.array([_number_in(x, name, i) for i, x in enumerate(X)]) for name in known}
    return [
        {name: value for name, value in x.items() if name not in columns} if isinstance(x, Mapping) else x for x in X
    ], columns


def _split_frame(X: Any, known: Sequence[str] | None) -> tuple[Any, dict[str, Floats]]:
    """Do the same for a data frame of pandas or polars, or an Arrow table."""
    names = list(getattr(X, "column_names", None) or X.columns)
    chosen = [name for name in names if (_is_numeric(X[name]) if known is None else str(name) in known)]
    if not chosen:
        return X, {}
    columns: dict[str, Floats] = {str(name): np.asarray(X[name], np.float64) for name in chosen}
    others = [name for name in names if name not in chosen]
    if not others:
        return [""] * len(columns[str(chosen[0])]), columns
    return (X.select(others) if hasattr(X, "select") else X[others]), columns


def _is_numeric(column: Any) -> bool:
    """Return True if a column's type says that it holds numbers, or true and false."""
    dtype = getattr(column, "dtype", None)
    kind = getattr(dtype, "kind", "")
    return kind in "iufb" if kind else str(dtype or column.type).lower().startswith(NUMERIC)


def _number_in(x: Any, name: str, i: int) -> float:
    """Return the number in a field of document `i`, NaN where it is missing."""
    value = x.get(name) if isinstance(x, Mapping) else None
    if _is_missing(value):
        return math.nan
    if not isinstance(value, Real | np.bool_):
        raise TypeError(f"field {name!r} holds numbers; document {i} has {value!r}. Use None where one is missing.")
    return float(value)


def tags_of(fields: Iterable[str]) -> tuple[str, ...]:
    """Return the tag of each field's words: the field's name, but none for the field "text".

    Examples
    --------
    >>> tags_of(["subject", "text"])
    ('subject', '')
    """
    return tuple("" if field == "text" else field for field in fields)


def _frame(names: list[str], columns: list[Any]) -> Documents:
    pieces = [_column(column, name) for name, column in zip(names, columns, strict=True)]
    if len({len(addresses) for addresses, _, _ in pieces}) != 1:
        raise ValueError("the fields of documents differ in length.")
    addresses, lengths, held = zip(*pieces, strict=True)
    return Documents(tags_of(names), side_by_side(addresses), side_by_side(lengths), held)


def side_by_side(columns: Sequence[Whole]) -> Whole:
    """Return columns as one array (documents, fields); quicker than numpy.column_stack for a single one."""
    return columns[0][:, np.newaxis] if len(columns) == 1 else np.column_stack(columns)


def _of_dicts(X: Any) -> Documents:
    names: dict[str, None] = {}
    for i, x in enumerate(X):
        if not isinstance(x, Mapping):
            raise TypeError(f"each document must be a dict of field → text here; document {i} is a {type(x).__name__}.")
        names.update(dict.fromkeys(x))
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"the fields of a document have names; got {name!r}.")
    fields = tuple(names) or ("",)
    addresses, lengths, held = _listed([x.get(name, "") for x in X for name in fields], fields)
    shape = (len(X), len(fields))
    return Documents(tags_of(fields), addresses.reshape(shape), lengths.reshape(shape), (held,))


def _column(column: Any, name: str) -> tuple[np.ndarray, np.ndarray, Any]:
    """Return address and length of each text, and what keeps them alive."""
    arrays = _as_arrow(column)
    if arrays is not None:
        parts = [_of_arrow(array, name) for array in arrays]
        empty = np.zeros(0, np.int64)
        return np.concatenate([empty, *(a for a, _ in parts)]), np.concatenate([empty, *(n for _, n in parts)]), arrays
    if not isinstance(column, Iterable):
        raise TypeError(f"documents come as a list or column of texts; got {type(column).__name__}.")
    return _listed(column.tolist() if hasattr(column, "tolist") else list(column), (name,))


def _listed(texts: list[Any], fields: Sequence[str]) -> tuple[np.ndarray, np.ndarray, Any]:
    """Do the same for texts in a list, document by document, field by field."""
    try:
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    except AttributeError:
        n = len(fields)
        encoded = [_bytes_of(text, i // n, fields[i % n]) for i, text in enumerate(texts)]
    lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
    buffer = np.frombuffer(b"".join(encoded) or b" ", np.uint8)
    ends = np.cumsum(lengths)
    return buffer.ctypes.data + ends - lengths, lengths, buffer


def _bytes_of(text: Any, i: int, name: str) -> bytes:
    if isinstance(text, str):
        return text.encode("utf-8", "surrogatepass")
    if isinstance(text, bytes):
        return text
    if _is_missing(text):
        return b""
    field = f" in field {name!r}" if name else ""
    raise TypeError(f"a text must be str or bytes; document {i}{field} is {text!r}. Use '' where there is none.")


def _is_missing(value: object) -> bool:
    """Return True if a cell is missing: None, NaN, or a null of pandas."""
    return value is None or (isinstance(value, float) and value != value) or type(value).__name__ in PANDAS_NULLS


def _as_arrow(column: Any) -> list[Any] | None:
    """Return Arrow arrays that share memory with a column; None if it is not an Arrow column."""
    kind = type(column).__module__.split(".")[0]
    if kind == "polars":
        import polars

        column = column.to_arrow(compat_level=polars.CompatLevel.newest())
    elif kind == "pandas" and hasattr(column.array, "__arrow_array__") and "pyarrow" in str(column.dtype):
        column = column.array.__arrow_array__()
    elif kind != "pyarrow":
        return None
    return list(column.chunks) if hasattr(column, "chunks") else [column]


def _of_arrow(array: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    field = f" of field {name!r}" if name else ""
    kind, n, offset = str(array.type), len(array), array.offset
    if kind == "null":
        return np.zeros(n, np.int64), np.zeros(n, np.int64)
    there = array.is_valid().to_numpy(zero_copy_only=False) if array.null_count else True
    buffers = array.buffers()
    if kind in ("string_view", "binary_view"):
        views = np.frombuffer(buffers[1], np.int32)[4 * offset : 4 * (offset + n)].reshape(n, 4)
        lengths = views[:, 0].astype(np.int64) * there
        addresses = buffers[1].address + 16 * (offset + np.arange(n)) + 4
        far = lengths > VIEW_INLINE
        if far.any():
            bases = np.array([buffer.address for buffer in buffers[2:]], np.int64)
            addresses[far] = bases[views[far, 2]] + views[far, 3]
        return addresses, lengths
    wide = {"string": np.int32, "binary": np.int32, "large_string": np.int64, "large_binary": np.int64}
    if kind not in wide:
        raise TypeError(f"a column of texts holds strings; the column{field} holds {kind}.")
    if n == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    offsets = np.frombuffer(buffers[1], wide[kind])[offset : offset + n + 1].astype(np.int64)
    return (buffers[2].address if buffers[2] is not None else 0) + offsets[:-1], np.diff(offsets) * there
