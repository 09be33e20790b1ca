"""A connection to the server: IMAPClient with a few more commands, how to connect, and error messages."""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

from imapclient import IMAPClient, SocketTimeout
from imapclient.exceptions import IMAPClientError, ProtocolError
from imapclient.imap_utf7 import decode as decode_name
from imapclient.response_parser import parse_response

from hinged.mail.message import ENOUGH
from hinged.mail.sources.imap.account import Address, Secret
from hinged.mail.sources.source import RejectedError, SourceError, UnreachableError

__all__ = [
    "INBOX",
    "MISREAD",
    "ImapConnection",
    "State",
    "ThrottledError",
    "about_login",
    "about_refusal",
    "canonical",
    "connect",
    "is_only_a_name",
    "is_throttled",
    "words_of",
]

INBOX = "INBOX"
#: What IMAPClient and its callers raise when a response violates the protocol.
MISREAD = (ValueError, LookupError, TypeError, AttributeError)

#: Items that show whether a folder still holds the same messages; flags do not matter here.
ITEMS = "(MESSAGES UIDNEXT UIDVALIDITY)"
AT_ONCE = 64  # pipelined commands
#: What is wrong with a certificate, by OpenSSL's codes: it has expired, is self-signed, is for another name.
CERTIFICATES = {
    (10,): "has expired, so the server cannot be verified; its administrator must renew it",
    (18, 19, 20, 21): "is not signed by an authority that this machine trusts; if the server is yours, add its "
    "certificate to the address as ?ca=FILE",
    (62, 63, 64): "is for another name ({}); check the address",
}
#: Words with which Microsoft, Gmail and others refuse any command of somebody who has sent too many.
THROTTLED = (
    "[THROTTLED]", "RATE LIMIT", "EXCEEDED COMMAND OR BANDWIDTH LIMITS", "TOO MANY SIMULTANEOUS CONNECTIONS",
)  # fmt: skip
#: Words of a refused login that do not concern the password: these, and response codes of RFC 5530 and 9051.
BUSY = (*THROTTLED, "[UNAVAILABLE]", "[INUSE]", "[LIMIT]", "[SERVERBUG]")
#: What to say of an error that may be temporary; the first kind that fits counts.
UNREACHABLE = {
    socket.gaierror: "the host {address.host} was not found, or there is no network; check the address.",
    ConnectionRefusedError: "nothing listens at {where}; check the port, and whether the server is running.",
    TimeoutError: "{where} did not answer within {address.timeout:.0f} s.",
    OSError: "{where} cannot be reached: {system}.",
    Exception: "{where} does not answer like a mail server: {words}.",
}


#: Attributes of a message by name, as IMAPClient gives them: it has no types.
Items: TypeAlias = dict[bytes, Any]


class ThrottledError(UnreachableError):
    """The server does nothing more for a while; asking again at once would make it longer."""


@dataclass(frozen=True)
class State:
    """The state of a folder; equal states have the same messages, since new ones raise `next` and others only go."""

    validity: int
    next: int
    count: int


