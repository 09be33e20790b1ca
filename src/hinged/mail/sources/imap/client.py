"""A connection to the server: IMAPClient, and the few commands it has no method for."""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from imapclient import IMAPClient, SocketTimeout
from imapclient.exceptions import IMAPClientError
from imapclient.imap_utf7 import decode as decode_name
from imapclient.response_parser import parse_response

from hinged.mail.message import ENOUGH
from hinged.mail.sources.imap.address import Address
from hinged.mail.sources.imap.complaints import about_connecting, about_login
from hinged.mail.sources.imap.credentials import Secret
from hinged.mail.sources.source import SourceError

__all__ = ["INBOX", "MISREAD", "Client", "State", "canonical", "connect", "is_only_a_name"]

INBOX = "INBOX"
#: What IMAPClient, and those who use what it found, raise at answers that are not as the protocol has them.
MISREAD = (ValueError, LookupError, TypeError, AttributeError)

#: What tells whether a folder still holds the same messages. Flags do not matter here.
ITEMS = "(MESSAGES UIDNEXT UIDVALIDITY)"
AT_ONCE = 64  # commands on their way before the first answer is read


@dataclass(frozen=True)
class State:
    """Two equal states of a folder have the same messages: new ones raise `next`, others can only go."""

    validity: int
    next: int
    count: int


class Client(IMAPClient):
    """One connection, logged in."""

    #: The folder that commands act upon, and whether they may change it.
    selected: tuple[str, bool] | None = None
    _kept_flags: tuple[bytes, ...] | None = None
    _tells_of_all: bool | None = None

    def can(self, *capabilities: str) -> bool:
        """Whether the server says it can do all of these."""
        return all(self.has_capability(one) for one in capabilities)

    def choose(self, folder: str, write: bool = False) -> State:
        """Act on a folder from now on, read-only unless said otherwise, and give its present state."""
        self.selected = None
        answer = self.select_folder(folder, readonly=not write)
        if b"UIDVALIDITY" not in answer:
            raise SourceError(f"{self.host} does not number the messages of {folder}, so they cannot be told apart.")
        after = answer.get(b"UIDNEXT")
        if after is None:  # allowed, if rare
            after = max(self.search("*"), default=0) + 1 if answer[b"EXISTS"] else 1
        self.selected, self._kept_flags = (folder, write), answer.get(b"PERMANENTFLAGS")
        return State(answer[b"UIDVALIDITY"], after, answer[b"EXISTS"])

    def takes(self, keyword: bytes) -> bool:
        """Whether the chosen folder keeps such a keyword on its messages."""
        kept = self._kept_flags
        return kept is None or b"\\*" in kept or keyword in kept

    def list_with_states(self) -> tuple[list[tuple[Any, Any, str]], dict[str, State]]:
        """All folders as `list_folders` has them, and their states, in one round trip where the server can."""
        if not self.can("LIST-STATUS"):
            found = self.list_folders()
            return found, self.states([name for flags, _, name in found if not is_only_a_name(flags)])
        special = "SPECIAL-USE " if self.can("SPECIAL-USE") else ""
        self._imap.response("STATUS")
        kind, data = self._imap._simple_command("LIST", '""', '"*"', f"RETURN ({special}STATUS {ITEMS})")
        self._checkok("list", kind, data)
        _, data = self._imap._untagged_response(kind, data, "LIST")
        return self._proc_folder_list(data), dict(self._statuses())

    def states(self, folders: Sequence[str]) -> dict[str, State]:
        """The states of folders, many questions before the first answer; those that cannot be opened are left out."""
        found: dict[str, State] = {}
        for start in range(0, len(folders), AT_ONCE):
            self._imap.response("STATUS")
            tags = [
                self._imap._command("STATUS", self._normalise_folder(folder), ITEMS)
                for folder in folders[start : start + AT_ONCE]
            ]
            for tag in tags:
                self._imap._command_complete("STATUS", tag)
            found.update(self._statuses())
        return found

    def _statuses(self) -> Iterator[tuple[str, State]]:
        """What the STATUS answers so far say."""
        _, lines = self._imap.response("STATUS")
        words: Any = parse_response([line for line in lines or [] if line])
        for name, items in zip(words[::2], words[1::2], strict=True):
            values = {key.upper(): value for key, value in zip(items[::2], items[1::2], strict=True)}
            if values.keys() >= {b"UIDVALIDITY", b"UIDNEXT", b"MESSAGES"}:
                folder = decode_name(name) if isinstance(name, bytes) else str(name)
                yield canonical(folder), State(values[b"UIDVALIDITY"], values[b"UIDNEXT"], values[b"MESSAGES"])

    def bodies(self, uids: Sequence[int]) -> dict[int, bytes | None]:
        """The beginnings of messages of the chosen folder, without marking them as seen; None where there is none."""
        self._imap.response("FETCH")  # what is left of an answer that could not be read
        found = self.fetch(uids, [f"BODY.PEEK[]<0.{ENOUGH}>"])
        return {uid: _body(items) for uid, items in found.items()}

    def move_and_tell(self, uid: int, folder: str) -> tuple[int, int] | None:
        """Move a message in one step; gives its new UIDVALIDITY and UID where the server tells."""
        self._imap.response("COPYUID")
        self.move([uid], folder)
        return self._copied()

    def copy_and_tell(self, uid: int, folder: str) -> tuple[int, int] | None:
        """Copy a message; gives the UIDVALIDITY and UID of the copy where the server tells."""
        self._imap.response("COPYUID")
        self.copy([uid], folder)
        return self._copied()

    def _copied(self) -> tuple[int, int] | None:
        _, told = self._imap.response("COPYUID")
        found = re.fullmatch(rb"(\d+) \d+ (\d+)", (told[-1] if told else None) or b"")
        return (int(found[1]), int(found[2])) if found else None

    def ask_for_news(self) -> bool:
        """Have changes of all folders told while idle, not only those of the chosen one (RFC 5465), if that can be."""
        if self._tells_of_all is None:
            here = b"(SELECTED (MessageNew MessageExpunge))"
            elsewhere = b"(PERSONAL (MessageNew MessageExpunge MailboxName))"
            self._tells_of_all = (
                self.can("NOTIFY") and self._raw_command(b"NOTIFY", [b"SET", here, elsewhere], uid=False)[0] == "OK"
            )
        return self._tells_of_all

    def was_told(self) -> bool:
        """Whether news of other folders came along with the answer to the last command."""
        return any(self._imap.response(kind)[1] != [None] for kind in ("STATUS", "LIST"))

    def hang_up(self) -> None:
        """Close the connection without a word."""
        with suppress(OSError):
            self.shutdown()


