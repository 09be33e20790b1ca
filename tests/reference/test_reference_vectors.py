"""The twins agree with the golden streams of an independent implementation, where those are at hand."""

import json
import os
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from tests.reference.learner import Mira, Twin

SHARED = Path(os.environ.get("HINGED_SHARED") or Path(__file__).resolve().parents[2].parent / "shared")
VECTORS = SHARED / "vectors"
ROUNDING = 1e-16


def core_cases():
    """Entries of the index that are about learning labels in Euclidean geometry."""
    index = VECTORS / "index.json"
    if not index.exists():
        return []
    return [entry for entry in json.loads(index.read_text())["cases"] if entry["group"] == "core"]


CASES = core_cases()


@lru_cache(maxsize=2)
def arrays_of(name):
    """The arrays of one file of streams."""
    with np.load(VECTORS / name, allow_pickle=False) as stored:
        return {key: stored[key] for key in stored.files}


def dense_rows(arrays, prefix=""):
    """The stream's matrix, or that of its probes, dense."""
    parts = [arrays[prefix + name] for name in ("data", "indices", "indptr")]
    return csr_matrix((parts[0].astype(float), *parts[1:]), shape=tuple(arrays[prefix + "shape"])).toarray()


def label_sets(arrays):
    """The relevant labels of each row, as sets of label numbers."""
    if "y_indptr" in arrays:
        ends = arrays["y_indptr"]
        return [{int(r) for r in arrays["y_indices"][b:e]} for b, e in pairwise(ends)]
    return [{int(r)} for r in arrays["y"]]


def twin_parameters(params):
    """The twin's parameters from those of the case; the golden streams follow the papers' protocol."""
    mine = {"novel": "skip", **params}
    if isinstance(mine.get("rule"), dict):
        mine["rule"] = Mira(**mine["rule"]["args"])
    if isinstance(mine.get("features"), dict):
        mine["features"] = mine["features"]["args"]
    if isinstance(mine.get("sharing"), dict):
        mine["sharing"] = [set(members) for members in mine["sharing"]["positional"][0]["sets"]]
    return mine


def assert_close(expected, got, tolerance):
    """Equal up to the tolerance, relative to the largest expected number once that exceeds 1."""
    limit = tolerance * max(1.0, float(np.max(np.abs(expected), initial=0.0)))
    np.testing.assert_allclose(got, expected, rtol=0.0, atol=limit)


class SteadyTwin(Twin):
    """The twin without the last bit of its solver, which is another on every machine.

    The joint rules end on ties, and golden streams go on where a tie is hit: what is left of it is taken off.
    """

    def margins(self, vectors, pairs):
        achieved = super().margins(vectors, pairs)
        return np.where(np.abs(achieved) < ROUNDING, 0.0, achieved) if self.rule in ("optimal", "mira") else achieved


def test_the_golden_streams_are_at_hand():
    if not VECTORS.exists():
        pytest.skip(f"no golden streams in {VECTORS}: set HINGED_SHARED to the folder that holds vectors/")
    assert CASES, f"{VECTORS} lists no case of the group 'core'"
    lacking = sorted({entry["file"] for entry in CASES if not (VECTORS / entry["file"]).exists()})
    assert not lacking, f"the index of {VECTORS} names files that are not there: {lacking}"


@pytest.mark.parametrize("entry", CASES, ids=lambda entry: entry["name"])
def test_the_twin_agrees_with_the_golden_stream(entry):
    arrays = arrays_of(entry["file"])
    expected = {key.split("/")[1]: value for key, value in arrays.items() if key.startswith(entry["name"] + "/")}
    rounds = len(expected["flags"])
    X, y, order = dense_rows(arrays)[:rounds], label_sets(arrays)[:rounds], entry["order"]
    closed = order if entry.get("closed") else None
    twin = SteadyTwin(X.shape[1], sorted(set(order).union(*y)), classes=closed, **twin_parameters(entry["params"]))
    twin.run(X, y, expected.get("sample_weight"))

    np.testing.assert_array_equal(twin.history.flags, expected["flags"])
    counts = (twin.history.mistakes, twin.history.updates, twin.history.novel)
    assert counts == tuple(entry.get(name, 0) for name in ("mistakes", "updates", "novel"))
    assert twin.known == order
    tolerance, dual_tolerance = entry.get("tolerance", (1e-9, 1e-9))
    if entry.get("dual") is not None:
        assert_close(entry["dual"], twin.dual, dual_tolerance)
    assert_close(expected["scores"], twin.scores(dense_rows(arrays, "probe_")), tolerance)
    if "coef" in expected:
        assert_close(expected["coef"], twin.coef, tolerance)
    if "shared_coef" in expected:
        assert_close(expected["shared_coef"], twin.shared_coef, tolerance)
