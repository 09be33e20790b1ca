"""A generated stream of mail, to be filed one message at a time."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

__all__ = ["MailStream", "mail_stream"]

FOLDERS = (  # noqa: SIM905 (one quoted name a line would fill a page, here and below)
    "inbox/people family projects/aurora finance/invoices travel projects/borealis newsletters team/weekly "
    "finance/taxes hiring projects/cascade support house clients/northwind lists/orchestra receipts projects/delta "
    "clients/harbour school lists/astronomy legal garden conferences health team/retreat clients/meridian lists/chess "
    "projects/ember photos finance/pension cycling library projects/fathom clients/tidewater volunteering lists/baking"
).split()
COMMON = (  # noqa: SIM905
    "the to and of you for is it in on that we this be have with at are not will can please thanks hello regards "
    "meeting time week today tomorrow monday friday call send sent see know think need work new update about from our "
    "if would could let best question attached file draft notes plan date next last still also when they just list "
    "agree idea change first sorry good great soon back after before more some any there their what which read reply"
).split()
ONSETS = [*"bcdfghklmnprstvbdlmnrst", "br", "cl", "dr", "gr", "pl", "st", "tr"]
VOWELS = "aeiou"
CODAS = ["", "", "", "", "n", "r", "l", "s", "m"]


@dataclass(frozen=True)
class MailStream:
    """A stream of messages in the order of their arrival.

    Attributes
    ----------
    X : csr_array of float64, (messages, features)
        How often each feature occurs: words of the body, and words tagged by their field
        (`from:`, `list:`, `subject:`).
    y : ndarray of str, (messages,)
        The folder each message was filed in. Folders appear over time.
    words : list of str
        The name of each column of `X`.
    subjects, senders : list of str
        What a mail program would show.
    mislabelled : ndarray of bool, (messages,)
        Where `y` is not the folder that the message was written for.
    """

    X: csr_array
    y: NDArray[np.str_]
    words: list[str]
    subjects: list[str]
    senders: list[str]
    mislabelled: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.subjects)

    def dicts(self) -> Iterator[tuple[dict[str, float], str]]:
        """Yield each message as a dict of feature to count, with its folder.

        Examples
        --------
        >>> features, folder = next(mail_stream(50, 5).dicts())
        >>> folder, max(features, key=features.get)
        ('inbox/people', 'the')
        """
        for i, folder in enumerate(self.y.tolist()):
            row = slice(self.X.indptr[i], self.X.indptr[i + 1])
            names = [self.words[j] for j in self.X.indices[row]]
            yield dict(zip(names, self.X.data[row].tolist(), strict=True)), folder


class _SimulatedFolder:
    """Senders and topic of one folder; the topic drifts over time."""

    def __init__(self, rng: np.random.Generator, words: NDArray[np.intp], people: NDArray[np.intp], mailing_list: int):
        self.words = words  # a topic is a window that slides along this list
        self.people = people
        self.mailing_list = mailing_list
        self.start = rng.uniform(0.0, 0.6) * len(words)
        self.speed = rng.uniform(0.2, 1.0) * len(words)
        self.period, self.phase = rng.uniform(0.1, 0.4), rng.uniform(0.0, 2 * np.pi)
        self.end = rng.uniform(0.35, 0.85) if rng.random() < 0.25 else np.inf
        self.topic = np.empty(0)

    def move(self, now: float) -> None:
        """Slide the topic to the time `now`, a share of the stream."""
        n = len(self.words)
        gap = np.abs(np.arange(n) - (self.start + self.speed * now) % n)
        gap = np.minimum(gap, n - gap)  # the list is a ring: a topic may return
        self.topic = np.cumsum(1.0 / (1.0 + (gap / 3.0) ** 1.5))

    def activity(self, now: float) -> float:
        """The folder's share of new mail at the time `now`: it has seasons, and may stop."""
        return 0.01 if now > self.end else 1.0 + 0.8 * float(np.sin(2 * np.pi * now / self.period + self.phase))

    def draw_words(self, rng: np.random.Generator, n: int) -> NDArray[np.intp]:
        return self.words[_draw(rng, self.topic, n)]

    def draw_person(self, rng: np.random.Generator) -> int:
        return int(self.people[min(int(rng.exponential(4.0)), len(self.people) - 1)])


@dataclass(frozen=True)
class _Thread:
    """What the messages of one conversation have in common."""

    folder: int
    subject: NDArray[np.intp]
    words: NDArray[np.intp]
    people: list[int]


