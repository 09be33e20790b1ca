"""A missing program or package skips a test, or fails it if HINGED_NO_SKIP is set."""

import ast
from pathlib import Path

import pytest
from tests import needs

ROOT = Path(__file__).parents[1]


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


def imported_at_once(text):
    """Packages that a file with this text imports when it is imported itself."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]


def test_files_that_need_what_is_not_installed_are_not_collected():
    found = {}
    for path in [path for folder in ("src", "tests", "studies") for path in (ROOT / folder).rglob("*.py")]:
        text = path.read_text(encoding="utf-8")
        if "torch" in text and (packages := {"torch", "triton"}.intersection(imported_at_once(text))):
            found[path.relative_to(ROOT).as_posix()] = tuple(sorted(packages))
    assert found == needs.OPTIONAL
