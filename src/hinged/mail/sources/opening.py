"""From what a user calls their mail to its source, and to the folder where the assistant keeps what it knows of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path

from hinged.mail.message import ENOUGH
from hinged.mail.sources.maildir import MaildirSource, is_maildir
from hinged.mail.sources.mbox import MboxSource, is_mbox
from hinged.mail.sources.source import Folder, Place, Source, SourceError
from hinged.mail.sources.states import state_path

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
    return Path(state_path(spec))


class StdinSource(Source):
    """One message on standard input, for pipes of sieve and procmail; it is read when it is needed.

    `standard_input` returns at most `ENOUGH` bytes of it; by default it is that of this process.
    """

    read_only = "a message on standard input cannot be changed; the program that piped it in must do that."

    def __init__(self, standard_input: Callable[[], bytes] | None = None) -> None:
        self._standard_input = standard_input or _standard_input
        self._raw: bytes | None = None

    def folders(self) -> list[Folder]:
        return [Folder(STDIN, "inbox")]

    def places(self, folder: str) -> list[Place]:
        """Read the message; raise an error if there is none."""
        if folder != STDIN:
            raise SourceError(f"there is no folder {folder!r} on standard input; omit it.")
        if self._raw is None:
            self._raw = self._standard_input()
        if not self._raw.strip():
            raise SourceError("there is no message on standard input; pipe one in.")
        return [Place(STDIN, "1")]

    def read(self, places: Sequence[Place]) -> Iterator[tuple[Place, bytes]]:
        for place in places:
            if self._raw is not None:
                yield place, self._raw

    def wait(self, seconds: float) -> bool:
        return False  # nothing changes here


def _standard_input() -> bytes:
    stream = sys.stdin.buffer
    raw = stream.read(ENOUGH)
    while stream.read(ENOUGH):  # let the writer of the pipe finish
        pass
    return raw
