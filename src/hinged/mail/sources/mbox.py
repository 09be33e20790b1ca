"""mbox: all messages in one file, each after a line that begins with "From "; only read, never written."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from hinged.mail.headers import readable
from hinged.mail.message import ENOUGH
from hinged.mail.sources.folder_names import distinct_names, guess_uses
from hinged.mail.sources.source import UNREADABLE, Folder, FolderError, GoneError, Place, Source, SourceError

__all__ = ["MboxSource", "is_mbox"]

BEGIN = b"From "
IDENTIFYING = 512  # bytes of a message that its key is made of, beside its position
LONGEST_LINE = 1 << 16
STATUS = re.compile(rb"^X-Mozilla-Status: *([0-9a-fA-F]{1,8}) *$", re.MULTILINE | re.IGNORECASE)
EXPUNGED = 0x0008
OTHER_FILES = (".msf", ".dat", ".html", ".json", ".sqlite", ".ini")  # what Thunderbird stores beside its mail


def is_mbox(path: Path) -> bool:
    """Return True if a file begins like an mbox; an empty file is an mbox without messages."""
    try:
        with open(path, "rb") as file:
            return file.read(len(BEGIN)) in (BEGIN, b"")
    except OSError:
        return False


class MboxSource(Source):
    """One mbox file, or all of them in a folder and below it, as Thunderbird and many archives store them.

    Folders are named after the files. Messages that Thunderbird has moved or deleted stay in the file until it is
    compacted; they are skipped. A file that does not begin like an mbox, and is not one that Thunderbird stores beside
    its mail, is listed as unreadable. Messages are never moved or marked: that would rewrite the whole file while
    another program uses it.

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
        self.read_only = f"{root} is only read; copy its mail to a Maildir to file it."
        if not any(folder.use != UNREADABLE for folder in self.folders()):
            raise SourceError(f"there is no mbox file in {root}.")
        self._last_seen = self._fingerprint()

    def folders(self) -> list[Folder]:
        """Return a folder for each file; special uses are guessed from names."""
        self._paths = distinct_names(self._found(), self.root)
        accounts = self._accounts()
        inboxes = {"inbox", *(f"{account}/inbox".casefold() for account in accounts)}
        uses = {name: "inbox" if name.casefold() in inboxes else "" for name in self._paths}
        guess_uses(uses, accounts)
        return [Folder(name, use if is_mbox(self._paths[name]) else UNREADABLE) for name, use in uses.items()]

    def places(self, folder: str) -> list[Place]:
        """Return the places of the messages in the file, in its order."""
        with self._open(folder) as file:
            return [
                Place(folder, _key(begin, start)) for begin, _, start in _spans(file, folder) if not _is_expunged(start)
            ]

    def read(self, places: Sequence[Place]) -> Iterator[tuple[Place, bytes]]:
        for folder in dict.fromkeys(place.folder for place in places):
            wanted = {place.key: place for place in places if place.folder == folder}
            with self._open(folder) as file:
                for begin, end, start in list(_spans(file, folder)):
                    place = wanted.get(_key(begin, start))
                    if place is not None and not _is_expunged(start):
                        file.seek(begin)
                        yield place, _unquoted(file.read(min(end - begin, ENOUGH)))

    def _found(self) -> Iterator[tuple[str, Path]]:
        if self.root.is_file():
            yield readable(self.root.stem if self.root.suffix in (".mbox", ".mbx") else self.root.name), self.root
            return
        for path in sorted(self.root.rglob("[!.]*")):
            if path.is_file() and path.suffix not in OTHER_FILES:
                *above, own = map(readable, path.relative_to(self.root).parts)
                above = [part.removesuffix(".sbd") for part in above]
                yield "/".join([*above, own.removesuffix(".mbox").removesuffix(".mbx")]), path

    def _accounts(self) -> set[str]:
        """Return the folders of Thunderbird accounts: they contain index files and are not below a mail folder."""
        found = {path.parent.relative_to(self.root).parts for path in self.root.rglob("*.msf")}
        return {"/".join(map(readable, parts)) for parts in found if not any(part.endswith(".sbd") for part in parts)}

    def _open(self, folder: str) -> BinaryIO:
        if folder not in self._paths:
            raise SourceError(f"there is no folder {folder!r} in {self.root}.")
        path = self._paths[folder]
        try:
            file = open(path, "rb")  # noqa: SIM115 (closed by the caller)
        except FileNotFoundError:
            raise GoneError(f"{path} no longer exists.") from None
        except OSError as problem:
            raise FolderError(f"{path} cannot be read ({problem.strerror}).") from problem
        first = file.read(len(BEGIN))
        file.seek(0)
        if first not in (BEGIN, b""):
            file.close()
            raise FolderError(f'{path} is not an mbox file: it begins with {first!r}, not with "From ".')
        return file

    def _fingerprint(self) -> tuple[tuple[str, int, int], ...]:
        try:
            looks = [(str(path), path.stat()) for _, path in self._found()]
        except FileNotFoundError:  # removed or renamed at this moment
            return ()
        return tuple((path, stat.st_size, stat.st_mtime_ns) for path, stat in looks)


def _spans(file: BinaryIO, folder: str) -> Iterator[tuple[int, int, bytes]]:
    """Yield start, end and first bytes of each message, without its line "From "."""
    begin, start, blank, at = -1, b"", True, 0
    while line := file.readline(LONGEST_LINE):
        if blank and line.startswith(BEGIN):
            if begin >= 0:
                yield begin, at - 1 if at - 1 >= begin else at, start
            begin, start = at + len(line), b""
        elif begin >= 0 and len(start) < IDENTIFYING:
            start += line
        at += len(line)
        blank = line in (b"\n", b"\r\n")
    if begin >= 0:
        yield begin, at, start


def _is_expunged(start: bytes) -> bool:
    """Return True if Thunderbird moved or deleted the message (flag 0x0008 of its header X-Mozilla-Status)."""
    head = start.replace(b"\r\n", b"\n").partition(b"\n\n")[0]
    found = STATUS.search(head)
    return found is not None and bool(int(found[1], 16) & EXPUNGED)


def _key(begin: int, start: bytes) -> str:
    return f"{begin}-{hashlib.sha256(start[:IDENTIFYING]).hexdigest()[:16]}"


def _unquoted(raw: bytes) -> bytes:
    """Undo the quoting of lines that begin with "From "."""
    return raw.replace(b"\n>From ", b"\nFrom ")
