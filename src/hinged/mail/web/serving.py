"""The server of the page: its port, its address with a token, and a shutdown that loses nothing."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace

from hinged.http.connections import Connections, share_files
from hinged.http.local import LOCAL_HOSTS, is_local
from hinged.http.running import listen, server_for
from hinged.mail.assistant import Assistant
from hinged.mail.reading import Show
from hinged.mail.sources.source import Source
from hinged.mail.web.app import Page
from hinged.mail.web.desk import Desk
from hinged.mail.web.guard import Guard
from hinged.mail.web.page_state import load_page_state, save_page_state

__all__ = ["PageServer", "allowed_hosts"]

CONNECTIONS = 100
GRACE = 2  # seconds for open requests
EVERYWHERE = ("0.0.0.0", "::")
#: Documentation addresses (RFC 5737, RFC 3849). Nothing is sent: the system only reports the route it would take.
NOWHERE = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))


class PageServer:
    """The page with its server; `address` holds the token that opens it.

    Parameters
    ----------
    another : function that opens the source
    assistant : Assistant
    folder : str, optional
        The folder to file from; the inbox unless named.
    host : str
        Address to listen on; this machine alone by default.
    port : int, optional
        0 takes a free one. By default it is that of the last start, if that is free, so that open tabs keep working.
    allow_hosts : names
        More host names of the page, such as that of a proxy.
    sign_out : bool, default False
        Refuse the cookies of earlier starts.
    token : str, optional
        Generated at each start if left out; the cookies of browsers outlive a restart (see docs/page.md).

    Attributes
    ----------
    loaded : threading.Event
        Set when the mail was read for the first time.
    """

    def __init__(
        self,
        another: Callable[[], Source],
        assistant: Assistant,
        *,
        folder: str | None = None,
        host: str = "127.0.0.1",
        port: int | None = None,
        allow_hosts: Iterable[str] = (),
        sign_out: bool = False,
        token: str | None = None,
    ) -> None:
        self.source = another()
        self.desk = Desk(self.source, assistant, folder)
        self.loaded = threading.Event()
        self.page = Page(self.desk, another)
        state = load_page_state(assistant.state, new_cookie=sign_out)
        self.socket = _listen(host, port, state.port)
        self.port = int(self.socket.getsockname()[1])
        save_page_state(assistant.state, replace(state, port=self.port))
        hosts = allowed_hosts(host, self.port, allow_hosts)
        self.guard = Guard(self.page.app, hosts, state.cookie, state.secret, token)
        self._home = f"http://{name_to_print(host)}:{self.port}/"
        self.address = f"{self._home}?token={self.guard.token}"
        self.server = server_for(self.guard, Connections(share_files(CONNECTIONS).connections), GRACE)
        self.server.stopping = self.page.end

    def address_once(self) -> str:
        """Return an address that opens the page once and holds no lasting secret."""
        return f"{self._home}?code={self.guard.one_time_code()}"

    def run(self, show: Show | None = None, loaded: Callable[[], None] | None = None) -> None:
        """Read the mail, and answer until SIGINT or SIGTERM, or until `stop` is called from another thread.

        Parameters
        ----------
        show : function of (what, done, total), optional
            Progress of reading the mail for the first time; the page shows it too.
        loaded : function, optional
            Called when that is done.

        Raises
        ------
        Whatever went wrong while the mail was read for the first time.
        """

        def end() -> None:
            if loaded is not None:
                loaded()
            self.loaded.set()
            if self.page.failure is not None:
                self.stop()

        self.page.at_first_look(show, end)
        try:
            self.server.run(sockets=[self.socket])
        finally:
            self.page.close()
            self.socket.close()
            self.source.close()
        if self.page.failure is not None:
            raise self.page.failure

    def stop(self) -> None:
        """Make `run` return."""
        self.page.end()
        self.server.should_exit = True


def _listen(host: str, port: int | None, last: int) -> socket.socket:
    """Listen on the given port; without one, on that of the last start if it is free, else on a free one."""
    if port is None and last:
        with suppress(OSError):
            return listen(host, last)
    return listen(host, port or 0)


def name_to_print(host: str) -> str:
    """Return a host name that works in an address; for a server that listens everywhere, an address of this machine."""
    if host not in EVERYWHERE:
        return f"[{host}]" if ":" in host else host
    own = own_addresses()
    return own[0] if own else socket.gethostname()


def own_addresses() -> list[str]:
    """Return this machine's addresses in its networks, formatted for a URL; none if there is no network."""
    found = []
    for family, nowhere in NOWHERE:
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.connect((nowhere, 9))
                name = str(probe.getsockname()[0])
            found.append(f"[{name}]" if ":" in name else name)
        except OSError:
            continue
    return found


def _own_names(host: str) -> set[str]:
    """Return the names under which a server that listens on `host` can be reached."""
    names = {name_to_print(host)}
    if is_local(host) or host in EVERYWHERE:
        names.update(LOCAL_HOSTS)
    if host in EVERYWHERE:
        names.update(own_addresses(), (socket.gethostname(), f"{socket.gethostname()}.local", socket.getfqdn()))
    return names


def allowed_hosts(host: str, port: int, more: Iterable[str] = ()) -> set[str]:
    """Return the allowed Host headers, in lower case.

    A name in `more` may have a port; without one it is allowed with the server's port and with none, as a proxy
    in front of the page sends it.

    Examples
    --------
    >>> sorted(allowed_hosts("192.168.1.5", 8025, ["Desk.example", "mail.example:444"]))
    ['192.168.1.5:8025', 'desk.example', 'desk.example:8025', 'mail.example:444']
    """
    names = _own_names(host)
    found = {f"{name}:{port}" for name in names} | (names if port == 80 else set())
    for name in more:
        has_port = name.rpartition(":")[2].isdigit() and not name.endswith("]")
        found |= {name} if has_port else {name, f"{name}:{port}"}
    return {name.lower() for name in found}