def _body(items: dict[bytes, Any]) -> bytes | None:
    return next((value for name, value in items.items() if name.startswith(b"BODY[]") and type(value) is bytes), None)


def canonical(folder: str) -> str:
    """A folder's name as the server has it; of the inbox alone the case does not matter."""
    return INBOX if folder.upper() == INBOX else folder


def is_only_a_name(flags: Sequence[bytes]) -> bool:
    """Whether a folder holds folders but no messages."""
    return bool({b"\\noselect", b"\\nonexistent"} & {flag.lower() for flag in flags})


def connect(address: Address, secret: Secret) -> Client:
    """Connect, make the way private, check whose certificate it is, log in.

    Raises
    ------
    SourceError
        One sentence about what went wrong; `UnreachableError` where trying again may help.
    """
    timeout = SocketTimeout(connect=min(address.timeout, 30.0), read=address.timeout)
    tls = address.encryption == "tls"
    try:
        client = Client(
            address.host, address.port, ssl=tls, ssl_context=_trust(address) if tls else None, timeout=timeout
        )
    except (IMAPClientError, OSError) as error:
        raise about_connecting(address, error) from None
    try:
        # IMAPClient sends some commands in two pieces, and the second would wait for the first to be acknowledged.
        client.socket().setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if address.encryption == "starttls":
            _start_tls(client, address)
        _login(client, address, secret)
    except BaseException:
        client.hang_up()
        raise
    return client


def _trust(address: Address) -> ssl.SSLContext:
    """Certificates are checked, against the system's list of signers or the address's own."""
    try:
        return ssl.create_default_context(cafile=None if address.ca is None else str(address.ca))
    except ssl.SSLError:
        raise SourceError(f"{address.ca} holds no certificates; it should be a PEM file.") from None


def _start_tls(client: Client, address: Address) -> None:
    if not client.can("STARTTLS"):
        raise SourceError(
            f"{address.host}:{address.port} offers no encryption, so neither password nor mail was sent; try imaps://."
        )
    try:
        client.starttls(_trust(address))
    except (IMAPClientError, OSError) as error:
        raise about_connecting(address, error) from None


def _login(client: Client, address: Address, secret: Secret) -> None:
    if re.search(r"[\0\r\n]", address.user + secret.text):
        raise SourceError(f"the {secret.kind} of {address.user} (from {secret.origin}) has line breaks in it.")
    try:
        if secret.kind == "token":
            _login_by_token(client, address.user, secret.text)
        elif (address.user + secret.text).isascii() and not client.can("LOGINDISABLED"):
            client.login(address.user, secret.text)
        else:
            client.plain_login(address.user, secret.text)
    except IMAPClientError as error:
        raise about_login(address, secret, error) from None
    except OSError as error:
        raise about_connecting(address, error) from None


def _login_by_token(client: Client, user: str, token: str) -> None:
    """OAuth2. A server that refuses explains itself in a second question, which gets an empty answer."""
    if client.can("AUTH=OAUTHBEARER"):
        user = user.replace("=", "=3D").replace(",", "=2C")
        answers = iter([f"n,a={user},\1auth=Bearer {token}\1\1", "\1"])
        client.sasl_login("OAUTHBEARER", lambda question: next(answers))
    else:
        answers = iter([f"user={user}\1auth=Bearer {token}\1\1", ""])
        client.sasl_login("XOAUTH2", lambda question: next(answers))
