"""From the steps that constraints would take alone to the steps that are taken: the worst one's, or a share of each.

`multipliers` is for a list of constraints with a Gram matrix (sequences of tags), `over_labels` for labels, each right
one to be above each wrong one (kernels, ordered labels). Callers that compute the step of a single constraint by
themselves ask `chosen` of choose.py which ones to compute, and then `shares` (raw trials, costs, simplices).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Bools, Floats, Ints
from hinged.compiling.copying import copy_to
from hinged.rules.active_set import on_gram
from hinged.rules.choose import chosen, is_chosen
from hinged.rules.length import alone, softening
from hinged.rules.optimal import by_sorting
from hinged.rules.words import MEAN, ONE, PA, Words, is_joint

__all__ = ["Directions", "Labels", "mean", "multipliers", "over_labels", "over_pairs", "shares", "simultaneous"]


class Labels(NamedTuple):
    """The labels of a round, as rules read them."""

    scores: Floats  # float64 (labels,)
    relevant: Ints  # int: the right labels
    is_relevant: Bools  # bool (labels,)
    low: int  # position in `relevant` of the lowest right label
    rival: int  # the highest wrong label


class Directions(NamedTuple):
    """The labels' vectors V_r, as far as rules need them."""

    norms: (
        Floats  # float64 (right labels, labels): ‖V_r - V_s‖²; rules on one pair read that of `low` and `rival` alone
    )
    gram: Floats  # float64 (labels, labels): ⟨V_r, V_s⟩, read by joint steps; (0, 0) where V_r are orthogonal, all of
    square: float  # this squared length, 0 where it is next to nothing


@compiled(helper=True, error_model="numpy")
def mean(choose: int, gaps: Floats, margins: Floats, lam: Floats) -> float:
    r"""Give each of the n chosen constraints an equal share, :math:`\lambda_j = \alpha_j / n`; return the sum.

    As :math:`\alpha_j \le C`, :math:`\sum_j \lambda_j \le C`. Amit et al. (2006), section 4.
    """
    n = 0
    for j in range(gaps.shape[0]):
        n += is_chosen(choose, gaps[j], margins[j])
    total = 0.0
    for j in range(gaps.shape[0]):
        lam[j] = lam[j] / n if is_chosen(choose, gaps[j], margins[j]) else 0.0
    for j in range(gaps.shape[0]):
        total += lam[j]
    return total


@compiled
def shares(rule: Words, gaps: Floats, margins: Floats, lam: Floats) -> float:
    r"""Turn the steps that constraints would take alone into the multipliers :math:`\lambda_j`; return their sum.

    Parameters
    ----------
    rule : Words
    gaps, margins : float64 arrays (constraints,)
        What each achieves now, and what is asked for.
    lam : float64 array (constraints,)
        On entry the step that each chosen constraint would take alone; on return the multipliers.

    Examples
    --------
    >>> from hinged.rules.table import RULES
    >>> lam = np.array([0.5, 0.25])
    >>> shares(RULES["simproj"].words, np.zeros(2), np.ones(2), lam), lam.tolist()
    (0.375, [0.25, 0.125])
    """
    if rule.combine == ONE:
        return lam.sum()
    if rule.combine == MEAN:
        return mean(rule.choose, gaps, margins, lam)
    raise ValueError("this rule has no step here: hinged/rules/combine.py does not know how it combines steps.")


@compiled
def multipliers(rule: Words, gaps: Floats, margins: Floats, gram: Floats, C: float, lam: Floats) -> tuple[float, float]:
    r"""Fill `lam` with the multipliers :math:`\lambda_j` of the constraints ⟨ω, z_j⟩ >= m_j.

    Return their sum, and what the dual subtracts for them.

    Parameters
    ----------
    rule : Words
    gaps, margins : float64 arrays (constraints,)
        ⟨ω, z_j⟩ now, and what is asked for.
    gram : float64 array (constraints, constraints)
        ⟨z_i, z_j⟩; only joint steps read more than the diagonal.
    C : float
        The cap on the sum.
    lam : float64 array (constraints,)

    Examples
    --------
    >>> from hinged.rules.table import RULES
    >>> lam, simproj = np.zeros(2), RULES["simproj"].words
    >>> multipliers(simproj, np.array([0.0, 1.0]), np.array([1.0, 2.0]), 2.0 * np.eye(2), 1.0, lam)[0], lam.tolist()
    (0.5, [0.25, 0.25])
    """
    if is_joint(rule):
        return _jointly(rule.length == PA, gaps, margins, gram, C, lam), 0.0
    taken = chosen(rule, gaps, margins)
    for j in range(gaps.shape[0]):
        lam[j] = alone(rule.length, gaps[j], gram[j, j], margins[j], C) if taken[j] else 0.0
    total, softened = shares(rule, gaps, margins, lam), 0.0
    for j in range(gaps.shape[0]):
        softened += softening(rule.length, lam[j], C)
    return total, softened