class ImapConnection(IMAPClient):
    """One connection, logged in."""

    #: The selected folder, and True if it may be changed.
    selected: tuple[str, bool] | None = None
    _kept_flags: tuple[bytes, ...] | None = None
    _tells_of_all: bool | None = None

    def can(self, *capabilities: str) -> bool:
        """Return True if the server has all of these capabilities."""
        return all(self.has_capability(one) for one in capabilities)

    def choose(self, folder: str, write: bool = False) -> State:
        """Select a folder, read-only unless `write`, and return its present state."""
        self.selected = None
        answer = self.select_folder(folder, readonly=not write)
        if b"UIDVALIDITY" not in answer:
            raise SourceError(f"{self.host} gives no UIDVALIDITY for {folder}, so its messages cannot be identified.")
        after = answer.get(b"UIDNEXT")
        if after is None:  # allowed, if rare
            after = max(self.search("*"), default=0) + 1 if answer[b"EXISTS"] else 1
        self.selected, self._kept_flags = (folder, write), answer.get(b"PERMANENTFLAGS")
        return State(answer[b"UIDVALIDITY"], after, answer[b"EXISTS"])

    def takes(self, keyword: bytes) -> bool:
        """Return True if messages of the selected folder can have this keyword."""
        kept = self._kept_flags
        return kept is None or b"\\*" in kept or keyword in kept

    def list_with_states(self) -> tuple[list[tuple[Any, Any, str]], dict[str, State]]:
        """Return all folders as `list_folders` does, and their states; in one round trip if the server can."""
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
        """Return the states of folders, with pipelined commands; leave out folders that cannot be opened."""
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
        """Yield the states in the STATUS responses received so far."""
        _, lines = self._imap.response("STATUS")
        words: Any = parse_response([line for line in lines or [] if line])
        for name, items in zip(words[::2], words[1::2], strict=True):
            values = {key.upper(): value for key, value in zip(items[::2], items[1::2], strict=True)}
            if values.keys() >= {b"UIDVALIDITY", b"UIDNEXT", b"MESSAGES"}:
                folder = decode_name(name) if isinstance(name, bytes) else str(name)
                yield canonical(folder), State(values[b"UIDVALIDITY"], values[b"UIDNEXT"], values[b"MESSAGES"])

    def bodies(self, uids: Sequence[int]) -> dict[int, bytes | None]:
        """Return the beginnings of messages of the selected folder without marking them as seen; None for no body."""
        self._imap.response("FETCH")  # discard the rest of a response that could not be parsed
        found = self.fetch(uids, [f"BODY.PEEK[]<0.{ENOUGH}>"])
        return {uid: _body(items) for uid, items in found.items()}

    def transfer(self, how: Callable[[Sequence[int], str], object], uid: int, folder: str) -> tuple[int, int] | None:
        """Call `move` or `copy` for a message; return its new UIDVALIDITY and UID if the server reports them."""
        self._imap.response("COPYUID")
        how([uid], folder)
        _, told = self._imap.response("COPYUID")
        found = re.fullmatch(rb"(\d+) \d+ (\d+)", (told[-1] if told else None) or b"")
        return (int(found[1]), int(found[2])) if found else None

    def ask_for_news(self) -> bool:
        """Subscribe to changes of all folders while idle, not only of the selected one (RFC 5465), if possible."""
        if self._tells_of_all is None:
            here = b"(SELECTED (MessageNew MessageExpunge))"
            elsewhere = b"(PERSONAL (MessageNew MessageExpunge MailboxName))"
            self._tells_of_all = (
                self.can("NOTIFY") and self._raw_command(b"NOTIFY", [b"SET", here, elsewhere], uid=False)[0] == "OK"
            )
        return self._tells_of_all

    def was_told(self) -> bool:
        """Return True if changes of other folders were reported with the response to the last command."""
        return any(self._imap.response(kind)[1] != [None] for kind in ("STATUS", "LIST"))

    def hang_up(self) -> None:
        """Close the connection without logging out."""
        with suppress(OSError):
            self.shutdown()


def _body(items: Items) -> bytes | None:
    return next((value for name, value in items.items() if name.startswith(b"BODY[]") and type(value) is bytes), None)


def canonical(folder: str) -> str:
    """Return a folder's name as the server has it; only the inbox's is case-insensitive."""
    return INBOX if folder.upper() == INBOX else folder


def is_only_a_name(flags: Sequence[bytes]) -> bool:
    """Return True if a folder can hold folders but no messages."""
    return bool({b"\\noselect", b"\\nonexistent"} & {flag.lower() for flag in flags})


def connect(address: Address, secret: Secret) -> ImapConnection:
    """Connect, start TLS, verify the certificate, and log in.

    Raises
    ------
    SourceError
        One sentence about what went wrong; `UnreachableError` if trying again may help.
    """
    timeout = SocketTimeout(connect=min(address.timeout, 30.0), read=address.timeout)
    tls = address.encryption == "tls"
    try:
        client = ImapConnection(
            address.host, address.port, ssl=tls, ssl_context=_trust(address) if tls else None, timeout=timeout
        )
    except (IMAPClientError, OSError) as error:
        raise about_connecting(address, error) from None
    try:
        # IMAPClient sends some commands in two packets; the second would wait for the acknowledgement of the first.
        client.socket().setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if address.encryption == "starttls":
            _start_tls(client, address)
        _login(client, address, secret)
    except BaseException:
        client.hang_up()
        raise
    return client


