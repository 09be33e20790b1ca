"""One model, one file: safetensors with JSON beside the numbers, written whole or not at all, nothing executed."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from hinged.io.packing import pack, unpack
from hinged.io.settings import from_json, to_json

__all__ = ["load", "save"]

FORMAT = "hinged-model"
VERSION = 1


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a model to `path`: to a file beside it first, flushed to the disk, then renamed over it."""
    from safetensors.numpy import save as to_bytes

    params = model.get_params(deep=False)
    about, tensors, names = model._state()
    about |= {
        "estimator": type(model).__name__,
        "params": {name: to_json(name, value) for name, value in params.items()},
    }
    for name, values in names.items():
        tensors[f"{name}.bytes"], tensors[f"{name}.offsets"] = pack(values, name)
    content = to_bytes(
        {name: np.ascontiguousarray(array) for name, array in tensors.items()},
        metadata={"format": FORMAT, "version": str(VERSION), "about": json.dumps(about)},
    )
    path = Path(path)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    if hasattr(os, "O_DIRECTORY"):  # the rename itself reaches the disk too
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def load(path: str | os.PathLike[str], **given: Any) -> Any:
    """The model in a file, ready to answer and to go on learning.

    Parameters
    ----------
    path : the file
    **given : settings that were functions, by name: ``rule=...``, ``features=...``

    Examples
    --------
    >>> import hinged, tempfile, os
    >>> model = hinged.Classifier().fit([[1.0, 0.0], [0.0, 1.0]], ["a", "b"])
    >>> path = os.path.join(tempfile.mkdtemp(), "model.hinged")
    >>> model.save(path)
    >>> hinged.load(path).predict([[0.0, 2.0]]).tolist()
    ['b']
    """
    from safetensors import SafetensorError, safe_open

    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no model at {path}.")
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            if metadata.get("format") != FORMAT:
                raise ValueError(f"{path} is not a hinged model; it was written by another program.")
            if int(metadata["version"]) > VERSION:
                raise ValueError(
                    f"{path} was written by a newer hinged (file version {metadata['version']}, this one reads up to "
                    f"{VERSION}); upgrade hinged to read it."
                )
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as problem:
        raise ValueError(
            f"{path} is not a whole hinged model file ({problem}); it may have been cut short."
        ) from problem
    import hinged

    about = json.loads(metadata["about"])
    kind = getattr(hinged, about["estimator"], None)
    if about["estimator"] not in hinged.__all__ or kind is None:
        raise ValueError(f"{path} holds a {about['estimator']!r}, which this hinged does not know.")
    model = kind(**{name: from_json(name, value, given) for name, value in about["params"].items()})
    names = {
        name.removesuffix(".bytes"): unpack(tensors[name], tensors[name.removesuffix("bytes") + "offsets"])
        for name in tensors
        if name.endswith(".bytes")
    }
    model._restore(about, tensors, names)
    return model
