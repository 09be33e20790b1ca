"""From a text file to a trained model, including parsing, compared with Vowpal Wabbit and scikit-learn.

There are two files: ten times the sparse label stream in Vowpal Wabbit's format, and 20 Newsgroups as raw text.
Vowpal Wabbit gets the news already tokenised into lower-case words.
"""

import gzip
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pylibvw
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier
from vowpalwabbit import Workspace

import hinged
from benchmarks.report import Bar, Report, Sheet, at_least
from benchmarks.streams import topics
from benchmarks.timing import Contender, Timed, race
from hinged.io.examples import read

PLAIN = {"rule": "pa1", "sharing": "multi", "features": None, "bits": None}
WORD = re.compile(r"\w+")
VW_OPTIONS = tuple(f"-b {bits} -l {rate}" for bits in (18, 22) for rate in (0.5, 1.0))


class Job(NamedTuple):
    """A file in two formats, its size, and its number of labels."""

    ours: Path
    theirs: Path
    n_rows: int
    n_labels: int


def run(quick: bool) -> Report:
    """Time all programs on both files and on hashing words.

    Parameters
    ----------
    quick : bool
        Small files and one repeat.
    """
    repeats = 1 if quick else 3
    sheets, bars = [], []
    with tempfile.TemporaryDirectory() as folder:
        stream = _write_stream(Path(folder), 5_000 if quick else 500_000)
        sheet, more = _compare("Label stream in Vowpal Wabbit's format", stream, repeats, {"C": 0.3}, {})
        sheets.append(sheet)
        bars += more
        posts = _posts(500 if quick else None)
        if posts:
            news = _write_news(Path(folder), posts)
            slow = _scikit_learn(posts)
            sheet, more = _compare("20 Newsgroups, raw text", news, 3 * repeats, {}, slow)
            sheets.append(sheet)
            bars += more
            sheet, more = _tokens([text for _, text in posts], repeats)
            sheets.append(sheet)
            bars += more
    return Report(
        "text_files",
        "ten times the stream of label_stream (500,000 rows, 64 words a row, 50 labels) as a text file; 20 Newsgroups, "
        "subject and body, in order of time, where HINGED_DATA has it",
        f"best of {repeats} (news: {3 * repeats}) interleaved repeats after one warm-up, CPU time of all threads, from "
        "opening the file to the trained model in memory. hinged: read() and partial_fit, TextClassifier with "
        "rule='pa1', sharing='multi', a vocabulary. Vowpal Wabbit: --oaa --loss_function hinge on its own "
        f"text format, no cache, at the setting of {', '.join(VW_OPTIONS)} with the fewest mistakes and at the first. "
        "scikit-learn: HashingVectorizer and SGDClassifier(loss='hinge'), one partial_fit; its mistakes are counted in "
        "blocks of 20 rows, predicted before they are learnt. The first row of a label counts as a mistake for all.",
        sheets,
        bars,
    )


# ------------------------------------------------------------------ the files
def _write_stream(folder: Path, n_rows: int) -> Job:
    X, y = topics(n_rows, 50_000, 50, 64, seed=2)
    path = folder / "stream.vw"
    with path.open("w") as out:
        for i in range(n_rows):
            words = " w".join(map(str, X.indices[X.indptr[i] : X.indptr[i + 1]].tolist()))
            out.write(f"{y[i] + 1} | w{words}\n")
    return Job(path, path, n_rows, 50)


def _posts(most: int | None) -> list[tuple[str, str]]:
    path = Path(os.environ.get("HINGED_DATA", "")) / "twenty_newsgroups" / "twenty_newsgroups.jsonl.gz"
    if not path.exists():
        return []
    with gzip.open(path) as lines:
        posts = [json.loads(line) for line in lines][:most]
    return [(post["group"], " ".join(f"{post['subject']} {post['body']}".split())) for post in posts]


def _write_news(folder: Path, posts: list[tuple[str, str]]) -> Job:
    ours, theirs = folder / "news.tsv", folder / "news.vw"
    with ours.open("w") as out:
        out.writelines(f"{group}\t{text}\n" for group, text in posts)
    numbers = {group: i + 1 for i, group in enumerate(dict.fromkeys(group for group, _ in posts))}
    with theirs.open("w") as out:
        for group, text in posts:
            out.write(f"{numbers[group]} | {' '.join(re.findall(WORD, text.lower()))}\n")
    return Job(ours, theirs, len(posts), len(numbers))


