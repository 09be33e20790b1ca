"""A generated mailbox to try the assistant on: a Maildir of messages with realistic headers."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from email.mime.application import MIMEApplication
from email.mime.base import MIMEBase
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from email.utils import formataddr, formatdate
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hinged.mail.sources.folder_names import to_utf7

__all__ = ["Letter", "letters", "write_demo"]

OWNER = formataddr(("Robin Doe", "robin@example.net"))
BEGIN = 1704700800  # the 8th of January 2024
A_THREAD = 6  # last messages of a folder that may get a reply
MISFILED = 0.02  # probability that a message is in the wrong folder
UNFILED = 30  # messages left in the inbox


class Theme(NamedTuple):
    """A folder of the generated mailbox; demo.toml describes the fields."""

    folder: str
    weight: float
    begins: float
    senders: list[tuple[str, str]]
    subjects: list[str]
    things: list[str]
    sentences: list[str]
    mailing_list: str = ""


class Content(NamedTuple):
    """What the generated mailbox talks about."""

    greetings: list[str]
    small_talk: list[str]
    folders: list[Theme]


@cache
def _content() -> Content:
    content = tomllib.loads(Path(__file__).with_name("demo.toml").read_text(encoding="utf-8"))
    return Content(content["greetings"], content["small_talk"], [Theme(**theme) for theme in content["folders"]])


class Letter(NamedTuple):
    """A message and the folder it belongs to."""

    raw: bytes
    folder: str
    seconds: int  # when it arrived, since 1970


def letters(messages: int = 1500, folders: int = 15, seed: int = 0, end: float | None = None) -> Iterator[Letter]:
    """Yield generated mail in order of arrival, the same for the same arguments.

    Folders appear over time and vary in activity. Replies refer to earlier messages, lists have a List-Id, some
    messages are HTML or have attachments, and one in fifty is in the wrong folder.

    Parameters
    ----------
    messages, seed : int
    folders : int, default 15
        At most 15.
    end : float, optional
        When the last message arrives, in seconds since 1970; by default the first one arrives in January 2024.

    Examples
    --------
    >>> first = next(letters(30, 3))
    >>> first.folder, b"Message-ID: <0.0@demo.example.net>" in first.raw
    ('Finance/Invoices', True)
    """
    themes, rng = _content().folders[:folders], np.random.default_rng(seed)
    minutes = np.cumsum(rng.integers(5, 240, messages))
    begin = BEGIN if end is None else int(end) - 60 * int(minutes[-1])
    phases, begun = rng.uniform(0, 2 * np.pi, len(themes)), set[str]()
    recent: dict[str, list[tuple[str, str]]] = {theme.folder: [] for theme in themes}
    for i in range(messages):
        theme = _active(themes, phases, i / messages, rng)
        when = begin + 60 * int(minutes[i])
        letter = _letter(theme, recent[theme.folder], f"<{seed}.{i}@demo.example.net>", when, rng)
        wrong = bool(begun) and rng.random() < MISFILED
        folder = str(rng.choice(sorted(begun))) if wrong else theme.folder
        begun.add(folder)
        yield Letter(letter.as_bytes(), folder, when)


def _active(themes: list[Theme], phases: np.ndarray, now: float, rng: np.random.Generator) -> Theme:
    """Return a random theme, in proportion to how active each is now."""
    lively = [
        t.weight * (1.0 + 0.7 * np.sin(9.0 * now + p)) * (t.begins <= now) for t, p in zip(themes, phases, strict=True)
    ]
    return themes[int(rng.choice(len(themes), p=np.array(lively) / np.sum(lively)))]


def _letter(
    theme: Theme, before: list[tuple[str, str]], message_id: str, when: int, rng: np.random.Generator
) -> MIMEBase:
    """Return a message of a theme, and add it to those that may get a reply."""
    thread = before[int(rng.integers(len(before)))] if before and rng.random() < 0.35 else None
    subject = f"Re: {thread[1]}" if thread else _said(theme.subjects, theme, rng)
    letter = _part(_text(theme, rng), rng)
    letter["From"] = formataddr(theme.senders[min(int(rng.exponential(0.8)), len(theme.senders) - 1)])
    letter["To"] = OWNER
    letter["Subject"] = subject
    letter["Date"] = formatdate(when)
    letter["Message-ID"] = message_id
    if thread:
        letter["In-Reply-To"] = letter["References"] = thread[0]
    if theme.mailing_list:
        letter["List-Id"] = f"<{theme.mailing_list}>"
    before.append((message_id, subject.removeprefix("Re: ")))
    del before[:-A_THREAD]
    return letter


def write_demo(
    folder: Path, messages: int = 1500, folders: int = 15, seed: int = 0, end: float | None = None
) -> dict[str, int]:
    """Write a Maildir: most messages filed, the last thirty in the inbox; return the number in each folder.

    Parameters
    ----------
    folder : path
        Must be missing or empty.
    messages, folders, seed, end
        As in `letters`.
    """
    if folder.exists() and any(folder.iterdir()):
        raise FileExistsError(f"{folder} is not empty; name a new folder.")
    counts: dict[str, int] = {}
    for i, letter in enumerate(letters(messages, folders, seed, end)):
        name = "INBOX" if i >= messages - UNFILED else letter.folder
        place = folder if name == "INBOX" else folder / f".{to_utf7(name).replace('/', '.')}"
        if name not in counts:
            for part in ("cur", "new", "tmp"):
                (place / part).mkdir(parents=True, exist_ok=True)
        counts[name] = counts.get(name, 0) + 1
        (place / "cur" / f"{letter.seconds}.M{i:06d}.demo:2,S").write_bytes(letter.raw)
    return counts


def _said(patterns: list[str], theme: Theme, rng: np.random.Generator) -> str:
    """Return a random pattern, filled with things of the theme and a number."""
    x, y = (theme.things[int(j)] for j in rng.permutation(len(theme.things))[:2])
    said = patterns[int(rng.integers(len(patterns)))].format(x=x, y=y, n=int(rng.integers(2, 400)))
    return said[0].upper() + said[1:]


def _text(theme: Theme, rng: np.random.Generator) -> str:
    sentences = [_said(theme.sentences, theme, rng) for _ in range(int(rng.integers(1, 5)))]
    sentences += [str(rng.choice(_content().small_talk)) for _ in range(int(rng.integers(1, 3)))]
    return f"{rng.choice(_content().greetings)}\n\n{chr(10).join(sentences)}\n"


def _part(text: str, rng: np.random.Generator) -> MIMEBase:
    """Return a message with a text: plain, as HTML, or both; sometimes with an attachment."""
    html = "<html><body><p>" + text.replace("\n\n", "</p>\n<p>").replace("\n", "<br>\n") + "</p></body></html>\n"
    kind, has_file = rng.random(2)
    content: MIMEBase = MIMEText(html, "html") if kind < 0.15 else MIMEText(text)
    if 0.15 <= kind < 0.4:
        content = MIMEMultipart("alternative", _subparts=[content, MIMEText(html, "html")])
    if has_file < 0.1:
        file = MIMEApplication(b"%PDF-1.4\n", "pdf")
        file.add_header(
            "Content-Disposition",
            "attachment",
            filename=str(rng.choice(("scan.pdf", "details.pdf", "plan.pdf", "form.pdf"))),
        )
        content = MIMEMultipart(_subparts=[content, file])
    return content
