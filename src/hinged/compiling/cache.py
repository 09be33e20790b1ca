"""Where machine code is stored: in folders named after the sources it was compiled from.

Numba's own cache compares a function's file alone, so that edits of what it calls go unnoticed. Here a folder is named
after all sources that its functions may use, the versions of Python and Numba, and the compiler's settings. There are
two places for such folders: the installed package, where a wheel brings code for common instruction sets, and the
user's cache (`NUMBA_CACHE_DIR`, if that is set), where this processor's code is stored and which all checkouts share.
A file that cannot be read is compiled anew; where nothing can be written, code stays in memory. So it does without
platformdirs or zstandard: kernel learners run on machines that have neither.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from importlib.util import MAGIC_NUMBER, find_spec
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba import config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.core.sigutils import normalize_signature

from hinged.compiling import code_file
from hinged.compiling.levels import Target, level_of

__all__ = ["BESIDES", "CORE", "SHIPPED", "PackageCache", "folder"]

PACKAGE = Path(__file__).parents[1]
#: Machine code that came with the package, in a folder for each level. A checkout has none.
SHIPPED = PACKAGE / "machine_code"
#: Parts of the package whose functions all compiled code may call, and the part of it that others call besides.
CORE = ("compiling", "native", "rules", "tasks", "sharing", "geometry", "mercer", "loops")
BESIDES = {"text": "io"}
PREFIX = "hinged-code-"
NOWHERE = Path(os.devnull)
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
def _name(part: str) -> str:
    """Return the name of the folders for compiled functions of one part of the package."""
    compilers = (MAGIC_NUMBER, numba.__version__, llvmlite.__version__)
    settings = (config.OPT, config.BOUNDSCHECK, os.environ.get("HINGED_PLAIN", ""))  # type: ignore[attr-defined]
    others = "" if part in CORE else _hashed(filter(None, (part, BESIDES.get(part))))
    stamp = hashlib.sha256(repr((compilers, settings, CORE_HASH, others)).encode())
    return PREFIX + stamp.hexdigest()[:16]


@cache
def folder(part: str = "loops") -> Path:
    """Return the user's folder for compiled functions of one part of the package; it need not exist."""
    return _home() / _name(part)


def _home() -> Path:
    """Return where folders for compiled functions are: a place that can hold none if a package for that is missing."""
    chosen = config.CACHE_DIR  # type: ignore[attr-defined]
    if find_spec("zstandard") is None or not (chosen or find_spec("platformdirs")):
        return NOWHERE
    if chosen:
        return Path(chosen)
    from platformdirs import user_cache_path

    return user_cache_path("hinged", appauthor=False)


def _is_native() -> bool:
    """Return True if the user wants code for exactly this processor, whatever the package brings."""
    return os.environ.get("HINGED_NATIVE", "0") not in ("", "0")


# ------------------------------------------------------------------ whose code is run
def _is_mine(status: os.stat_result) -> bool:
    """Return True if nobody else can write to a file or folder of the user's; what lies there is code to be run."""
    return os.name == "nt" or (status.st_uid == os.geteuid() and not status.st_mode & 0o022)


def _as_trusted_as_sources(status: os.stat_result) -> bool:
    """Return True if whoever can write to a file or folder can write to the package's own sources too."""
    if os.name == "nt":
        return True
    package = PACKAGE.stat()
    others = package.st_mode & (0o022 if status.st_gid == package.st_gid else 0o002)  # who else can write sources
    return status.st_uid in (package.st_uid, os.geteuid(), 0) and not status.st_mode & 0o022 & ~others


@cache
def _mark_used(path: Path) -> None:
    os.utime(path)


def _is_my_folder(path: Path) -> bool:
    """Return True if a folder exists, and only this user can write to it; note that it is still in use."""
    try:
        status = path.lstat()
    except OSError:
        return False
    if not stat.S_ISDIR(status.st_mode) or not _is_mine(status):
        return False
    with suppress(OSError):  # on a read-only disk
        _mark_used(path)
    return True


@cache
def _is_shipped(path: Path) -> bool:
    """Return True if a folder came with the package, and so did all folders between."""
    try:
        between = [path, *path.parents][: len(path.relative_to(PACKAGE).parts)]
        return all(stat.S_ISDIR(each.lstat().st_mode) and _as_trusted_as_sources(each.lstat()) for each in between)
    except OSError:
        return False


def _make(path: Path) -> None:
    """Make a folder; remove those of other sources that nobody has used for two months."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    for other in path.parent.glob(PREFIX + 16 * "[0-9a-f]"):
        if other.stat().st_mtime < time.time() - KEPT_UNUSED:
            shutil.rmtree(other, ignore_errors=True)


# ------------------------------------------------------------------ Numba's interface
class PackageLocator(_CacheLocator):
    """Tells Numba where a function of this package is stored."""

    def __init__(self, function: Callable, file: str) -> None:
        self._py_file = file  # Numba names it in warnings
        self._module, self._line = function.__module__, function.__code__.co_firstlineno
        self._folder = folder(Path(file).relative_to(PACKAGE).parts[0])

    @classmethod
    def from_function(cls, function: Callable, file: str) -> PackageLocator:
        return cls(function, file)

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return self._folder.name

    def get_disambiguator(self) -> str:
        return f"{self._module}-{self._line}"


class PackageImpl(CompileResultCacheImpl):
    """Numba's way to name compiled functions, and to tell which can be stored."""

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
        target_context.refresh()
        codegen = target_context.codegen()
        place, level = Path(self.cache_path), level_of(codegen)
        found = None
        if place.parent == NOWHERE:  # stored code cannot be read either
            return None
        if level is not None and not _is_native() and _is_shipped(shipped := SHIPPED / level[1] / place.name):
            found = self._load(shipped, sig, level, target_context, _as_trusted_as_sources)
        if found is None and _is_my_folder(place):
            found = self._load(place, sig, codegen.magic_tuple(), target_context, _is_mine)
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store a version, if there is room for it in a folder of ours."""
        place = Path(self.cache_path)
        with suppress(OSError):
            if not place.exists():
                _make(place)
            if _is_my_folder(place) and self._impl.check_cachable(data):
                code_file.write(self._path(place, sig, data.codegen.magic_tuple()), code_file.reduce(data))

    def _path(self, place: Path, sig: Any, target: Target) -> Path:
        version = hashlib.sha256(repr((str(sig), target)).encode()).hexdigest()[:16]
        return place / f"{self._impl.filename_base}.{version}"

    def _load(
        self, place: Path, sig: Any, target: Target, context: Any, trusted: Callable[[os.stat_result], bool]
    ) -> Any:
        try:
            payload = code_file.read(self._path(place, sig, target), trusted)
            if payload is None or code_file.signature(payload).args != normalize_signature(sig)[0]:
                return None  # types may differ that have the same name
            return code_file.rebuild(context, payload)
        except Exception:  # whole, but of no use to the packages that are installed
            return None
