"""From what a user calls their mail to its source, and to the folder where the assistant keeps what it knows of it."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path

from platformdirs import user_data_path

from hinged.mail.message import ENOUGH
from hinged.mail.sources.maildir import MaildirSource, is_maildir
from hinged.mail.sources.mbox import MboxSource, is_mbox
from hinged.mail.sources.source import BaseSource, Folder, Place, Source, SourceError

__all__ = ["StdinSource", "open_source", "state_folder"]

STDIN = "stdin"


def open_source(spec: str | os.PathLike[str]) -> Source:
    """Open mail of any kind.

    Parameters
    ----------
    spec : str or path
        A Maildir or a tree of them, an mbox file or a folder of them, an address (``imaps://user@host``), or ``-`` for
        one message on standard input.

    Examples
    --------
    >>> open_source("no/such/folder")
    Traceback (most recent call last):
    hinged.mail.sources.source.SourceError: there is no mail at no/such/folder: the path does not exist.
    """
    spec = os.fspath(spec)
    if spec == "-":
        return StdinSource()
    if spec.split(":", 1)[0].lower() in ("imap", "imaps") and "://" in spec:
        source: Source = import_module("hinged.mail.sources.imap").open_imap(spec)
        return source
    return _open_path(Path(spec).expanduser())


def _open_path(path: Path) -> Source:
    if not path.exists():
        raise SourceError(f"there is no mail at {path}: the path does not exist.")
    if path.is_file():
        if is_mbox(path):
            return MboxSource(path)
        raise SourceError(f'{path} is not an mbox file: it does not begin with "From ".')
    if _holds_a_maildir(path):
        return MaildirSource(path)
    if any(found.is_file() and found.stat().st_size and is_mbox(found) for found in path.rglob("*")):
        return MboxSource(path)
    raise SourceError(f"there is no mail in {path}: it holds neither a Maildir (with cur and new) nor an mbox file.")


def _holds_a_maildir(path: Path) -> bool:
    return is_maildir(path) or any(is_maildir(Path(folder)) for folder, _, _ in os.walk(path))


def state_folder(spec: str) -> Path:
    """Return the folder for a source, in the user's data folder; its name is derived from the source.

    Examples
    --------
    >>> state_folder("imaps://ann@mail.example.com").name
    'ann-mail-example-com-4007feb4'
    >>> state_folder("imaps://ann@mail.example.com/?poll=30").name
    'ann-mail-example-com-4007feb4'
    """
    if "://" not in spec:
        spec = str(Path(spec).expanduser().resolve())
    else:
        spec = spec.partition("?")[0]  # options do not change which mailbox it is
    spec = spec.rstrip("/")
    words = re.sub(r"[^a-z0-9]+", "-", spec.partition("://")[2].lower() or Path(spec).name.lower()).strip("-")
    digest = hashlib.sha256(spec.encode("utf-8", "surrogateescape")).hexdigest()
    return user_data_path("hinged", appauthor=False) / "mail" / f"{words[:40]}-{digest[:8]}"


class StdinSource(BaseSource):
    """One message on standard input, for pipes of sieve and procmail; it is read when it is needed."""

    read_only = "a message on standard input cannot be changed; the program that piped it in must do that."

    def __init__(self) -> None:
        self._raw: bytes | None = None

    def folders(self) -> list[Folder]:
        """The only folder."""
        return [Folder(STDIN, "inbox")]

    def places(self, folder: str) -> list[Place]:
        """Read the message; raise an error if there is none."""
        if folder != STDIN:
            raise SourceError(f"there is no folder {folder!r} on standard input; omit it.")
        if self._raw is None:
            stream = sys.stdin.buffer
            self._raw = stream.read(ENOUGH)
            while stream.read(ENOUGH):  # let the writer of the pipe finish
                pass
        if not self._raw.strip():
            raise SourceError("there is no message on standard input; pipe one in.")
        return [Place(STDIN, "1")]

    def read(self, places: Sequence[Place]) -> Iterator[tuple[Place, bytes]]:
        """The message."""
        for place in places:
            if self._raw is not None:
                yield place, self._raw

    def wait(self, seconds: float) -> bool:
        """Nothing changes here."""
        return False
