"""A digest: one mail that lists what the assistant filed on a day, with what it takes to move it back."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import default
from hashlib import sha256
from shlex import quote

from hinged.mail.filed import Entry

__all__ = ["digest"]

SENDER = Address("hinged", "hinged", "localhost.invalid")


def digest(entries: Sequence[Entry], day: date, account: str) -> bytes:
    """Return a mail that lists what was filed on a day, by folder.

    A digest of the same day and account has the same Message-ID; it is dated when the last message was filed.

    Parameters
    ----------
    entries : entries of that day
    day : date
    account : the source, as the commands take it

    Examples
    --------
    >>> from hinged.mail.memory import Move
    >>> move = Move(7, "m1", "tax form", "INBOX", "Work", "17.a", 1)
    >>> raw = digest([Entry(move, 0.0, "ann@example.com", 0.975)], date(2026, 11, 19), "mail")
    >>> print(raw.decode().partition("\\n\\n")[2])
    Work
      #7  98 %  tax form (ann@example.com)
    <BLANKLINE>
    To move one back: hinged mail undo mail --message 7
    All of this day:  hinged mail undo mail --day 2026-11-19
    <BLANKLINE>
    """
    mail, n = EmailMessage(policy=default.clone(max_line_length=0)), len(entries)
    mail["From"] = SENDER
    mail["Subject"] = f"{n} message{'s' * (n != 1)} filed on {day}"
    mail["Message-ID"] = f"<{day}.{sha256(account.encode()).hexdigest()[:16]}@digest.hinged.invalid>"
    last = max((one.at for one in entries if one.at is not None), default=0.0)
    mail["Date"] = datetime.fromtimestamp(last, UTC)
    mail["Auto-Submitted"] = "auto-generated"
    lines = []
    for folder in sorted({one.move.target for one in entries}):
        lines.append(_plain(folder))
        lines += [_line(one) for one in entries if one.move.target == folder]
        lines.append("")
    first = entries[0].move.number if entries else "NUMBER"
    lines.append(f"To move one back: hinged mail undo {quote(account)} --message {first}")
    lines.append(f"All of this day:  hinged mail undo {quote(account)} --day {day}")
    mail.set_content("\n".join(lines) + "\n", cte="8bit")
    return mail.as_bytes()


def _line(one: Entry) -> str:
    sure = "pin" if one.sure is None else f"{100 * one.sure:.0f} %"
    return f"  #{one.move.number}  {sure}  {_plain(one.move.subject) or '(no subject)'} ({_plain(one.sender)})"


def _plain(text: str) -> str:
    """Return a text on one line, without control characters."""
    return " ".join("".join(one if one.isprintable() else " " for one in text).split())
