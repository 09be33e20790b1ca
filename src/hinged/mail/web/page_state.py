"""What the page remembers between two starts, so that open tabs keep working: its browsers' cookie, and its port."""

from __future__ import annotations

import json
import os
import secrets
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from hinged.io.atomic import write_private

__all__ = ["PageState", "forget_page_state", "load_page_state", "save_page_state"]

NAME = "page.json"
LASTS = 30 * 86400.0  # seconds until browsers need the address with the token again


@dataclass(frozen=True)
class PageState:
    """The name and value of the cookie, when it was created, and the port of the page."""

    cookie: str
    secret: str
    made: float
    port: int = 0


def load_page_state(folder: Path, new_cookie: bool = False) -> PageState:
    """Return the state kept in a folder; with a new cookie if there is none, or it is old or readable by others.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> first = load_page_state(folder)
    >>> save_page_state(folder, first)
    >>> load_page_state(folder) == first
    True
    """
    path, port = folder / NAME, 0
    try:
        found = PageState(**json.loads(path.read_text(encoding="utf-8")))
        if not 0 <= int(found.port) < 65536:
            raise ValueError
        fresh = 0.0 <= time.time() - found.made < LASTS
        port = found.port
        if not new_cookie and fresh and _is_cookie(found) and _is_private(path):
            return found
    except (OSError, TypeError, ValueError):
        pass
    return PageState(f"hinged-{secrets.token_hex(4)}", secrets.token_urlsafe(24), time.time(), port)


def _is_cookie(found: PageState) -> bool:
    return all(isinstance(one, str) and len(one) >= 8 for one in (found.cookie, found.secret))


def _is_private(path: Path) -> bool:
    return os.name != "posix" or not path.stat().st_mode & 0o077


def save_page_state(folder: Path, state: PageState) -> None:
    """Write the state to a folder, readable by its owner alone."""
    write_private(folder / NAME, asdict(state))


def forget_page_state(folder: Path) -> None:
    """Remove the state from a folder."""
    for path in (folder / NAME, *folder.glob(f".{NAME}*")):
        path.unlink(missing_ok=True)
