"""A program that is killed while it works, and what it had acknowledged by then."""

import os
import signal
import time
import traceback
from contextlib import contextmanager


def killed(work, wait):
    """Fork, let `work(tell)` write lines to `tell`, kill it after `wait` seconds, and give the words it had written."""
    hear, tell = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(hear)
        _work_and_end(work, tell)
    os.close(tell)
    time.sleep(wait)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert status in (0, signal.SIGKILL), "it failed before it was killed"
    with os.fdopen(hear) as said:
        return said.read().split()


@contextmanager
def beside(work):
    """Fork a process that works as well, is not killed, and must end without an error."""
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
