"""Requirements of tests: programs and packages. Without them a test is skipped, or fails if HINGED_NO_SKIP is set."""

from __future__ import annotations

import importlib
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

#: Folders with server programs, which are not in the PATH of ordinary users.
ALSO = ("/usr/local/sbin", "/usr/sbin", "/sbin")

#: Files that import packages which `make test` does not install; they are not collected without them.
OPTIONAL = {
    "src/hinged/mercer/persistent.py": ("torch", "triton"),
    "src/hinged/mercer/tensors.py": ("torch",),
    "tests/mercer/step_program.py": ("torch", "triton"),
}


def lacking(what: str) -> None:
    """Skip the current test, or fail it if HINGED_NO_SKIP is set, as in .ci/run."""
    if os.environ.get("HINGED_NO_SKIP"):
        pytest.fail(f"{what}, and HINGED_NO_SKIP is set", pytrace=False)
    pytest.skip(what)


def program(name: str, package: str) -> Path:
    """Return the path of a program that the current test needs."""
    found = shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", ""), *ALSO]))
    if found is None:
        lacking(f"there is no program {name} here (Debian package {package})")
    return Path(found or "")


def module(name: str, extra: str) -> Any:
    """Import and return an optional package that the current test needs."""
    try:
        return importlib.import_module(name)
    except ImportError:
        lacking(f"there is no package {name} here ({extra})")