def _trust(address: Address) -> ssl.SSLContext:
    """Return a context that verifies certificates, against the system's authorities or those of the address."""
    try:
        return ssl.create_default_context(cafile=None if address.ca is None else str(address.ca))
    except ssl.SSLError:
        raise SourceError(f"{address.ca} contains no certificates; it should be a PEM file.") from None


def _start_tls(client: ImapConnection, address: Address) -> None:
    if not client.can("STARTTLS"):
        raise SourceError(
            f"{address.host}:{address.port} offers no encryption, so neither password nor mail was sent; try imaps://."
        )
    try:
        client.starttls(_trust(address))
    except (IMAPClientError, OSError) as error:
        raise about_connecting(address, error) from None


def _login(client: ImapConnection, address: Address, secret: Secret) -> None:
    if re.search(r"[\0\r\n]", address.user + secret.text):
        raise SourceError(f"the {secret.kind} of {address.user} (from {secret.origin}) contains line breaks.")
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


def _login_by_token(client: ImapConnection, user: str, token: str) -> None:
    """Log in by OAuth2; a server that refuses sends its reason as a second challenge, which gets an empty response."""
    if client.can("AUTH=OAUTHBEARER"):
        user = user.replace("=", "=3D").replace(",", "=2C")
        answers = iter([f"n,a={user},\1auth=Bearer {token}\1\1", "\1"])
        client.sasl_login("OAUTHBEARER", lambda question: next(answers))
    else:
        answers = iter([f"user={user}\1auth=Bearer {token}\1\1", ""])
        client.sasl_login("XOAUTH2", lambda question: next(answers))


def about_connecting(address: Address, error: Exception) -> SourceError:
    """Return the error for a failed connection; `UnreachableError` if it may be temporary."""
    where = f"{address.host}:{address.port}"
    if isinstance(error, ssl.SSLCertVerificationError):
        why = next((why for codes, why in CERTIFICATES.items() if error.verify_code in codes), "was not accepted: {}")
        return SourceError(f"the certificate of {address.host} {why.format(error.verify_message)}.")
    if isinstance(error, ssl.SSLError):
        other = "imap:// for STARTTLS" if address.encryption == "tls" else "imaps:// for TLS from the start"
        return SourceError(f"{where} does not speak TLS as expected ({error.reason or error}); try {other}.")
    sentence = next(sentence for kind, sentence in UNREACHABLE.items() if isinstance(error, kind))
    system = getattr(error, "strerror", None) or error
    return UnreachableError(sentence.format(address=address, where=where, system=system, words=words_of(error)))


def about_login(address: Address, secret: Secret, error: Exception) -> SourceError:
    """Return the error for a failed login."""
    words = words_of(error)
    if any(word in words.upper() for word in BUSY):
        return UnreachableError(f"{address.host} lets nobody log in at the moment: {words}.")
    return RejectedError(
        f"{address.host} did not accept the {secret.kind} of {address.user} (from {secret.origin}); it says: {words}."
    )


def about_refusal(address: Address, error: Exception) -> SourceError:
    """Return the error for a command that was answered with NO or BAD."""
    if is_throttled(error):
        return ThrottledError(f"{address.host} lets nobody do more at the moment: {words_of(error)}.")
    return SourceError(f"{address.host} refused: {words_of(error)}.")


def is_throttled(error: Exception) -> bool:
    """Return True if the server refused a command because there were too many before."""
    # Other errors quote responses, and these may quote mail.
    refused = isinstance(error, IMAPClientError) and not isinstance(error, ProtocolError)
    return refused and any(word in words_of(error).upper() for word in THROTTLED)


def words_of(error: Exception) -> str:
    """Return the server's message on one line."""
    text = " ".join(str(error).split()).removeprefix("b'").removesuffix("'")
    return text.rstrip(".") or type(error).__name__
