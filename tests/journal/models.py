"""Models and examples of several kinds, and whether two models are the same to the last bit."""

import hashlib

import numpy as np
from scipy.sparse import csr_array

import hinged

WORDS = ["tax", "form", "due", "cake", "recipe", "oven", "meeting", "agenda", "room", "late", "train", "ticket"]


def documents(n, seed=0):
    """Texts with their labels; labels appear over time."""
    rng = np.random.default_rng(seed)
    for i in range(n):
        label = int(rng.integers(min(2 + i // 10, 6)))
        words = [*rng.choice(WORDS, 5).tolist(), WORDS[2 * label], WORDS[2 * label + 1]]
        yield {"subject": " ".join(words[5:]), "body": " ".join(words[:5])}, f"folder {label}"


def texts(n, seed=0):
    return [(f"{x['subject']} {x['body']}", y) for x, y in documents(n, seed)]


def dicts(n, seed=0):
    return [({word: 1.0 + i % 3 / 7 for i, word in enumerate(x.split())}, y) for x, y in texts(n, seed)]


def sparse(n, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        columns = np.sort(rng.choice(30, 5, replace=False))
        yield csr_array((rng.random(5), columns, [0, 5]), shape=(1, 30)), int(columns[0]) % 4


def dense(n, seed=0):
    return [(x.toarray()[0], y) for x, y in sparse(n, seed)]


def label_sets(n, seed=0):
    return [(x, {y, f"folder {len(x) % 2}"}) for x, y in texts(n, seed)]


KINDS = {
    "texts": (hinged.TextClassifier, {}, texts),
    "documents": (hinged.TextClassifier, {}, lambda n: list(documents(n))),
    "dicts": (hinged.Classifier, {"scaling": "idf", "normalize": True}, dicts),
    "sparse rows": (hinged.Classifier, {"rule": "pa2"}, lambda n: list(sparse(n))),
    "dense rows": (hinged.Classifier, {}, dense),
    "label sets": (hinged.TextRanker, {"rule": "pa1"}, label_sets),
}


def learner(kind):
    make, settings, _ = KINDS[kind]
    return make(**settings)


def state(model):
    """What a model has learnt, whoever asked for it: a journal spells out which label features "auto" means."""
    about, arrays, names = model._state()
    about.pop("notes")
    about["chosen"].pop("features", None)
    return about, arrays, names


def same(a, b):
    """Whether two models have learnt the same, bit by bit."""
    (about, arrays, names), (theirs, others, called) = state(a), state(b)
    assert about == theirs
    assert names == called
    assert arrays.keys() == others.keys()
    return all(np.array_equal(arrays[name], others[name]) for name in arrays)


def digest(model):
    """A checksum of all a model has learnt, to be compared between processes."""
    about, arrays, names = state(model)
    told = [repr(about), repr(names), *(f"{name} {arrays[name].dtype} {arrays[name].shape}" for name in sorted(arrays))]
    found = hashlib.sha256("\n".join(told).encode())
    for name in sorted(arrays):
        found.update(np.ascontiguousarray(arrays[name]).tobytes())
    return found.hexdigest()


def learnt_by(kind, examples):
    """The model after one uninterrupted run."""
    model = learner(kind)
    for x, y in examples:
        model.learn_one(x, y)
    return model
