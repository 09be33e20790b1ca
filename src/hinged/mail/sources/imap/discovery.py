"""From a domain to the mail server that its DNS names (SRV records, RFC 6186)."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["Named", "named_server"]

PATIENCE = 4.0  # seconds
#: Services with the scheme of their addresses and the usual port: TLS from the first byte (RFC 8314), then STARTTLS.
SERVICES = (("_imaps", "imaps", 993), ("_imap", "imap", 143))
HOST = re.compile(r"(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])")


class Named(NamedTuple):
    """A mail server as DNS names it; anyone who can forge an answer of DNS chooses it.

    Attributes
    ----------
    host : its name
    place : the name, and the port if that is not the usual one
    scheme : "imaps" for TLS from the first byte, "imap" for STARTTLS
    within : True if it belongs to the domain that was asked for
    """

    host: str
    place: str
    scheme: str
    within: bool


def named_server(domain: str, patience: float = PATIENCE) -> Named | None:
    """Return the mail server of a domain; None if DNS names none, or does not answer in time.

    The record of the lowest priority counts, of several the one of the greatest weight. Answers that make no sense are
    ignored. The name server is that of the system.

    Parameters
    ----------
    domain : such as example.org
    patience : seconds to wait for an answer; the second question is asked only if the first is answered
    """
    try:
        from dns.exception import DNSException
        from dns.rdatatype import SRV
        from dns.resolver import NXDOMAIN, NoAnswer, resolve
    except ModuleNotFoundError:  # an older installation of the extra
        return None
    for service, scheme, usual in SERVICES:
        try:
            records = list(resolve(f"{service}._tcp.{domain}.", SRV, lifetime=patience, search=False))
        except (NXDOMAIN, NoAnswer):
            continue
        except (DNSException, OSError, UnicodeError):  # away, too slow, or not a name at all
            return None
        for one in sorted(records, key=lambda record: (record.priority, -record.weight)):
            host = one.target.to_text(omit_final_dot=True).lower()
            if HOST.fullmatch(host) and one.port:  # "." says that there is no such service
                place = host if one.port == usual else f"{host}:{one.port}"
                return Named(host, place, scheme, f".{host}".endswith(f".{domain.lower()}"))
    return None
