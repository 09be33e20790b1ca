"""Settings tried on mail beside the default.

Mistakes in percent, with undeclared folders. The first row is the default; each other row changes one setting. Settings
were chosen by the mean over beck-s, farmer-d, lokay-m and sanders-r. Hybrid sharing with entropy is not included,
because a shared vector does not lie on a label's simplex.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hinged.estimators import Classifier
from hinged.estimators.text import TextClassifier
from hinged.evaluate import progressive
from hinged.evaluate.progressive import Progress
from hinged.sharing import Groups
from hinged.sharing.evidence import Evidence
from hinged.sharing.features import Frequency, Tfidf
from studies.adaptive import adaptive
from studies.beyond import CHOSEN_ON
from studies.enron_columns import PRINTED_USERS
from studies.mail import FIELDS, at_once, messages_of, read_mail, users
from studies.mail_tokens import with_tokens
from studies.study import PLAIN, PROTOCOL, Advance, Outcome, Study, Table

__all__ = ["STUDY"]

Messages = Sequence[dict[str, Any]]


def _text(tokens: Sequence[str] = (), **settings: Any) -> Callable[[Messages], Progress]:
    """The default with other tokens or settings."""

    def run(messages: Messages) -> Progress:
        documents = with_tokens(messages, FIELDS, tokens)
        folders = [message["folder"] for message in messages]
        return progressive(TextClassifier(**PROTOCOL, **settings), documents, folders)

    return run


def _first_words(n: int) -> Callable[[Messages], Progress]:
    return lambda messages: _text()([{**m, "body": " ".join(m["body"].split()[:n])} for m in messages])


def _tree(shared: bool) -> Callable[[Messages], Progress]:
    """Groups of the folder tree, whose levels these folders' names join by underscores."""

    def run(messages: Messages) -> Progress:
        labels = {message["folder"] for message in messages}
        sets = Groups.tree(labels, "_").sets
        groups = Groups([*sets, labels], [*[None] * len(sets), Frequency(high=0.4)]) if shared else Groups(sets)
        return _text(sharing=groups, features=None)(messages)

    return run


def _domains(messages: Messages) -> Progress:
    """Folders in one group where the same domain wrote most of each; known in hindsight only, so at best this good."""
    wrote: dict[str, dict[str, int]] = {}
    for message in messages:
        of_folder = wrote.setdefault(message["folder"], {})
        domain = message["from"].rpartition("@")[2]
        of_folder[domain] = of_folder.get(domain, 0) + 1
    groups: dict[str, set[str]] = {}
    for label, domains in wrote.items():
        groups.setdefault(max(sorted(domains), key=lambda domain: domains[domain]), set()).add(label)
    sets = [*({label} for label in sorted(wrote)), *(each for each in groups.values() if len(each) > 1)]
    sharing = Groups([*sets, set(wrote)], [*[None] * len(sets), Frequency(high=0.4)])
    return _text(sharing=sharing, features=None)(messages)


def _averaged(messages: Messages) -> Progress:
    """Answers by the mean of all weights so far, asked before each lesson: flags are those of the current weights."""
    model, ranks = TextClassifier(**PROTOCOL, average=True), []
    known: set[str] = set()
    for document, message in zip(with_tokens(messages, FIELDS, ()), messages, strict=True):
        ranks.append(model.rank_one(document).index(message["folder"]) + 1 if message["folder"] in known else 0)
        model.learn_one(document, message["folder"])
        known.add(message["folder"])
    flags = np.array([-1 if rank == 0 else rank > 1 for rank in ranks], np.int8)
    return Progress(flags, np.array(ranks, np.int32), 0, float((flags == 1).sum()), 0.0)


def _entropic(rule: str, C: float) -> Callable[[Messages], Progress]:
    def run(messages: Messages) -> Progress:
        mail = read_mail(messages, "all fields, presence, tagged")
        model = Classifier(rule, C, geometry="entropy", margin=0.01, n_features=mail.X.shape[1], **PLAIN, **PROTOCOL)
        return progressive(model, mail.X, mail.folders)

    return run


