"""mbox: messages one behind the other in a file, each begun by a line "From "; only read, never written."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from hinged.mail.headers import readable
from hinged.mail.message import ENOUGH
from hinged.mail.sources.naming import told_apart
from hinged.mail.sources.source import UNREADABLE, Folder, FolderError, GoneError, Place, SourceError
from hinged.mail.sources.uses import guess_uses

__all__ = ["MboxSource", "is_mbox"]

STEP = 0.5  # seconds between two looks while waiting
BEGIN = b"From "
TOLD = 512  # bytes of a message that its key is made of, beside its place
LONGEST_LINE = 1 << 16
AWAY = re.compile(rb"^X-Mozilla-Status: *([0-9a-fA-F]{1,8}) *$", re.MULTILINE | re.IGNORECASE)
EXPUNGED = 0x0008
BESIDE = (".msf", ".dat", ".html", ".json", ".sqlite", ".ini")  # what Thunderbird keeps beside its mail


def is_mbox(path: Path) -> bool:
    """Whether a file begins like an mbox; an empty one is an mbox without messages."""
    try:
        with open(path, "rb") as file:
            return file.read(len(BEGIN)) in (BEGIN, b"")
    except OSError:
        return False


class MboxSource:
    """One mbox file, or all that lie in and below a folder, as Thunderbird and many archives keep them.

    Folders are named after the files. Messages that Thunderbird has moved away or deleted stay in the file until it is
    compacted; they are passed over. A file that does not begin like an mbox, and is none of those that Thunderbird
    keeps beside its mail, is listed as unreadable. Messages are never moved or marked: that would rewrite the whole
    file under the eyes of the program it belongs to.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "Work"
    >>> _ = path.write_bytes(b"From a\\nSubject: 1\\n\\nx\\n\\nFrom b\\nSubject: 2\\n\\n>From here\\n")
    >>> source = MboxSource(path)
    >>> [raw for _, raw in source.read(source.places("Work"))]
    [b'Subject: 1\\n\\nx\\n', b'Subject: 2\\n\\nFrom here\\n']
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        if not any(folder.use != UNREADABLE for folder in self.folders()):
            raise SourceError(f"there is no mbox file in {root}.")
        self._state = self._looks()

    def folders(self) -> list[Folder]:
        """A folder for each file; special uses are guessed by name."""
        self._paths = told_apart(self._found(), self.root)
        accounts = self._accounts()
        inboxes = {"inbox", *(f"{account}/inbox".casefold() for account in accounts)}
        uses = {name: "inbox" if name.casefold() in inboxes else "" for name in self._paths}
        guess_uses(uses, accounts)
        return [Folder(name, use if is_mbox(self._paths[name]) else UNREADABLE) for name, use in uses.items()]

    def places(self, folder: str) -> list[Place]:
        """Where the messages of a file begin, in its order."""
        with self._open(folder) as file:
            return [Place(folder, _key(begin, told)) for begin, _, told in _spans(file, folder) if not _is_away(told)]

    def read(self, places: Sequence[Place]) -> Iterator[tuple[Place, bytes]]:
        """The raw messages, long ones cut behind what counts; one that is gone or has moved is left out."""
        for folder in dict.fromkeys(place.folder for place in places):
            wanted = {place.key: place for place in places if place.folder == folder}
            with self._open(folder) as file:
                for begin, end, told in list(_spans(file, folder)):
                    place = wanted.get(_key(begin, told))
                    if place is not None and not _is_away(told):
                        file.seek(begin)
                        yield place, _without_marks(file.read(min(end - begin, ENOUGH)))

    def move(self, place: Place, folder: str) -> Place:
        """Refused."""
        raise SourceError(f"messages of an mbox file are not moved; put {self.root} into a Maildir to file its mail.")

    def create(self, folder: str) -> str:
        """Refused."""
        raise SourceError(f"no folders are made beside mbox files; {self.root} is only read.")

    def mark(self, place: Place, keywords: Sequence[str]) -> None:
        """Refused."""
        raise SourceError(f"messages of an mbox file are not marked; {self.root} is only read.")

    def wait(self, seconds: float) -> bool:
        """Look twice a second whether a file changed."""
        end = time.monotonic() + seconds
        while self._looks() == self._state:
            left = end - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(STEP, left))
        self._state = self._looks()
        return True

    def close(self) -> None:
        """Nothing is held."""

    def _found(self) -> Iterator[tuple[str, Path]]:
        if self.root.is_file():
            yield readable(self.root.stem if self.root.suffix in (".mbox", ".mbx") else self.root.name), self.root
            return
        for path in sorted(self.root.rglob("[!.]*")):
            if path.is_file() and path.suffix not in BESIDE:
                *above, own = map(readable, path.relative_to(self.root).parts)
                above = [part.removesuffix(".sbd") for part in above]
                yield "/".join([*above, own.removesuffix(".mbox").removesuffix(".mbx")]), path

    def _accounts(self) -> set[str]:
        """Folders below which Thunderbird keeps accounts: they hold indices of mail, and belong to no mail folder."""
        found = {path.parent.relative_to(self.root).parts for path in self.root.rglob("*.msf")}
        return {"/".join(map(readable, parts)) for parts in found if not any(part.endswith(".sbd") for part in parts)}

    def _open(self, folder: str) -> BinaryIO:
        if folder not in self._paths:
            raise SourceError(f"there is no folder {folder!r} in {self.root}.")
        path = self._paths[folder]
        try:
            file = open(path, "rb")  # noqa: SIM115 (closed by the caller)
        except FileNotFoundError:
            raise GoneError(f"{path} is gone.") from None
        except OSError as problem:
            raise FolderError(f"{path} cannot be read ({problem.strerror}).") from problem
        start = file.read(len(BEGIN))
        file.seek(0)
        if start not in (BEGIN, b""):
            file.close()
            raise FolderError(f'{path} is no mbox file: it begins with {start!r}, not with "From ".')
        return file

    def _looks(self) -> tuple[tuple[str, int, int], ...]:
        try:
            looks = [(str(path), path.stat()) for _, path in self._found()]
        except FileNotFoundError:  # one was removed or renamed right now
            return ()
        return tuple((path, stat.st_size, stat.st_mtime_ns) for path, stat in looks)


def _spans(file: BinaryIO, folder: str) -> Iterator[tuple[int, int, bytes]]:
    """Begin, end and first bytes of each message, the line "From " left out."""
    begin, told, blank, at = -1, b"", True, 0
    while line := file.readline(LONGEST_LINE):
        if blank and line.startswith(BEGIN):
            if begin >= 0:
                yield begin, at - 1 if at - 1 >= begin else at, told
            begin, told = at + len(line), b""
        elif begin >= 0 and len(told) < TOLD:
            told += line
        at += len(line)
        blank = line in (b"\n", b"\r\n")
    if begin >= 0:
        yield begin, at, told


def _is_away(told: bytes) -> bool:
    """Whether Thunderbird has moved the message away or deleted it (flag 0x0008 of its header X-Mozilla-Status)."""
    head = told.replace(b"\r\n", b"\n").partition(b"\n\n")[0]
    found = AWAY.search(head)
    return found is not None and bool(int(found[1], 16) & EXPUNGED)


def _key(begin: int, told: bytes) -> str:
    return f"{begin}-{hashlib.sha256(told[:TOLD]).hexdigest()[:16]}"


def _without_marks(raw: bytes) -> bytes:
    """Lines that begin with "From " were marked by ">" when they were written."""
    return raw.replace(b"\n>From ", b"\nFrom ")
