"""A program in a terminal of its own, as a user sees it and types into it."""

import fcntl
import os
import re
import struct
import subprocess
import sys
import termios
import threading
import time

CLEAR = "\x1b[H\x1b[2J"


class Terminal:
    """`python -m hinged` in a pseudo-terminal of a given size."""

    def __init__(self, *words, columns=80, lines=30, env=None):
        self._ours, theirs = os.openpty()
        self.resize(columns, lines)
        self.before = termios.tcgetattr(theirs)
        self._theirs = theirs
        settings = {**os.environ, "TERM": "xterm", **(env or {})}
        settings.pop("COLUMNS", None)
        command = [sys.executable, "-m", "hinged", *map(str, words)]
        self.process = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, env=settings, start_new_session=True
        )
        self.text = ""
        threading.Thread(target=self._hear, daemon=True).start()

    def _hear(self):
        while True:
            try:
                more = os.read(self._ours, 65536)
            except OSError:
                return
            self.text += more.decode("utf-8", "replace")

    def resize(self, columns, lines):
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    @property
    def page(self):
        """What is on the page now, without colours."""
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", self.text.rpartition(CLEAR)[2])

    def shows(self, words, within=60):
        """Wait until the page holds these words, and return it."""
        end = time.monotonic() + within
        while words not in self.page:
            assert time.monotonic() < end, f"{words!r} is not shown; {self.text[-3000:]!r}"
            assert self.process.poll() is None or words in self.page, f"it has ended; {self.text[-3000:]!r}"
            time.sleep(0.01)
        return self.page

    def types(self, keys):
        os.write(self._ours, keys.encode())

    def ends(self):
        """Wait for the end, and return the exit code; the terminal must be as it was."""
        code = self.process.wait(60)
        assert termios.tcgetattr(self._theirs) == self.before
        return code

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._theirs)
        os.close(self._ours)
