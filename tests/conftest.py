"""Settings of the whole suite: Hypothesis profiles, and what other packages read when they are imported."""

from __future__ import annotations

import os
from pathlib import Path

import hypothesis

ROOT = Path(__file__).resolve().parents[1]

# Programs for a GPU run here without one. Triton reads it when it is first imported.
os.environ.setdefault("TRITON_INTERPRET", "1")

# Tests read what commands print; what compiles on the way is none of their business.
os.environ.setdefault("HINGED_QUIET", "1")

# Without it scikit-learn skips its checks of array API input. SciPy reads it when it is first imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

hypothesis.settings.register_profile("default", deadline=None, derandomize=True, max_examples=25)
hypothesis.settings.register_profile("long", deadline=None, max_examples=400)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
