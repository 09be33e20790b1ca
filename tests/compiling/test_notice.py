"""What users are told while something compiles."""

import gc
import io
import logging
import os
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
from numba import config

from hinged.compiling import compiled, notice

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled with the compiler switched off")


@compiled(helper=True)
def one_more(x):
    return x + 1


@compiled
def two_more(x):
    return one_more(one_more(x))


@pytest.fixture
def slow(monkeypatch):
    """Nobody is patient, and everything takes a while to compile; the variable of quiet tests is unset."""
    monkeypatch.setattr(notice, "PATIENCE", 0.01)
    monkeypatch.setattr(notice, "EVERY", 0.05)
    monkeypatch.delenv("HINGED_QUIET", raising=False)


def told(function, monkeypatch):
    """Return what is written to standard error while a function compiles for a quarter of a second."""
    words = io.StringIO()
    monkeypatch.setattr(sys, "stderr", words)
    shown = notice.Notice(function)
    time.sleep(0.25)
    shown.end()
    return words.getvalue()


def test_parts_are_all_functions_that_are_called():
    assert notice.parts_of(two_more) == {one_more, two_more}


def test_lines_say_what_is_compiled_how_far_it_is_and_that_it_happens_once(slow, monkeypatch, tmp_path):
    monkeypatch.setattr(two_more, "_cache", SimpleNamespace(cache_path=tmp_path / "not" / "yet"))
    first, *_, last = told(two_more, monkeypatch).splitlines()
    assert first.startswith(f"hinged: compiling {__name__}.two_more, which happens once: 0 of 2 parts, 0 s")
    assert last == f"hinged: compiled {__name__}.two_more in 0 s; later runs find it stored"


def test_code_that_cannot_be_stored_is_said_to_be_compiled_again(slow, monkeypatch):
    monkeypatch.setattr(two_more, "_cache", SimpleNamespace(cache_path=os.devnull))
    assert "nothing can be stored, so later runs compile again unless NUMBA_CACHE_DIR" in told(two_more, monkeypatch)


def test_what_fails_to_compile_is_not_said_to_be_stored(slow, monkeypatch):
    monkeypatch.setattr(sys, "stderr", words := io.StringIO())
    shown = notice.Notice(two_more)
    time.sleep(0.1)
    shown.end(failed=True)
    assert words.getvalue().endswith(f"hinged: could not compile {__name__}.two_more\n")


def test_quiet_users_and_commands_with_a_bar_see_nothing(slow, monkeypatch, caplog):
    with notice.quiet(), caplog.at_level(logging.INFO, "hinged.compiling"):
        assert told(two_more, monkeypatch) == ""
    assert "compiling" in caplog.text, "programs are told all the same"
    monkeypatch.setenv("HINGED_QUIET", "1")
    assert told(two_more, monkeypatch) == ""


def test_what_compiles_quickly_is_not_mentioned(monkeypatch):
    monkeypatch.delenv("HINGED_QUIET", raising=False)
    assert told(two_more, monkeypatch) == ""


def test_a_program_without_standard_error_compiles(slow, monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    shown = notice.Notice(two_more)
    time.sleep(0.1)
    shown.end()
    assert shown.told


def test_a_new_user_is_told_while_a_loop_compiles(tmp_path):
    program = """
from hinged.compiling import notice
notice.PATIENCE = 0.02
import numpy as np
from hinged.rules import RULES
from hinged.rules.combine import shares
shares(RULES["simproj"].words, np.zeros(2), np.ones(2), np.array([0.5, 0.25]))
"""
    environment = os.environ | {"HOME": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path), "HINGED_QUIET": "0"}
    command = [sys.executable, "-c", program]
    first, second = (
        subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=True)
        for _ in range(2)
    )
    assert "hinged: compiling hinged.rules.combine.shares, which happens once" in first.stderr
    assert "hinged: compiled hinged.rules.combine.shares in" in first.stderr
    assert second.stderr == ""


@pytest.mark.parametrize("thresholds", [(700, 10, 10), (0, 10, 10), (200_000, 5, 5)])
def test_garbage_is_collected_as_before_once_something_is_compiled(thresholds, monkeypatch):
    before, during = gc.get_threshold(), []
    monkeypatch.setattr(notice.Notice, "__init__", lambda *_: None)
    monkeypatch.setattr(notice.Notice, "end", lambda *_, **__: None)
    monkeypatch.setattr(notice.Notice, "done", 0, raising=False)
    watch, function = notice.Watch(), SimpleNamespace(py_func=notice.parts_of, overloads={})
    gc.set_threshold(*thresholds)
    try:
        for event in (watch.on_start, watch.on_start, watch.on_end, watch.on_end):
            event(SimpleNamespace(data={"dispatcher": function, "args": ()}))
            during.append(gc.get_threshold()[0])
        assert gc.get_threshold() == thresholds
    finally:
        gc.set_threshold(*before)
    assert during == [max(thresholds[0], 100_000) if thresholds[0] else 0] * 3 + [thresholds[0]]
