"""Where earlier messages went, in memory: what a replay remembers."""

from __future__ import annotations

from hinged.mail.headers import topic_of
from hinged.mail.message import Message

__all__ = ["PastInMemory"]


class PastInMemory:
    """Folders of messages seen so far, by their names and topics.

    Examples
    --------
    >>> from hinged.mail.message import read_message
    >>> past = PastInMemory()
    >>> past.note(read_message(b"Message-ID: <1>\\nSubject: tax\\n\\n"), "work")
    >>> past.of_thread(read_message(b"Subject: Re: tax\\n\\n")), past.name_of(past.last())
    ([1], 'work')
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._by_id: dict[str, int] = {}
        self._by_topic: dict[str, int] = {}
        self._last: int | None = None

    def of_thread(self, message: Message) -> list[int]:
        """Folders of earlier messages of the thread, the nearest first, then that of the last with its subject."""
        found = [self._by_id.get(name) for name in reversed(message.references)]
        found.append(self._by_topic.get(topic_of(message.subject)))
        return list(dict.fromkeys(number for number in found if number is not None))

    def last(self) -> int | None:
        """The folder of the last message."""
        return self._last

    def name_of(self, number: int | None) -> str:
        """What a folder's number stands for."""
        return next((name for name, own in self._numbers.items() if own == number), "a folder that is gone")

    def note(self, message: Message, folder: str) -> None:
        """Remember where a message went."""
        number = self._numbers.setdefault(folder, len(self._numbers) + 1)
        self._by_id[message.id] = self._last = number
        if topic := topic_of(message.subject):
            self._by_topic[topic] = number
