"""Mail with a second label on a third of it: each label learnt as a message of its own, or all of them as a set."""

import gzip
import json
import os
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import hinged
from benchmarks.report import Bar, Report, Sheet
from hinged.mail import Filed, Message
from hinged.mail.features import fields_of
from hinged.mail.replaying import PastInMemory
from hinged.mail.sources.source import Place

USERS = ("beck-s", "lokay-m", "sanders-r")
SECOND = 8  # second labels
Model = hinged.TextClassifier | hinged.TextRanker


class Seen(NamedTuple):
    """What was suggested for messages some of whose labels were known, before they were learnt.

    Attributes
    ----------
    any : ranks of the best of a message's labels
    each : ranks of every label that was known, among the wrong ones
    """

    any: list[int]
    each: list[int]

    def top(self, k: int) -> tuple[float, float]:
        """Return both as percentages of hits among the first k."""
        return 100 * float(np.mean(np.array(self.any) <= k)), 100 * float(np.mean(np.array(self.each) <= k))


def run(quick: bool) -> Report:
    """Count hits on users whose mail is available.

    Parameters
    ----------
    quick : bool
        The first 300 messages of each user.
    """
    heads = ["any first %", "any in 3 %", "each first %", "each in 3 %"]
    sheet = Sheet("A second label on a third of the mail", ["user", "labels", "share with two %", *heads])
    bars = []
    for user in USERS:
        path = Path(os.environ.get("HINGED_DATA", "")) / "enron_folders" / f"{user}.jsonl.gz"
        if not path.exists():
            continue
        mail = _mail_of(path)[: 300 if quick else None]
        share = 100 * float(np.mean([len(one.folders) > 1 for one in mail]))
        found: dict[str, Seen] = {}
        for name, (filed, model, learn) in {
            "one each": ([one._replace(copies=()) for one in mail], hinged.TextClassifier(), _as_messages),
            "two, as two messages": (mail, hinged.TextClassifier(), _as_messages),
            "two, as a set": (mail, hinged.TextRanker(), _as_set),
        }.items():
            found[name] = _replayed(filed, model, learn)
            (first, each), (first3, each3) = found[name].top(1), found[name].top(3)
            two = 0.0 if name == "one each" else share
            sheet.rows.append([user, name, two, first, first3, each, each3])
        apart, together = found["two, as two messages"].top(3)[1], found["two, as a set"].top(3)[1]
        promise = f"{user}, as a set more of the labels are among the first three"
        bars.append(Bar(promise, f"{together:.1f} % against {apart:.1f} %", together > apart))
    return Report(
        "mail_label_sets",
        "users of the Enron folder benchmark, messages in order of time. The folder is the first label; where the "
        f"CRC-32 of the sender's address leaves 2 when divided by 3, the quotient modulo {SECOND} names a second one",
        "one pass with the features of the mail assistant; suggestions before a message is learnt. any: the best of "
        "its labels; each: every label, ranked among the wrong ones. A label counts once it is known",
        [sheet],
        bars,
    )


def _mail_of(path: Path) -> list[Filed]:
    """Read a user's mail, and give a third of it a second label, which its sender decides."""
    with gzip.open(path) as lines:
        mail: list[dict[str, Any]] = [json.loads(line) for line in lines]
    found = []
    for one in mail:
        body = one["body"][:20_000]
        message = Message(one["id"], None, one["from"], one["to"], one["cc"], one["subject"], "", (), body, (), ())
        rest, part = divmod(zlib.crc32(message.address.encode()), 3)
        copies = (Place(f"second {rest % SECOND}", ""),) if part == 2 else ()
        found.append(Filed(message, one["folder"], None, copies))
    return found


def _replayed(filed: Sequence[Filed], model: Model, learn: Callable[..., None]) -> Seen:
    past, seen = PastInMemory(), Seen([], [])
    for one in filed:
        if hasattr(model, "model_"):
            said = model.scored([fields_of(one.message, past)])
            scores = dict(zip(said.labels, said.scores[0].tolist(), strict=True))
            known = [scores[folder] for folder in one.folders if folder in scores]
            wrong = np.array([score for label, score in scores.items() if label not in one.folders])
            if known and len(scores) > 1:
                ranks = [1 + int((wrong >= score).sum()) for score in known]  # a tie is not a hit
                seen.each.extend(ranks)
                seen.any.append(min(ranks))
        learn(model, one, past)
    return seen


def _as_messages(model: Model, one: Filed, past: PastInMemory) -> None:
    for folder in one.folders:
        model.learn_one(fields_of(one.message, past), folder)
        past.note(one.message, folder)


def _as_set(model: Model, one: Filed, past: PastInMemory) -> None:
    model.learn_one(fields_of(one.message, past), one.folders)
    past.note(one.message, *one.folders)
