"""Where data comes from: a generated stream of mail, and real data sets on this machine."""

from __future__ import annotations

import csv
import gzip
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from platformdirs import user_cache_path
from scipy import sparse

from hinged.experiments.mail_stream import MailStream, mail_stream

__all__ = [
    "MailStream",
    "MultilabelSet",
    "Stories",
    "folder",
    "mail_stream",
    "multilabel",
    "multilabel_names",
    "names",
    "ordinal_sets",
    "places",
    "reuters",
]

# Folder name: (title, where it is published).
PUBLISHED = {
    "binary": ("Spambase, a9a and a sample of RCV1", "archive.ics.uci.edu and the LIBSVM data page"),
    "conll2000": ("CoNLL-2000 chunking", "www.cnts.ua.ac.be/conll2000/chunking and the NLTK data collection"),
    "enron_folders": ("Enron e-mail foldering, seven users", "www.cs.cmu.edu/~enron"),
    "isolet": ("ISOLET, spoken letter names", "archive.ics.uci.edu"),
    "letter": ("Letter Recognition", "archive.ics.uci.edu"),
    "mnist": ("MNIST handwritten digits", "yann.lecun.com/exdb/mnist"),
    "multilabel_mulan": ("multi-label sets of the MULAN collection", "github.com/tsoumakas/mulan"),
    "ocr_letters": ("OCR letters in words", "ai.stanford.edu/~btaskar/ocr"),
    "ordinal": ("sets for ordinal regression", "archive.ics.uci.edu and the WEKA collection"),
    "regression": ("Bike Sharing and California Housing", "archive.ics.uci.edu and lib.stat.cmu.edu"),
    "reuters21578": ("Reuters-21578, distribution 1.0", "archive.ics.uci.edu"),
    "streams": ("Elec2 and NOAA weather", "github.com/scikit-multiflow/streaming-datasets"),
    "twenty_newsgroups": ("20 Newsgroups, by date", "qwone.com/~jason/20Newsgroups"),
    "ud_english_ewt": ("Universal Dependencies English EWT", "github.com/UniversalDependencies/UD_English-EWT"),
    "usps": ("USPS handwritten digits", "the data page of The Elements of Statistical Learning"),
    "yale_b": ("Extended Yale B faces, cropped", "vision.ucsd.edu"),
}
NOT_RANKS = {"boston"}  # its target is a real number; bostonhousing_ord has the same rows in five ranks


def names() -> list[str]:
    """Return the names that `folder` knows, sorted.

    Examples
    --------
    >>> "enron_folders" in names()
    True
    """
    return sorted(PUBLISHED)


def places() -> list[Path]:
    """Return where `folder` looks, in order: ``$HINGED_DATA`` if set, then the user's cache folder.

    Examples
    --------
    >>> places()[-1].name
    'hinged'
    """
    chosen = os.environ.get("HINGED_DATA")
    return [*([Path(chosen)] if chosen else []), user_cache_path("hinged", appauthor=False, opinion=False)]


def folder(name: str) -> Path:
    """Return the folder of a real data set on this machine.

    Parameters
    ----------
    name : str
        One of `names`.

    Returns
    -------
    Path

    Raises
    ------
    FileNotFoundError
        If it is in none of the `places`; the message says what to get, from whom, and where to put it.

    Examples
    --------
    >>> folder("iris")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: there is no data set named 'iris'; choose one of binary, conll2000, ...
    """
    if name not in PUBLISHED:
        raise ValueError(f"there is no data set named {name!r}; choose one of {', '.join(names())}.")
    for place in places():
        if (place / name).is_dir():
            return place / name
    title, source = PUBLISHED[name]
    raise FileNotFoundError(
        f"the data set {name!r} ({title}) is not on this machine: it is published at {source}; put its files "
        f"into {places()[0] / name}, or point the environment variable HINGED_DATA at the folder that holds {name!r}."
    )


