"""What a test needs from the machine. Without it the test skips by name; where nothing may be skipped, it fails."""

from __future__ import annotations

import importlib
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

#: Where servers lie, which ordinary users' PATH leaves out.
ALSO = ("/usr/local/sbin", "/usr/sbin", "/sbin")


def lacking(what: str) -> None:
    """Skip the test that asks, or fail it where HINGED_NO_SKIP is set, as .ci/run does."""
    if os.environ.get("HINGED_NO_SKIP"):
        pytest.fail(f"{what}, and HINGED_NO_SKIP is set", pytrace=False)
    pytest.skip(what)


def program(name: str, package: str) -> Path:
    """Where a program is; the test that asks needs it."""
    found = shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", ""), *ALSO]))
    if found is None:
        lacking(f"there is no program {name} here (Debian package {package})")
    return Path(found or "")


def module(name: str, extra: str) -> Any:
    """An optional package, imported; the test that asks needs it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        lacking(f"there is no package {name} here ({extra})")
