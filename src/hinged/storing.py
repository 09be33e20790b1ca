"""Where compiled code is stored when neither the package's folder nor the user's may be written to.

Numba refuses to compile a function for which it has no such folder, which is how a container with a read-only package
and no home looks. There the code is kept in a temporary folder and removed with the process.
"""

from __future__ import annotations

import os

__all__ = ["find_room"]


def find_room() -> None:
    """Let Numba store compiled code in a temporary folder where it has no other; called before Numba is imported."""
    own = os.path.dirname(os.path.abspath(__file__))
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~")
    if any(map(_is_writable, filter(None, (os.environ.get("NUMBA_CACHE_DIR"), own, caches)))):
        return
    import atexit
    import shutil
    import tempfile

    try:
        folder = tempfile.mkdtemp(prefix="hinged-")
    except OSError:  # nothing may be written anywhere: Numba will say so
        return
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["NUMBA_CACHE_DIR"] = folder


def _is_writable(folder: str) -> bool:
    """Whether files can be made in a folder, or it can be made."""
    while not os.path.exists(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    return os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK)
