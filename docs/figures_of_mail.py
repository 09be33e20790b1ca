"""The picture and the tables of docs/mail.md and docs/mail_filters.md; called by docs/make_figures.py."""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
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
from hinged.mail.senders import home_of, sure_senders

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
    for message, folder in ((one.message, one.folder) for one in filed):
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


def table_of_promises(users: Iterable[str], table: Callable[..., None]) -> None:
    """Filing by itself: how much is filed under each promise, and how much of that is right."""
    promises, rows = (0.9, 0.95, 0.99), []
    for user in users:
        result = replay_messages(messages_of(user))
        filed = result.confidence >= 0.9
        row: list[Any] = [user, _filed(float(filed.mean()), float((result.flags[filed] == 0).mean()))]
        row += [_filed(found.share_filed, found.share_right) for found in map(result.filing, promises)]
        before, last = result.filing_over_time(0.95, parts=4)[-2:]
        share = last["filed"] / (last["messages"] - before["messages"])
        row.append(_filed(share, 1 - last["wrong"] / max(1, last["filed"])))
        rows.append([*row, result.filing(0.95).alarms])
    heads = ["user", "confidence ≥ 0.9", *(f"{100 * right:g} %" for right in promises), "95 %, last quarter", "alarms"]
    table("Filing by itself: share filed / share of it right, in per cent", heads, rows)


def table_of_senders(users: Iterable[str], table: Callable[..., None]) -> None:
    """Senders whose mail is surely for one folder: how many, how much they sent, and how much of it was right."""
    promises, rows = (0.9, 0.95), []
    for user in users:
        mail = [(filed.message.address, filed.folder) for filed in messages_of(user)]
        rows.append([user, *(_sent_by_sure(mail, right) for right in promises)])
    heads = ["user", *(f"{100 * right:g} %" for right in promises)]
    table("Sure senders / share of mail they sent while sure / share of it right, in per cent", heads, rows)


def _sent_by_sure(mail: list[tuple[str, str]], right: float) -> str:
    went: defaultdict[str, Counter[str]] = defaultdict(Counter)
    hits = []
    for address, folder in mail:
        home = home_of(went[address], right) if went[address] and address else None
        if home is not None:
            hits.append(home == folder)
        went[address][folder] += 1
    return f"{len(sure_senders(mail, right))} / {100 * len(hits) / len(mail):.1f} / {100 * float(np.mean(hits)):.1f}"


def _filed(share: float, right: float | None) -> str:
    return f"{100 * share:.1f} / {'–' if right is None else f'{100 * right:.1f}'}"