def _adaptive(messages: Messages) -> Progress:
    mail = read_mail(messages, "all fields, presence, tagged")
    return adaptive(mail.X, mail.folders)


MULTI: dict[str, Any] = {"sharing": "multi", "features": None}
TRIED: dict[str, Callable[[Messages], Progress]] = {
    "the default": _text(),
    "no limit on long fields": _text(field_limit=None),
    "limit of 16 words": _text(field_limit=16),
    "limit of 64 words": _text(field_limit=64),
    "single words alone, without evidence": _text(features=Frequency(high=0.4)),
    "evidence alone, without single words": _text(features=Evidence(words=None)),
    "frequent from 20 % on": _text(features=Evidence(words=Frequency())),
    "frequent from 60 % on": _text(features=Evidence(words=Frequency(high=0.6))),
    "words by tf-idf": _text(features=Evidence(words=Tfidf())),
    "word counts": _text(values="counts"),
    "log of word counts": _text(values="log"),
    "pairs of words": _text(words=(1, 2)),
    "first 100 words of the body": _first_words(100),
    "C = 0.3": _text(C=0.3),
    "pa1 in place of the joint step": _text(rule="pa1"),
    "simproj in place of the joint step": _text(rule="simproj"),
    "a vector per folder alone": _text(**MULTI),
    "a vector per folder alone, pa1": _text(rule="pa1", **MULTI),
    "adaptive scaling per feature (a vector per folder, pa1, no limit)": _adaptive,
    "a vector per folder alone, pa1, no limit": _text(rule="pa1", field_limit=None, **MULTI),
    "entropy, joint step, C = 1, margin 0.01 (no IDF)": _entropic("optimal", 1.0),
    "entropy, simproj, C = 10, margin 0.01 (no IDF)": _entropic("simproj", 10.0),
    "groups of the folder tree": _tree(shared=False),
    "groups of the folder tree, and the shared vector": _tree(shared=True),
    "groups by sender's domain (in hindsight), and the shared vector": _domains,
    "answers by averaged weights": _averaged,
    "token: sender": _text(["sender"]),
    "token: sender's domain": _text(["domain"]),
    "token: thread": _text(["thread"]),
    "token: previous folder": _text(["previous"]),
    "token: thread's folder": _text(["thread_folder"]),
    "token: sender's folder": _text(["sender_folder"]),
}


def run(advance: Advance) -> Outcome:
    """Every change for every user."""
    names = users()
    messages = {user: messages_of(user) for user in names}

    def one(tried: str, user: str) -> tuple[float, float]:
        told = TRIED[tried](messages[user])
        advance(f"{user}, {tried}")
        return 100 * told.rate, 100 * told.top(3)

    found = at_once(one, [(tried, user) for tried in TRIED for user in names])
    chosen_on = [user for user in names if user in CHOSEN_ON]
    held_out = [user for user in names if user not in CHOSEN_ON]
    rows: list[list[Any]] = []
    for tried in TRIED:
        means = [float(np.mean([found[tried, u][0] for u in part])) if part else None for part in (chosen_on, held_out)]
        tops = float(np.mean([found[tried, user][1] for user in names]))
        rows.append([tried, *(found[tried, user][0] for user in names), *means, tops])
    columns = ["what", *names, "chosen on", "held out", "top 3 %"]
    about = (__doc__ or "").split("\n\n")[1]
    table = Table("Mistakes in percent", columns, rows, "“Chosen on” and “held out” are means over those users.")
    least = min(rows[1:26], key=lambda row: row[-3])
    remarks = [
        f"By that mean the best other setting is {least[0]!r} ({least[-3]:.2f} against {rows[0][-3]:.2f} for the "
        "default)."
    ]
    return Outcome(STUDY.name, STUDY.title, STUDY.source, about, [table], [], remarks)


STUDY = Study(
    "enron-appendix",
    "Appendix: what else was tried on mail",
    "no paper",
    ("enron_folders",),
    len(TRIED) * len(PRINTED_USERS),
    run,
)