@compiled
def over_labels(
    rule: Words, labels: Labels, directions: Directions, margin: float, C: float, g: Floats
) -> tuple[float, float]:
    """Fill `g` with the labels' net coefficients, by any rule but a user's own; return Σλ and what the dual subtracts.

    Every right label should be above every wrong one by the same margin, and some pair misses it.

    Parameters
    ----------
    rule : Words
    labels : Labels
    directions : Directions
    margin, C : float
        The margin asked for, and the cap on Σλ.
    g : float64 array (labels,)
        Zeros on entry.

    Examples
    --------
    >>> from hinged.rules.table import RULES
    >>> labels = Labels(np.array([0.0, 0.5, 0.25]), np.array([0]), np.array([True, False, False]), 0, 1)
    >>> own_vectors = Directions(np.full((1, 3), 2.0), np.zeros((0, 0)), 1.0)
    >>> g = np.zeros(3)
    >>> over_labels(RULES["pa1"].words, labels, own_vectors, 1.0, 1.0, g), g.tolist()
    ((0.75, 0.0), [0.75, -0.75, 0.0])
    """
    scores, is_relevant, (square, gram) = labels.scores, labels.is_relevant, (directions.square, directions.gram)
    if is_joint(rule) and gram.shape[0] > 0:
        return on_gram(scores, is_relevant, gram, margin, C, rule.length == PA, g), 0.0
    if is_joint(rule) and square > 0.0:
        return by_sorting(scores, is_relevant, square, margin, C, np.empty(scores.shape[0]), g), 0.0
    if not (is_joint(rule) or rule.combine == ONE):
        return over_pairs(rule, scores, labels.relevant, is_relevant, directions.norms, margin, C, g)
    r, s = labels.relevant[labels.low], labels.rival
    norm = 0.0 if is_joint(rule) else directions.norms[labels.low, s]
    total = alone(rule.length, scores[r] - scores[s], norm, margin, C)
    g[r], g[s] = total, -total
    return total, softening(rule.length, total, C)


@compiled(helper=True)
def over_pairs(
    rule: Words,
    scores: Floats,
    relevant: Ints,
    is_relevant: Bools,
    norms: Floats,
    margin: float,
    C: float,
    g: Floats,
    moving_only: bool = False,
) -> tuple[float, float]:
    """Fill `g` with the net coefficients of the labels, where the constraints are pairs of a right and a wrong label.

    Return Σλ, and what the dual subtracts for the steps. For rules that take a share of each step.

    Parameters
    ----------
    rule : Words
    scores : float64 array (labels,)
    relevant : int array
        The right labels.
    is_relevant : bool array (labels,)
    norms : float64 array (right labels, labels)
        Squared norm of each pair's direction.
    margin, C : float
        The margin asked for, and the cap on the total.
    g : float64 array (labels,)
        Zeros on entry.
    moving_only : bool, default False
        Leave the steps of pairs with norm 0 out of `g`; the total has them.
    """
    n_labels = scores.shape[0]
    n = relevant.shape[0] * n_labels
    gaps, margins, lam = np.empty(n), np.empty(n), np.empty(n)
    for a in range(relevant.shape[0]):
        for s in range(n_labels):
            j = a * n_labels + s
            gaps[j] = math.inf if is_relevant[s] else scores[relevant[a]] - scores[s]
            margins[j], lam[j] = margin, alone(rule.length, gaps[j], norms[a, s], margin, C)
    total = shares(rule, gaps, margins, lam)
    softened = 0.0
    for a in range(relevant.shape[0]):
        for s in range(n_labels):
            step = lam[a * n_labels + s]
            softened += softening(rule.length, step, C)
            if norms[a, s] > 0.0 or not moving_only:
                g[relevant[a]] += step
                g[s] -= step
    return total, softened


@compiled
def simultaneous(
    rule: Words, scores: Floats, relevant: Ints, is_relevant: Bools, norms: Floats, margin: float, C: float, g: Floats
) -> float:
    """Fill `g` as `over_pairs` does; return Σλ alone.

    Examples
    --------
    >>> from hinged.rules.table import RULES
    >>> g, right = np.zeros(3), np.array([True, False, False])
    >>> simultaneous(RULES["simproj"].words, np.zeros(3), np.array([0]), right, np.full((1, 3), 2.0), 1.0, 1.0, g)
    0.5
    """
    return over_pairs(rule, scores, relevant, is_relevant, norms, margin, C, g)[0]


@compiled(helper=True)
def _jointly(moving_only: bool, gaps: Floats, margins: Floats, gram: Floats, C: float, lam: Floats) -> float:
    """The exact maximiser, as a ranking: one label without a vector must beat labels -z_j, each by its own margin."""
    n = gaps.shape[0]
    violated = False
    scores, K, is_right, g = np.zeros(n + 1), np.zeros((n + 1, n + 1)), np.zeros(n + 1, np.bool_), np.zeros(n + 1)
    is_right[0] = True
    lam[:] = 0.0
    for j in range(n):
        scores[j + 1] = margins[j] - gaps[j] - 1.0
        violated = violated or gaps[j] < margins[j]
        copy_to(K[j + 1, 1:], gram[j])
    if not violated:
        return 0.0
    total = on_gram(scores, is_right, K, 1.0, C, moving_only, g)
    for j in range(n):
        lam[j] = max(0.0, -g[j + 1])
    return total
