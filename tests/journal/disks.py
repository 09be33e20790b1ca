"""A small disk of one's own: mounted in a namespace that ends with its process, where the system allows that."""

import functools
import subprocess
import sys

from tests.needs import lacking


@functools.cache
def _allowed():
    try:
        mounts = ["unshare", "-rm", "sh", "-c", "mount -t tmpfs tmpfs /mnt"]
        return subprocess.run(mounts, capture_output=True).returncode == 0
    except OSError:
        return False


def on_a_disk(folder, program, size="1m", then=""):
    """Run a Python program with a fresh disk mounted at `folder`; `then` is run by the shell between two parts of it.

    The program is called with "first", and with "second" after `then`; both outputs are given.
    """
    if not _allowed():
        lacking("mounting a small disk needs user namespaces (unshare -rm), which this machine refuses")
    mount, run = f'mount -t tmpfs -o size={size} tmpfs "$1"', '"$2" -c "$3"'
    script = f"{mount} && {run} first && {{ {then or 'true'}; }} && {run} second"
    given = ["unshare", "-rm", "sh", "-c", script, "sh", str(folder), sys.executable, program]
    return subprocess.run(given, capture_output=True, text=True, timeout=300)
