"""The model file: safetensors with JSON in its metadata, written whole or not at all; reading executes nothing."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from hinged.io.atomic import check_folder, open_atomically
from hinged.io.values import pack, unpack

__all__ = ["read", "write"]

FORMAT = "hinged-model"
VERSION = 2
#: Types of arrays; those that come last here come first in a file.
TYPES = (
    "bool", "uint8", "int8", "int16", "uint16", "float16", "int32", "uint32", "float32", "float64", "int64", "uint64",
)  # fmt: skip


def write(
    path: str | os.PathLike[str],
    about: Mapping[str, object],
    tensors: dict[str, np.ndarray],
    names: dict[str, list[Hashable]],
) -> None:
    """Write facts, arrays and lists of labels; the new file keeps the permissions of the one it replaces."""
    for name, values in names.items():
        tensors[f"{name}.bytes"], tensors[f"{name}.offsets"] = pack(values, name)
    arrays = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
    stated = {"version": VERSION, "about": about, "checksum": _checksum(about, arrays)}
    # one key, because safetensors writes several in any order, and equal models make equal files
    metadata = {FORMAT: json.dumps(stated, sort_keys=True)}
    path = Path(path)
    check_folder(path)
    with open_atomically(path, durable=True) as file:
        for piece in pieces(arrays, metadata):
            file.write(piece)


def pieces(arrays: Mapping[str, np.ndarray], metadata: Mapping[str, str]) -> Iterator[bytes | memoryview]:
    """Yield the file piece by piece, without a copy of the arrays, with the bytes that safetensors writes.

    Examples
    --------
    >>> first, array = pieces({"w": np.zeros(2)}, {"a": "b"})
    >>> first[8:].rstrip(), bytes(array) == bytes(16)
    (b'{"__metadata__":{"a":"b"},"w":{"dtype":"F64","shape":[2],"data_offsets":[0,16]}}', True)
    """
    kinds = {name: TYPES.index(array.dtype.name) for name, array in arrays.items()}
    order, end = sorted(arrays, key=lambda name: (-kinds[name], name.encode())), 0
    facts: dict[str, object] = {"__metadata__": metadata}
    for name in order:
        kind, begin, end = arrays[name].dtype, end, end + arrays[name].nbytes
        dtype = "BOOL" if kind == np.bool_ else f"{kind.kind.upper()}{8 * kind.itemsize}"
        facts[name] = {"dtype": dtype, "shape": arrays[name].shape, "data_offsets": (begin, end)}
    head = json.dumps(facts, separators=(",", ":"), ensure_ascii=False).encode()
    head += b" " * (-len(head) % 8)
    yield len(head).to_bytes(8, "little") + head
    for name in order:
        yield arrays[name].reshape(-1).view(np.uint8).data


def read(
    path: str | os.PathLike[str],
) -> tuple[dict[str, Any], dict[str, np.ndarray], dict[str, list[Hashable]]]:
    """Return what `write` was given; a file that is cut short, damaged, foreign or newer is refused with a sentence."""
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no model at {path}.")
    about, checksum, tensors = _content(path)
    if checksum is not None and checksum != _checksum(about, tensors):  # older files have none
        raise ValueError(f"{path} is damaged: its content does not match its checksum; put back a copy of it.")
    lists = [name.removesuffix(".bytes") for name in tensors if name.endswith(".bytes")]
    with _sound(path):
        names = {name: unpack(tensors[f"{name}.bytes"], tensors[f"{name}.offsets"]) for name in lists}
    return about, tensors, names


def _content(path: Path) -> tuple[dict[str, Any], int | None, dict[str, np.ndarray]]:
    """Return the facts, the checksum and the arrays of a file."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            about, checksum = _about(path, file.metadata() or {})
            return about, checksum, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as problem:
        raise ValueError(
            f"{path} is not a whole hinged model file ({problem}); it may have been cut short."
        ) from problem


@contextmanager
def _sound(path: Path) -> Iterator[None]:
    """Turn the errors that content of the wrong kind causes into one sentence."""
    try:
        yield
    except (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError) as problem:
        raise ValueError(f"{path} is not a sound hinged model: {problem!r}.") from problem


def _checksum(about: object, tensors: Mapping[str, np.ndarray]) -> int:
    """Return the CRC-32 of the facts and of each array with its name, type and shape."""
    plain = json.loads(json.dumps(about))  # as it is read: keys become strings, which sort otherwise than numbers
    total = zlib.crc32(json.dumps(plain, sort_keys=True).encode())
    for name in sorted(tensors):
        array = np.ascontiguousarray(tensors[name])
        total = zlib.crc32(f"{name} {array.dtype.str} {array.shape}".encode(), total)
        total = zlib.crc32(array.reshape(-1).view(np.uint8).data, total)
    return total


def _about(path: Path, metadata: Mapping[str, str]) -> tuple[dict[str, Any], int | None]:
    """Return the facts and the checksum in the metadata, if they are ours and of a known version."""
    if FORMAT not in metadata and metadata.get("format") != FORMAT:
        raise ValueError(f"{path} is not a hinged model; it was written by another program.")
    with _sound(path):
        if FORMAT in metadata:
            stated = json.loads(metadata[FORMAT])
        else:  # version 1, which had a key for each
            stated = {"version": int(metadata["version"]), "about": json.loads(metadata.get("about", "null"))}
        version, about, checksum = stated["version"], stated.get("about"), stated.get("checksum")
    if type(version) is not int or version < 1:
        raise ValueError(f"{path} is not a sound hinged model: its version is {version!r}.")
    if version > VERSION:
        raise ValueError(
            f"{path} was written by a newer hinged (file version {version}, this one reads up to {VERSION}); "
            "upgrade hinged to read it."
        )
    return about, checksum
