"""How much memory a model takes, as the service counts it."""

import numpy as np
from scipy.sparse import random_array
from tests.plain import Classifier

from hinged.service.sizes import bytes_of


def test_weights_in_one_piece_are_counted_once():
    X = random_array((8000, 100_000), density=0.00125, format="csr", rng=np.random.default_rng(0))
    model = Classifier().partial_fit(X, np.arange(8000) % 3)
    store = model._model.stores[0]
    assert store.store.used[4] == 100_001  # all at once
    weights = 100_001 * 8 * 8
    assert weights < bytes_of(model) < 1.5 * weights
