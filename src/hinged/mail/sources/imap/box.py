"""A mailbox on an IMAP server, as the assistant sees it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import TypeVar

from imapclient.exceptions import IMAPClientAbortError, IMAPClientError, IMAPClientReadOnlyError, ProtocolError

from hinged.mail.sources.imap.address import Address
from hinged.mail.sources.imap.client import INBOX, MISREAD, Client, State, connect
from hinged.mail.sources.imap.complaints import words_of
from hinged.mail.sources.imap.credentials import Secret, find_secret
from hinged.mail.sources.imap.folders import Look, create, look
from hinged.mail.sources.imap.listing import Listing, list_folder, uid_of
from hinged.mail.sources.imap.moving import Move
from hinged.mail.sources.imap.peeking import peek
from hinged.mail.sources.imap.waiting import Pauses, Rounds, idle
from hinged.mail.sources.source import (
    Folder,
    FolderError,
    GoneError,
    Place,
    RejectedError,
    SourceError,
    UnclearError,
    UnreachableError,
    Unreadable,
)

__all__ = ["ImapSource"]

Answer = TypeVar("Answer")
LOST = (IMAPClientAbortError, ProtocolError, OSError)
AT_ONCE = 64  # messages in one question, so at most 16 MiB in memory
MOST_CUTS = 8  # messages in a row at which the server hangs up; more are not the messages' fault
LONGEST = 1500.0  # seconds of silence; servers may hang up after 30 minutes
GOODBYE = 5.0  # seconds that the server has to say goodbye
TOLD_OF_ALL = 5  # times less often is looked at all folders where the server tells of changes in them


class ImapSource:
    """Folders and messages of one account.

    Reading leaves no trace: folders are opened read-only and messages are peeked at. A lost connection is made
    again by itself, once; where that fails `UnreachableError` is raised, and `wait` tries again after growing pauses.

    A look at all folders (`folders`) takes one question where the server can (LIST-STATUS), and `places` then asks
    only about folders that changed. Unchanged ones give the very list they gave before.
    """

    def __init__(self, address: Address) -> None:
        self.address = address
        self._secret: Secret | None = None
        self._client: Client | None = None
        self._look: Look | None = None
        self._listings: dict[str, Listing] = {}
        self._pauses = Pauses()
        self._cuts = 0  # messages in a row that could not be read because the server hung up
        self._connect_again()

    def folders(self) -> list[Folder]:
        """Every folder of the user's own that can hold messages, in the order of their names."""
        self._look = self._ask(look)
        for name in self._listings.keys() - self._look.names.keys():
            del self._listings[name]
        return list(self._look.folders)

    def places(self, folder: str) -> list[Place]:
        """Where the messages of a folder lie, oldest arrival first, as of the last look at the folders."""
        theirs, before = self._theirs(folder), self._listings.get(folder)
        seen = self._seen().states.get(folder)
        if before is None or seen is None or before.seen != seen:
            if seen is not None and seen.count == 0:
                before = Listing(seen, seen, [])
            else:
                before = self._list(folder, theirs, seen, before)
            self._listings[folder] = before
        return before.places

    def _list(self, folder: str, theirs: str, seen: State | None, before: Listing | None) -> Listing:
        try:
            return self._ask(lambda client: list_folder(client, folder, theirs, seen, before))
        except (UnreachableError, RejectedError):
            raise
        except SourceError as problem:  # of this folder; the others may be in order
            gone = "NONEXISTENT" in str(problem)  # RFC 5530
            raise (GoneError if gone else FolderError)(str(problem)) from problem

    def read(self, places: Sequence[Place]) -> Iterator[tuple[Place, bytes | Unreadable]]:
        """The raw messages, long ones cut behind what counts; one that is gone meanwhile is left out.

        A message that the server refuses, leaves out, garbles, or hangs up at is `Unreadable`; the others are given.
        """
        for folder, together in groupby(places, key=lambda place: place.folder):
            few = list(together)
            for start in range(0, len(few), AT_ONCE):
                yield from self._peek(folder, few[start : start + AT_ONCE])

    def move(self, place: Place, folder: str) -> Place:
        """Put a message into another folder and say where it lies now."""
        move = Move(place, folder, self._theirs(place.folder), self._theirs(folder))
        try:
            return self._ask(move.go)
        finally:
            for name in (place.folder, folder):
                self._seen().states.pop(name, None)
                self._listings.pop(name, None)

    def create(self, folder: str) -> str:
        """Make a folder, `/` between levels, and say under which name it is listed."""
        names = [one.name for one in self.folders()]
        theirs = self._ask(lambda client: create(client, folder, names))
        self.folders()
        ours = next((ours for ours, listed in self._seen().names.items() if listed == theirs), None)
        if ours is None:
            raise SourceError(f"{self.address.host} made {folder!r} but does not list it; choose another name.")
        return ours

    def mark(self, place: Place, keywords: Sequence[str]) -> None:
        """Set keywords on a message, in place of earlier ones that begin with `hinged-`; nothing else is touched."""
        wanted = {keyword.encode("ascii") for keyword in keywords}

        def store(client: Client) -> None:
            uid = uid_of(place, client.choose(self._theirs(place.folder), write=True))
            found = {} if uid is None else client.get_flags([uid])
            if uid is None or uid not in found:
                return
            if not all(map(client.takes, wanted)):
                raise SourceError(f"{self.address.host} keeps no keywords on messages in {place.folder}.")
            ours = {flag for flag in found[uid] if flag.lower().startswith(b"hinged-")}
            if ours - wanted:
                client.remove_flags([uid], sorted(ours - wanted), silent=True)
            if wanted - ours:
                client.add_flags([uid], sorted(wanted - ours), silent=True)

        self._ask(store)

    def wait(self, seconds: float) -> bool:
        """Return True as soon as something may differ from what was last looked at, False when the time has passed.

        A connection that had to be made again is reason enough: nobody knows what happened meanwhile.

        Raises
        ------
        UnreachableError
            Where the server cannot be reached. The next call pauses first, each time longer, up to a minute.
        """
        end = time.monotonic() + seconds
        if self._client is None:
            time.sleep(min(self._pauses.take(), seconds))
            self._connect_again()
            return True
        rounds, look_again = Rounds(LONGEST), 0.0
        while True:
            if time.monotonic() >= look_again:
                every = self.address.poll * (TOLD_OF_ALL if self._ask(Client.ask_for_news) else 1)
                if self._ask(self._differs):
                    return True
                look_again = time.monotonic() + min(every, LONGEST)
            now = time.monotonic()
            if now >= end:
                return False
            if self._idle(min(end, look_again, now + rounds.take()) - now):
                return True

    def close(self) -> None:
        """Say goodbye, if the server is there to hear it."""
        client, self._client = self._client, None
        if client is not None:
            try:
                client.socket().settimeout(GOODBYE)
                client.logout()
            except (IMAPClientError, OSError):
                client.hang_up()

    # ------------------------------------------------------------------ inside
    def _connection(self) -> Client:
        if self._client is None:
            if self._secret is None or self._secret.origin != "the terminal":  # nobody is asked twice
                self._secret = find_secret(self.address)
            self._client = connect(self.address, self._secret)
            self._pauses.over()
        return self._client

    def _ask(self, question: Callable[[Client], Answer]) -> Answer:
        """Ask the server, on a new connection where the old one is lost, and complain in one sentence."""
        for attempt in (1, 2):
            try:
                return question(self._connection())
            except SourceError:
                raise
            except IMAPClientReadOnlyError as error:
                raise SourceError(f"{self.address.host} lets nobody change that folder: {words_of(error)}.") from None
            except LOST as error:
                self._drop()
                if attempt == 2:
                    raise UnreachableError(f"the connection to {self.address} was lost: {words_of(error)}.") from None
            except IMAPClientError as error:
                raise SourceError(f"{self.address.host} refused: {words_of(error)}.") from None
            except MISREAD as error:
                self._drop()
                if attempt == 2:
                    said = f"{self.address.host} gave an answer nobody can read: {words_of(error)}."
                    raise UnclearError(said) from error
            except BaseException:  # a signal in the middle of an answer: what comes next would be misread
                self._drop()
                raise
        raise AssertionError

    def _connect_again(self) -> None:
        self._ask(lambda client: None)

    def _idle(self, seconds: float) -> bool:
        """Wait on this connection; one that is lost is made again at once, and is a change."""
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

    def _seen(self) -> Look:
        if self._look is None:
            self.folders()
        assert self._look is not None
        return self._look

    def _differs(self, client: Client) -> bool:
        now, before = look(client), self._look
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
        except UnreachableError as problem:
            self._connect_again()  # raises where the server is away; else one of these messages makes it hang up
            if len(few) > 1:
                return [one for place in few for one in self._peek(folder, [place])]
            self._cuts += 1
            if self._cuts > MOST_CUTS:
                self._cuts = 0
                raise
            return [(few[0], Unreadable(str(problem).rstrip(".")))]
        self._cuts = 0
        return found
