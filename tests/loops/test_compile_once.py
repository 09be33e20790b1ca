"""Nobody compiles twice: a second run finds everything in Numba's cache, and warming up leaves nothing to compile."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from numba import config

from hinged.compiling.cache import folder

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled with the compiler switched off")

#: Uses the package in every way that ends in a loop; `compiled()` lists each loop's compiled versions.
PROGRAM = """
import json, os, sys, tempfile, warnings
import numpy as np
import scipy.sparse
import hinged

def dispatchers():
    found = {}
    for name, module in list(sys.modules.items()):
        if name.startswith("hinged."):
            for thing in list(vars(module).values()):
                if hasattr(thing, "py_func") and hasattr(thing, "stats"):
                    found[f"{thing.py_func.__module__}.{thing.py_func.__name__}"] = thing
    return found

def compiled():
    return {name: sorted(map(str, d.signatures)) for name, d in dispatchers().items()}

def missed():
    return {name: n for name, d in dispatchers().items() if (n := sum(d.stats.cache_misses.values()))}

def found():
    return sum(sum(d.stats.cache_hits.values()) for d in dispatchers().values())

def warm_up(*options):
    from hinged.cli.main import main
    try:
        main(["warm-up", *options])
    except SystemExit as stopped:
        assert not stopped.code

def use():
    warnings.filterwarnings("ignore", "margin=.* is out of reach")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 6)), ["abcd"[r] for r in rng.integers(0, 4, 40)]
    rows = [{f"w{j}": float(v) for j, v in enumerate(row) if v > 0} for row in X]
    sets = [set(label) for label in y]
    groups = hinged.sharing.Groups([{"a", "b"}, {"c"}])
    for settings in ({}, {"average": True, "n_best": 2}, {"constraint": "max-loss"}, {"cost": 1 - np.eye(4)}):
        tagger = hinged.SequenceTagger(**settings)
        hinged.evaluate.progressive(tagger, [rows[:2], rows[2:7]], [y[:2], y[2:7]], classes=list("abcd"), delay=1)
        tagger.learn_one([["w0"], ["w1", "w2"]], ["a", "b"], sample_weight=0.5)
        tagger.predict([rows[:3]]), tagger.rank_one(rows[:3]), tagger.explain(rows[:3], 1), tagger.total_cost_
    for dtype in (np.float32, np.float64):
        Z = X.astype(dtype)
        schemes = [{"rule": rule, **how} for rule in hinged.rules.RULES for how in ({}, {"C": 1.0, "scaling": None})]
        schemes += [{"sharing": "hybrid", "features": f} for f in ("first", "frequency", "distance", "tfidf")]
        schemes += [{"sharing": "single", "features": "frequency", "rule": "optimal"}, {"sharing": groups}]
        schemes += [{"average": True, "scaling": "idf", "normalize": True, "bias": 0.5}]
        for settings in schemes:
            model = hinged.Classifier(dtype=dtype, **settings)
            hinged.evaluate.progressive(model, Z, y)
            hinged.evaluate.progressive(model, Z, y, sample_weight=rng.random(40), delay=2)
            model.learn_one(Z[0], "new")
            model.predict(Z), model.rank(Z), model.confidence(Z), model.score_gap(Z), model.predict_one(Z[0])
            model.explain(Z[0], "a"), model.coef_, model.dual_
            model.rename_label("a", "z").merge_labels("b", "c").remove_label("d")
            model.partial_fit(Z[:1], ["z"])
            hinged.Ranker(dtype=dtype, **settings).fit(Z, sets).predict(Z)
            by_name = hinged.Classifier(dtype=dtype, **settings)
            for x, label in zip(rows, y):
                by_name.predict_one(x)
                by_name.learn_one(x, label)
            path = os.path.join(tempfile.mkdtemp(), "model")
            model.save(path)
            hinged.load(path).partial_fit(Z, y)
        for rule in ("perceptron", "pa1", "simproj", "optimal", hinged.rules.Optimal("interior-point")):
            for geometry in ("entropy", hinged.geometry.Entropy(9.0, True)):
                model = hinged.Classifier(rule, geometry=geometry, margin=0.01, n_features=9)
                hinged.evaluate.progressive(model, Z, y, sample_weight=rng.random(40), delay=2)
                model.learn_one(Z[0], "new")
                model.predict(Z), model.predict_one(Z[0]), model.explain(Z[0], "a"), model.coef_, model.dual_
                model.merge_labels("b", "c").partial_fit(Z > 0, y)
                hinged.Ranker(rule, geometry=geometry, margin=0.01).fit(Z, sets).predict(Z)
            hinged.Classifier(rule).fit(Z, y)
        for kernel in (hinged.mercer.Polynomial(), hinged.mercer.Gaussian(), hinged.mercer.Gaussian("scale")):
            hinged.Classifier(kernel=kernel).fit(Z, y).predict(Z)
            hinged.Ranker("optimal", kernel=kernel).fit(Z, sets).predict(Z)
            hinged.Regressor(kernel=kernel).fit(Z, Z[:, 0]).predict(Z)
            wide = np.pad(Z, ((0, 0), (0, 900)))
            hinged.Classifier(kernel=kernel).fit(scipy.sparse.csr_array(wide), y).predict(wide)
        for rule in hinged.rules.RULES:
            hinged.Trials(rule).learn_one(Z[:3], [1, -1, 1])
        for rows in (Z[:3], Z[:3] > 0):
            hinged.Trials("simproj", geometry="entropy", margin=0.01).learn_one(rows, [1, -1, 1])
"""


def run(code):
    """What a fresh process says; it uses the suite's own cache."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-c", PROGRAM + code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def stored():
    """When each version of what reads text and files was stored."""
    return {path: path.stat().st_mtime_ns for part in ("text", "io") for path in folder(part).iterdir()}


@pytest.fixture(scope="module")
def first_run():
    """What the command that warms up says, what it compiled, and what using everything then compiled on top of it."""
    return run("warm_up()\nbefore = compiled()\nuse()\nprint(json.dumps([before, compiled()]))")


def test_warming_up_ends_with_one_sentence_and_leaves_nothing_to_compile(first_run):
    sentence, versions = first_run
    assert sentence.startswith("Compiled in ")
    assert sentence.endswith("later runs start at once.")
    before, after = json.loads(versions)
    new = {name: sorted(set(kinds) - set(before.get(name, []))) for name, kinds in after.items()}
    assert {name: kinds for name, kinds in new.items() if kinds} == {}


def test_the_second_run_compiles_nothing(first_run):
    before = stored()
    said = run("warm_up('--json')\nuse()\nprint(json.dumps([missed(), found()]))")
    result, counts = map(json.loads, said)
    assert result["seconds"] >= 0
    misses, hits = counts
    assert hits > 0
    assert misses == {}
    after = stored()  # tests beside this one may have added what damaged files or odd types need
    assert {path: after[path] for path in before} == before, "neither did the process beside it, which reads text"
