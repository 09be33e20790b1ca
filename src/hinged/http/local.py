"""Which names and addresses mean this machine alone."""

from __future__ import annotations

import ipaddress

__all__ = ["LOCAL_HOSTS", "is_local"]

#: The usual ones, as a URL and the Host header have them.
LOCAL_HOSTS = ("127.0.0.1", "localhost", "[::1]")


def is_local(host: str) -> bool:
    """Return True if a host is this machine, so that nothing sent to it leaves the machine.

    Parameters
    ----------
    host : str
        A name or an address; one of IPv6 with or without brackets.

    Examples
    --------
    >>> is_local("127.0.0.1"), is_local("::1"), is_local("[::1]"), is_local("localhost"), is_local("0.0.0.0")
    (True, True, True, True, False)
    """
    if host in LOCAL_HOSTS:
        return True
    try:
        return ipaddress.ip_address(host.removeprefix("[").removesuffix("]")).is_loopback
    except ValueError:
        return False
