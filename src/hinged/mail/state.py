"""Where the assistant keeps what it knows about an account."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from platformdirs import user_data_path

__all__ = ["state_folder"]


def state_folder(spec: str) -> Path:
    """Return the folder for a source, in the user's data folder; its name is derived from the source.

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
        spec = spec.partition("?")[0]  # options do not change which mailbox it is
    spec = spec.rstrip("/")
    words = re.sub(r"[^a-z0-9]+", "-", spec.partition("://")[2].lower() or Path(spec).name.lower()).strip("-")
    digest = hashlib.sha256(spec.encode("utf-8", "surrogateescape")).hexdigest()
    return user_data_path("hinged", appauthor=False) / "mail" / f"{words[:40]}-{digest[:8]}"
