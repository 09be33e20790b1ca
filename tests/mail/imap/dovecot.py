"""A real Dovecot on a loopback port, with a folder and settings of its own."""

from __future__ import annotations

import base64
import grp
import hmac
import json
import os
import pwd
import random
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from imapclient import IMAPClient
from tests import needs

PASSWORD = "kleine Burg &c"
MOST_USERS = 2000
MEMORY = "/dev/shm"  # thousands of small files come and go
KEY = b"what tokens are signed with"
BARE = "IMAP4rev1 LITERAL+ SASL-IR ID ENABLE"
#: The last number of addresses, 127.0.0.N, where the server says that it can do less than it can.
LESS = {
    2: f"{BARE} UIDPLUS MOVE IDLE LIST-EXTENDED LIST-STATUS SPECIAL-USE NAMESPACE UNSELECT",
    3: f"{BARE} UIDPLUS SPECIAL-USE NAMESPACE IDLE",
    4: BARE,
}

SETTINGS = """
base_dir = {home}/run
state_dir = {home}/run
log_path = {home}/log
listen = 127.0.0.1 127.0.0.2 127.0.0.3 127.0.0.4
protocols = imap
default_internal_user = {user}
default_internal_group = {group}
default_login_user = {user}
first_valid_uid = 1
ssl = {ssl}
ssl_cert = <{home}/{certificate}.pem
ssl_key = <{home}/cert.key
disable_plaintext_auth = {disable_plaintext_auth}
auth_failure_delay = 0
auth_mechanisms = plain login oauthbearer xoauth2
passdb {{
  driver = passwd-file
  mechanisms = plain login
  args = {home}/users
}}
passdb {{
  driver = oauth2
  mechanisms = oauthbearer xoauth2
  args = {home}/oauth2
}}
userdb {{
  driver = passwd-file
  args = {home}/users
}}
mail_location = maildir:~/Maildir
maildir_stat_dirs = yes
mail_fsync = never
mail_max_userip_connections = 100
namespace inbox {{
  inbox = yes
  separator = {separator}
  mailbox Sent {{
    auto = create
    special_use = \\Sent
  }}
  mailbox Papierkorb {{
    auto = create
    special_use = \\Trash
  }}
}}
namespace public {{
  type = public
  prefix = Public{separator}
  separator = {separator}
  location = maildir:{home}/public
  subscriptions = no
}}
service anvil {{
  chroot =
  unix_listener anvil-auth-penalty {{
    mode = 0
  }}
}}
service imap-login {{
  chroot =
  service_count = 0
  process_min_avail = 1
  inet_listener imap {{
    port = {port}
  }}
  inet_listener imaps {{
    port = {tls_port}
    ssl = yes
  }}
}}
"""

LESS_THERE = """
local 127.0.0.{number} {{
  protocol imap {{
    imap_capability = {able}
  }}
}}
"""

#: Keys of tokens are looked up here; a token names the one that signed it.
OAUTH2 = """
introspection_mode = local
local_validation_key_dict = fs:posix:prefix={home}/keys/
username_attribute = sub
"""


