"""Deprecated name of `hinged.service`."""

from __future__ import annotations

import warnings
from typing import Any

__all__ = ["Settings", "create_app", "serve", "serving"]  # noqa: F822


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'hinged.server' has no attribute {name!r}")
    warnings.warn(f"import {name} from hinged.service; hinged.server is its old name.", DeprecationWarning, 2)
    from hinged import service

    return getattr(service, name)