# ------------------------------------------------------------------ the runners
def _learn(job: Job, options: dict[str, Any]) -> int:
    model = hinged.TextClassifier(**{**PLAIN, **options})
    for chunk in read(job.ours):
        model.partial_fit(chunk, chunk.answers)
    return model.n_mistakes_ + model.n_novel_


def _vw(job: Job, options: str) -> int:
    workspace = Workspace(f"--oaa {job.n_labels} --loss_function hinge --quiet -d {job.theirs} {options}")
    pylibvw.vw.run_parser(workspace)
    mistakes = round(workspace.get_sum_loss())
    workspace.finish()
    return mistakes


def _scikit_learn(posts: list[tuple[str, str]]) -> dict[str, tuple[Contender, int]]:
    groups, texts = np.array([group for group, _ in posts]), [text for _, text in posts]
    classes, hasher = np.unique(groups), HashingVectorizer(n_features=2**18)

    def learn() -> None:
        SGDClassifier(random_state=0, shuffle=False).partial_fit(hasher.transform(texts), groups, classes)

    model, mistakes, X = SGDClassifier(random_state=0, shuffle=False), 0, hasher.transform(texts)
    for first in range(0, len(texts), 20):
        some = slice(first, first + 20)
        mistakes += 20 if first == 0 else int((model.predict(X[some]) != groups[some]).sum())
        model.partial_fit(X[some], groups[some], classes)
    return {"scikit-learn": (lambda: learn, mistakes)}


def _compare(
    title: str, job: Job, repeats: int, options: dict[str, Any], others: dict[str, tuple[Contender, int]]
) -> tuple[Sheet, list[Bar]]:
    """Return a table of times and mistakes of all programs, and the targets."""

    def vw(setting: str) -> Callable[[], Callable[[], int]]:
        return lambda: lambda: _vw(job, setting)

    theirs = {setting: _vw(job, setting) for setting in VW_OPTIONS}
    best = min(theirs, key=lambda setting: theirs[setting])
    mistakes = {
        "hinged": _learn(job, options),
        f"VW {best}": theirs[best],
        f"VW {VW_OPTIONS[0]}": theirs[VW_OPTIONS[0]],
    }
    mistakes |= {name: count for name, (_, count) in others.items()}
    contenders: dict[str, Contender] = {"hinged": lambda: lambda: _learn(job, options)}
    contenders |= {f"VW {setting}": vw(setting) for setting in dict.fromkeys((best, VW_OPTIONS[0]))}
    contenders |= {name: contender for name, (contender, _) in others.items()}
    times = race(contenders, repeats)
    sheet = Sheet(title, ["who", "s", "wall s", "MB/s", "rows/s", "mistakes %", "× slower"])
    ours = times["hinged"]
    for name, timed in times.items():
        size = (job.theirs if name.startswith("VW") else job.ours).stat().st_size / 1e6
        rate = 100 * mistakes[name] / job.n_rows
        speed = [size / timed.seconds, round(job.n_rows / timed.seconds)]
        sheet.rows.append([name, timed.seconds, timed.wall, *speed, rate, timed.seconds / ours.seconds])
    fastest = min(timed.seconds for name, timed in times.items() if name.startswith("VW"))
    bars = [at_least(f"{title}: speed over Vowpal Wabbit's quicker", fastest / ours.seconds, 2)]
    bars += [at_least(f"{title}: speed over {name}", times[name].seconds / ours.seconds, 5) for name in others]
    fewest = min(count for name, count in mistakes.items() if name != "hinged")
    figure = f"{mistakes['hinged']:,} against {fewest:,}"
    return sheet, [*bars, Bar(f"{title}: no more mistakes than any of them", figure, mistakes["hinged"] <= fewest)]


def _tokens(texts: list[str], repeats: int) -> tuple[Sheet, list[Bar]]:
    """Time transformers that split text into hashed words."""
    from hinged.text import Hasher

    def each() -> Iterator[tuple[str, Contender]]:
        yield "hinged Hasher", lambda: lambda: Hasher(bits=20).transform(texts)
        yield "HashingVectorizer", lambda: lambda: HashingVectorizer(norm=None, alternate_sign=False).transform(texts)

    size = sum(len(text.encode()) for text in texts) / 1e6
    times: dict[str, Timed] = race(dict(each()), repeats)
    sheet = Sheet("Words hashed", ["who", "s", "MB/s"])
    sheet.rows += [[name, timed.seconds, size / timed.seconds] for name, timed in times.items()]
    ratio = times["HashingVectorizer"].seconds / times["hinged Hasher"].seconds
    return sheet, [at_least("words hashed: speed over HashingVectorizer", ratio, 5)]
