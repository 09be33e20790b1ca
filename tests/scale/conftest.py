"""One Spark session for all tests here: two local workers, nothing but the loopback, started once and stopped."""

from __future__ import annotations

import sys
import warnings

import pytest
from tests import needs
from tests.scale.quick import QUICK


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """A session with two workers on this machine."""
    needs.program("java", "openjdk-17-jre-headless")
    needs.module("pyspark", 'pip install "hinged[scale]"')
    from hinged.scale.engine import local_session

    place = tmp_path_factory.mktemp("spark")
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        warnings.simplefilter("ignore")
        session = local_session("local[2]", folder=place, **QUICK)
        yield session
        session.stop()
