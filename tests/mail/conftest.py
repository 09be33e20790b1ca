"""Room for many small files."""

import shutil
import tempfile
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")


@pytest.fixture
def in_memory(tmp_path):
    """A folder for thousands of files, in memory where the system has that: removing them from a disk is slow."""
    if not MEMORY.is_dir():
        yield tmp_path
        return
    folder = Path(tempfile.mkdtemp(prefix="hinged-test-", dir=MEMORY))
    yield folder
    shutil.rmtree(folder)
