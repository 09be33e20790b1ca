"""Where the assistant keeps what it knows of an account. Imports little, for commands that ask a running assistant."""

from __future__ import annotations

import os
import re
import sys

__all__ = ["data_folder", "last_list_path", "state_path"]


def data_folder() -> str:
    """Return the user's folder for data of this program."""
    if sys.platform == "linux":  # what platformdirs says there, without the 15 ms of importing it
        home = os.environ.get("XDG_DATA_HOME", "")
        return os.path.join(home if home.strip() else os.path.expanduser("~/.local/share"), "hinged")
    from platformdirs import user_data_dir

    return user_data_dir("hinged", appauthor=False)


def last_list_path() -> str:
    """Return the path of the file that holds the last list of suggestions, of whatever account."""
    return os.path.join(data_folder(), "suggested.json")


def state_path(spec: str, folder: str = "") -> str:
    """Return the path of the state folder of a source; a relative path is one in `folder`.

    Examples
    --------
    >>> os.path.basename(state_path("imaps://ann@mail.example.com"))
    'ann-mail-example-com-4007feb4'
    """
    from hashlib import sha256  # which loads OpenSSL, 3 MB

    if "://" not in spec:
        spec = os.path.realpath(os.path.join(folder, os.path.expanduser(spec)))
    else:
        spec = spec.partition("?")[0]  # options do not change which mailbox it is
    spec = spec.rstrip("/")
    words = re.sub(r"[^a-z0-9]+", "-", (spec.partition("://")[2] or os.path.basename(spec)).lower()).strip("-")
    digest = sha256(spec.encode("utf-8", "surrogateescape")).hexdigest()
    return os.path.join(data_folder(), "mail", f"{words[:40]}-{digest[:8]}")
