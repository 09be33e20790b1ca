"""The picture and the table of docs/mail.md; called by docs/make_figures.py."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

import hinged
from hinged.evaluate import plots, progressive
from hinged.evaluate.report import recent_rate
from hinged.mail import Filed, Message, read_message
from hinged.mail.demo import letters
from hinged.mail.features import FIELDS, fields_of
from hinged.mail.replaying import PastInMemory, replay_messages

BLUE, ORANGE = plots.COLOURS[:2]
WORDS = ("from", "to", "cc", "subject", "body")
PEOPLE = ("sender", "domain", "recipients")
SETS = {
    "words of the fields": (WORDS, False),
    "and whole addresses": ((*WORDS, *PEOPLE), True),
    "and the thread": ((*WORDS, *PEOPLE, "thread"), True),
    "and the last folder: all": (FIELDS, True),
    "all, without triple weights": (FIELDS, False),
}


def replay(panels: Callable[..., Any]) -> None:
    """Hits over time on the generated mailbox, as the report of `hinged mail replay` shows them."""
    filed = [Filed(read_message(one.raw), one.folder) for one in letters(1500, 20)]
    result = replay_messages(filed)
    window = len(filed) // 10
    title = f"{100 * (result.top(3) or 0):.0f} % of the messages within three suggestions"
    note = f"share of hits among the last {window} of {len(filed):,} generated messages in 20 folders"
    with panels("replay", 1, (8.6, 3.9), title, note) as (ax,):
        for name, most, colour in (("one of three", 3, ORANGE), ("first", 1, BLUE)):
            missed = np.where(result.flags < 0, -1, result.ranks > most).astype(np.int8)
            share = 100 * (1 - recent_rate(missed, window))
            ax.plot(np.arange(1, len(filed) + 1), share, color=colour, linewidth=1.9, label=name)
        new = np.flatnonzero(result.flags < 0) + 1
        ax.plot(new, np.full(len(new), 41.0), "|", color=plots.MUTED, markersize=7, label="a new folder")
        ax.set(ylim=(40, 101), xlabel="messages, in the order of their dates")
        ax.yaxis.set_major_formatter("{x:g} %")
        ax.grid(axis="y", color=plots.HAIRLINE, linewidth=0.8)
        ax.legend(frameon=False, loc="lower right", ncols=3)


def messages_of(user: str) -> list[Filed]:
    """A user of the Enron corpus."""
    with gzip.open(hinged.datasets.folder("enron_folders") / f"{user}.jsonl.gz", "rt", encoding="utf-8") as lines:
        mail = [json.loads(line) for line in lines]
    return [
        Filed(
            Message(
                one["id"], None, one["from"], one["to"], one["cc"], one["subject"], "", (), one["body"][:20_000], (), ()
            ),
            one["folder"],
        )
        for one in mail
    ]


def documents(filed: Iterable[Filed], fields: Iterable[str], loud: bool) -> Iterator[dict[str, str]]:
    """Yield the given fields of each message; unless `loud`, reduce repeated words to one occurrence."""
    past = PastInMemory()
    for message, folder, _ in filed:
        whole = fields_of(message, past)
        some = {name: whole[name] for name in fields}
        if not loud:
            some |= {name: some[name].partition(" ")[0] for name in ("sender", "last") if name in some}
            if "thread" in some:
                some["thread"] = " ".join(word for word in some["thread"].split() if "_" not in word)
        yield some
        past.note(message, folder)


def table_of_fields(users: Iterable[str], table: Callable[..., None]) -> None:
    """Accuracy of the first suggestion and of the first three, by the fields that the learner uses."""
    rows = []
    mail = {user: messages_of(user) for user in users}
    for name, (fields, loud) in SETS.items():
        row: list[Any] = [name]
        for filed in mail.values():
            seen = list(documents(filed, fields, loud))
            result = progressive(hinged.TextClassifier(), seen, [one.folder for one in filed])
            row.append(f"{100 - 100 * result.rate:.1f} / {100 * result.top(3):.1f}")
        rows.append(row)
    table("Share of messages at the first suggestion / within three, in per cent", ["fields", *mail], rows)
