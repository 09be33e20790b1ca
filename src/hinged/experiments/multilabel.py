"""Real rows with several right labels: the sets of the MULAN collection, and Reuters-21578 by date."""

from __future__ import annotations

import gzip
import json
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from hinged.experiments.datasets import folder

__all__ = ["MultilabelSet", "Stories", "multilabel", "multilabel_names", "reuters"]


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

    X: Any
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
        Where the collection is not on this machine.
    """
    return sorted(path.stem for path in folder("multilabel_mulan").glob("*.npz"))


def multilabel(name: str) -> MultilabelSet:
    """One set of the MULAN collection: "bibtex", "birds", "corel5k", "delicious", "emotions", "enron" or "yeast".

    Raises
    ------
    FileNotFoundError
        Where the collection is not on this machine; the message says where it is published.
    ValueError
        Where it has no such set.
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
        Where the collection is not on this machine; the message says where it is published.
    """
    texts, topics, n_train = [], [], 0
    with gzip.open(folder("reuters21578") / "reuters21578.jsonl.gz", "rt", encoding="utf-8") as lines:
        for story in map(json.loads, lines):
            if story["modapte"] in ("train", "test") and story["topics"]:
                texts.append(f"{story['title']}\n{story['body']}")
                topics.append(list(story["topics"]))
                n_train += story["modapte"] == "train"
    return Stories(texts, topics, n_train)


def _rows(held: Any, part: str) -> Any:
    if f"X_{part}" in held:
        return held[f"X_{part}"]
    data, indices, indptr, shape = (held[f"X_{part}_{name}"] for name in ("data", "indices", "indptr", "shape"))
    return sparse.csr_array((data, indices, indptr), shape=tuple(shape))
