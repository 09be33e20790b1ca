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
