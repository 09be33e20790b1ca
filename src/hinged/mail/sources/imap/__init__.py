"""Mail on an IMAP server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hinged.mail.sources.imap.account import Address, Secret
    from hinged.mail.sources.imap.box import ImapSource

__all__ = ["open_imap", "try_secret"]


def open_imap(spec: str) -> ImapSource:
    """Connect to the mail at an address such as `imaps://jane@imap.example.org/`.

    Parameters
    ----------
    spec : str
        `imaps://` for TLS from the first byte, `imap://` for STARTTLS; docs/mail_imap.md lists the options that may
        follow a `?`.

    Returns
    -------
    ImapSource
        Connected and logged in, so that a wrong name or password raises here.
    """
    from hinged.mail.sources.imap.account import read_address

    address = read_address(spec)
    with _naming_the_package():
        from hinged.mail.sources.imap.box import ImapSource
        from hinged.mail.sources.imap.gmail import GmailSource, is_gmail
    source = ImapSource(address)
    return GmailSource(source) if is_gmail(source) else source


def try_secret(address: Address, secret: Secret) -> None:
    """Log in with a password or token, and hang up; raise `SourceError` if that fails."""
    with _naming_the_package():
        from hinged.mail.sources.imap.client import connect
    connect(address, secret).hang_up()


@contextmanager
def _naming_the_package() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "imapclient":
            raise
        raise ImportError('mail on a server needs the package imapclient; pip install "hinged[mail]" has it.') from None
