"""Helpers that kill a working process and return what it had acknowledged."""

import json
import os
import signal
import subprocess
import sys
import time
import traceback
from contextlib import contextmanager
from pathlib import Path

KILLS = 300 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 10


def told_by(module, folder, *more, times=KILLS):
    """Run a program of these tests that kills processes so many times, and return what it reports."""
    program = [sys.executable, "-m", module, str(folder), str(times), "1", *more]
    done = subprocess.run(program, cwd=Path(__file__).parents[1], capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def killed(work, wait, begun=b""):
    """Run `work(tell)` in a child process, kill it after `wait` seconds, and return the words it wrote to `tell`.

    With `begun`, the seconds count from when it wrote that first, however slow the machine is.
    """
    hear, tell = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(hear)
        _work_and_end(work, tell)
    os.close(tell)
    assert os.read(hear, len(begun)) == begun, "it failed before it began"
    time.sleep(wait)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert status in (0, signal.SIGKILL), "it failed before it was killed"
    with os.fdopen(hear) as said:
        return said.read().split()


@contextmanager
def beside(work):
    """Run `work` in a second process, which is not killed and must end without an error."""
    child = os.fork()
    if child == 0:
        _work_and_end(work, os.open(os.devnull, os.O_WRONLY))
    yield
    assert os.waitpid(child, 0)[1] == 0, "the process that was not killed failed"


def _work_and_end(work, tell):
    try:
        work(tell)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)
