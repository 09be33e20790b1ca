"""What went wrong with a server, each in one sentence."""

from __future__ import annotations

import socket
import ssl

from hinged.mail.sources.imap.address import Address
from hinged.mail.sources.imap.credentials import Secret
from hinged.mail.sources.source import RejectedError, SourceError, UnreachableError

__all__ = ["about_connecting", "about_login", "words_of"]

EXPIRED, SELF_SIGNED, HOSTNAME = 10, (18, 19, 20, 21), (62, 63, 64)


def about_connecting(address: Address, error: Exception) -> SourceError:
    """Why no connection came about. What may pass by itself is `UnreachableError`."""
    where = f"{address.host}:{address.port}"
    if isinstance(error, ssl.SSLCertVerificationError):
        return SourceError(_about_certificate(address, error))
    if isinstance(error, ssl.SSLError):
        other = "imap:// for STARTTLS" if address.encryption == "tls" else "imaps:// for TLS from the start"
        return SourceError(f"{where} does not speak TLS as expected ({error.reason or error}); try {other}.")
    if isinstance(error, socket.gaierror):
        return UnreachableError(f"there is no server called {address.host}, or no network; check the address.")
    if isinstance(error, ConnectionRefusedError):
        return UnreachableError(f"nothing listens at {where}; check the port, and whether the server is running.")
    if isinstance(error, TimeoutError):
        return UnreachableError(f"{where} did not answer within {address.timeout:.0f} s.")
    if isinstance(error, OSError):
        return UnreachableError(f"{where} cannot be reached: {error.strerror or error}.")
    return UnreachableError(f"{where} does not answer as a mail server does: {words_of(error)}.")


def _about_certificate(address: Address, error: ssl.SSLCertVerificationError) -> str:
    code = error.verify_code
    if code == EXPIRED:
        return (
            f"the certificate of {address.host} has expired, so nobody can tell whether it is really that server; "
            "its keeper has to renew it."
        )
    if code in SELF_SIGNED:
        return (
            f"the certificate of {address.host} is signed by nobody this machine trusts; if the server is yours, "
            "add its certificate to the address as ?ca=FILE."
        )
    if code in HOSTNAME:
        return f"the certificate of {address.host} is for another name ({error.verify_message}); check the address."
    return f"the certificate of {address.host} was not accepted: {error.verify_message}."


def about_login(address: Address, secret: Secret, error: Exception) -> SourceError:
    """Why the server did not let us in."""
    words = words_of(error)
    if "[UNAVAILABLE]" in words.upper():  # RFC 5530: the server's own trouble, not ours
        return UnreachableError(f"{address.host} cannot check passwords at the moment: {words}.")
    return RejectedError(
        f"{address.host} did not accept the {secret.kind} of {address.user} (from {secret.origin}); it says: {words}."
    )


def words_of(error: Exception) -> str:
    """What the server said, on one line."""
    text = " ".join(str(error).split()).removeprefix("b'").removesuffix("'")
    return text.rstrip(".") or type(error).__name__
