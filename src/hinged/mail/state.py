"""Where the assistant keeps what it knows about an account."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from pathlib import Path

__all__ = ["state_folder"]


def state_folder(spec: str) -> Path:
    """The folder for a source, below the user's own data: named after the source, so that it is found again.

    Examples
    --------
    >>> state_folder("imaps://ann@mail.example.com").name
    'ann-mail-example-com-4007feb4'
    >>> state_folder("imaps://ann@mail.example.com/?poll=30").name
    'ann-mail-example-com-4007feb4'
    """
    if "://" not in spec:
        spec = str(Path(spec).expanduser().resolve())
    else:
        spec = spec.partition("?")[0]  # options say how to get there, not where it is
    spec = spec.rstrip("/")
    words = re.sub(r"[^a-z0-9]+", "-", spec.partition("://")[2].lower() or Path(spec).name.lower()).strip("-")
    digest = hashlib.sha256(spec.encode("utf-8", "surrogateescape")).hexdigest()
    return _data() / "hinged" / "mail" / f"{words[:40]}-{digest[:8]}"


def _data() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
