"""Generated streams with Zipf-distributed features; deterministic for given arguments."""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import csr_array


class Stream(NamedTuple):
    """Rows in CSR form and one integer label a row."""

    X: csr_array
    y: NDArray[np.int64]


def zipf_cdf(n: int, exponent: float) -> NDArray[np.float64]:
    """Cumulative probabilities of ranks 1 to `n`, rank i having weight i^-exponent."""
    weight = np.arange(1, n + 1, dtype=np.float64) ** -exponent
    return np.cumsum(weight) / weight.sum()


@njit(cache=True)
def _draw_rows(rng: Any, indices: Any, labels: Any, common: Any, own: Any, words: Any, share: float) -> None:
    """Fill `indices` (rows, non-zeros) with distinct features in increasing order."""
    # common, own: cumulative probabilities of all features and of a label's own words
    # words (labels, own words): which features those are
    drawn_in = np.full(common.shape[0], -1, np.int64)
    for i in range(labels.shape[0]):
        k = 0
        while k < indices.shape[1]:
            if rng.random() < share:
                j = words[labels[i], np.searchsorted(own, rng.random())]
            else:
                j = np.searchsorted(common, rng.random())
            if drawn_in[j] != i:
                drawn_in[j] = i
                indices[i, k] = j
                k += 1
        indices[i].sort()


def topics(
    n_rows: int,
    n_features: int,
    n_labels: int,
    nonzeros: int,
    *,
    share: float = 0.15,
    own_words: int = 700,
    exponent: float = 1.1,
    own_exponent: float = 0.8,
    noise: float = 0.05,
    unit_rows: bool = False,
    seed: int = 0,
) -> Stream:
    """Documents of distinct words about one label each.

    Every label owns `own_words` features, chosen at random. A word of a row is drawn from its label's own
    words with probability `share`, else from all features; both follow Zipf's law. Afterwards a share
    `noise` of the labels is redrawn uniformly, which no learner can foresee.

    Parameters
    ----------
    n_rows, n_features, n_labels, nonzeros : int
        Size of the stream; `nonzeros` distinct features in every row.
    share : float, default=0.15
        Share of a row's words that depend on its label; with the other defaults the best learners
        make few mistakes beyond those caused by `noise`.
    own_words : int, default=700
        Features of a label; fewer where `n_features` is small.
    exponent, own_exponent : float
        Zipf exponents of all features and of a label's own.
    noise : float, default=0.05
        Share of labels redrawn.
    unit_rows : bool, default=False
        Divide the values, all 1, by the row's length.
    seed : int, default=0
        Seed of everything random.

    Returns
    -------
    Stream
        float32 values, int32 indices in increasing order, labels 0 to `n_labels` - 1.
    """
    rng = np.random.default_rng(seed)
    own_words = min(own_words, n_features // 2)
    words = np.stack([rng.choice(n_features, own_words, replace=False) for _ in range(n_labels)])
    y = rng.integers(n_labels, size=n_rows)
    indices = np.empty((n_rows, nonzeros), dtype=np.int32)
    common, own = zipf_cdf(n_features, exponent), zipf_cdf(own_words, own_exponent)
    _draw_rows(rng, indices, y, common, own, words, share)
    redrawn = rng.random(n_rows) < noise
    y[redrawn] = rng.integers(n_labels, size=int(redrawn.sum()))
    value = 1.0 / np.sqrt(nonzeros) if unit_rows else 1.0
    data = np.full(indices.size, value, dtype=np.float32)
    indptr = np.arange(0, indices.size + 1, nonzeros, dtype=np.int32)
    return Stream(csr_array((data, indices.ravel(), indptr), shape=(n_rows, n_features)), y)


def as_dicts(X: csr_array) -> list[dict[str, float]]:
    """Rows of `X` as mappings from a feature's name to its value."""
    ends = X.indptr[1:-1]
    pairs = zip(np.split(X.indices, ends), np.split(X.data, ends), strict=True)
    return [{f"word{j}": float(v) for j, v in zip(row, values, strict=True)} for row, values in pairs]