def mail_stream(n_messages: int = 3000, n_folders: int = 25, seed: int = 0, noise: float = 0.03) -> MailStream:
    """Generate a stream of mail to be filed, the same for the same arguments.

    Folders appear over time, and their sizes follow a power law; some fall silent. The words of a folder
    drift, and neighbours such as ``projects/aurora`` and ``projects/borealis`` share some of theirs. Replies
    share the subject of their thread, mailing lists leave a tag, busy people write to several folders.

    Its difficulty was tuned so that good learners err on about a fifth of the messages: it illustrates learners,
    and does not show which of them is best on real mail.

    Parameters
    ----------
    n_messages : int, default 3000
        Length of the stream; at least `n_folders`.
    n_folders : int, default 25
        How many folders appear, each with at least one message; at least 2.
    seed : int, default 0
        0 or more; another seed gives another mailbox.
    noise : float in [0, 1), default 0.03
        The chance that a message is filed in some other folder already in use. The message that opens a
        folder is always right.

    Returns
    -------
    MailStream

    Examples
    --------
    >>> mail = mail_stream(n_messages=500, n_folders=8)
    >>> mail.X.shape[0], len(mail.words) == mail.X.shape[1], len(set(mail.y.tolist()))
    (500, True, 8)
    """
    _check(n_messages, n_folders, seed, noise)
    rng = np.random.default_rng(seed)
    names, words, people = _vocabulary(rng, n_folders)
    folders = _make_folders(rng, names, len(words), len(people))
    # The first message of folder i arrives at births[i]: a few at once, the others along the way.
    spread = np.sort(rng.random(n_folders) ** 2) * (n_messages - n_folders) * 0.85
    spread[:3] = 0.0
    births = np.arange(n_folders) + spread.astype(int)
    truth, tokens, senders, subjects = _MailWriter(rng, folders, words, people).write(births, n_messages)

    known = np.searchsorted(births, np.arange(n_messages), side="right")
    mislabelled = (rng.random(n_messages) < noise) & (known > 1) & ~np.isin(np.arange(n_messages), births)
    shift = 1 + (rng.random(n_messages) * (known - 1)).astype(int)
    filed = np.where(mislabelled, (truth + shift) % known, truth)

    used, columns = np.unique(np.concatenate(tokens), return_inverse=True)
    indptr = np.concatenate([[0], np.cumsum([len(t) for t in tokens])])
    kind = np.int32 if max(len(columns), len(used)) < 2**31 else np.int64  # some solvers take no wider indices
    X = csr_array((np.ones(len(columns)), columns.astype(kind), indptr.astype(kind)), shape=(n_messages, len(used)))
    X.sum_duplicates()
    fields = [*words, *(f"subject:{w}" for w in words), *(f"from:{p}" for p in people), *(f"list:{n}" for n in names)]
    return MailStream(X, np.array(names)[filed], [fields[j] for j in used], subjects, senders, mislabelled)


def _check(n_messages: int, n_folders: int, seed: int, noise: float) -> None:
    if n_folders < 2:
        raise ValueError(f"n_folders must be at least 2; got {n_folders}. Try 25.")
    if n_messages < n_folders:
        raise ValueError(f"n_messages must be at least n_folders={n_folders}; got {n_messages}. Try 3000.")
    if not 0.0 <= noise < 1.0:
        raise ValueError(f"noise must be in [0, 1); got {noise}. Try 0.03, or 0 for no mislabelled message.")
    if seed < 0:
        raise ValueError(f"seed must be 0 or more; got {seed}. Try 0.")


