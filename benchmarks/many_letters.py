"""Generated mail of any size: as many folders as wanted, and a vocabulary that grows as that of real mail does."""

from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

BEGIN, MINUTES = 1_400_000_000, 20  # when the first message arrives, and minutes to the next
WORDS, EXPONENT = 400_000, 1.1  # words in all, and how fast their frequencies fall (Zipf)
OWN = 60  # words of a folder
SENDERS = 12  # at most, of a folder
LATEST = 0.9  # folders appear over this share of the time
TOGETHER = 1000  # messages that are drawn at once


def many_letters(messages: int, folders: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """Yield folders and messages in order of time.

    A folder gets mail in proportion to 1 / (5 + its rank), from senders of its own, some by a list. A quarter of
    the words are the folder's own, the others Zipf's; a third of the messages are replies; one in fifty is misfiled.
    """
    rng = np.random.default_rng(seed)
    common = np.cumsum(np.arange(1, WORDS + 1) ** -EXPONENT)
    weight = rng.permutation(1.0 / (5 + np.arange(folders)))
    begins = np.sort(rng.random(folders)) * LATEST
    begins[:2] = 0.0
    senders, own = rng.integers(1, SENDERS + 1, folders), rng.integers(0, WORDS, (folders, OWN))
    last: dict[int, tuple[int, str]] = {}
    for start in range(0, messages, TOGETHER):
        there = np.cumsum(weight * (begins <= start / messages))
        themes = np.searchsorted(there, rng.random(TOGETHER) * there[-1], side="right")
        for i, theme in enumerate(themes[: messages - start].tolist(), start):
            words = _words(rng, common, own[theme])
            before = last.get(theme) if rng.random() < 0.35 else None
            subject = f"Re: {before[1]}" if before else " ".join(words[:5])
            sender = f"person{min(int(rng.exponential(1.5)), senders[theme] - 1)}@folder{theme}.example.org"
            head = [f"From: {sender}", "To: robin@example.net", f"Subject: {subject}"]
            head += [f"Date: {formatdate(BEGIN + 60 * MINUTES * i)}", f"Message-ID: <{seed}.{i}@example.net>"]
            if before:
                head.append(f"References: <{seed}.{before[0]}@example.net>")
            if theme % 3 == 0:
                head.append(f"List-Id: <list{theme}.example.org>")
            last[theme] = i, subject.removeprefix("Re: ")
            body = "\n".join(" ".join(words[at : at + 12]) for at in range(5, len(words), 12))
            folder = int(rng.choice(themes)) if rng.random() < 0.02 else theme
            yield f"Area {folder % 20}/Folder {folder}", ("\n".join(head) + f"\n\n{body}\n").encode()


def _words(rng: np.random.Generator, common: NDArray[np.float64], own: NDArray[np.int64]) -> list[str]:
    n = int(rng.integers(40, 160))
    ranks = np.searchsorted(common, rng.random(n) * common[-1])
    of_folder = rng.random(n) < 0.25
    ranks[of_folder] = rng.choice(own, int(of_folder.sum()))
    return [f"w{rank:x}" for rank in ranks.tolist()]


def write_many(root: Path, messages: int, folders: int, seed: int) -> None:
    """Write them to a Maildir, the last thirty to its inbox."""
    known = set[str]()
    for i, (folder, raw) in enumerate(many_letters(messages, folders, seed)):
        name = "" if i >= messages - 30 else "." + folder.replace("/", ".")
        if name not in known:
            known.add(name)
            for part in ("cur", "new", "tmp"):
                (root / name / part).mkdir(parents=True)
        (root / name / "cur" / f"{BEGIN + 60 * MINUTES * i}.M{i:06d}.bench:2,S").write_bytes(raw)