class MultilabelSet(NamedTuple):
    """Rows in the order of their file, training rows first.

    Attributes
    ----------
    X : array or csr_array (rows, features), float32
    Y : bool array (rows, labels)
    n_train : int
        How many rows the collection's own split learns from.
    labels, features : list of str
    """

    X: np.ndarray | sparse.csr_array
    Y: np.ndarray
    n_train: int
    labels: list[str]
    features: list[str]


class Stories(NamedTuple):
    """News in the order of time: the text of each story, and its topics."""

    texts: list[str]
    topics: list[list[str]]
    n_train: int


def multilabel_names() -> list[str]:
    """The names that `multilabel` knows here, sorted.

    Raises
    ------
    FileNotFoundError
        If the collection is not on this machine.
    """
    return sorted(path.stem for path in folder("multilabel_mulan").glob("*.npz"))


def multilabel(name: str) -> MultilabelSet:
    """One set of the MULAN collection: "bibtex", "birds", "corel5k", "delicious", "emotions", "enron" or "yeast".

    Raises
    ------
    FileNotFoundError
        If the collection is not on this machine; the message says where it is published.
    ValueError
        If it has no such set.
    """
    known = multilabel_names()
    if name not in known:
        raise ValueError(f"there is no multilabel set named {name!r}; choose one of {', '.join(known)}.")
    with np.load(folder("multilabel_mulan") / f"{name}.npz", allow_pickle=False) as held:
        parts = [_rows(held, part) for part in ("train", "test")]
        k = int(held["n_labels"])
        Y = [np.unpackbits(held[f"Y_{part}"], axis=1)[:, :k].astype(bool) for part in ("train", "test")]
        X = sparse.csr_array(sparse.vstack(parts)) if sparse.issparse(parts[0]) else np.concatenate(parts)
        labels, features = (held[name].tolist() for name in ("label_names", "feature_names"))
    return MultilabelSet(X, np.concatenate(Y), len(Y[0]), labels, features)


def reuters() -> Stories:
    """The stories of Reuters-21578's ModApte split that have a topic, from February to October 1987.

    Raises
    ------
    FileNotFoundError
        If the collection is not on this machine; the message says where it is published.
    """
    texts, topics, n_train = [], [], 0
    with gzip.open(folder("reuters21578") / "reuters21578.jsonl.gz", "rt", encoding="utf-8") as lines:
        for story in map(json.loads, lines):
            if story["modapte"] in ("train", "test") and story["topics"]:
                texts.append(f"{story['title']}\n{story['body']}")
                topics.append(list(story["topics"]))
                n_train += story["modapte"] == "train"
    return Stories(texts, topics, n_train)


def _rows(held: Mapping[str, np.ndarray], part: str) -> np.ndarray | sparse.csr_array:
    if f"X_{part}" in held:
        return held[f"X_{part}"]
    data, indices, indptr, shape = (held[f"X_{part}_{name}"] for name in ("data", "indices", "indptr", "shape"))
    return sparse.csr_array((data, indices, indptr), shape=tuple(shape))


def ordinal_sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Name → (rows, ranks) of every set in the folder `ordinal` whose target is a rank; ranks count from 0.

    A column of words becomes a column of zeros and ones for each word.
    """
    files = sorted(folder("ordinal").glob("*.csv.gz"))
    return {name: _read_ranks(path) for path in files if (name := path.name.removesuffix(".csv.gz")) not in NOT_RANKS}


def _read_ranks(path: Path) -> tuple[np.ndarray, np.ndarray]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        head, *lines = csv.reader(file)
    target = head.index("response") if "response" in head else len(head) - 1
    table = list(zip(*lines, strict=True))
    ranks = np.array(table.pop(target), float)
    columns: list[np.ndarray] = []
    for cells in table:
        try:
            columns.append(np.array(cells, float))
        except ValueError:
            columns += [np.array([cell == word for cell in cells], float) for word in sorted(set(cells))]
    return np.column_stack(columns), np.searchsorted(np.unique(ranks), ranks)
