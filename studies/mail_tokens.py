"""What a mail program knows beside the words: who wrote, and where mail before it went, as words of their own fields.

A folder enters a token only after it was revealed: where the previous message went, the thread's latest, the sender's
latest. Each token is one word, joined by underscores.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

__all__ = ["TOKENS", "as_word", "thread_of", "with_tokens"]

TOKENS = ("sender", "previous", "thread_folder", "sender_folder")
_REPLY = re.compile(r"\s*(re|fw|fwd|aw)\s*(\[\d+\])?\s*:", re.IGNORECASE)


def as_word(text: str) -> str:
    """One word of a text.

    Examples
    --------
    >>> as_word("Ann.Smith@enron.com")
    'ann_smith_enron_com'
    """
    return re.sub(r"\W+", "_", text.strip().lower()).strip("_")


def thread_of(subject: str) -> str:
    """A subject without its marks of replies, as one word.

    Examples
    --------
    >>> thread_of("RE: Fwd: Gas nomination"), thread_of("re[2]: Regards")
    ('gas_nomination', 'regards')
    """
    while (mark := _REPLY.match(subject)) is not None:
        subject = subject[mark.end() :]
    return as_word(subject)


def with_tokens(
    messages: Sequence[dict[str, Any]], fields: Sequence[str], tokens: Sequence[str] = TOKENS
) -> list[dict[str, str]]:
    """The fields of each message, and the tokens asked for, from folders of earlier messages only.

    Examples
    --------
    >>> mail = [{"from": "a@b", "subject": s, "folder": f} for s, f in [("tax", "work"), ("Re: tax", "work")]]
    >>> with_tokens(mail, ["subject"], ["previous", "thread_folder"])[1]
    {'subject': 'Re: tax', 'previous': 'work', 'thread_folder': 'work'}
    """
    documents, previous = [], ""
    of_thread: dict[str, str] = {}
    of_sender: dict[str, str] = {}
    for message in messages:
        sender, thread = as_word(message["from"]), thread_of(message["subject"])
        known = {
            "sender": sender,
            "previous": previous,
            "thread_folder": of_thread.get(thread, "") if thread else "",
            "sender_folder": of_sender.get(sender, ""),
            "thread": thread,
            "domain": as_word(message["from"].rpartition("@")[2]),
        }
        documents.append({**{name: message[name] for name in fields}, **{name: known[name] for name in tokens}})
        previous = of_thread[thread] = of_sender[sender] = as_word(message["folder"])
    return documents
