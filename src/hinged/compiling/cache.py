"""Where machine code is stored: in folders named after the sources it was compiled from, shared by all checkouts.

Numba's own cache compares a function's file alone, so that edits of what it calls go unnoticed. Here a folder is named
after all sources that its functions may use, the versions of Python and Numba, and the compiler's settings. It lies in
`NUMBA_CACHE_DIR` if that is set, else in the user's cache folder. A file that cannot be read is compiled anew; where
nothing can be written, code stays in memory.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba import config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.core.sigutils import normalize_signature
from platformdirs import user_cache_path

__all__ = ["BESIDES", "CORE", "PackageCache", "folder"]

PACKAGE = Path(__file__).parents[1]
#: Parts of the package whose functions all compiled code may call, and the part of it that others call besides.
CORE = ("compiling", "native", "rules", "tasks", "sharing", "geometry", "mercer", "loops")
BESIDES = {"text": "io"}
PREFIX = "hinged-code-"
KEPT_UNUSED = 60 * 24 * 3600.0  # seconds


def _hashed(parts: Iterable[str]) -> str:
    """Return a hash of the sources of some parts of the package."""
    stamp = hashlib.sha256()
    for part in parts:
        for path in sorted((PACKAGE / part).rglob("*.py")):
            stamp.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0" + path.read_bytes())
    return stamp.hexdigest()


CORE_HASH = _hashed(CORE)  # of the sources as they were when this process began


@cache
def folder(part: str = "loops") -> Path:
    """Return the folder for compiled functions of one part of the package; it need not exist."""
    plain = os.environ.get("HINGED_PLAIN", "")
    settings = (numba.__version__, sys.version, config.OPT, config.BOUNDSCHECK, plain)  # type: ignore[attr-defined]
    others = "" if part in CORE else _hashed(filter(None, (part, BESIDES.get(part))))
    stamp = hashlib.sha256(repr((settings, CORE_HASH, others)).encode())
    chosen = config.CACHE_DIR  # type: ignore[attr-defined]
    home = Path(chosen) if chosen else user_cache_path("hinged", appauthor=False)
    return home / f"{PREFIX}{stamp.hexdigest()[:16]}"


@cache
def _mark_used(path: Path) -> None:
    os.utime(path)


def _is_ours(path: Path) -> bool:
    """Return True if nobody else can write to a folder; files there are code that this process will run."""
    try:
        status = path.lstat()
    except OSError:
        return False
    foreign = os.name != "nt" and (status.st_uid != os.geteuid() or status.st_mode & 0o022)
    if foreign or not stat.S_ISDIR(status.st_mode):
        return False
    with suppress(OSError):  # on a read-only disk
        _mark_used(path)
    return True


def _make(path: Path) -> None:
    """Make a folder; remove those of other sources that nobody has used for two months."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    for other in path.parent.glob(PREFIX + 16 * "[0-9a-f]"):
        if other.stat().st_mtime < time.time() - KEPT_UNUSED:
            shutil.rmtree(other, ignore_errors=True)


class PackageLocator(_CacheLocator):
    """Tells Numba where a function of this package is stored."""

    def __init__(self, function: Callable, file: str) -> None:
        self._py_file = file  # Numba names it in warnings
        self._module, self._line = function.__module__, function.__code__.co_firstlineno
        self._folder = folder(Path(file).relative_to(PACKAGE).parts[0])

    @classmethod
    def from_function(cls, function: Callable, file: str) -> PackageLocator:
        return cls(function, file)

    def ensure_cache_path(self) -> None:
        if not self._folder.is_dir():
            _make(self._folder)

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return self._folder.name

    def get_disambiguator(self) -> str:
        return f"{self._module}-{self._line}"


class PackageImpl(CompileResultCacheImpl):
    """Numba's way to store compiled functions, in our place."""

    _locator_classes = [PackageLocator]  # type: ignore[assignment]  # noqa: RUF012


class PackageCache(FunctionCache):
    """The stored versions of one function."""

    _impl_class = PackageImpl

    @staticmethod
    def holds(function: Callable) -> bool:
        """Return True for functions whose sources can be hashed: those of this package, unless it is in an archive."""
        file = Path(function.__code__.co_filename)
        return file.is_relative_to(PACKAGE) and file.is_file()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return a stored version, or None if there is none that can be read."""
        if not _is_ours(Path(self.cache_path)):
            return None
        try:
            found = super().load_overload(sig, target_context)
            # two processes that store at once may leave an index that names the other's file
            return found if found is None or found.signature.args == normalize_signature(sig)[0] else None
        except Exception:  # damaged in any way: begun anew
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store a version, if there is room for it in a folder of ours."""
        path = Path(self.cache_path)
        with suppress(OSError):
            if _is_ours(path) or not path.exists():
                super().save_overload(sig, data)
