"""Senders whose mail surely belongs into one folder, by where it went so far."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from hinged.mail.assistant import Assistant
from hinged.mail.headers import addresses_in
from hinged.mail.promise import FEW

__all__ = ["SureSender", "home_of", "senders_and_folders", "share_at_most", "sure_senders"]

ROUNDING = 1e-9  # 1 - 0.9 is less than 1 / 10 in floating point


class SureSender(NamedTuple):
    """An address, the folder of its mail, and how many learnt messages went there and elsewhere."""

    address: str
    folder: str
    messages: int
    elsewhere: int


def share_at_most(wrong: int, messages: int) -> float:
    """Estimate the share of wrong ones by k wrong of n messages and one standard error: (k + √k + 1) / (n + 1).

    Examples
    --------
    >>> share_at_most(0, 19), share_at_most(4, 27)
    (0.05, 0.25)
    """
    return (wrong + math.sqrt(wrong) + 1.0) / (messages + 1.0)


def home_of(went: Counter[str], right: float) -> str | None:
    """Return the folder that is right for a sender's mail at least so often; None if that is not sure.

    Of n messages, k went to other folders than most. The estimated share of wrong ones (`share_at_most`) is at most
    ``1 - right``, and n is at least `FEW`.

    Parameters
    ----------
    went : Counter
        How many messages of the sender went to each folder.
    right : float in (0, 1)

    Examples
    --------
    >>> home_of(Counter(Work=19), 0.95), home_of(Counter(Work=18), 0.95)
    ('Work', None)
    >>> home_of(Counter(Work=58, Home=1), 0.95), home_of(Counter(Work=57, Home=1), 0.95)
    ('Work', None)
    """
    ((folder, most),) = went.most_common(1)
    n = went.total()
    risk = share_at_most(n - most, n)
    return folder if n >= FEW and risk <= 1 - right + ROUNDING else None


def sure_senders(mail: Iterable[tuple[str, str]], right: float) -> list[SureSender]:
    """Return the senders whose mail is surely for one folder, sorted by folder and address.

    Parameters
    ----------
    mail : iterable of (address, folder)
        The sender of each message, and where it is: "" for several folders, among which no script may choose.
    right : float in (0, 1)
        How often the folder is to be right.
    """
    went: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for address, folder in mail:
        went[address][folder] += 1
    homes = ((address, home_of(counts, right), counts) for address, counts in went.items() if address)
    sure = [
        SureSender(address, home, counts[home], counts.total() - counts[home])
        for address, home, counts in homes
        if home
    ]
    return sorted(sure, key=lambda one: (one.folder, one.address))


def senders_and_folders(assistant: Assistant) -> list[tuple[str, str]]:
    """Return the sender of each learnt message, and the folder that it was learnt for last; "" for several."""
    last: dict[str, tuple[str, str]] = {}
    for event in assistant.kept.journal.events(which="dropped = 0 AND kind = 'learn'"):
        assert isinstance(event.x, dict)  # the fields of a message
        address = next(iter(addresses_in(event.x.get("from", ""))), "")
        folders = event.label if isinstance(event.label, list) else [event.label]
        last[str(event.key)] = (address, str(folders[0]) if len(folders) == 1 else "")
    return list(last.values())
