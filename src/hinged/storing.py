"""Where Numba stores compiled code if neither the package's folder nor the user's is writable.

Without such a folder Numba refuses to compile, as in a container with a read-only package and no home. A temporary
folder is used then, and removed when the process ends.
"""

from __future__ import annotations

import os

__all__ = ["find_room"]


def find_room() -> None:
    """Give Numba a temporary folder for compiled code if it has no other; called before Numba is imported."""
    own = os.path.dirname(os.path.abspath(__file__))
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~")
    if any(map(_is_writable, filter(None, (os.environ.get("NUMBA_CACHE_DIR"), own, caches)))):
        return
    import atexit
    import shutil
    import tempfile

    try:
        folder = tempfile.mkdtemp(prefix="hinged-")
    except OSError:  # no writable folder at all: Numba reports that
        return
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["NUMBA_CACHE_DIR"] = folder


def _is_writable(folder: str) -> bool:
    """Return True if files can be created in a folder, or the folder itself can be created."""
    while not os.path.exists(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    return os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK)
