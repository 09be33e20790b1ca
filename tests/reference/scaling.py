"""Rows as a learner sees them: online IDF, unit length, then the constant bias feature."""

import numpy as np


class Scaler:
    r"""Turn a raw row into the row that is learnt, from the rows of earlier rounds only.

    .. math:: x_i = c_i \cdot \max\bigl(0.1, \log\frac{T + 1}{\mathrm{df}_i + 1/2}\bigr)

    with :math:`T` the rounds so far and :math:`\mathrm{df}_i` how many of them had feature `i`; the factor is 1
    when :math:`T = 0`. `normalize` divides the row by its L2 norm afterwards, and the bias is appended last, so
    that it is neither scaled nor part of that norm. Not in the papers: algorithms.md, section 4.

    Parameters
    ----------
    n : int
        Number of raw features.
    scaling : None or "idf"
        Whether values are multiplied by the factor above.
    normalize : bool
        Whether rows get unit length. A zero row stays zero.
    bias : float
        Value of the constant feature; 0 means that there is none.
    """

    def __init__(self, n, scaling=None, normalize=False, bias=0.0):
        self.scaling, self.normalize, self.bias = scaling, normalize, bias
        self.rounds = 0
        self.document_frequency = np.zeros(n)

    def row(self, raw):
        """The row that is scored and learnt: scaled, normalised, bias appended."""
        x = np.array(raw, dtype=float)
        if self.scaling == "idf" and self.rounds > 0:
            x = x * np.maximum(0.1, np.log((self.rounds + 1) / (self.document_frequency + 0.5)))
        if self.normalize and np.any(x != 0):
            x = x / np.sqrt(np.sum(x * x))
        return np.append(x, self.bias) if self.bias else x

    def enter(self, raw):
        """Count a round that is over."""
        self.rounds += 1
        self.document_frequency += np.asarray(raw) != 0
