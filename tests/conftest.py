"""Settings of the whole suite: Numba's cache, Hypothesis profiles, and where shared data lie."""

from __future__ import annotations

import os
import zlib
from pathlib import Path

import hypothesis

ROOT = Path(__file__).resolve().parents[1]

#: Folders without compiled code and without anything that compiled code uses (tests/test_architecture.py).
PLAIN = ("cli", "client", "experiments", "files", "http", "journal", "mail", "service")

# Numba's cache sees edits of a loop's own file only, so its folder is named after the other sources and the flags.
if "NUMBA_CACHE_DIR" not in os.environ:
    digest = zlib.crc32(os.environ.get("NUMBA_BOUNDSCHECK", "").encode())
    for source in sorted((ROOT / "src").rglob("*.py")):
        if source.relative_to(ROOT / "src" / "hinged").parts[0] not in PLAIN:
            digest = zlib.crc32(source.read_bytes(), digest)
    os.environ["NUMBA_CACHE_DIR"] = str(ROOT / f".numba-tests-{digest:08x}")

# Programs for a GPU run here without one. Triton reads it when it is first imported.
os.environ.setdefault("TRITON_INTERPRET", "1")

# Without it scikit-learn skips its checks of array API input. SciPy reads it when it is first imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

hypothesis.settings.register_profile("default", deadline=None, derandomize=True, max_examples=25)
hypothesis.settings.register_profile("long", deadline=None, max_examples=400)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
