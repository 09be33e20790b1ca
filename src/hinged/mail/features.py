"""Features of a message: a text for each field. Which fields help was measured: docs/mail.md, "Features"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Protocol

from hinged.mail.headers import addresses_in
from hinged.mail.message import Message

__all__ = ["FIELDS", "LOUD", "Past", "fields_of", "in_words"]

#: All fields, in the same order for every message, so that replaying a journal gives the same weights.
FIELDS = (
    "from", "to", "cc", "subject", "body", "sender", "domain", "recipients", "list", "files", "thread", "last"
)  # fmt: skip
LOUD = 3  # words for the sender, the thread and the last folder are repeated, so that long texts do not outweigh them
MOST_RECIPIENTS = 30
SAID = {
    "subject": "the subject says",
    "body": "the text says",
    "from": "the sender is called",
    "files": "a file is called",
}
#: Fields whose words are numbers of folders: what is said before the name of the folder.
FOLDERS = {"thread": "an earlier message of the thread is in", "last": "the last message went to"}


class Past(Protocol):
    """Where earlier messages went. Folders have numbers, which stay when a folder is renamed."""

    def of_thread(self, message: Message) -> list[int]:
        """Return the folders of earlier messages of the thread, the nearest first."""

    def last(self) -> list[int]:
        """Return the folders of the last message that was filed."""


def fields_of(message: Message, past: Past) -> dict[str, str]:
    """Return the fields of a message, in the order of `FIELDS`.

    Examples
    --------
    >>> from hinged.mail.message import read_message
    >>> class Nothing:
    ...     of_thread, last = staticmethod(lambda message: [4]), staticmethod(lambda: [])
    >>> fields = fields_of(read_message(b"From: Ann <ann@example.com>\\nSubject: tax\\n\\nDue!"), Nothing())
    >>> fields["subject"], fields["sender"], fields["thread"]
    ('tax', 'ann_example_com ann_example_com_2 ann_example_com_3', 'f4 f4_2 f4_3')
    """
    recipients = addresses_in(f"{message.to}, {message.cc}")[:MOST_RECIPIENTS]
    return {
        "from": message.sender,
        "to": message.to,
        "cc": message.cc,
        "subject": message.subject,
        "body": message.body,
        "sender": _loud([_one_word(message.address)]),
        "domain": _one_word(_domain(message)),
        "recipients": " ".join(map(_one_word, recipients)),
        "list": _one_word(message.list_id),
        "files": " ".join([*message.files, *map(_one_word, message.kinds)]),
        "thread": _loud(f"f{number}" for number in past.of_thread(message)),
        "last": _loud(f"f{number}" for number in past.last()),
    }


def in_words(feature: str, message: Message, name_of: Callable[[int], str]) -> str:
    """Describe a feature in words.

    Parameters
    ----------
    feature : name of the feature, such as ``subject:tax``
    message : the message it is a feature of
    name_of : function that returns the name of a folder by its number

    Examples
    --------
    >>> from hinged.mail.message import read_message
    >>> message = read_message(b"From: ann@example.com\\nSubject: tax\\n\\n")
    >>> for feature in ("subject:tax", "sender:ann_example_com_2", "thread:f4"):
    ...     print(in_words(feature, message, {4: "Work"}.get))
    the subject says "tax"
    it is from ann@example.com
    an earlier message of the thread is in Work
    """
    field, _, word = feature.partition(":")
    if field in FOLDERS:
        return f"{FOLDERS[field]} {name_of(int(word[1:].partition('_')[0]))}"
    if field in DESCRIBED:
        return DESCRIBED[field](message, word)
    return f'{SAID.get(field, field)} "{word}"'


@lru_cache(maxsize=1)  # a message has thousands of features
def _addresses_by_word(to: str, cc: str) -> dict[str, str]:
    return {_one_word(address): address for address in addresses_in(f"{to}, {cc}")}


def _domain(message: Message) -> str:
    return message.address.rpartition("@")[2]


def _one_word(text: str) -> str:
    return re.sub(r"\W+", "_", text.lower()).strip("_")


def _loud(words: Iterable[str]) -> str:
    marks = ["", *(f"_{i}" for i in range(2, LOUD + 1))]
    return " ".join(word + mark for word in words if word for mark in marks)


#: What else speaks for a folder, or against it, beside single words.
EVIDENCE = {
    "centroid": "it is like the mail in this folder",
    "bayes": "its words are more usual in this folder than elsewhere",
    "recency": "how lately mail came to this folder",
}
#: How fields are described whose words are not shown as they are: from the message and the word.
DESCRIBED: dict[str, Callable[[Message, str], str]] = {
    "sender": lambda message, word: f"it is from {message.address}",
    "domain": lambda message, word: f"it is from {_domain(message)}",
    "list": lambda message, word: f"it came by the list {message.list_id}",
    **dict.fromkeys(
        ("to", "cc", "recipients"),
        lambda message, word: f"it is to {_addresses_by_word(message.to, message.cc).get(word, word)}",
    ),
    "evidence": lambda message, word: EVIDENCE[word],
}
