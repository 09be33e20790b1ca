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
from tests.plain import Classifier
from tests.reference.learner import Twin
rng = np.random.default_rng(0)
X, y = rng.integers(0, 3, size=(40, 6)).astype(float), rng.integers(0, 4, size=40).tolist()
for sharing, features in (("multi", None), ("hybrid", "frequency")):
    twin = Twin(6, [0, 1, 2, 3], "weighted", 0.5, sharing=sharing, features=features, classes=[0, 1, 2, 3]).run(X, y)
    model = clone(Classifier("weighted", 0.5, sharing=sharing, features=features))
    told = hinged.evaluate.progressive(model, X, y, classes=[0, 1, 2, 3])
    near = [i for i, distance in enumerate(twin.history.nearest) if distance < 1e-12] or [len(X)]
    assert told.flags[: near[0]].tolist() == twin.history.flags[: near[0]]
    assert near[0] < len(X) or abs(model.dual_ - twin.dual) < 1e-9
    assert near[0] > 5
"""
EVERYWHERE = """
from tests.reference import rules
from tests.reference.costs import CostTwin
from tests.reference.kernels import KernelTwin, gaussian
from tests.reference.sequence import SequenceTwin
rho = np.array([[0.0, 1.0, 4.0, 2.0], [0.5, 0.0, 1.0, 3.0], [2.0, 0.25, 0.0, 1.0], [1.0, 1.0, 2.0, 0.0]])
X = rng.standard_normal((30, 6))
y = y[:30]
twin, costly = CostTwin(6, 4, "weighted", 0.5, rho, "max-loss"), Classifier("weighted", 0.5, cost=rho)
costly.declare([0, 1, 2, 3]).partial_fit(X, y)
for x, right in zip(X, y):
    twin.learn(x, right)
assert abs(costly.dual_ - twin.dual) < 1e-9
twin = KernelTwin(gaussian(0.1), "weighted", 0.5, classes=[0, 1, 2, 3])
twin.run(X, y)
model = hinged.Classifier("weighted", 0.5, kernel=hinged.mercer.Gaussian(0.1)).declare([0, 1, 2, 3])
assert np.allclose(model.partial_fit(X, y).decision_function(X), twin.scores(X), atol=1e-9)
shared = hinged.Classifier("weighted", 0.5, kernel=hinged.mercer.Centred(0.1), sharing="single")
shared.declare([0, 1, 2, 3]).partial_fit(X, y)
Z = X[:3]
trial = rules.Trial(Z, np.zeros(3), np.ones(3))
trials = hinged.Trials("weighted", 0.5)
trials.learn_one(Z, [1, 1, 1])
assert np.allclose(trials.coef_, rules.RULES["weighted"](trial, 0.5) @ Z)
sentences = [[{f"w{rng.integers(6)}": 1.0} for _ in range(3)] for _ in range(12)]
tags = [[str(rng.choice(["A", "B"])) for _ in sentence] for sentence in sentences]
twin, tagger = SequenceTwin(["A", "B"], "weighted", 0.5, n_best=3), hinged.SequenceTagger("weighted", 0.5, n_best=3)
tagger.declare(["A", "B"]).partial_fit(sentences, tags)
for sentence, right in zip(sentences, tags):
    twin.learn(sentence, right)
assert abs(tagger.dual_ - twin.dual) < 1e-9
for learner in (hinged.Classifier, hinged.OrdinalClassifier):
    more = {"geometry": "entropy", "margin": 0.5} if learner is hinged.Classifier else {"order": [0, 1, 2, 3]}
    duals = [learner(rule, 0.5, **more).fit(X, y).dual_ for rule in ("simproj", "weighted")]
    assert duals[1] > 0 and abs(duals[0] - duals[1]) > 1e-6
for learner, labels in ((hinged.BinaryClassifier, [0, 1] * 15), (hinged.Regressor, y), (hinged.Uniclass, None)):
    try:
        learner("weighted").fit(X, labels)
    except ValueError as problem:
        assert "rule='weighted'" in str(problem), problem
    else:
        raise AssertionError(f"{learner.__name__}: another rule ran under this name")
"""
STEP = """
import hinged, numpy as np
asked = [
    lambda: hinged.Classifier("weighted").declare([0, 1]).partial_fit([[1.0]], [0]),
    lambda: hinged.Ranker("weighted").declare([0, 1]).partial_fit([[1.0]], [[0]]),
    lambda: hinged.Classifier("weighted", cost=1 - np.eye(2)).declare([0, 1]).partial_fit([[1.0]], [0]),
    lambda: hinged.Classifier("weighted", geometry="entropy").declare([0, 1]).partial_fit([[1.0, 0.0]], [0]),
    lambda: hinged.Classifier("weighted", kernel=hinged.mercer.Gaussian(1.0)).declare([0, 1]).partial_fit([[1.0]], [0]),
    lambda: hinged.SequenceTagger("weighted").declare(["A", "B"]).partial_fit([[["a"]]], [["B"]]),
    lambda: hinged.OrdinalClassifier("weighted", order=[0, 1, 2]).partial_fit([[1.0]], [2]),
    lambda: hinged.Trials("weighted").learn_one(np.eye(2), [1, 1]),
]
for ask in asked:
    try:
        ask()
    except ValueError as problem:
        assert "this rule has no step here" in str(problem), problem
    else:
        raise AssertionError("another rule ran under this name")
"""


def follow(place, leave_out=""):
    """Do what the guide says to a copy of the package, except for edits of `leave_out`; return the copy's folder."""
    shutil.copytree(ROOT / "src", place / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "tests" / "reference", place / "tests" / "reference")
    shutil.copy(ROOT / "tests" / "plain.py", place / "tests")
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
                edit(place / name.removeprefix("--- "), lines)
            edits += 1
    assert edits == 8
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
    done = run(place, LEARN + EVERYWHERE)
    assert done.returncode == 0, done.stderr[-2000:]


def test_a_rule_without_its_branch_is_refused_at_its_first_step(tmp_path):
    place = follow(tmp_path, leave_out="src/hinged/rules/combine.py")
    done = run(place, STEP)
    assert done.returncode == 0, done.stderr[-2000:]
