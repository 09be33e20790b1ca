"""Beyond the papers: one fixed default for every user, folders revealed as they come.

Field-tagged words, online IDF, unit rows, hybrid sharing with the exact joint step: `TextClassifier` as it comes, no
setting chosen for these users. The papers' best columns mostly know all folders from the start and count every round,
so protocols differ: a first message of a folder is not counted here.
"""

from __future__ import annotations

import gzip
import json
from typing import Any

import numpy as np

from hinged.estimators.text import TextClassifier
from hinged.evaluate import progressive
from hinged.experiments.datasets import folder
from hinged.experiments.papers.enron import FIELDS, PRINTED, PRINTED_USERS, users
from hinged.experiments.papers.study import Advance, Curves, Outcome, Study, Table

__all__ = ["STUDY"]


def run(advance: Advance) -> Outcome:
    """Mistakes and top-3 hits of the default, beside the best column in print."""
    rows: list[list[Any]] = []
    series, hits = {}, []
    for user in users():
        with gzip.open(folder("enron_folders") / f"{user}.jsonl.gz", "rt", encoding="utf-8") as lines:
            messages = [json.loads(line) for line in lines]
        documents = [{field: message[field] for field in FIELDS} for message in messages]
        told = progressive(TextClassifier(), documents, [message["folder"] for message in messages])
        counted = np.cumsum(told.flags >= 0)
        series[user] = (told.curve / np.maximum(1, counted)).tolist()
        hits.append(100 * told.top(3))
        best = min(PRINTED, key=lambda column: PRINTED[column][PRINTED_USERS.index(user)])
        printed = PRINTED[best][PRINTED_USERS.index(user)]
        rows.append([user, len(messages), told.novel, 100 * told.rate, hits[-1], printed, best])
        advance(user)
    columns = ["user", "messages", "folders", "mistakes %", "top 3 %", "best in print %", "which"]
    fewer = sum(row[3] < row[5] for row in rows)
    remarks = [
        f"Fewer mistakes than the best column of all three papers on {fewer} of {len(rows)} users; top-3 hits "
        f"{min(hits):.1f} % at the least, {np.mean(hits):.1f} % on average (goals: 80 % and 90 %)."
    ]
    curves = [Curves("Mistakes so far, by user", series, "messages", percent=True)]
    about = (__doc__ or "").split("\n\n")[1]
    table = Table("One default for all", columns, rows)
    return Outcome(STUDY.name, STUDY.title, STUDY.source, about, [table], curves, remarks)


STUDY = Study("enron-default", "Beyond the papers: mail into folders", "no paper", ("enron_folders",), 7, run)
