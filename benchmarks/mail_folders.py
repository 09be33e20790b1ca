"""Real mail filed online: the seven Enron users, one fixed default beside the best of Vowpal Wabbit's settings.

Both see the same words, tagged by field, in the order of time; folders are revealed one by one. A round with a folder
nobody has seen counts for neither.
"""

import gzip
import json
import os
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from vowpalwabbit import Workspace

import hinged
from benchmarks.report import Bar, Report, Sheet
from hinged.text import Vocabulary

FIELDS = ("from", "to", "cc", "subject", "body")
VW_SETTINGS = [f"--loss_function {loss} -l {rate}" for loss, rate in product(("hinge", "logistic"), (0.5, 1, 2))]


def run(quick: bool) -> Report:
    """Count the mistakes on every user whose mail is there.

    Parameters
    ----------
    quick : bool
        The first 300 messages of each user and one setting of Vowpal Wabbit.
    """
    sheet = Sheet("Mistakes on real mail", ["user", "messages", "folders", "hinged %", "top 3 %", "s", "VW %", "VW at"])
    bars = []
    for user, documents, folders in _users(300 if quick else None):
        start = time.perf_counter()
        progress = hinged.evaluate.progressive(hinged.TextClassifier(), documents, folders)
        seconds = time.perf_counter() - start
        theirs = {setting: vw_mistakes(documents, folders, setting) for setting in VW_SETTINGS[: 1 if quick else None]}
        best = min(theirs, key=lambda setting: theirs[setting])
        n = len(folders)
        ours = [100 * progress.mistakes / n, 100 * progress.top(3), seconds]
        vw = [100 * theirs[best] / n, best.removeprefix("--loss_function ")]
        sheet.rows.append([user, n, len(set(folders)), *ours, *vw])
        figure = f"{progress.mistakes:,} against {theirs[best]:,}"
        bars.append(Bar(f"{user}, fewer mistakes than Vowpal Wabbit", figure, progress.mistakes < theirs[best]))
    return Report(
        "mail_folders",
        "the seven users of the Enron folder benchmark, messages in order of time"
        if sheet.rows
        else "none: set HINGED_DATA to the folder that holds enron_folders",
        "one pass, TextClassifier() as it comes; Vowpal Wabbit --oaa -b 22 at the best of "
        f"{', '.join(VW_SETTINGS)}; both on the words of Vocabulary() with the fields {', '.join(FIELDS)} as tags",
        [sheet],
        bars,
    )


def _users(most: int | None) -> Iterator[tuple[str, list[dict[str, str]], list[str]]]:
    for path in sorted((Path(os.environ.get("HINGED_DATA", "")) / "enron_folders").glob("*.jsonl.gz")):
        with gzip.open(path) as lines:
            mail: list[dict[str, Any]] = [json.loads(line) for line in lines][:most]
        documents = [{field: message[field] for field in FIELDS} for message in mail]
        yield path.name.removesuffix(".jsonl.gz"), documents, [message["folder"] for message in mail]


def vw_mistakes(documents: list[dict[str, str]], folders: list[str], options: str) -> int:
    """Rounds that Vowpal Wabbit predicted wrongly before it learnt them, first rounds of a folder left out."""
    numbers: dict[str, int] = {}
    X = Vocabulary().fit_transform(documents)
    workspace = Workspace(f"--oaa {len(set(folders))} --quiet -b 22 {options}")
    mistakes = 0
    for i, folder in enumerate(folders):
        novel = folder not in numbers
        number = numbers.setdefault(folder, len(numbers) + 1)
        words = " ".join(map(str, X.indices[X.indptr[i] : X.indptr[i + 1]]))
        example = workspace.parse(f"{number} | {words}")
        workspace.learn(example)
        mistakes += example.get_multiclass_prediction() != number and not novel
        workspace.finish_example(example)
    workspace.finish()
    return mistakes
