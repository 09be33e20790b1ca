"""The guide to adding a rule, followed word by word on a copy of the package; and with a step missed."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)

LEARN = """
import numpy as np, hinged
from sklearn.base import clone
from tests.reference.learner import Twin
rng = np.random.default_rng(0)
X, y = rng.integers(0, 3, size=(40, 6)).astype(float), rng.integers(0, 4, size=40).tolist()
for sharing, features in (("multi", None), ("hybrid", "frequency")):
    twin = Twin(6, [0, 1, 2, 3], "weighted", 0.5, sharing=sharing, features=features, classes=[0, 1, 2, 3]).run(X, y)
    model = clone(hinged.Classifier("weighted", 0.5, sharing=sharing, features=features))
    told = hinged.evaluate.progressive(model, X, y, classes=[0, 1, 2, 3])
    near = [i for i, distance in enumerate(twin.history.nearest) if distance < 1e-12] or [len(X)]
    assert told.flags[: near[0]].tolist() == twin.history.flags[: near[0]]
    assert near[0] < len(X) or abs(model.dual_ - twin.dual) < 1e-9
    assert near[0] > 5
"""
REFUSED = """
import numpy as np, hinged, hinged.mercer.arrays
X, y = np.eye(3), [0, 1, 2]
asked = {
    "cost": lambda: hinged.Classifier("weighted", cost=1.0 - np.eye(3)).fit(X, y),
    "kernel": lambda: hinged.Classifier("weighted", kernel=hinged.mercer.Gaussian(1.0)).fit(X, y),
    "shared kernel": lambda: hinged.Classifier("weighted", kernel=hinged.mercer.Centred(1), sharing="single").fit(X, y),
    "arrays": lambda: hinged.mercer.arrays.learn(X, np.array(y), hinged.mercer.Gaussian(1.0), rule="weighted"),
    "entropy": lambda: hinged.Classifier("weighted", geometry="entropy", margin=0.5).fit(X, y),
    "trials": lambda: hinged.Trials("weighted").learn_one(X, [1, -1, 1]),
    "entropic trials": lambda: hinged.Trials("weighted", geometry="entropy").learn_one(X, [1, -1, 1]),
    "sequences": lambda: hinged.SequenceTagger("weighted").fit([[["a"], ["b"]]], [["A", "B"]]),
    "binary": lambda: hinged.BinaryClassifier("weighted").fit(X, [0, 1, 0]),
    "binary kernel": lambda: hinged.BinaryClassifier("weighted", kernel=hinged.mercer.Gaussian(1.0)).fit(X, [0, 1, 0]),
    "regression": lambda: hinged.Regressor("weighted").fit(X, y),
    "ordinal": lambda: hinged.OrdinalClassifier("weighted").fit(X, y),
    "uniclass": lambda: hinged.Uniclass("weighted").fit(X),
}
for what, ask in asked.items():
    try:
        ask()
    except ValueError as problem:
        assert "rule='weighted'" in str(problem), (what, problem)
    else:
        raise AssertionError(f"{what}: another rule ran under this name")
"""
STEP = """
import hinged
for learner, label in ((hinged.Classifier("weighted"), 0), (hinged.Ranker("weighted"), [0])):
    try:
        learner.declare([0, 1]).partial_fit([[1.0]], [label])
    except ValueError as problem:
        print(problem)
    else:
        raise AssertionError("another rule ran under this name")
"""


def follow(place, leave_out="", swap=("", "")):
    """Do what the guide says to a copy of the package, except for edits of `leave_out`; return the copy's folder."""
    shutil.copytree(ROOT / "src", place / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "tests" / "reference", place / "tests" / "reference")
    guide = (ROOT / "docs" / "adding_a_rule.md").read_text(encoding="utf-8")
    guide = guide[guide.index("## As a built-in") :]
    its_file = re.search(r"\*\*1\. Its file\*\*, `([^`]+)`", guide)[1]
    edits = 0
    for language, block in FENCE.findall(guide):
        if language == "python":
            (place / its_file).write_text(block, encoding="utf-8")
        elif language == "diff":
            name, *lines = block.rstrip("\n").split("\n")
            if name != f"--- {leave_out}":
                edit(place / name.removeprefix("--- "), [line.replace(*swap) for line in lines])
            edits += 1
    assert edits == 7
    return place


def edit(path, lines):
    """Make one edit of a file, told as in a diff: lines that stay, that go and that come."""
    before = "\n".join(line[1:] for line in lines if line[0] in " -") + "\n"
    after = "\n".join(line[1:] for line in lines if line[0] in " +") + "\n"
    content = path.read_text(encoding="utf-8")
    assert content.count(before) == 1, f"this edit of the guide does not fit {path.name} once: {before}"
    path.write_text(content.replace(before, after), encoding="utf-8")


def run(place, code):
    """Run a program with the copy, not compiled."""
    environment = {**os.environ, "PYTHONPATH": f"{place}{os.pathsep}{place / 'src'}", "NUMBA_DISABLE_JIT": "1"}
    check = f"import hinged; assert hinged.__file__.startswith({str(place)!r})\n"
    return subprocess.run(
        [sys.executable, "-c", check + code], cwd=place, env=environment, capture_output=True, text=True, timeout=300
    )


def test_the_guide_followed_to_the_letter_gives_the_rule_and_no_other(tmp_path):
    place = follow(tmp_path)
    done = run(place, LEARN + REFUSED)
    assert done.returncode == 0, done.stderr[-2000:]


def test_a_rule_without_its_branch_is_refused_at_its_first_step(tmp_path):
    place = follow(tmp_path, leave_out="src/hinged/loops/steps.py")
    done = run(place, STEP)
    said = "this rule has no step here: simultaneous has simperc, simproj and conproj.\n"
    assert (done.returncode, done.stdout) == (0, said * 2), done.stderr[-2000:]


def test_a_number_that_is_taken_is_an_error_on_import(tmp_path):
    place = follow(tmp_path, swap=("WEIGHTED = 11", "WEIGHTED = 10"))
    done = run(place, "import hinged.rules")
    assert "gives INTERIOR and WEIGHTED the same number, 10; use a free one" in done.stderr
