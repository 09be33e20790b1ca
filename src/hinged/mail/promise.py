"""A promise about filing: which messages are sure enough to be moved, and whether the promise is being kept.

"Right 19 times in 20" allows a share α = 1/20 of what is filed to be wrong. Three parts keep to it:

- the *risk* of a suggestion, learnt from the account: one minus its confidence;
- *savings* that pay for mistakes (`Promise`): each filed message earns α, each wrong one costs 1, and without savings
  nothing is filed, so the share of wrong ones is bounded whatever the mail;
- a *monitor* (`evidence`), which says so as soon as corrections show that the promise is broken, and empties the
  savings.

docs/maths.md, "A promise about filing", has the proofs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "ALARM",
    "FEW",
    "MOST",
    "PATIENCE",
    "START",
    "TRIED",
    "Promise",
    "Rehearsal",
    "evidence",
    "rehearse",
]
__all__ += ["promises", "share_of"]

FEW = 5  # messages: nothing is filed into a folder that has learnt fewer
TRIED = 100  # messages: nothing is filed before so many were learnt
START, MOST = 3, 10  # mistakes: the savings to begin with, and the most that can be saved
RELAX = 0.3  # for each mistake saved beyond START, the risk that is accepted rises by this share
PATIENCE = 20  # messages: for the k-th loan of a mistake, k times that many must wait while nothing is filed
ODDS = 3.0  # the monitor looks for odds of a mistake that are this many times those promised
ALARM = 1000.0  # how strong the evidence must be; a kept promise sounds a false alarm less than once in so many filings
WAYS = "write it as 19/20, 19 in 20, 0.95 or 95%"


class Promise(NamedTuple):
    """What was promised, and the savings that pay for mistakes. Its methods return a changed copy.

    Whatever the mail, and if each mistake is corrected before the next message, of any `n` messages filed in a row
    at most ``(1 - right) * n + MOST + sqrt(2 * m / PATIENCE)`` are wrong, where `m` messages waited while nothing was
    filed for lack of savings; from the beginning `START` stands for `MOST`.

    Attributes
    ----------
    right : float in (0, 1)
        The share of filed messages that is to be right.
    saved : float
        Mistakes that are paid for.
    loans : int
        Mistakes that were lent after a pause and are not paid back yet.
    waited : int
        Messages that waited in the present pause.

    Examples
    --------
    >>> promise = Promise(0.75)
    >>> promise.allows(0.25), promise.allows(0.5)
    (True, False)
    >>> promise.filed().saved, promise.filed().corrected().saved
    (3.25, 2.25)
    >>> promise._replace(saved=0.5).is_paused
    True
    """

    right: float
    saved: float = START
    loans: int = 0
    waited: int = 0

    @property
    def wrong(self) -> float:
        """The share α of filed messages that may be wrong."""
        return 1 - self.right

    @property
    def is_paused(self) -> bool:
        """True if there are no savings for one more mistake, so that nothing is filed."""
        return self.saved < 1 - self.wrong

    @property
    def limit(self) -> float:
        """The largest risk that is accepted: α, and more if much is saved."""
        return self.wrong * (1 + RELAX * max(0.0, float(self.saved) - START))

    @property
    def to_wait(self) -> int:
        """How many more messages must wait before a pause ends, if none is corrected meanwhile; 0 if there is none."""
        lent = max(0, ceil(1 - self.wrong - self.saved))
        return sum(PATIENCE * (self.loans + k) for k in range(1, lent + 1)) - self.waited

    def allows(self, risk: float) -> bool:
        """Return True if a message of this risk may be filed."""
        return not self.is_paused and risk <= self.limit

    def filed(self) -> Promise:
        """Count a message that was filed; it is right until it is corrected. Pay back a loan if enough is saved."""
        saved = min(MOST, self.saved + self.wrong)
        paid = self.loans > 0 and saved >= START
        return self._replace(saved=saved - paid, loans=self.loans - paid)

    def corrected(self) -> Promise:
        """Count a filed message that turned out to be wrong."""
        return self._replace(saved=self.saved - 1)

    def waits(self) -> Promise:
        """Count a message that was not filed; in a pause, it may be the last one before a mistake is lent."""
        if not self.is_paused:
            return self
        if self.waited + 1 < PATIENCE * (self.loans + 1):
            return self._replace(waited=self.waited + 1)
        return self._replace(saved=self.saved + 1, loans=self.loans + 1, waited=0)

    def broken(self) -> Promise:
        """Empty the savings, after an alarm."""
        return self._replace(saved=min(self.saved, 0), waited=0)


def evidence(wrong: Iterable[bool], right: float, before: float = 0.0) -> float:
    r"""Return the evidence that a promise is broken, from filed messages in order: True for each wrong one.

    Each round, :math:`R \leftarrow (R + 1) \cdot 3^{[wrong]} / (1 + 2\alpha)`: the sum, over all earlier moments, of
    the likelihood ratio since then of "the odds of a mistake are three times those promised". While each message is
    wrong with probability at most α given all earlier ones, the expected number of filings before R reaches `ALARM` is
    at least `ALARM` (Shiryaev-Roberts; docs/maths.md).

    Parameters
    ----------
    wrong : iterable of bool
    right : float
        The share promised.
    before : float, default 0
        The evidence so far.

    Examples
    --------
    >>> evidence([True, True], 0.75), evidence([False], 0.75, before=5.0)
    (6.0, 4.0)
    """
    for one in wrong:
        before = (before + 1.0) * (ODDS if one else 1.0) / (1.0 + (ODDS - 1.0) * (1.0 - right))
    return before


class Rehearsal(NamedTuple):
    """What would have been filed under a promise.

    Attributes
    ----------
    right : the share promised
    filed : bool array, True for each message that would have been filed
    wrong : bool array, True for those of them that would have been wrong
    alarms : how often the monitor would have spoken
    """

    right: float
    filed: NDArray[np.bool_]
    wrong: NDArray[np.bool_]
    alarms: int

    @property
    def share_filed(self) -> float:
        """The share of messages that would have been filed."""
        return float(self.filed.mean()) if len(self.filed) else 0.0

    @property
    def share_right(self) -> float | None:
        """The share of filed messages that would have been right; None if nothing would have been filed."""
        return 1.0 - float(self.wrong.sum() / self.filed.sum()) if self.filed.any() else None


def rehearse(right: float, risks: Iterable[float], sizes: Iterable[int], wrong: Iterable[bool]) -> Rehearsal:
    """Return what would have been filed of earlier mail, had each mistake been corrected at once.

    Parameters
    ----------
    right : float
        The share promised.
    risks, sizes, wrong : iterables
        For each message the risk of its suggestion, how many messages the suggested folder had, and whether the
        suggestion was wrong.

    Examples
    --------
    >>> found = rehearse(0.75, [0.125] * 110, [9] * 110, [True] * 110)
    >>> found.filed.nonzero()[0].tolist()
    [100, 101, 102, 103]
    """
    promise, speaks, filed, mistakes, alarms = Promise(right), 0.0, list[bool](), list[bool](), 0
    for number, (risk, size, is_wrong) in enumerate(zip(risks, sizes, wrong, strict=True)):
        moved = number >= TRIED and size >= FEW and promise.allows(risk)
        filed.append(moved)
        mistakes.append(moved and bool(is_wrong))
        if not moved:
            promise = promise.waits()
            continue
        promise, speaks = promise.filed(), evidence([bool(is_wrong)], right, speaks)
        if is_wrong:
            promise = promise.corrected()
        if speaks >= ALARM:
            promise, speaks, alarms = promise.broken(), 0.0, alarms + 1
    return Rehearsal(right, np.array(filed, bool), np.array(mistakes, bool), alarms)


def promises(right: float) -> list[float]:
    """Return the promises that a replay compares: 90, 95 and 99 %, and this one.

    Examples
    --------
    >>> promises(0.75)
    [0.75, 0.9, 0.95, 0.99]
    """
    return sorted({0.9, 0.95, 0.99, right})


def share_of(text: str) -> float:
    """Read how often filing is to be right: at least half of the time, and less than always.

    Examples
    --------
    >>> share_of("3/4"), share_of("0.75"), share_of("3 in 4"), share_of("75 %")
    (0.75, 0.75, 0.75, 0.75)
    """
    found = re.fullmatch(r"\s*(\d*\.?\d+)\s*(?:(?:/|in)\s*(\d*\.?\d+)|(%))?\s*", text)
    if found is None:
        raise ValueError(f"how often filing is to be right is a share; got {text!r}. Please {WAYS}.")
    whole = 100.0 if found[3] else float(found[2] or 1.0)
    share = float(found[1]) / whole if whole else 0.0
    if not 0.5 <= share < 1.0:
        limits = "nobody can promise to be right always" if share >= 1.0 else "it must be at least half of the time"
        raise ValueError(f"filing cannot be right {text.strip()} of the time: {limits}; {WAYS}.")
    return share
