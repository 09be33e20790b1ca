"""A home where the real Dovecot delivers messages, and the real Pigeonhole runs a Sieve script for each."""

from __future__ import annotations

import base64
import grp
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from tests import needs
from tests.mail.imap.dovecot import free_ports

MEMORY = "/dev/shm"
LDA, SERVER = "/usr/lib/dovecot/dovecot-lda", "/usr/lib/dovecot/managesieve"
#: Dovecot delivers nothing as root. Nobody may read all files then, because this Python may lie in root's home.
DOWN = (
    "setpriv",
    "--reuid=nobody",
    "--regid=nogroup",
    "--clear-groups",
    "--inh-caps=+dac_override",
    "--ambient-caps=+dac_override",
)
SETTINGS = """
log_path = {home}/log
base_dir = {home}/run
ssl = no
protocols =
first_valid_uid = 1
mail_location = maildir:{home}/mail
namespace inbox {{
  inbox = yes
  separator = .
}}
protocol lda {{
  mail_plugins = sieve
}}
plugin {{
  sieve = file:{home}/scripts;active={home}/filter.sieve
  sieve_plugins = sieve_extprograms
  sieve_extensions = +vnd.dovecot.execute
  sieve_execute_bin_dir = {home}/bin
}}
"""


#: The server that scripts are uploaded to, for a user whose home this is.
MANAGESIEVE = """
!include dovecot.conf
protocols = sieve
listen = 127.0.0.1
default_internal_user = {user}
default_internal_group = {group}
default_login_user = {user}
mail_home = {home}
disable_plaintext_auth = no
passdb {{
  driver = static
  args = password=secret
}}
userdb {{
  driver = static
  args = uid={user} gid={group} home={home}
}}
service anvil {{
  chroot =
  unix_listener anvil-auth-penalty {{
    mode = 0
  }}
}}
service managesieve-login {{
  chroot =
  inet_listener sieve {{
    port = {port}
  }}
}}
"""


class Home:
    """A user's home; when run as root it is that of nobody."""

    def __init__(self) -> None:
        needs.program("dovecot", "dovecot-imapd")
        needs.program("sievec", "dovecot-sieve")
        self.path = Path(tempfile.mkdtemp(prefix="hinged-sieve-", dir=MEMORY if os.access(MEMORY, os.W_OK) else None))
        self.mail, self.script, self.bin = self.path / "mail", self.path / "filter.sieve", self.path / "bin"
        self.bin.mkdir()
        (self.path / "dovecot.conf").write_text(SETTINGS.format(home=self.path))

    def own(self) -> None:
        """Give everything to the user that messages are delivered as."""
        if os.getuid() == 0:
            me = pwd.getpwnam("nobody")
            for path in (self.path, *self.path.rglob("*")):
                os.chown(path, me.pw_uid, me.pw_gid, follow_symlinks=False)

    def call(self, *words: str | Path, raw: bytes = b"", down: bool = True) -> subprocess.CompletedProcess[bytes]:
        """Run a program in this home, as that user unless `down` is False."""
        step_down = DOWN if os.getuid() == 0 and down else ()
        env = {"HOME": str(self.path), "PATH": f"{self.bin}:/usr/bin:/bin"}
        return subprocess.run([*step_down, *words], input=raw, capture_output=True, env=env, cwd=self.path)

    def compiles(self, script: str) -> str:
        """Check a script with `sievec`; return what it complains of."""
        self.script.write_bytes(script.encode())
        self.own()
        return self.call(needs.program("sievec", "dovecot-sieve"), "-c", "dovecot.conf", self.script).stderr.decode()

    def deliver(self, raw: bytes) -> list[str]:
        """Deliver a message; return the folders it is in then, and remove it."""
        done = self.call(LDA, "-c", "dovecot.conf", raw=raw)
        assert done.returncode == 0, done.stderr
        return self.arrived()

    def arrived(self) -> list[str]:
        """Return the folders with new messages, as Dovecot names them, and remove these."""
        found = sorted(self.mail.rglob("new/*"))
        for path in found:
            path.unlink()
        return [
            path.parent.parent.name.removeprefix(".") if path.parent.parent != self.mail else "INBOX" for path in found
        ]

    def upload(self, script: str) -> list[bytes]:
        """Upload a script as mail programs do (RFC 5804), and make it the one that is run; return the answers."""
        if not Path(SERVER).exists():
            needs.lacking(f"there is no program {SERVER} here (Debian package dovecot-managesieved)")
        (port,) = free_ports(1)
        me = pwd.getpwnam("nobody") if os.getuid() == 0 else pwd.getpwuid(os.getuid())
        facts = {"home": self.path, "user": me.pw_name, "group": grp.getgrgid(me.pw_gid).gr_name, "port": port}
        (self.path / "managesieve.conf").write_text(MANAGESIEVE.format(**facts))
        self.own()
        dovecot = needs.program("dovecot", "dovecot-imapd")
        step_down = DOWN if os.getuid() == 0 else ()
        server = subprocess.Popen(
            [*step_down, dovecot, "-F", "-c", self.path / "managesieve.conf"], start_new_session=True
        )
        try:
            return _talk(port, script.encode(), server)
        finally:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()

    def close(self) -> None:
        """Remove everything."""
        shutil.rmtree(self.path, ignore_errors=True)


def _talk(port: int, script: bytes, server: subprocess.Popen[bytes]) -> list[bytes]:
    """Log in, store a script and activate it; return the last line of each answer."""
    deadline = time.monotonic() + 20
    while True:
        try:
            connection = socket.create_connection(("127.0.0.1", port), timeout=20)
            break
        except OSError:
            if server.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
    secret = base64.b64encode(b"\0jane\0secret").decode()
    commands = [f'AUTHENTICATE "PLAIN" "{secret}"', f'PUTSCRIPT "hinged" {{{len(script)}+}}\r\n', 'SETACTIVE "hinged"']
    commands[1] += script.decode()
    answers = []
    with connection, connection.makefile("rb") as lines:
        for command in ["", *commands]:
            if command:
                connection.sendall(command.encode() + b"\r\n")
            line = lines.readline()
            while line and not line.startswith((b"OK", b"NO", b"BYE")):
                line = lines.readline()
            answers.append(line.strip())
    return answers
