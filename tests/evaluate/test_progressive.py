"""What a pass tells of its rounds."""

from copy import deepcopy
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import hinged
from hinged.evaluate import Progress, progressive

X, RANKS = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0]]), [0, 1, 1, 1]
TEXTS = ["a tax form", "a cake", "tax on cake", "cake form"]
SENTENCES = [[["a"], ["b"]], [["b"], ["a"]], [["a"], ["a"]], [["b"], ["b"]]]


@pytest.mark.parametrize(
    ("kind", "y"),
    [
        (hinged.BinaryClassifier, RANKS),
        (hinged.OrdinalClassifier, RANKS),
        (hinged.Regressor, [0.5, 1.0, 2.0, -1.0]),
        (hinged.Uniclass, None),
        (hinged.Classifier, RANKS),
        (partial(hinged.Classifier, sharing="hybrid", features="first"), RANKS),
        (partial(hinged.Classifier, geometry="entropy", margin=0.5, n_features=2), RANKS),
        (partial(hinged.Classifier, kernel=hinged.mercer.Gaussian()), RANKS),
        (hinged.Ranker, [{0}, {1}, {0, 1}, {1}]),
        (hinged.TextClassifier, RANKS),
        (hinged.TextRanker, [{0}, {1}, {0, 1}, {0}]),
        (hinged.SequenceTagger, [[0, 1], [1, 1], [0, 1], [1, 1]]),
    ],
)
def test_passes_put_together_keep_the_losses_of_their_rounds(kind, y):
    parts, model = [], kind()
    rows = {"TextClassifier": TEXTS, "TextRanker": TEXTS, "SequenceTagger": SENTENCES}.get(type(model).__name__, X)
    for some in (slice(0, 3), slice(3, 4)):
        parts.append(progressive(model, rows[some], None if y is None else y[some]))
    joined = Progress.join(parts)
    assert joined.losses.tolist() == [*parts[0].losses, *parts[1].losses]
    assert len(joined.losses) == len(joined.flags) == 4
    assert joined.losses.any()


def test_losses_that_some_parts_lack_are_told_of_none():
    whole = progressive(hinged.Classifier(), X, RANKS)
    assert Progress.join([whole, replace(whole, losses=None)]).losses is None


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"average": True},
        {"cost": 4.0 - 4.0 * np.eye(3)},
        {"sharing": "single", "features": lambda x, label: {(name, label): value for name, value in x.items()}},
        {"geometry": "entropy", "n_features": 4, "margin": 0.5},
        {"kernel": hinged.mercer.Gaussian()},
    ],
)
@pytest.mark.parametrize("delay", [1, 3])
def test_the_loss_of_a_late_answer_is_that_of_its_prediction(settings, delay):
    rng = np.random.default_rng(4)
    rows, y = rng.integers(0, 2, (9, 4)).astype(float), rng.integers(0, 3, 9)
    late = progressive(hinged.Classifier("pa1", 2.0, **settings), rows, y, classes=range(3), delay=delay)
    model, losses = hinged.Classifier("pa1", 2.0, **settings).declare(range(3)), []
    for t in range(9):
        losses += progressive(deepcopy(model), rows[t : t + 1], y[t : t + 1], sample_weight=[0.0]).losses.tolist()
        if t >= delay:
            model.partial_fit(rows[t - delay : t - delay + 1], y[t - delay : t - delay + 1])
    assert late.losses.tolist() == pytest.approx(losses)
    assert len(set(losses)) > 3


def test_rounds_that_nobody_can_get_wrong_have_rank_0_however_the_stream_is_cut():
    sets = [set(), {"a", "b"}, {"a"}, set(), {"a", "b"}]
    whole = progressive(hinged.Ranker().declare(["a", "b"]), np.ones((5, 2)), sets)
    model = hinged.Ranker().declare(["a", "b"])
    cut = [progressive(model, np.ones((1, 2)), [one]).ranks[0] for one in sets]
    assert whole.ranks.tolist() == cut
    assert whole.unopposed == 4


@pytest.mark.parametrize("delay", [0, 1, 2])
@pytest.mark.parametrize("kind", [hinged.BinaryClassifier, hinged.Classifier, hinged.OrdinalClassifier])
def test_a_label_that_is_alone_is_not_counted(kind, delay):
    y = [1, 1, 1, 2, 1, 2]
    told = progressive(kind(), np.ones((6, 2)), y, delay=delay)
    known = [set(y[: max(0, t - delay)]) for t in range(6)]
    assert [flag == 0 and rank == 0 for flag, rank in zip(told.flags, told.ranks, strict=True)] == [
        known[t] == {y[t]} for t in range(6)
    ]
