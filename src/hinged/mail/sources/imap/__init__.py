"""Mail on an IMAP server."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hinged.mail.sources.imap.box import ImapSource

__all__ = ["open_imap"]


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
    try:
        from hinged.mail.sources.imap.box import ImapSource
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "imapclient":
            raise
        raise ImportError('mail on a server needs the package imapclient; pip install "hinged[mail]" has it.') from None
    return ImapSource(address)
