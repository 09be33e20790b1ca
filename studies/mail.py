"""The mail of the seven Enron users, and the ways to read it that papers leave open."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from hinged.experiments.datasets import folder
from hinged.text import Vocabulary

__all__ = ["FIELDS", "READINGS", "Mail", "at_once", "mail_of", "messages_of", "read_mail", "users"]

FIELDS = ("from", "to", "cc", "subject", "body")
#: Name: fields that are read, what a word counts, whether words are tagged by their field.
READINGS: dict[str, tuple[tuple[str, ...], str, bool]] = {
    "all fields, presence": (FIELDS, "binary", False),
    "all fields, counts": (FIELDS, "counts", False),
    "all fields, presence, tagged": (FIELDS, "binary", True),
    "subject and body, presence": (FIELDS[3:], "binary", False),
    "subject and body, counts": (FIELDS[3:], "counts", False),
}


class Mail(NamedTuple):
    """One user's messages in order: which words each has, and its folder."""

    X: csr_array
    folders: list[str]


def users() -> list[str]:
    """The users whose mail is there, in alphabetical order."""
    return sorted(path.name.removesuffix(".jsonl.gz") for path in folder("enron_folders").glob("*.jsonl.gz"))


def messages_of(user: str) -> list[dict[str, Any]]:
    """One user's messages in the order of time."""
    with gzip.open(folder("enron_folders") / f"{user}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def mail_of(user: str, reading: str = "all fields, presence") -> Mail:
    """Words in lower case, read in one of the `READINGS`."""
    return read_mail(messages_of(user), reading)


def read_mail(messages: Sequence[dict[str, Any]], reading: str) -> Mail:
    """The same of messages at hand."""
    fields, values, tagged = READINGS[reading]
    documents: list[Any] = [{field: message[field] for field in fields} for message in messages]
    if not tagged:
        documents = ["\n".join(document.values()) for document in documents]
    X = Vocabulary(values=values).fit_transform(documents)
    return Mail(csr_array(X.astype(np.float64)), [message["folder"] for message in messages])


def at_once(work: Callable[..., Any], jobs: Sequence[Any]) -> dict[Any, Any]:
    """What `work` makes of each job, a thread per core: the loops let go of the interpreter's lock."""
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return dict(zip(jobs, pool.map(lambda job: work(*job), jobs), strict=True))
