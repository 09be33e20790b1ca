"""The last list of suggestions, which `hinged mail accept` refers to by number."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from hinged.io.atomic import write_private
from hinged.mail.sources.states import last_list_path

__all__ = ["Accepted", "LastList", "Listed", "forget_list", "load", "save"]


class Listed(NamedTuple):
    """A message of the list: its key in the folder, its Message-ID, its subject, and the folders suggested for it."""

    key: str
    message: str
    subject: str
    folders: list[str]


class Accepted(NamedTuple):
    """A message that was moved from the list: its Message-ID and key now, its folder, and what undoing it takes."""

    message: str
    key: str
    folder: str
    taught: bool
    hit: int


class LastList(NamedTuple):
    """A list of suggestions.

    Attributes
    ----------
    source, state : the account, both absolute
    folder : the folder of the messages
    listed : the messages, by number from 1
    accepted : those that were moved since, the last one last
    """

    source: str
    state: str
    folder: str
    listed: list[Listed]
    accepted: list[Accepted]


def save(last: LastList) -> None:
    """Store the list; only its owner can read it."""
    path = Path(last_list_path())
    os.makedirs(path.parent, mode=0o700, exist_ok=True)
    write_private(path, last)


def forget_list(state: str) -> None:
    """Remove the list if it is of the account with this state folder."""
    with suppress(ValueError):
        if load().state == state:
            Path(last_list_path()).unlink(missing_ok=True)


def load() -> LastList:
    """Return the last list.

    Raises
    ------
    ValueError
        If there is none.
    """
    try:
        found: list[Any] = json.loads(Path(last_list_path()).read_text("utf-8"))
        source, state, folder, listed, accepted = found
        return LastList(source, state, folder, [Listed(*one) for one in listed], [Accepted(*one) for one in accepted])
    except (FileNotFoundError, ValueError, TypeError):
        raise ValueError("there is no list to accept from; begin with: hinged mail suggest SOURCE.") from None
