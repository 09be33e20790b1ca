"""The bound of a metric that learns: no run breaks it, on any stream, for any u."""

import numpy as np
import pytest
from tests.plain import Classifier, Ranker
from tests.reference.learner import Twin
from tests.reference.streams import easy_stream, random_stream

import hinged
from hinged import bounds
from hinged.geometry import Adaptive

RULES = ("perceptron", "pa1", "pa2", "simperc", "simproj", "conproj", "optimal")


def drawn(seed, sets=False):
    return easy_stream(seed, rounds=40) if seed % 2 and not sets else random_stream("real", seed, 40, 5, sets=sets)


def comparators(seed, labels, width):
    rng = np.random.default_rng(seed)
    return [np.zeros((labels, width)), *(size * rng.normal(size=(labels, width)) for size in (0.1, 0.5, 2.0))]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("rule", RULES)
def test_no_run_breaks_it(rule, seed):
    stream, C = drawn(seed), 0.05
    classes, settings = stream.labels if seed > 0 else None, {"geometry": Adaptive(0.3), "bias": 0.5 * (seed > 1)}
    like, model = Classifier(rule, C, **settings), Classifier(rule, C, **settings)
    told = hinged.evaluate.progressive(model, stream.X, stream.y, classes=classes)
    rounds = bounds.as_stream(stream.X, stream.y, classes, like=like)
    for u in comparators(seed, len(rounds.labels), rounds.X.shape[1]):
        found, size = bounds.adaptive_bound(like, stream.X, stream.y, u, classes), 0.5 * (u**2).sum()
        assert told.mistakes <= found.mistakes
        if size:  # what the steps gained, each in its own metric, is what the proof bounds
            paid, gain = bounds.objective(rounds, u, C, squared=rule == "pa2"), size / found.complexity
            assert found.loss * gain == pytest.approx(paid - size)
            assert model.model_.dual <= paid + found.mixed * gain + 1e-9


@pytest.mark.parametrize("sets", [False, True])
def test_the_growth_of_the_metric_is_what_a_plain_learner_finds(sets):
    stream, u = drawn(2, sets), np.random.default_rng(3).normal(size=(4, 5))
    twin, cost = Twin(5, stream.labels, "pa1", 0.5, metric=0.3, classes=stream.labels), 0.0
    for x, y in zip(stream.X, stream.y, strict=True):
        before = np.sqrt(1 + twin.seen / 0.3)
        twin.run(x[None], [y])
        grown = np.sqrt(1 + twin.seen / 0.3) - before
        cost += 0.5 * (grown * (twin.w.reshape(4, 5) - u) ** 2).sum()
    like = (Ranker if sets else Classifier)("pa1", 0.5, geometry=Adaptive(0.3))
    answers = [list(y) for y in stream.y] if sets else stream.y
    found = bounds.adaptive_bound(like, stream.X, answers, u, stream.labels)
    gain = found.complexity and 0.5 * (u**2).sum() / found.complexity
    assert found.mixed * gain == pytest.approx(cost)


def test_without_the_growth_of_the_metric_it_would_be_wrong():
    # u has no loss and is all that Euclid's bound asks for, but a rare feature carries what a common one is slow to
    rng = np.random.default_rng(0)
    worst = 0.0
    for seed in range(40):
        stream, u = random_stream("real", seed, 40, 3, labels=2), rng.normal(size=(2, 3))
        model = Classifier("pa1", 1.0, geometry=Adaptive(0.01))
        hinged.evaluate.progressive(model, stream.X, stream.y, classes=[0, 1])
        paid = bounds.objective(bounds.as_stream(stream.X, stream.y, [0, 1]), u, 1.0)
        worst = max(worst, model.model_.dual - paid)
    assert worst > 0.0


def test_what_it_does_not_cover_is_refused():
    X, y, u = np.eye(2), [0, 1], np.eye(2)
    for like, why in (
        (Classifier(), "adaptive_bound is for geometry='adaptive'"),
        (hinged.Classifier(geometry="adaptive"), "C='auto'"),
        (Classifier(hinged.rules.Optimal(slack=1.0), geometry="adaptive"), "with slack"),
        (Classifier(geometry="adaptive", sharing="hybrid", features="frequency"), "sharing='multi'"),
    ):
        with pytest.raises(ValueError, match=why):
            bounds.adaptive_bound(like, X, y, u, [0, 1])
    with pytest.raises(ValueError, match="adaptive_bound"):
        bounds.mistake_bound(Classifier(geometry="adaptive"), X, y)
    with pytest.raises(ValueError, match="adaptive_bound"):
        bounds.objective(bounds.as_stream(X, y), u, geometry="adaptive")