class Dovecot:
    """A server that can be started, killed and started again with the same mail."""

    def __init__(self, **settings: str) -> None:
        self.binary = needs.program("dovecot", "dovecot-imapd")
        asked = subprocess.run([self.binary, "--version"], capture_output=True, text=True, check=True)
        version = asked.stdout.split()[0]
        if not version.startswith("2.3."):
            needs.lacking(f"the settings of these tests are for Dovecot 2.3, and here is {version}")
        self.home = Path(tempfile.mkdtemp(prefix="hinged-dovecot-", dir=MEMORY if os.access(MEMORY, os.W_OK) else None))
        # Dovecot lets nobody read mail as root, so root steps down; anybody else stays who they are.
        self.account = pwd.getpwnam("nobody") if os.getuid() == 0 else pwd.getpwuid(os.getuid())
        self.port, self.tls_port = free_ports(2)
        self.settings = {"certificate": "good", "separator": ".", "ssl": "yes", "disable_plaintext_auth": "yes"}
        self.settings |= settings
        self.process: subprocess.Popen[bytes] | None = None
        self.users = 0
        certificates(self.home)
        self._write()
        self.start()

    @property
    def ca(self) -> Path:
        """The certificate to trust."""
        return self.home / "good.pem"

    def url(self, user: str, host: str = "localhost", options: str = "") -> str:
        """The address of a user's mail."""
        return f"imaps://{user}@{host}:{self.tls_port}/?ca={self.ca}{options}"

    def new_user(self) -> str:
        """Somebody with an empty mailbox."""
        self.users += 1
        return f"jane{self.users}"

    def token(self, user: str, key: bytes = KEY, lasts: int = 600) -> str:
        """A token for OAuth2 (a JSON web token), which the server checks by its key."""
        now = int(time.time())
        claims = {"sub": user, "iat": now - 10, "exp": now + lasts, "aud": "mail", "iss": "tests"}
        body = b".".join(_base64(json.dumps(part).encode()) for part in ({"alg": "HS256", "typ": "JWT"}, claims))
        return (body + b"." + _base64(hmac.digest(key, body, "sha256"))).decode()

    def client(self, user: str) -> IMAPClient:
        """Another mail program of the user."""
        context = ssl.create_default_context(cafile=str(self.ca))
        client = IMAPClient("localhost", self.tls_port, ssl_context=context, timeout=20)
        client.login(user, PASSWORD)
        return client

    def start(self) -> None:
        """Start, and come back when the server answers."""
        me = self.account
        step_down = {"user": me.pw_uid, "group": me.pw_gid, "extra_groups": []} if os.getuid() == 0 else {}
        with open(self.home / "stderr", "ab") as stderr:
            command = [self.binary, "-F", "-c", self.home / "dovecot.conf"]
            self.process = subprocess.Popen(command, stderr=stderr, start_new_session=True, **step_down)
        deadline = time.monotonic() + 20
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                said = "".join(path.read_text() for path in (self.home / "stderr", self.home / "log") if path.exists())
                raise RuntimeError(f"Dovecot does not start:\n{said}")
            time.sleep(0.02)

    def kill(self) -> None:
        """Stop the server and all connections at once, as a crash would."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None
            while any(map(_is_listening, (self.port, self.tls_port))):  # the system ends the other processes meanwhile
                time.sleep(0.01)

    def close(self) -> None:
        """Stop, and remove everything."""
        self.kill()
        shutil.rmtree(self.home, ignore_errors=True)

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as sock:
                return sock.recv(4) == b"* OK"
        except OSError:
            return False

    def _write(self) -> None:
        me, group = self.account, grp.getgrgid(self.account.pw_gid).gr_name
        known = {"home": self.home, "user": me.pw_name, "group": group, "port": self.port, "tls_port": self.tls_port}
        less = "".join(LESS_THERE.format(number=number, able=able) for number, able in LESS.items())
        (self.home / "dovecot.conf").write_text(SETTINGS.format(**known, **self.settings) + less)
        (self.home / "oauth2").write_text(OAUTH2.format(home=self.home))
        rest = f"{{PLAIN}}{PASSWORD}:{me.pw_uid}:{me.pw_gid}::{self.home}/mail"
        (self.home / "users").write_text("".join(f"jane{n}:{rest}/jane{n}::\n" for n in range(1, MOST_USERS)))
        key = self.home / "keys" / "default" / "HS256" / "default"
        board = self.home / "public" / ".Board"
        for folder in (self.home / "run", self.home / "mail", key.parent, board / "cur", board / "new", board / "tmp"):
            folder.mkdir(parents=True)
        key.write_bytes(base64.b64encode(KEY))
        for path in (self.home, *self.home.rglob("*")):
            os.chown(path, me.pw_uid, me.pw_gid)


def certificates(folder: Path) -> None:
    """Make good.pem and expired.pem for localhost, signed by their own key, cert.key."""
    openssl = needs.program("openssl", "openssl")

    def call(*arguments: str) -> None:
        subprocess.run([openssl, *arguments], cwd=folder, check=True, capture_output=True)

    new = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "cert.key")
    names = (
        "-subj",
        "/CN=localhost",
        "-addext",
        "subjectAltName=DNS:localhost,IP:127.0.0.1,IP:127.0.0.2,IP:127.0.0.3,IP:127.0.0.4",
    )
    call("req", "-x509", *new, *names, "-days", "2", "-out", "good.pem")
    call("req", "-new", "-key", "cert.key", *names, "-out", "request")
    call("x509", "-req", "-in", "request", "-signkey", "cert.key", "-days", "0", "-out", "expired.pem")


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on, all different, and not of those that connections are given by the system."""
    found: set[int] = set()
    while len(found) < count:
        port = random.SystemRandom().randrange(20_000, 32_000)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            found.add(port)
    return sorted(found)


def _is_listening(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False


def _base64(content: bytes) -> bytes:
    return base64.urlsafe_b64encode(content).rstrip(b"=")
