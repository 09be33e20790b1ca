"""One model, one file: safetensors with JSON beside the numbers, written whole or not at all, nothing executed."""

from __future__ import annotations

import json
import os
import stat
import zlib
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hinged.io.beside import name_beside, naming, sweep_beside
from hinged.io.packing import pack, unpack

__all__ = ["read", "write"]

FORMAT = "hinged-model"
VERSION = 2


def write(
    path: str | os.PathLike[str],
    about: dict[str, Any],
    tensors: dict[str, np.ndarray],
    names: dict[str, list[Hashable]],
) -> None:
    """Write facts, arrays and lists of labels: to a file beside `path` first, flushed to the disk, then renamed.

    Where there was a file, the new one may be read and written by the same people.
    """
    from safetensors.numpy import save as to_bytes

    for name, values in names.items():
        tensors[f"{name}.bytes"], tensors[f"{name}.offsets"] = pack(values, name)
    arrays = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
    stated = {"version": VERSION, "about": about, "checksum": _checksum(about, arrays)}
    # one key, because safetensors writes several in any order, and equal models make equal files
    content = to_bytes(arrays, metadata={FORMAT: json.dumps(stated, sort_keys=True)})
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to save {path.name} in; make it first.")
    sweep_beside(path)
    temporary = name_beside(path)
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
    try:
        with naming(path), open(temporary, "xb", opener=_private if mode is not None else None) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    if hasattr(os, "O_DIRECTORY"):  # the rename itself reaches the disk too
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _private(name: str, flags: int) -> int:
    return os.open(name, flags, 0o600)


def read(
    path: str | os.PathLike[str],
) -> tuple[dict[str, Any], dict[str, np.ndarray], dict[str, list[Hashable]]]:
    """What `write` was given; a file that is cut short, damaged, foreign or newer gets one sentence."""
    from safetensors import SafetensorError, safe_open

    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no model at {path}.")
    try:
        with safe_open(path, framework="numpy") as file:
            about, checksum = _about(path, file.metadata() or {})
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as problem:
        raise ValueError(
            f"{path} is not a whole hinged model file ({problem}); it may have been cut short."
        ) from problem
    if checksum is not None and checksum != _checksum(about, tensors):  # files had none before
        raise ValueError(f"{path} is damaged: its content does not match its checksum; put back a copy of it.")
    try:
        names = {
            name.removesuffix(".bytes"): unpack(tensors[name], tensors[name.removesuffix("bytes") + "offsets"])
            for name in tensors
            if name.endswith(".bytes")
        }
    except (IndexError, KeyError, RecursionError, TypeError, ValueError) as problem:
        raise ValueError(f"{path} is not a sound hinged model: {problem!r}.") from problem
    return about, tensors, names


def _checksum(about: Any, tensors: Mapping[str, np.ndarray]) -> int:
    """CRC-32 of the facts and of each array with its name, type and shape."""
    plain = json.loads(json.dumps(about))  # as it is read: keys are texts, which are in another order than numbers
    total = zlib.crc32(json.dumps(plain, sort_keys=True).encode())
    for name in sorted(tensors):
        array = np.ascontiguousarray(tensors[name])
        total = zlib.crc32(f"{name} {array.dtype.str} {array.shape}".encode(), total)
        total = zlib.crc32(array.reshape(-1).view(np.uint8).data, total)
    return total


def _about(path: Path, metadata: dict[str, str]) -> tuple[Any, Any]:
    """The facts in the metadata, if they are ours and of a version that is understood, and the checksum."""
    if FORMAT not in metadata and metadata.get("format") != FORMAT:
        raise ValueError(f"{path} is not a hinged model; it was written by another program.")
    try:
        if FORMAT in metadata:
            stated = json.loads(metadata[FORMAT])
        else:  # version 1, which had a key for each
            stated = {"version": int(metadata["version"]), "about": json.loads(metadata.get("about", "null"))}
        version, about, checksum = stated["version"], stated.get("about"), stated.get("checksum")
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as problem:
        raise ValueError(f"{path} is not a sound hinged model: {problem!r}.") from problem
    if type(version) is not int or version < 1:
        raise ValueError(f"{path} is not a sound hinged model: its version is {version!r}.")
    if version > VERSION:
        raise ValueError(
            f"{path} was written by a newer hinged (file version {version}, this one reads up to {VERSION}); "
            "upgrade hinged to read it."
        )
    return about, checksum
