"""A rule made of words that exist is one row in the table: it runs everywhere, or is refused by name."""

import numpy as np
import pytest
from tests.plain import Classifier
from tests.reference import rules as reference
from tests.reference.kernels import KernelTwin, gaussian
from tests.reference.learner import Twin

import hinged
from hinged.rules.table import RULES, Rule
from hinged.rules.words import CONSTANT, MEAN, MISSING, PA, PA1, PA2, WRONG, Words, is_constant

IN_TABLE = {row.words for row in RULES.values()}
MADE = [
    words
    for choose in (WRONG, MISSING)
    for length in (CONSTANT, PA, PA1, PA2)
    if (words := Words(choose, length, MEAN)) not in IN_TABLE
]
RNG = np.random.default_rng(11)
X, Y = RNG.integers(-2, 4, size=(50, 6)).astype(float), RNG.integers(0, 4, size=50).tolist()
LABELS = [0, 1, 2, 3]


def twin_of(words):
    """The rule on explicit constraints, in plain NumPy."""

    def rule(trial, C):
        with np.errstate(divide="ignore", invalid="ignore"):
            plain = np.where(trial.squared_norm > 0, trial.loss / trial.squared_norm, 0.0)
        steps = {
            CONSTANT: np.where(trial.mistaken, C, 0.0),
            PA: plain,
            PA1: reference.projections(trial, C),
            PA2: trial.loss / (trial.squared_norm + 1.0 / (2.0 * C)),
        }[words.length]
        return reference.shared_by(trial, trial.mistaken if words.choose == WRONG else trial.loss > 0, steps)

    return rule


@pytest.fixture(params=MADE, ids=str)
def made(request, monkeypatch):
    """A rule named "made" of words that no rule of the table has in this order."""
    monkeypatch.setitem(RULES, "made", Rule(request.param, "the mean of some steps"))
    monkeypatch.setitem(reference.RULES, "made", twin_of(request.param))
    monkeypatch.setattr(hinged.OrdinalClassifier, "_rules", tuple(RULES))  # taken from the table when it was imported
    return request.param


def test_there_are_such_rules():
    assert Words(MISSING, PA2, MEAN) in MADE


@pytest.mark.parametrize(("sharing", "features"), [("multi", None), ("hybrid", "frequency")])
def test_one_row_teaches_labels(made, sharing, features):
    options = {"sharing": sharing, "features": features}
    twin = Twin(6, LABELS, "made", 0.5, classes=LABELS, **options).run(X, Y)
    told = hinged.evaluate.progressive(Classifier("made", 0.5, **options), X, Y, classes=LABELS)
    near = [i for i, distance in enumerate(twin.history.nearest) if distance < 1e-12] or [len(X)]
    assert near[0] > 5
    assert told.flags[: near[0]].tolist() == twin.history.flags[: near[0]]


def test_one_row_teaches_kernels_and_trials(made):
    rows = RNG.standard_normal((30, 6))
    twin = KernelTwin(gaussian(0.1), "made", 0.5, classes=LABELS)
    twin.run(rows, Y[:30])
    model = hinged.Classifier("made", 0.5, kernel=hinged.mercer.Gaussian(0.1)).declare(LABELS).partial_fit(rows, Y[:30])
    np.testing.assert_allclose(model.decision_function(rows), twin.scores(rows), atol=1e-9)
    trials = hinged.Trials("made", 0.5)
    trials.learn_one(rows[:3], [1, 1, 1])
    first = reference.Trial(rows[:3], np.zeros(3), 1.0)
    np.testing.assert_allclose(trials.coef_, reference.RULES["made"](first, 0.5) @ rows[:3])


def test_one_row_teaches_the_others_or_is_refused_by_name(made):
    sets = [[label, (label + 1) % 4] for label in Y]
    words, tags = [[{f"w{i % 5}": 1.0}, {f"w{i % 3}": 1.0}] for i in range(20)], [["A", "B"], ["B", "B"]] * 10
    learnt = [
        hinged.Ranker("made", 0.5).fit(X, sets),
        hinged.Classifier("made", 0.5, cost=1.0 - np.eye(4)).declare(LABELS).partial_fit(X, Y),
        hinged.Classifier("made", 0.5, sharing=hinged.sharing.Groups([{0, 1}, {2}, {3}, {0}])).fit(X, Y),
        hinged.OrdinalClassifier("made", 0.5, order=LABELS).fit(X, Y),
        hinged.SequenceTagger("made", 0.5, n_best=3).fit(words, tags),
    ]
    assert is_constant(made) or all(model.dual_ > 0.0 for model in learnt)  # constant steps may overshoot
    assert all(model.n_updates_ > 0 for model in learnt)
    entropic = hinged.Classifier("made", 0.5, geometry="entropy", margin=0.1)
    if is_constant(made):
        assert entropic.fit(np.abs(X), Y).n_updates_ > 0
    else:
        with pytest.raises(ValueError, match="rule='made'"):
            entropic.fit(np.abs(X), Y)
    for learner, answers in ((hinged.BinaryClassifier, [0, 1] * 25), (hinged.Regressor, Y), (hinged.Uniclass, None)):
        with pytest.raises(ValueError, match="rule='made'"):
            learner("made").fit(X, answers)
