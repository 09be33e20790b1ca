"""Label features: what a label has seen so far, and the vectors made from it."""

from fractions import Fraction

import numpy as np


class Statistics:
    """Rows of earlier rounds, summed up per label; rows enter as scaled in their own round.

    Attributes
    ----------
    rounds : int
        Rounds so far, those without any label among them.
    seen : ndarray
        How many rounds had each feature.
    count, first, total, present, last : dict
        By label: its rounds, its first row, the sum of its rows, how many of its rows had each feature, and the
        number, from 1, of its last round.
    """

    def __init__(self, n):
        self.n, self.rounds, self.seen = n, 0, np.zeros(n, dtype=int)
        self.count, self.first, self.total, self.present, self.last = {}, {}, {}, {}, {}

    def enter(self, x, labels):
        """Count row `x`, which turned out to have these labels."""
        self.rounds += 1
        self.seen += x != 0
        for r in labels:
            self.first.setdefault(r, x)
            self.last[r] = self.rounds
            self.count[r] = self.count.get(r, 0) + 1
            self.total[r] = self.total.get(r, np.zeros(self.n)) + x
            self.present[r] = self.present.get(r, np.zeros(self.n, dtype=int)) + (x != 0)


def identity(x, r, statistics):
    """The row itself, whatever the label: one prototype per label (HS sec. 2)."""
    return x


def first(x, r, statistics):
    r"""Product with the label's first row, :math:`\phi_i = x_i p^r_i` (HS eq. 4); 0 before there is one."""
    return x * statistics.first.get(r, np.zeros_like(x))


def distance(x, r, statistics):
    r"""Distance from the label's mean, :math:`\phi_i = |x_i - p^r_i|` (HS sec. 5); the mean starts at 0."""
    if r not in statistics.count:
        return np.abs(x)
    return np.abs(x - statistics.total[r] / statistics.count[r])


def tfidf(x, r, statistics):
    r"""Words that are rare elsewhere, :math:`\phi_i = x_i \log(|S| / \mathrm{DF}_i)` (PA sec. 7).

    :math:`\mathrm{DF}_i` counts the earlier documents outside label `r` that have word `i`, at least 1; with no
    earlier document at all the vector is 0.
    """
    if statistics.rounds == 0:
        return np.zeros_like(x)
    elsewhere = statistics.seen - statistics.present.get(r, 0)
    return x * np.log(statistics.rounds / np.maximum(1, elsewhere))


def frequency(high=0.2, low=0.02, low_strict=False, up=2.0, down=-1.0):
    r"""Words that are common or rare in the label's earlier rows.

    .. math:: \phi_i = 2 c_i \text{ if } p^r_i \ge 0.2, \quad -c_i \text{ if } p^r_i \le 0.02, \quad 0 \text{ else}

    with :math:`p^r_i` the share of the label's rows that have word `i`, 0 before the first one (HS eq. 10); SP
    sec. 6 has a strict inequality at the lower end. Shares are compared as integers, so that 1 in 50 is 0.02.

    Returns
    -------
    callable
        The feature map, a function of the row, the label and the statistics.
    """

    over, under = Fraction(str(high)), Fraction(str(low))

    def phi(x, r, statistics):
        n = statistics.count.get(r, 0)
        present = statistics.present.get(r, np.zeros(len(x), dtype=int))
        if n == 0:
            n = 1
        is_high = present * over.denominator >= over.numerator * n
        is_low = present * under.denominator <= under.numerator * n
        if low_strict:
            is_low = present * under.denominator < under.numerator * n
        return np.where(is_high, up * x, np.where(is_low, down * x, 0.0))

    return phi


def centroid(x, r, statistics):
    r"""Length of the row along the sum of the label's rows, :math:`\langle x, p\rangle / \|p\|`; 0 before any."""
    p = statistics.total.get(r, np.zeros_like(x))
    return x @ p / np.linalg.norm(p) if p.any() else 0.0


def bayes(x, r, statistics):
    r"""Log odds of multinomial naive Bayes, :math:`\frac{1}{100}\sum_i x_i \log(P(i|r) / P(i))`.

    A row has each feature once or not at all. P(i) is the share of feature i among all features of all labels' rows,
    and P(i|r) its share among those of the label's rows and 1000 more that are distributed as P. Features that no row
    has had are left out.
    """
    mine = statistics.present.get(r, np.zeros(len(x), dtype=int))
    every = sum(statistics.present.values(), np.zeros(len(x), dtype=int))
    met = every > 0
    p = every[met] / max(1, every.sum())
    return x[met] @ np.log((mine[met] + 1000 * p) / (mine.sum() + 1000) / p) / 100


def recency(x, r, statistics):
    r"""How lately the label came, :math:`-0.03 \|x\| \log(1 + t)`; t rounds ago, 1 if it was in the round before."""
    return -0.03 * np.linalg.norm(x) * np.log(1 + statistics.rounds + 1 - statistics.last.get(r, 0))


EVIDENCE = {"centroid": centroid, "bayes": bayes, "recency": recency}


def with_evidence(kinds, words):
    """Features of single words, then a number for each kind of evidence."""
    of_words = feature_map(words) if words is not None else lambda x, r, statistics: np.zeros_like(x)

    def phi(x, r, statistics):
        return np.append(of_words(x, r, statistics), [EVIDENCE[kind](x, r, statistics) for kind in kinds])

    phi.more = len(kinds)
    return phi


def feature_map(choice):
    """A feature map from its spelling: None, a word, settings of `frequency` or of evidence, or a function phi(x, r).

    Settings are dicts; those of evidence have `kinds` and `words`, the spelling of a feature map or None.
    """
    if isinstance(choice, dict) and "kinds" in choice:
        return with_evidence(**choice)
    if isinstance(choice, dict):
        return frequency(**choice)
    if callable(choice):
        return lambda x, r, statistics: np.asarray(choice(x, r), dtype=float)
    words = {None: identity, "first": first, "distance": distance, "tfidf": tfidf, "frequency": frequency()}
    return words[choice]