class _MailWriter:
    """Writes messages, in threads, from the words and people of their folders."""

    def __init__(
        self, rng: np.random.Generator, folders: list[_SimulatedFolder], words: list[str], people: list[str]
    ) -> None:
        self.rng, self.folders, self.words, self.people = rng, folders, words, people
        self.background = np.cumsum(1.0 / (np.arange(1, len(words) // 2 + 1) + 2.0))  # Zipf over half the vocabulary
        self.threads: list[_Thread] = []

    def write(
        self, births: NDArray[np.intp], n_messages: int
    ) -> tuple[NDArray[np.intp], list[NDArray[np.intp]], list[str], list[str]]:
        """Return folder, features as numbers, sender and subject of each message; folder i begins at `births[i]`."""
        size = 1.0 / np.arange(1, len(self.folders) + 1) ** 0.6
        opened = set(births.tolist())
        truth, tokens, senders, subjects = np.empty(n_messages, dtype=np.intp), [], [], []
        share, n_known = np.empty(0), 0
        for i in range(n_messages):
            is_first, now = i in opened, i / n_messages
            n_known += is_first
            if is_first or i % 20 == 0:
                for folder in self.folders[:n_known]:
                    folder.move(now)
                share = np.cumsum([size[r] * self.folders[r].activity(now) for r in range(n_known)])
            thread, is_reply = self._thread(share, n_known - 1 if is_first else None)
            sender = self._sender(thread, is_reply)
            truth[i] = thread.folder
            tokens.append(self._tokens(thread, sender))
            senders.append(self.people[sender])
            subject = " ".join(self.words[w] for w in thread.subject).capitalize()
            subjects.append(("Re: " if is_reply else "") + subject)
        return truth, tokens, senders, subjects

    def _thread(self, share: NDArray[np.float64], new: int | None) -> tuple[_Thread, bool]:
        """The thread of the next message, the first of a folder if that is `new`; True if the message is a reply."""
        if self.threads and new is None and self.rng.random() < 0.4:
            return self.threads[-1 - min(int(self.rng.exponential(12.0)), len(self.threads) - 1)], True
        return self._open_thread(int(_draw(self.rng, share, 1)[0]) if new is None else new), False

    def _open_thread(self, number: int) -> _Thread:
        rng, folder = self.rng, self.folders[number]
        topical = folder.draw_words(rng, 1 + int(rng.random() < 0.4))
        subject = np.concatenate([topical, _draw(rng, self.background, int(rng.integers(1, 4)))])
        words = np.concatenate([folder.draw_words(rng, 2), _draw(rng, self.background, 4)])
        self.threads.append(_Thread(number, rng.permutation(subject), words, [folder.draw_person(rng)]))
        return self.threads[-1]

    def _sender(self, thread: _Thread, is_reply: bool) -> int:
        """Replies often come from people already in the thread."""
        if is_reply and self.rng.random() < 0.6:
            return thread.people[int(self.rng.integers(len(thread.people)))]
        thread.people.append(self.folders[thread.folder].draw_person(self.rng))
        return thread.people[-1]

    def _tokens(self, thread: _Thread, sender: int) -> NDArray[np.intp]:
        """Features of a message: words of the body, then of the subject, the sender, the mailing list."""
        rng, folder, n_words = self.rng, self.folders[thread.folder], len(self.words)
        length = 8 + int(rng.lognormal(3.0, 0.6))
        n_topic, n_thread = rng.binomial(length, [0.10, 0.04])
        body = [
            _draw(rng, self.background, length),
            folder.draw_words(rng, n_topic),
            thread.words[rng.integers(len(thread.words), size=n_thread)],
        ]
        tags = [2 * n_words + sender]
        if folder.mailing_list >= 0 and rng.random() < 0.6:
            tags.append(2 * n_words + len(self.people) + folder.mailing_list)
        return np.concatenate([*body, n_words + thread.subject, tags])


def _make_folders(rng: np.random.Generator, names: list[str], n_words: int, n_people: int) -> list[_SimulatedFolder]:
    """Give each folder its words, its writers and perhaps a mailing list (its number, or -1)."""
    topical = np.arange(len(COMMON), n_words)
    parents = {name.split("/")[0]: rng.choice(topical, 40, replace=False) for name in names}
    busy = 1.0 / np.arange(1, n_people + 1) ** 0.7
    folders = []
    for r, name in enumerate(names):
        shared = rng.choice(parents[name.split("/")[0]], 30, replace=False)
        words = rng.permutation(np.concatenate([rng.choice(topical, 60, replace=False), shared]))
        writers = rng.choice(n_people, 20, replace=False, p=busy / busy.sum())
        is_list = name.startswith(("lists/", "newsletters", "team/"))
        folders.append(_SimulatedFolder(rng, words, writers, r - r % 2 if is_list else -1))
    return folders


def _vocabulary(rng: np.random.Generator, n_folders: int) -> tuple[list[str], list[str], list[str]]:
    """Return the names of folders, the words (common ones first) and the people."""
    invented = _invent(rng)
    words = COMMON + list(itertools.islice(invented, 1200))
    people = [f"{next(invented)}.{next(invented)}" for _ in range(120)]
    names = [*FOLDERS, *(f"projects/{next(invented)}" for _ in range(n_folders - len(FOLDERS)))][:n_folders]
    return names, words, people


def _invent(rng: np.random.Generator) -> Iterator[str]:
    """Yield pronounceable words, each once."""
    seen = set(COMMON)
    while True:
        onsets, vowels = rng.integers(len(ONSETS), size=3), rng.integers(len(VOWELS), size=3)
        syllables = [ONSETS[i] + VOWELS[j] for i, j in zip(onsets, vowels, strict=True)]
        word = "".join(syllables[: rng.integers(2, 4)]) + CODAS[rng.integers(len(CODAS))]
        if word not in seen:
            seen.add(word)
            yield word


def _draw(rng: np.random.Generator, cumulative: NDArray[np.float64], n: int) -> NDArray[np.intp]:
    """Draw `n` positions with chances given by their cumulative sums."""
    return np.asarray(np.searchsorted(cumulative, rng.random(n) * cumulative[-1], side="right"))
