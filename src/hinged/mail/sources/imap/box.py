"""A mailbox on an IMAP server, as the assistant sees it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import TypeVar

from imapclient.exceptions import IMAPClientAbortError, IMAPClientError, IMAPClientReadOnlyError, ProtocolError

from hinged.mail.sources.imap.account import Address, Secret, another_token, find_secret, forget_typed
from hinged.mail.sources.imap.client import (
    INBOX,
    MISREAD,
    ImapConnection,
    State,
    ThrottledError,
    about_refusal,
    connect,
    words_of,
)
from hinged.mail.sources.imap.folders import ListedFolders, create, list_folders
from hinged.mail.sources.imap.listing import ListedMessages, list_folder, peek, uid_of
from hinged.mail.sources.imap.moving import MoveInProgress
from hinged.mail.sources.imap.waiting import idle, rounds
from hinged.mail.sources.pausing import pauses
from hinged.mail.sources.source import (
    Folder,
    FolderError,
    GoneError,
    Place,
    RejectedError,
    Source,
    SourceError,
    UnclearError,
    UnreachableError,
    Unreadable,
)

__all__ = ["ImapSource"]

Answer = TypeVar("Answer")
LOST = (IMAPClientAbortError, ProtocolError, OSError)
AT_ONCE = 64  # messages in one request, so at most 16 MiB in memory
MOST_CUTS = 8  # messages in a row at which the server disconnects; beyond that the messages are not the cause
LONGEST = 1500.0  # seconds without traffic; servers may disconnect after 30 minutes
GOODBYE = 5.0  # seconds that the server has to answer a logout
TOLD_OF_ALL = 5  # factor by which folders are polled less often if the server reports changes in all of them


class ImapSource(Source):
    """Folders and messages of one account.

    Reading changes nothing: folders are opened read-only and messages are fetched with PEEK. A lost connection is
    reopened once; if that fails, `UnreachableError` is raised, and `wait` tries again after growing pauses.

    `folders` takes one request if the server can (LIST-STATUS), and `places` then asks only about folders that
    changed. For unchanged ones it returns the same list as before.
    """

    def __init__(self, address: Address) -> None:
        self.address = address
        self._secret: Secret | None = None
        self._client: ImapConnection | None = None
        self._listed: ListedFolders | None = None
        self._listings: dict[str, ListedMessages] = {}
        self._pauses = pauses()
        self._cuts = 0  # messages in a row that could not be read because the server disconnected
        self._connect_again()

    def folders(self) -> list[Folder]:
        """Return every folder of the user's own that can hold messages, sorted by name."""
        self._listed = self._ask(list_folders)
        for name in self._listings.keys() - self._listed.names.keys():
            del self._listings[name]
        return list(self._listed.folders)

    def places(self, folder: str) -> list[Place]:
        """Return the places of the messages of a folder, oldest first, as of the last call of `folders`."""
        theirs, before = self._theirs(folder), self._listings.get(folder)
        seen = self._seen().states.get(folder)
        if before is None or seen is None or before.seen != seen:
            if seen is not None and seen.count == 0:
                before = ListedMessages(seen, seen, [])
            else:
                before = self._list(folder, theirs, seen, before)
            self._listings[folder] = before
        return before.places

    def _list(self, folder: str, theirs: str, seen: State | None, before: ListedMessages | None) -> ListedMessages:
        try:
            return self._ask(lambda client: list_folder(client, folder, theirs, seen, before))
        except (UnreachableError, RejectedError):
            raise
        except SourceError as problem:  # of this folder; the others may be fine
            gone = "NONEXISTENT" in str(problem)  # RFC 5530
            raise (GoneError if gone else FolderError)(str(problem)) from problem

    def read(self, places: Sequence[Place]) -> Iterator[tuple[Place, bytes | Unreadable]]:
        """Yield the raw messages, long ones truncated; leave out those that no longer exist.

        A message that the server refuses, omits or garbles, or at which it disconnects, is `Unreadable`.
        """
        for folder, together in groupby(places, key=lambda place: place.folder):
            few = list(together)
            for start in range(0, len(few), AT_ONCE):
                yield from self._peek(folder, few[start : start + AT_ONCE])

    def move(self, place: Place, folder: str) -> Place:
        """Move a message to another folder; return its new place."""
        move = MoveInProgress(place, folder, self._theirs(place.folder), self._theirs(folder))
        try:
            return self._ask(move.go)
        finally:
            for name in (place.folder, folder):
                self._seen().states.pop(name, None)
                self._listings.pop(name, None)

    def create(self, folder: str) -> str:
        """Create a folder, with levels separated by `/`; return the name it is listed under."""
        names = [one.name for one in self.folders()]
        theirs = self._ask(lambda client: create(client, folder, names))
        self.folders()
        ours = next((ours for ours, listed in self._seen().names.items() if listed == theirs), None)
        if ours is None:
            raise SourceError(f"{self.address.host} created {folder!r} but does not list it; choose another name.")
        return ours

    def name_on_server(self, folder: str) -> str:
        return self._theirs(folder)

    def deliver(self, folder: str, raw: bytes) -> None:
        theirs, lines = self._theirs(folder), raw.replace(b"\n", b"\r\n")
        self._ask(lambda client: client.append(theirs, lines))

    def mark(self, place: Place, keywords: Sequence[str]) -> None:
        """Set keywords on a message; earlier ones that begin with `hinged-` are removed, other flags are kept."""
        wanted = {keyword.encode("ascii") for keyword in keywords}

        def store(client: ImapConnection) -> None:
            uid = uid_of(place, client.choose(self._theirs(place.folder), write=True))
            found = {} if uid is None else client.get_flags([uid])
            if uid is None or uid not in found:
                return
            if not all(map(client.takes, wanted)):
                raise SourceError(f"{self.address.host} does not allow keywords on messages in {place.folder}.")
            ours = {flag for flag in found[uid] if flag.lower().startswith(b"hinged-")}
            if ours - wanted:
                client.remove_flags([uid], sorted(ours - wanted), silent=True)
            if wanted - ours:
                client.add_flags([uid], sorted(wanted - ours), silent=True)

        self._ask(store)

    def wait(self, seconds: float) -> bool:
        """Return True as soon as something may have changed, False after the timeout.

        After a reconnection it returns True, because changes may have been missed.

        Raises
        ------
        UnreachableError
            If the server cannot be reached. The next call pauses first, each time longer, up to a minute.
        """
        end = time.monotonic() + seconds
        if self._client is None:
            time.sleep(min(next(self._pauses), seconds))
            self._connect_again()
            return True
        self._pauses = pauses()  # all went well since the last wait
        lengths, look_again = rounds(LONGEST), 0.0
        while True:
            if time.monotonic() >= look_again:
                every = self.address.poll * (TOLD_OF_ALL if self._ask(ImapConnection.ask_for_news) else 1)
                if self._ask(self._differs):
                    return True
                look_again = time.monotonic() + min(every, LONGEST)
            now = time.monotonic()
            if now >= end:
                return False
            if self._idle(min(end, look_again, now + next(lengths)) - now):
                return True

    def close(self) -> None:
        """Log out, if the server still answers."""
        client, self._client = self._client, None
        if client is not None:
            try:
                client.socket().settimeout(GOODBYE)
                client.logout()
            except (IMAPClientError, OSError):
                client.hang_up()

    # ------------------------------------------------------------------ inside
    def _connection(self) -> ImapConnection:
        if self._client is None:
            if self._secret is None or self._secret.origin != "the terminal":  # the user is asked only once
                self._secret = find_secret(self.address)
            self._client = self._log_in(self._secret)
        return self._client

    def _log_in(self, secret: Secret) -> ImapConnection:
        """Connect with a password, or with a token, and once more with another one if that has expired."""
        try:
            return connect(self.address, secret)
        except RejectedError:
            forget_typed(self.address)
            other = another_token(self.address, secret)
            if other is None:
                raise
            self._secret = other
            return connect(self.address, other)

    def _ask(self, question: Callable[[ImapConnection], Answer]) -> Answer:
        """Ask the server, on a new connection if the old one is lost; raise errors as one sentence."""
        for attempt in (1, 2):
            try:
                return question(self._connection())
            except SourceError:
                raise
            except IMAPClientReadOnlyError as error:
                raise SourceError(f"{self.address.host} forbids changes to that folder: {words_of(error)}.") from None
            except LOST as error:
                self._drop()
                if attempt == 2:
                    raise UnreachableError(f"the connection to {self.address} was lost: {words_of(error)}.") from None
            except IMAPClientError as error:
                problem = about_refusal(self.address, error)
                if isinstance(problem, ThrottledError):
                    self._drop()  # `wait` pauses before it connects again
                raise problem from None
            except MISREAD as error:
                self._drop()
                if attempt == 2:
                    said = f"{self.address.host} sent a response that cannot be parsed: {words_of(error)}."
                    raise UnclearError(said) from error
            except BaseException:  # a signal in the middle of a response: the next one would be misread
                self._drop()
                raise
        raise AssertionError

    def _connect_again(self) -> None:
        self._ask(lambda client: None)

    def _idle(self, seconds: float) -> bool:
        """Wait on this connection; reconnect at once if it is lost, which counts as a change."""
        seen, client = self._seen().states.get(INBOX), self._connection()
        try:
            return idle(client, INBOX, max(0.0, seconds), seen)
        except (*LOST, IMAPClientError):
            self._drop()
            self._connect_again()
            return True
        except BaseException:
            self._drop()
            raise

    def _drop(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.hang_up()

    def _seen(self) -> ListedFolders:
        if self._listed is None:
            self.folders()
        assert self._listed is not None
        return self._listed

    def _differs(self, client: ImapConnection) -> bool:
        now, before = list_folders(client), self._listed
        return before is None or (now.names, now.states) != (before.names, before.states)

    def _theirs(self, folder: str) -> str:
        names = self._seen().names
        if folder not in names:
            near = ", ".join(sorted(names)[:5])
            raise SourceError(f"{self.address} has no folder {folder}; there are {near}{' …' * (len(names) > 5)}.")
        return names[folder]

    def _peek(self, folder: str, few: list[Place]) -> list[tuple[Place, bytes | Unreadable]]:
        theirs = self._theirs(folder)
        try:
            found = self._ask(lambda client: peek(client, theirs, few))
        except ThrottledError:
            raise
        except UnreachableError as problem:
            self._connect_again()  # raises if the server is down; else one of these messages makes it disconnect
            if len(few) > 1:
                return [one for place in few for one in self._peek(folder, [place])]
            self._cuts += 1
            if self._cuts > MOST_CUTS:
                self._cuts = 0
                raise
            return [(few[0], Unreadable(str(problem).rstrip(".")))]
        self._cuts = 0
        return found
