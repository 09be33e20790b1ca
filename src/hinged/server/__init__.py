"""Over HTTP: the mail page, and any model as a service, with many of them in one process."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hinged.server.app import create_app
    from hinged.server.running import serve, serving
    from hinged.server.settings import Settings

__all__ = ["Settings", "create_app", "serve", "serving"]

#: Where each name lives; the page needs none of them.
_HOMES = {"Settings": "settings", "create_app": "app", "serve": "running", "serving": "running"}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"hinged.server.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'hinged.server' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
