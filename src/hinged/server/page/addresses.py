"""Under which names a page is reached, and which of them to print."""

from __future__ import annotations

import socket
from collections.abc import Iterable

__all__ = ["allowed_hosts", "is_local", "name_to_print"]

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
EVERYWHERE = ("0.0.0.0", "::")
#: Addresses of no machine (RFC 5737, RFC 3849). Nothing is sent there: the system only says which way it would go.
NOWHERE = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))


def is_local(host: str) -> bool:
    """Return True if only programs of this machine can reach a server that listens there.

    Examples
    --------
    >>> is_local("127.0.0.1"), is_local("::1"), is_local("0.0.0.0")
    (True, True, False)
    """
    return host in ("::1", "localhost") or host.startswith("127.")


def name_to_print(host: str) -> str:
    """Return a name for an address that works: of a server that listens everywhere, this machine's own address."""
    if host not in EVERYWHERE:
        return f"[{host}]" if ":" in host else host
    own = own_addresses()
    return own[0] if own else socket.gethostname()


def own_addresses() -> list[str]:
    """This machine's addresses in its networks, as they stand in an address; none where there is no network."""
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


def allowed_hosts(host: str, port: int, more: Iterable[str] = ()) -> set[str]:
    """Return the Host headers to answer to, in lower case.

    A name in `more` may have a port; without one it is allowed with the server's port and with none, as a proxy
    in front of the page sends it.

    Examples
    --------
    >>> sorted(allowed_hosts("192.168.1.5", 8025, ["Desk.example", "mail.example:444"]))
    ['192.168.1.5:8025', 'desk.example', 'desk.example:8025', 'mail.example:444']
    """
    names = {name_to_print(host)}
    if is_local(host) or host in EVERYWHERE:
        names.update(LOOPBACK)
    if host in EVERYWHERE:
        names.update(own_addresses(), (socket.gethostname(), f"{socket.gethostname()}.local", socket.getfqdn()))
    found = {f"{name}:{port}" for name in names} | (names if port == 80 else set())
    for name in more:
        has_port = name.rpartition(":")[2].isdigit() and not name.endswith("]")
        found |= {name} if has_port else {name, f"{name}:{port}"}
    return {name.lower() for name in found}
