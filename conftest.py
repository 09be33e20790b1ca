"""What holds for tests and for examples in docstrings: what is left out, and where temporary folders go."""

import os
import tempfile
from importlib.util import find_spec

import pytest
from tests.needs import OPTIONAL

collect_ignore = [path for path, packages in OPTIONAL.items() if not all(map(find_spec, packages))]


@pytest.fixture(scope="session", autouse=True)
def _nothing_is_left_behind(tmp_path_factory):
    """Examples make temporary folders and do not remove them: all lie in one that goes when the run is over."""
    tmp_path_factory.getbasetemp()  # pytest's own stay where they are looked for after a failure
    with tempfile.TemporaryDirectory(prefix="hinged-tests-") as folder, pytest.MonkeyPatch.context() as patch:
        os.chmod(folder, 0o711)  # programs that step down to another user may pass
        patch.setattr(tempfile, "tempdir", folder)
        patch.setenv("TMPDIR", folder)  # and those of programs that tests start
        yield
