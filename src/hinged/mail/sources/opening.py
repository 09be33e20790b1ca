"""From what a user calls their mail to a source of it."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path

from hinged.mail.sources.maildir import MaildirSource, is_maildir
from hinged.mail.sources.mbox import MboxSource, is_mbox
from hinged.mail.sources.source import Source, SourceError
from hinged.mail.sources.stdin import StdinSource

__all__ = ["open_source"]


def open_source(spec: str | os.PathLike[str]) -> Source:
    """Open mail by what lies there.

    Parameters
    ----------
    spec : str or path
        A Maildir or a tree of them, an mbox file or a folder of them, an address (``imaps://user@host``), or ``-`` for
        one message on standard input.

    Examples
    --------
    >>> open_source("no/such/folder")
    Traceback (most recent call last):
    hinged.mail.sources.source.SourceError: there is no mail at no/such/folder: nothing has that name.
    """
    spec = os.fspath(spec)
    if spec == "-":
        return StdinSource()
    if spec.split(":", 1)[0].lower() in ("imap", "imaps") and "://" in spec:
        source: Source = import_module("hinged.mail.sources.imap").open_imap(spec)
        return source
    path = Path(spec).expanduser()
    if not path.exists():
        raise SourceError(f"there is no mail at {path}: nothing has that name.")
    if path.is_file():
        if is_mbox(path):
            return MboxSource(path)
        raise SourceError(f'{path} is no mbox file: it does not begin with "From ".')
    if _holds_a_maildir(path):
        return MaildirSource(path)
    if any(found.is_file() and found.stat().st_size and is_mbox(found) for found in path.rglob("*")):
        return MboxSource(path)
    raise SourceError(f"there is no mail in {path}: it holds neither a Maildir (with cur and new) nor an mbox file.")


def _holds_a_maildir(path: Path) -> bool:
    return is_maildir(path) or any(is_maildir(Path(folder)) for folder, _, _ in os.walk(path))
