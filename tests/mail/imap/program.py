"""`hinged mail watch` and `run` as processes of their own."""

import subprocess
import sys
import threading
import time

PROGRAM = [sys.executable, "-c", "from hinged.cli.main import main; main()", "mail"]


class Program:
    """The real program; what it tells can be waited for."""

    def __init__(self, *arguments, command="watch", **more):
        pipe = subprocess.PIPE
        words = [*PROGRAM, command, *map(str, arguments)]
        self.process = subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True, **more)
        self.lines = {"out": [], "err": []}
        self._threads = [
            threading.Thread(target=self._hear, args=(name, stream), daemon=True)
            for name, stream in (("out", self.process.stdout), ("err", self.process.stderr))
        ]
        for thread in self._threads:
            thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        if not self.process.stdout.closed:
            self.process.kill()
            self.ends()

    def _hear(self, name, stream):
        for line in stream:
            self.lines[name].append(line.rstrip("\n"))

    def says(self, words, where="out", within=60):
        """Wait for a line that holds these words, and give it."""
        end = time.monotonic() + within
        while time.monotonic() < end:
            for line in self.lines[where]:
                if words in line:
                    return line
            time.sleep(0.02)
        raise AssertionError(f"{words!r} was not said; {self.lines}")

    def stop(self, number):
        """Send a signal, and give the exit code."""
        self.process.send_signal(number)
        return self.ends()

    def ends(self):
        """Wait for the end, and give the exit code."""
        code = self.process.wait(60)
        for thread in self._threads:
            thread.join()
        self.process.stdout.close()
        self.process.stderr.close()
        return code
