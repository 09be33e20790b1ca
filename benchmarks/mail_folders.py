"""Online mistakes on real mail: the seven Enron users, hinged's defaults and the best of Vowpal Wabbit's settings.

Both learn from the same words, prefixed by field, in order of time, and Vowpal Wabbit also from the same rows as
hinged. Folders are not declared; the first message of a folder is not counted.
"""

import gzip
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hinged
from benchmarks.report import Bar, Cell, Report, Sheet, at_most
from studies.vowpal_wabbit import READINGS, best_of

FIELDS = ("from", "to", "cc", "subject", "body")
MOST = 20.2  # percent of mistakes, mean over users


def run(quick: bool) -> Report:
    """Count the mistakes on every user whose mail is available.

    Parameters
    ----------
    quick : bool
        The first 300 messages of each user and one setting of Vowpal Wabbit.
    """
    sheet = Sheet(
        "Mistakes on real mail",
        ["user", "messages", "folders", "hinged %", "top 3 %", "s"]
        + [column for reading in READINGS for column in (f"VW, same {reading} %", f"VW at, {reading}")],
    )
    bars, totals = [], dict.fromkeys(("hinged", *READINGS), 0.0)
    for user, documents, folders in users(300 if quick else None):
        start = time.process_time()
        progress = hinged.evaluate.progressive(hinged.TextClassifier(), documents, folders)
        seconds = time.process_time() - start
        n = len(folders)
        row: list[Cell] = [user, n, len(set(folders)), 100 * progress.mistakes / n, 100 * progress.top(3), seconds]
        for reading in READINGS:
            best = best_of(reading, documents, folders, 1 if quick else None)
            row += [100 * best.mistakes / n, best.setting.partition("--loss_function ")[2]]
            totals[reading] += 100 * best.mistakes / n
            if reading == "words":
                figure = f"{progress.mistakes:,} against {best.mistakes:,}"
                promise = f"{user}, fewer mistakes than Vowpal Wabbit on the same words"
                bars.append(Bar(promise, figure, progress.mistakes < best.mistakes))
        totals["hinged"] += 100 * progress.mistakes / n
        sheet.rows.append(row)
    if sheet.rows:
        ours, theirs = (totals[name] / len(sheet.rows) for name in ("hinged", "rows"))
        promise = "fewer mistakes than Vowpal Wabbit on the same rows, mean over users"
        bars.append(Bar(promise, f"{ours:.1f} % against {theirs:.1f} %", ours < theirs))
        bars.append(at_most("mean over users, mistakes", ours, MOST, "%"))
    return Report(
        "mail_folders",
        "the seven users of the Enron folder benchmark, messages in order of time"
        if sheet.rows
        else "none: set HINGED_DATA to the folder that holds enron_folders",
        f"one pass of TextClassifier() with default settings on the fields {', '.join(FIELDS)}; CPU time. Vowpal "
        f"Wabbit --oaa -b 22 with the best setting for each user; on the same words, with its own scaling: "
        f"{READINGS['words'].described()}; on the same rows, with identical values: {READINGS['rows'].described()}",
        [sheet],
        bars,
    )


def users(most: int | None) -> Iterator[tuple[str, list[dict[str, str]], list[str]]]:
    for path in sorted((Path(os.environ.get("HINGED_DATA", "")) / "enron_folders").glob("*.jsonl.gz")):
        with gzip.open(path) as lines:
            mail: list[dict[str, Any]] = [json.loads(line) for line in lines][:most]
        documents = [{field: message[field] for field in FIELDS} for message in mail]
        yield path.name.removesuffix(".jsonl.gz"), documents, [message["folder"] for message in mail]
