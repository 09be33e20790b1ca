"""`hinged mail serve` as a program: what the browser is started with, and what a signal leaves behind."""

import json
import os
import signal
import subprocess
import time
from contextlib import contextmanager

from tests.service.process import PROGRAM


@contextmanager
def started(folder, *options):
    """The demo in a process of its own, with `folder` for its files and a browser that writes down its arguments."""
    browser = folder / "browser"
    browser.write_text(f'#!/bin/sh\necho "$@" >> {folder}/opened\n')
    browser.chmod(0o700)
    settings = os.environ | {"TMPDIR": str(folder), "BROWSER": f"{browser} %s"}
    command = [*PROGRAM, "mail", "serve", "--demo", "--json", *options]
    with subprocess.Popen(command, env=settings, stdout=subprocess.PIPE, text=True) as program:
        try:
            yield program
        finally:
            program.kill()


def wait_for(what):
    end = time.monotonic() + 60
    while not what():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_the_browser_gets_a_code_and_sigterm_cleans_up(tmp_path):
    opened = tmp_path / "opened"
    with started(tmp_path) as program:
        token = json.loads(program.stdout.readline())["address"].partition("/?token=")[2]
        wait_for(lambda: opened.exists() and opened.read_text().endswith("\n"))
        assert "/?code=" in opened.read_text()
        assert token
        assert token not in opened.read_text()
        program.send_signal(signal.SIGTERM)
        assert program.wait(60) == 128 + signal.SIGTERM
    assert not list(tmp_path.glob("hinged-demo-*"))


def test_sigterm_before_the_page_is_ready_cleans_up_too(tmp_path):
    with started(tmp_path, "--no-browser") as program:
        wait_for(lambda: list(tmp_path.glob("hinged-demo-*/mail")))
        program.send_signal(signal.SIGTERM)
        assert program.wait(60) == 128 + signal.SIGTERM
    assert not list(tmp_path.glob("hinged-demo-*"))


def test_beyond_this_machine_it_warns_and_shows_a_code_to_scan(tmp_path):
    settings = os.environ | {"TMPDIR": str(tmp_path)}
    command = [*PROGRAM, "mail", "serve", "--demo", "--no-browser", "--host", "0.0.0.0", "--allow-host", "desk.example"]
    with subprocess.Popen(command, env=settings, stdout=-1, stderr=-1, text=True) as program:
        said = program.stdout.readline()
        told = "".join(program.stderr.readline() for _ in range(20))
        program.send_signal(signal.SIGTERM)
        program.communicate(timeout=60)
    assert "/?token=" in said
    assert "127.0.0.1" not in said
    assert "is not encrypted" in told
    assert told.count("█") > 200
