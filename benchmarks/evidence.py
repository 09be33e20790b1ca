"""Vectors that labels share: their time beside vectors of their own, and what evidence of whole labels adds."""

import gzip
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

import hinged
from benchmarks.mail_folders import FIELDS
from benchmarks.metric import MISSING
from benchmarks.real_streams import USERS, real_streams
from benchmarks.report import Bar, Report, Sheet, at_most
from benchmarks.timing import race
from hinged.datasets import folder
from hinged.features import Evidence, Frequency

WORDS = Frequency(high=0.4)  # what the default has beside the evidence
#: Documents that had a vote in choosing the evidence; of 20 Newsgroups the first 6,000 posts.
VOTED = ("kitchen-l", "lokay-m", "sanders-r", "20 Newsgroups")
NEWS, ROWS = "20 Newsgroups", ("20news", "reuters")
PLAIN: dict[str, Any] = {"C": 1.0, "scaling": "idf", "normalize": True, "bias": 0.0, "average": False}
HYBRID: dict[str, dict[str, Any]] = {
    "multi": {"sharing": "multi"},
    "hybrid": {"sharing": "hybrid", "features": WORDS},
    "hybrid, Evidence()": {"sharing": "hybrid", "features": Evidence()},
    "hybrid, Evidence(words=None)": {"sharing": "hybrid", "features": Evidence(words=None)},
}
MAIL, POSTS, COST, MULTI = 20.2, 8.2, 2.0, 8.0
METHOD = (
    "one pass, progressive validation. Documents: TextClassifier() as it comes, and with "
    "features=Frequency(high=0.4), which is the same without evidence; percent of mistakes of all documents, where "
    "the first of a label is learnt and not counted. × time: CPU seconds of both, reading the text included, best of "
    "5 interleaved repeats. Rows: binary words with IDF and unit length, C=1, one learner; words are read in advance, "
    "CPU seconds of the loop alone, best of 7 interleaved repeats; hybrid has Frequency(high=0.4)"
)


class Documents(NamedTuple):
    """A stream of documents with their labels."""

    name: str
    texts: list[Any]
    labels: list[str]


def run(quick: bool) -> Report:
    """Learn the mail of seven users, 20 Newsgroups and Reuters with and without evidence, then time shared vectors.

    Parameters
    ----------
    quick : bool
        The first 200 documents, one repeat.
    """
    of_text = Sheet("Documents", ["documents", "n", "had a vote", "words alone %", "Evidence() %", "× time"])
    found: dict[str, float] = {}
    for stream in _documents(200 if quick else None):
        took = _race_texts(stream, 1 if quick else 5)
        n = len(stream.labels)
        without, found[stream.name] = (100.0 * one.value.mistakes / n for one in took)
        ratio = took[1].seconds / took[0].seconds
        voted = "yes" if stream.name in VOTED else "no"
        of_text.rows.append([stream.name, n, voted, without, found[stream.name], ratio])
    streams = [stream for stream in real_streams(*([200] if quick else [])) if stream.name in ROWS]
    if not found or not streams:
        return Report("evidence", MISSING, METHOD)
    of_rows, costs = _shared(streams, 1 if quick else 7)
    bars = [
        *_promised(found),
        at_most("Evidence() over words alone, reading included, time", max(row[-1] for row in of_text.rows), COST, "×"),
        *costs,
    ]
    data = (
        "the mail of the seven Enron users (from, to, cc, subject, body), 20 Newsgroups (subject and body) and the "
        "stories of Reuters-21578 with one topic (title and body), in order of time; as rows, the latter two"
    )
    return Report("evidence", data, METHOD, [of_text, *of_rows], bars)


def _promised(found: dict[str, float]) -> list[Bar]:
    """The figures asked of the text default."""
    mean = float(np.mean([found[user] for user in USERS]))
    return [
        at_most("TextClassifier(), mean of the seven Enron users, mistakes", mean, MAIL, "%"),
        at_most("TextClassifier(), 20 Newsgroups, mistakes", found[NEWS], POSTS, "%"),
    ]


def _documents(most: int | None) -> Iterator[Documents]:
    try:
        for user in USERS:
            mail = _lines("enron_folders", user, most)
            texts = [{field: message[field] for field in FIELDS} for message in mail]
            yield Documents(user, texts, [message["folder"] for message in mail])
        posts = _lines("twenty_newsgroups", "twenty_newsgroups", most)
        texts = [{"subject": post["subject"], "body": post["body"]} for post in posts]
        yield Documents(NEWS, texts, [post["group"] for post in posts])
        stories = hinged.datasets.reuters()
        single = [i for i, topics in enumerate(stories.topics) if len(topics) == 1][:most]
        yield Documents("Reuters", [stories.texts[i] for i in single], [stories.topics[i][0] for i in single])
    except FileNotFoundError:
        return


def _lines(place: str, file: str, most: int | None) -> list[dict[str, Any]]:
    with gzip.open(folder(place) / f"{file}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines][:most]


def _race_texts(stream: Documents, repeats: int) -> tuple[Any, Any]:
    """Time and mistakes of words alone, and of the default with its evidence."""

    def contender(settings: dict[str, Any]) -> Any:
        def prepare() -> Any:
            model = hinged.TextClassifier(**settings)
            return lambda: hinged.evaluate.progressive(model, stream.texts, stream.labels)

        return prepare

    took = race({"words": contender({"features": WORDS}), "evidence": contender({})}, repeats)
    return took["words"], took["evidence"]


def _shared(streams: list[Any], repeats: int) -> tuple[list[Sheet], list[Bar]]:
    """Time of shared vectors over that of a vector for each label, by rule, on rows that are read in advance."""
    sheet = Sheet("Rows", ["rows", "n", "labels", "rule", "sharing", "s", "× multi", "mistakes %"])
    bars = []
    for stream in streams:
        X = stream.X.copy()
        X.data[:] = 1.0
        for rule in ("pa1", "optimal"):

            def contender(settings: dict[str, Any], rule: str = rule, X: Any = X, y: Any = stream.y) -> Any:
                def prepare() -> Any:
                    model = hinged.Classifier(rule, **PLAIN, **settings)
                    return lambda: hinged.evaluate.progressive(model, X, y)

                return prepare

            took = race({name: contender(settings) for name, settings in HYBRID.items()}, repeats)
            times = {name: one.seconds / took["multi"].seconds for name, one in took.items()}
            for name, one in took.items():
                size = [stream.name, len(stream.y), stream.n_labels, rule, name]
                sheet.rows.append([*size, one.seconds, times[name], 100.0 * one.value.mistakes / len(stream.y)])
            bars.append(at_most(f"hybrid over multi, {rule} on {stream.name}, time", times["hybrid"], MULTI, "×"))
    return [sheet], bars
