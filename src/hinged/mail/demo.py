"""A made-up mailbox to try the assistant on: a Maildir of generated messages with real headers."""

from __future__ import annotations

from collections.abc import Iterator
from email.mime.application import MIMEApplication
from email.mime.base import MIMEBase
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from email.utils import formataddr, formatdate
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hinged.experiments.mail_stream import mail_stream
from hinged.mail.headers import topic_of
from hinged.mail.sources.modified_utf7 import to_utf7

__all__ = ["Letter", "letters", "write_demo"]

OWNER = formataddr(("Robin Doe", "robin@example.net"))
BEGIN = 1704700800  # the 8th of January 2024
A_THREAD = 40  # messages after which the same subject begins a new thread
UNFILED = 30  # messages that are left in the inbox


class Letter(NamedTuple):
    """A message and the folder it belongs to."""

    raw: bytes
    folder: str
    seconds: int  # when it came, since 1970


def letters(messages: int = 1500, folders: int = 20, seed: int = 0) -> Iterator[Letter]:
    """Generated mail in the order of its arrival, the same for the same arguments.

    Threads refer to earlier messages, lists name themselves, some messages come as HTML or with files.

    Examples
    --------
    >>> first = next(letters(30, 3))
    >>> first.folder, b"Message-ID: <0.0@demo.example.net>" in first.raw
    ('inbox/people', True)
    """
    mail = mail_stream(messages, folders, seed)
    rng = np.random.default_rng(seed)
    ids: dict[str, tuple[int, str]] = {}
    minutes = np.cumsum(rng.integers(5, 240, messages))
    for i, (features, folder) in enumerate(mail.dicts()):
        when = BEGIN + 60 * int(minutes[i])
        name = f"<{seed}.{i}@demo.example.net>"
        topic = topic_of(mail.subjects[i])
        before = ids.get(topic, (-A_THREAD, ""))
        letter = _content(_text(features, rng), rng)
        letter["From"] = _person(mail.senders[i])
        letter["To"] = OWNER
        letter["Subject"] = mail.subjects[i]
        letter["Date"] = formatdate(when)
        letter["Message-ID"] = name
        if i - before[0] < A_THREAD:
            letter["In-Reply-To"] = before[1]
            letter["References"] = before[1]
        for feature in features:
            if feature.startswith("list:"):
                of = feature.removeprefix("list:").replace("/", ".")
                letter["List-Id"] = f"<{of}.lists.example.org>"
        ids[topic] = (i, name)
        yield Letter(letter.as_bytes(), str(folder), when)


def write_demo(folder: Path, messages: int = 1500, folders: int = 20, seed: int = 0) -> dict[str, int]:
    """Write a Maildir: most messages filed, the last thirty in the inbox; return how many lie in each folder.

    Parameters
    ----------
    folder : path
        Must not exist, or be empty.
    messages, folders, seed : int
        As `hinged.datasets.mail_stream` takes them.
    """
    if folder.exists() and any(folder.iterdir()):
        raise FileExistsError(f"{folder} is not empty; name a folder that is new.")
    counts: dict[str, int] = {}
    for i, letter in enumerate(letters(messages, folders, seed)):
        name = "INBOX" if i >= messages - UNFILED else letter.folder
        place = folder if name == "INBOX" else folder / f".{to_utf7(name).replace('/', '.')}"
        if name not in counts:
            for part in ("cur", "new", "tmp"):
                (place / part).mkdir(parents=True, exist_ok=True)
        counts[name] = counts.get(name, 0) + 1
        (place / "cur" / f"{letter.seconds}.M{i:06d}.demo:2,S").write_bytes(letter.raw)
    return counts


def _person(name: str) -> str:
    return formataddr((name.replace(".", " ").title(), f"{name}@example.com"))


def _text(features: dict[str, float], rng: np.random.Generator) -> str:
    words = [word for word, n in features.items() if ":" not in word for _ in range(int(n))]
    words = [words[j] for j in rng.permutation(len(words))]
    lines = [" ".join(words[j : j + 12]) for j in range(0, len(words), 12)]
    return "Hello,\n\n" + "\n".join(lines) + "\n"


def _content(text: str, rng: np.random.Generator) -> MIMEBase:
    """A message with a text: plain, as HTML alone, or in both versions; now and then with a file."""
    html = "<html><body><p>" + text.replace("\n\n", "</p>\n<p>").replace("\n", "<br>\n") + "</p></body></html>\n"
    kind, has_file = rng.random(2)
    content: MIMEBase = MIMEText(html, "html") if kind < 0.15 else MIMEText(text)
    if 0.15 <= kind < 0.4:
        content = MIMEMultipart("alternative", _subparts=[content, MIMEText(html, "html")])
    if has_file < 0.1:
        file = MIMEApplication(b"%PDF-1.4\n", "pdf")
        file.add_header("Content-Disposition", "attachment", filename=f"{text.split()[1]}.pdf")
        content = MIMEMultipart(_subparts=[content, file])
    return content
