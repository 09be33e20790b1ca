"""Rows as a learner sees them: online IDF or standard scores, unit length, then the constant bias feature."""

import numpy as np


def score(value, values, weights):
    """How many standard deviations a value lies above the mean of `values`, five at most; 0 where all are the same."""
    mean = np.average(values, weights=weights)
    deviation = np.sqrt(np.average((values - mean) ** 2, weights=weights))
    return np.clip((value - mean) / deviation, -5, 5) if np.ptp(values) > 0 else 0.0


class Scaler:
    r"""Turn a raw row into the row that is learnt, from the rows of earlier rounds only.

    .. math:: x_i = c_i \cdot \max\bigl(0.1, \log\frac{T + 1}{\mathrm{df}_i + 1/2}\bigr)

    with :math:`T` the rounds so far and :math:`\mathrm{df}_i` how many of them had feature `i`; the factor is 1
    when :math:`T = 0`. `normalize` divides the row by its L2 norm afterwards, and the bias is appended last, so
    that it is neither scaled nor part of that norm. Not in the papers: algorithms.md, section 4.

    With "standard" each value is compared with the values that its feature had in the rounds that had it, its own among
    them: if these are nine of ten rounds, the mean is taken off and the rest divided by the standard deviation, 0 where
    that is 0; else it is divided by the root mean square. Then the row is divided by the root of its number of values.

    "mixed" does the same with features that nine of ten rounds had. Others are words: the value is divided by its root
    mean square and multiplied by that number clipped to [1, 4], then by the factor of "idf"; all words of a row are
    then divided by their norm and multiplied by the root of their share in the row's values.

    With "idf" and `numbers`, the first so many features are columns of numbers: each value that is there (not NaN) is
    compared with those before and itself, centred and divided by their standard deviation, 0 where that is 0.

    Parameters
    ----------
    n : int
        Number of raw features.
    scaling : None, "idf", "standard" or "mixed"
        What happens to values.
    dense : bool
        Whether a zero is a value like any other; only "standard" and "mixed" ask.
    numbers : int
        How many of the first features are columns of numbers; only "idf" asks.
    left : float
        What one more round leaves of a value's weight in means and deviations; counts of rounds stay whole.
    normalize : bool
        Whether rows get unit length. A zero row stays zero.
    bias : float
        Value of the constant feature; 0 means that there is none.
    """

    def __init__(self, n, scaling=None, normalize=False, bias=0.0, dense=True, numbers=0, left=1.0):
        self.numbers, self.left = numbers, left
        self.scaling, self.normalize, self.bias, self.dense = scaling, normalize, bias, dense
        self.rounds = 0
        self.document_frequency = np.zeros(n)
        self.values = [[] for _ in range(n)]

    def row(self, raw):
        """The row that is scored and learnt: scaled, normalised, bias appended."""
        x = np.array(raw, dtype=float)
        for i in range(self.numbers):
            x[i] = score(raw[i], *self.so_far(i, raw)) if np.isfinite(raw[i]) else 0.0
        if self.scaling == "idf" and self.rounds > 0:
            idf = np.maximum(0.1, np.log((self.rounds + 1) / (self.document_frequency + 0.5)))
            x = x * np.where(np.arange(len(x)) < self.numbers, 1.0, idf)
        if self.scaling == "standard":
            x = self.standard(x)
        if self.scaling == "mixed":
            x = self.mixed(x)
        if self.normalize and np.any(x != 0):
            x = x / np.sqrt(np.sum(x * x))
        return np.append(x, self.bias) if self.bias else x

    def standard(self, raw):
        """Standard scores of the values that a row has."""
        x, has = np.zeros(len(raw)), self.has(raw)
        for i in np.flatnonzero(has):
            values, weights = self.so_far(i, raw)
            if 10 * len(values) >= 9 * (self.rounds + 1):
                x[i] = score(raw[i], values, weights)
            elif np.any(values != 0):
                x[i] = raw[i] / np.sqrt(np.average(values**2, weights=weights))
        return x / np.sqrt(max(1, np.sum(has)))

    def mixed(self, raw):
        """Standard scores of columns, and words by their rarity."""
        x, n = self.standard(raw), max(1, np.sum(self.has(raw)))
        words = [i for i in np.flatnonzero(self.has(raw)) if 10 * (len(self.values[i]) + 1) < 9 * (self.rounds + 1)]
        for i in words:
            values, weights = self.so_far(i, raw)
            size = np.sqrt(np.average(values**2, weights=weights))
            factor = max(0.1, np.log((self.rounds + 1) / (len(self.values[i]) + 0.5)))
            x[i] = raw[i] / size * np.clip(size, 1, 4) * factor if size > 0 else 0.0
        norm = np.sqrt(np.sum(x[words] ** 2))
        if norm > 0:
            x[words] *= np.sqrt(len(words) / n) / norm
        return x

    def so_far(self, i, raw):
        """The values of a feature in all rounds that had it and in this one, and their weights."""
        ages = self.rounds - np.array([*(t for t, _ in self.values[i]), self.rounds])
        return np.array([*(value for _, value in self.values[i]), raw[i]]), self.left**ages

    def has(self, raw):
        """Which features a row has."""
        return np.ones(len(raw), bool) if self.dense else np.asarray(raw) != 0

    def enter(self, raw):
        """Count a round that is over."""
        self.rounds += 1
        self.document_frequency += np.asarray(raw) != 0
        for i in np.flatnonzero(self.has(raw) & np.isfinite(raw)):
            self.values[i].append((self.rounds - 1, float(raw[i])))
