"""Evidence: a few numbers that say how well a row fits a label as a whole, weighed by the shared vector.

Each formula takes sums over the label's earlier rows; `hinged.loops.evidence` keeps them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hinged.compiling import compiled
from hinged.sharing.features import Distance, First, Frequency, Tfidf

__all__ = [
    "BAYES",
    "BAYES_UNIT",
    "CENTROID",
    "FREQUENT_OR_RARE",
    "KINDS",
    "NAMES",
    "RECENCY",
    "Evidence",
    "Kind",
    "codes_of",
    "in_direction",
    "less_for_size",
    "more_for_feature",
    "recency",
]

CENTROID, BAYES, RECENCY = range(3)

#: Feature occurrences, spread as in all rows, that a label's own are added to (Dirichlet smoothing).
PSEUDO_COUNT = 1000.0
#: What log odds and log ages are multiplied by, so that no kind of evidence learns much faster than another.
BAYES_UNIT, RECENCY_UNIT = 0.01, 0.03
#: Words that at least 40 % of a label's rows had, or almost none.
FREQUENT_OR_RARE = Frequency(high=0.4)


class Kind(NamedTuple):
    """A kind of evidence: its code in the loops, and what must be kept for it."""

    code: int
    counts: bool = False  # of each label's rows with each feature
    sums: bool = False  # of each label's rows


KINDS = {
    "centroid": Kind(CENTROID, sums=True),
    "bayes": Kind(BAYES, counts=True),
    "recency": Kind(RECENCY),
}
NAMES = {kind.code: name for name, kind in KINDS.items()}


@dataclass(frozen=True)
class Evidence:
    r"""A few numbers that say how well a row fits a label as a whole, beside label features of its single words.

    ``"centroid"`` is the length of the row along the sum p of the label's rows, ⟨x, p⟩ / ‖p‖: for rows of unit length
    the cosine (Rocchio). ``"bayes"`` is the log odds of naive Bayes, Σ x_i log(P(i | label) / P(i)) / 100, where
    P(i | label) is the share of feature i among all that the label's rows had, smoothed by 1000 more that are
    distributed as those of all labels. ``"recency"`` is -0.03 ‖x‖ log(1 + rounds since the label came). The shared
    vector learns one weight for each; all is from earlier rounds.

    Parameters
    ----------
    kinds : tuple of str
        Which of them.
    words : Frequency, First, Distance, Tfidf or None
        Label features of single words beside them; None for evidence alone, which is quicker.

    Examples
    --------
    >>> Evidence(("centroid",), words=None)
    Evidence(kinds=('centroid',), words=None)
    """

    kinds: tuple[str, ...] = ("centroid", "bayes", "recency")
    words: First | Frequency | Distance | Tfidf | None = FREQUENT_OR_RARE


def codes_of(kinds: Sequence[str]) -> tuple[int, ...]:
    """Return the codes of kinds of evidence given by name.

    Examples
    --------
    >>> codes_of(("recency", "centroid"))
    (2, 0)
    """
    known = ", ".join(map(repr, KINDS))
    if isinstance(kinds, str) or not isinstance(kinds, Sequence) or not kinds or any(k not in KINDS for k in kinds):
        raise ValueError(f"Evidence needs one or more kinds of {known}; got kinds={kinds!r}. Give a tuple of them.")
    if len(set(kinds)) < len(kinds):
        raise ValueError(f"Evidence takes each kind once; got kinds={kinds!r}.")
    return tuple(KINDS[kind].code for kind in kinds)


@compiled(helper=True, forceinline=True)
def in_direction(inner: float, sq_length: float, sq_row: float) -> float:
    """⟨x, p⟩ / ‖p‖ from ⟨x, p⟩, ‖p‖² and ‖x‖²; never longer than the row, and 0 where p is.

    Examples
    --------
    >>> in_direction(3.0, 4.0, 9.0), in_direction(0.0, 0.0, 9.0), in_direction(3.0, 1e-30, 4.0)
    (1.5, 0.0, 2.0)
    """
    if sq_length <= 0.0:
        return 0.0
    longest = math.sqrt(sq_row)
    return min(longest, max(-longest, inner / math.sqrt(sq_length)))


@compiled(helper=True, forceinline=True)
def more_for_feature(seen: int, share: float) -> float:
    """Log odds that a label gains for `seen` occurrences of a feature whose share among all occurrences is `share`.

    With a the pseudo count, log((n_i + a p_i) / ((n + a) p_i)) = log(1 + n_i / (a p_i)) - log(1 + n / a): the first
    of these, 0 for a feature that the label never had.

    Examples
    --------
    >>> more_for_feature(0, 0.5), more_for_feature(1000, 0.5) == math.log(3.0)
    (0.0, True)
    """
    return math.log(1.0 + seen / (PSEUDO_COUNT * share))


@compiled(helper=True, forceinline=True)
def less_for_size(occurrences: int) -> float:
    """The second: what each feature of a row costs a label whose rows had so many features, log(1 + n / a).

    Examples
    --------
    >>> less_for_size(0), less_for_size(1000) == math.log(2.0)
    (0.0, True)
    """
    return math.log(1.0 + occurrences / PSEUDO_COUNT)


@compiled(helper=True, forceinline=True)
def recency(length: float, since: int) -> float:
    """-‖x‖ log(1 + t), in its unit: the row's length, and t rounds since the label came, this one included.

    Examples
    --------
    >>> recency(2.0, 1) == -0.06 * math.log(2.0)
    True
    """
    return -RECENCY_UNIT * length * math.log(1.0 + since)
