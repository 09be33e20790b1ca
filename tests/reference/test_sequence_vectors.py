"""The plain tagger agrees with the golden streams of an independent implementation, where those are at hand."""

import json
from functools import lru_cache
from itertools import pairwise

import numpy as np
import pytest
from tests.reference.sequence import SequenceTwin, features_of, hamming
from tests.reference.test_reference_vectors import VECTORS, assert_close

INDEX = VECTORS / "index.json"
CASES = [
    entry
    for entry in (json.loads(INDEX.read_text())["cases"] if INDEX.exists() else [])
    if entry["estimator"] == "SequenceTagger"
]


@lru_cache(maxsize=2)
def arrays_of(name):
    with np.load(VECTORS / name, allow_pickle=False) as stored:
        return {key: stored[key] for key in stored.files}


def sentences(arrays, prefix=""):
    """Sentences of tokens, each a dict of feature to value."""
    features, values = arrays[prefix + "features"].tolist(), arrays.get(prefix + "values")
    values = [1.0] * len(features) if values is None else values.tolist()
    ends = arrays[prefix + "feature_ptr"].tolist()
    tokens = [dict(zip(features[a:b], values[a:b], strict=True)) for a, b in pairwise(ends)]
    places = arrays[prefix + "token_ptr"].tolist()
    return [tokens[a:b] for a, b in pairwise(places)]


def cost_of(entry, expected):
    """The case's cost as a function of two sequences."""
    given = entry["params"].get("cost")
    if given is None:
        return hamming
    if "callable" in given:
        return lambda right, other: float(right != other)
    rho = expected[given["array"]]
    return lambda right, other: float(sum(rho[a, b] for a, b in zip(right, other, strict=True)))


@pytest.mark.parametrize("entry", CASES, ids=lambda entry: entry["name"])
def test_the_twin_agrees_with_the_golden_stream(entry):
    arrays = arrays_of(entry["file"])
    expected = {key.split("/")[1]: value for key, value in arrays.items() if key.startswith(entry["name"] + "/")}
    params, tags, places = entry["params"], arrays["tags"].tolist(), arrays["token_ptr"].tolist()
    cost = cost_of(entry, expected)
    twin = SequenceTwin(entry["order"], params["rule"], params["C"], cost, novel="skip", by_recursion=True)
    rounds = len(expected["flags"])
    for i, sentence in enumerate(sentences(arrays)[:rounds]):
        twin.learn(sentence, tags[places[i] : places[i + 1]])
    np.testing.assert_array_equal(twin.flags, expected["flags"])
    assert twin.updates == entry["updates"]
    assert_close(entry["dual"], twin.dual, 1e-9)
    assert_close(entry["cost"], twin.spent, 1e-9)
    probes = [token for sentence in sentences(arrays, "probe_") for token in features_of(sentence)]
    scores = [[sum(twin.weights[f, tag] * v for f, v in t.items()) for tag in entry["order"]] for t in probes]
    assert_close(expected["scores"], np.array(scores), 1e-9)
    across = [[twin.weights["across", a, b] for b in entry["order"]] for a in entry["order"]]
    assert_close(expected["transitions"], np.array(across), 1e-9)
