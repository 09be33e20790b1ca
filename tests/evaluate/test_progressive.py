"""What a pass tells of its rounds."""

import numpy as np
import pytest

import hinged
from hinged.evaluate import Progress, progressive

X, RANKS = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0]]), [0, 1, 1, 0]


@pytest.mark.parametrize(
    ("kind", "y"),
    [
        (hinged.BinaryClassifier, RANKS),
        (hinged.OrdinalClassifier, RANKS),
        (hinged.Regressor, [0.5, 1.0, 2.0, -1.0]),
        (hinged.Uniclass, None),
    ],
)
def test_passes_put_together_keep_the_losses_of_their_rounds(kind, y):
    parts, model = [], kind()
    for some in (slice(0, 3), slice(3, 4)):
        parts.append(progressive(model, X[some], None if y is None else y[some]))
    joined = Progress.join(parts)
    assert joined.losses.tolist() == [*parts[0].losses, *parts[1].losses]
    assert len(joined.losses) == len(joined.flags) == 4


def test_losses_that_some_parts_lack_are_told_of_none():
    of_labels = progressive(hinged.Classifier(), X, RANKS)
    of_a_vector = progressive(hinged.BinaryClassifier(), X, RANKS)
    assert of_labels.losses is None
    assert Progress.join([of_labels, of_a_vector]).losses is None


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
