"""What a page keeps between two starts, so that tabs that are open go on: the cookie of its browsers, and its port."""

from __future__ import annotations

import json
import os
import secrets
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

__all__ = ["Kept", "forget", "keep", "kept_in"]

NAME = "page.json"
LASTS = 30 * 86400.0  # seconds after which browsers must be given the address anew


@dataclass(frozen=True)
class Kept:
    """The name and value of the cookie, when it was made up, and the port that the page listened on."""

    cookie: str
    secret: str
    made: float
    port: int = 0


def kept_in(folder: Path, anew: bool = False) -> Kept:
    """Return what was kept in a folder; a new cookie where there is none, an old one, or others could read it.

    Examples
    --------
    >>> folder = Path(tempfile.mkdtemp())
    >>> first = kept_in(folder)
    >>> keep(folder, first)
    >>> kept_in(folder) == first, oct((folder / "page.json").stat().st_mode & 0o777)
    (True, '0o600')
    """
    path, port = folder / NAME, 0
    try:
        found = Kept(**json.loads(path.read_text(encoding="utf-8")))
        if not 0 <= int(found.port) < 65536:
            raise ValueError
        known = all(isinstance(one, str) and len(one) >= 8 for one in (found.cookie, found.secret))
        fresh = 0.0 <= time.time() - found.made < LASTS
        port = found.port
        if not anew and known and fresh and (os.name != "posix" or not path.stat().st_mode & 0o077):
            return found
    except (OSError, TypeError, ValueError):
        pass
    return Kept(f"hinged-{secrets.token_hex(4)}", secrets.token_urlsafe(24), time.time(), port)


def forget(folder: Path) -> None:
    """Remove what was kept in a folder."""
    for path in (folder / NAME, *folder.glob(f".{NAME}*")):
        path.unlink(missing_ok=True)


def keep(folder: Path, kept: Kept) -> None:
    """Write it down, readable by its owner alone."""
    file, beside = tempfile.mkstemp(dir=folder, prefix=f".{NAME}")  # mode 0600
    try:
        with open(file, "w", encoding="utf-8") as out:
            json.dump(asdict(kept), out)
        os.replace(beside, folder / NAME)
    except BaseException:
        os.unlink(beside)
        raise
