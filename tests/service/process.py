"""The real program in a process of its own, on a port of its own."""

import os
import re
import signal
import subprocess
import sys

from hinged.client import Client
from hinged.service.access import create_token

PROGRAM = [sys.executable, "-c", "from hinged.cli.main import main; main()"]


class Server:
    """`hinged serve` on a folder; a token that may do everything is made for it."""

    def __init__(self, folder, *options, port="0", ready=True, files=None):
        self.folder = folder
        self.token = create_token(folder / "tokens.json", "*", "admin")
        command = [*PROGRAM, "serve", str(folder), "--port", port, *options]
        if files is not None:  # that it may have open
            command = ["sh", "-c", f'ulimit -n {files} && exec "$@"', "sh", *command]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.url = ""
        while ready and not self.url:
            line = self.process.stderr.readline()
            assert line, "the server ended"
            found = re.search(r"at (http://\S+);", line)
            self.url = found[1] if found else ""

    def client(self, token=None, **how):
        return Client(self.url, token or self.token, timeout=300, **how)  # the first round may have to be compiled

    def stop(self, number=signal.SIGTERM):
        """End it; gives its exit code and the rest of what it said."""
        os.kill(self.process.pid, number)
        _, said = self.process.communicate(timeout=60)
        return self.process.returncode, said
