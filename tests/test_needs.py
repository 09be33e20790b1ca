"""A missing program or package skips a test, or fails it if HINGED_NO_SKIP is set."""

import pytest
from tests import needs


@pytest.mark.parametrize(("set_", "outcome"), [(False, pytest.skip.Exception), (True, pytest.fail.Exception)])
def test_a_program_or_package_that_is_missing_is_named(set_, outcome, monkeypatch):
    if set_:
        monkeypatch.setenv("HINGED_NO_SKIP", "1")
    else:
        monkeypatch.delenv("HINGED_NO_SKIP", raising=False)
    with pytest.raises(outcome, match="no program gloves here"):
        needs.program("gloves", "gloves-imapd")
    with pytest.raises(outcome, match="no package gloves here"):
        needs.module("gloves", "extra mittens")


def test_servers_are_found_where_they_lie():
    assert needs.program("sh", "dash").exists()
