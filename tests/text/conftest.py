"""Uncompiled, hashes are NumPy's unsigned numbers, which warn where they wrap around, as hashes must."""

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def _hashes_wrap_around():
    with np.errstate(over="ignore"):
        yield
