"""From a round's scores to its net coefficients: the rule decides, the sharing scheme supplies the norms."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats, Ints
from hinged.loops.columns import Columns, common_columns, sq_distance
from hinged.loops.costs import Costs, constrained_rival, cost_margins, gain_of, own_margins
from hinged.loops.ledger import GAP, ITERATIONS
from hinged.loops.rows import LEAST_NORM
from hinged.loops.shared import add_shared_squares, shared_sq_distance
from hinged.rules.active_set import maximise
from hinged.rules.combine import over_pairs, shares
from hinged.rules.gram import Gram
from hinged.rules.interior_point import MOST_ITERATIONS, interior_point
from hinged.rules.length import alone, softening
from hinged.rules.optimal import by_sorting
from hinged.rules.response import LINEAR, Responses
from hinged.rules.words import Words, is_interior, is_joint, is_one, is_own, is_uncapped

__all__ = ["Ranking", "Setting", "Step", "Vectors", "by_joint_step", "by_share", "net_coefficients", "price_of_slack"]


class Setting(NamedTuple):
    """A rule's numbers, as the loop reads them."""

    words: Words
    C: float
    margin: float
    uses_weight: bool
    least_norm: float = LEAST_NORM  # a direction with a smaller squared norm counts as none
    tolerance: float = 1e-14  # relative gap at which interior points stop
    learns_new: bool = False  # a round with a new label is learnt, though never counted
    slack: float = 0.0  # of joint steps: squared length of a feature that a row shares with no other


class Ranking(NamedTuple):
    """The scores of a round, and which labels should be above the others."""

    scores: np.ndarray  # float64 (labels,)
    relevant: np.ndarray  # int64: the right labels
    is_relevant: np.ndarray  # bool (labels,)
    low: int  # position in `relevant` of the lowest right label
    rival: int  # the highest wrong label


class Vectors(NamedTuple):
    """The vectors V_r whose inner products with the weights are the labels' scores."""

    columns: Columns  # which copies of the row x are in V_r
    q: float  # ‖x‖²
    phi: np.ndarray  # float64 (parts, features, labels): the label features in V_r; (0, 0, 0) for none
    least: float  # a squared norm below this counts as 0


class Step(NamedTuple):
    """Sums over the steps λ of a round."""

    total: float  # Σλ
    gain: float  # Σλm, m the margin
    penalty: float  # Σλ²/4C where the dual subtracts it, else 0


@compiled(helper=True)
def _pair_norm(vectors: Vectors, r: int, s: int) -> float:
    """‖V_r - V_s‖²."""
    norm = sq_distance(vectors.columns, vectors.q, r, s) + shared_sq_distance(vectors.phi, r, s)
    return norm if norm >= vectors.least else 0.0


@compiled(helper=True)
def _gram(vectors: Vectors, k: int, stop: Ints) -> Gram:
    """⟨V_r, V_s⟩ for all labels, to be computed as they are asked for; zeros where even the longest V_r is none."""
    K, squares, longest = np.zeros((k, k)), np.zeros(k), 0.0
    add_shared_squares(vectors.phi, squares)
    for r in range(k):
        for s in range(r):
            K[r, s] = K[s, r] = vectors.q * common_columns(vectors.columns, r, s)
        K[r, r] = squares[r] + vectors.q * common_columns(vectors.columns, r, r)
        longest = max(longest, K[r, r])
    if longest < vectors.least:
        K[:, :] = 0.0
    return Gram(K, np.full(k, longest < vectors.least), vectors.phi, stop)


@compiled(helper=True)
def net_coefficients(
    own: Any, problem: Any, C: float, ranking: Ranking, vectors: Vectors, work: Any, notes: Floats, stop: Ints
) -> Step:
    """Fill `work.g` with the net coefficients by the rule, or by the user's `own`; return the sums of its steps.

    Overwrites `work.shifted`, `work.spare`, `work.gaps` and `work.norms`. Once `stop[0]` is set, the answer is of no
    use.
    """
    setting, costs, s, relevant = problem.setting, problem.costs, ranking.scores, ranking.relevant
    rule, judged, rival, y, penalty = setting.words, s, ranking.rival, relevant[0], 0.0
    has_costs, g, total = costs.rho.shape[0] > 0, work.g[: s.shape[0]], 0.0
    g[:] = 0.0
    if has_costs:
        judged = work.shifted[: s.shape[0]]
        own_margins(costs, s, y, setting.margin, judged)
        rival = constrained_rival(rule, costs, s, judged, y)
    if has_costs and not (is_joint(rule) or is_own(rule)):
        total, penalty = _with_costs(setting, costs, C, s, y, rival, vectors, work)
    elif judged[relevant[ranking.low]] - judged[rival] < setting.margin:
        order = Ranking(judged, relevant, ranking.is_relevant, ranking.low, rival)
        if own is None:
            total, penalty = _by_rule(setting, C, order, vectors, work, notes, stop)
        else:
            own(judged, relevant, _pair_norms(setting.margin, order, vectors), setting.margin, C, g)
            for r in relevant:
                total += g[r]
    return Step(total, gain_of(costs, y, g) if has_costs else total * setting.margin, penalty)


@compiled(helper=True)
def _with_costs(
    setting: Setting, costs: Costs, C: float, s: Floats, y: int, rival: int, vectors: Vectors, work: Any
) -> tuple[float, float]:
    """Fill `work.g` where every pair has a margin of its own; return Σλ, and what the dual subtracts for the steps."""
    rule, g = setting.words, work.g[: s.shape[0]]
    if not is_one(rule):
        gaps, margins, norms = work.gaps[: s.shape[0]], work.spare[: s.shape[0]], work.norms[: s.shape[0]]
        cost_margins(setting, costs, s, y, work.shifted, gaps, margins)
        for r in range(s.shape[0]):
            norms[r] = _pair_norm(vectors, y, r)
        return by_share(rule, y, gaps, margins, norms, C, g)
    if rival == y:
        return 0.0, 0.0
    total = alone(rule.length, s[y] - s[rival], _pair_norm(vectors, y, rival), math.sqrt(costs.rho[y, rival]), C)
    g[y], g[rival] = total, -total
    return total, softening(rule.length, total, C)


@compiled(helper=True)
def _by_rule(
    setting: Setting, C: float, ranking: Ranking, vectors: Vectors, work: Any, notes: Floats, stop: Ints
) -> tuple[float, float]:
    """Fill `work.g` where every pair has the same margin; return Σλ, and what the dual subtracts for the steps."""
    rule, margin, s, relevant = setting.words, setting.margin, ranking.scores, ranking.relevant
    several = relevant.shape[0] > 1  # then shares along directions of norm 0 would cancel only up to rounding
    k = s.shape[0]
    g, r, rival = work.g[:k], relevant[ranking.low], ranking.rival
    if is_one(rule):
        total = alone(rule.length, s[r] - s[rival], _pair_norm(vectors, r, rival), margin, C)
        g[r], g[rival] = total, -total
        return total, softening(rule.length, total, C)
    if is_interior(rule) and vectors.q > 0.0:
        return _by_interior_points(setting, C, ranking, vectors.q, notes, g), 0.0
    if is_joint(rule):
        if vectors.phi.shape[0] == 0 and vectors.columns.separate:
            return by_joint_step(setting, C, ranking, vectors.q, work.spare[:k], g)
        gram, uncapped = _gram(vectors, k, stop), is_uncapped(rule)
        return maximise(s, ranking.is_relevant, gram, margin, C, uncapped, g, several)[0], 0.0
    if several:
        norms = _pair_norms(margin, ranking, vectors)
        return over_pairs(rule, s, relevant, ranking.is_relevant, norms, margin, C, g, True)
    gaps, norms_of_one, margins = work.gaps[:k], work.norms[:k], work.spare[:k]
    for b in range(k):
        gaps[b], margins[b] = s[r] - s[b], margin
        norms_of_one[b] = _pair_norm(vectors, r, b) if b != r and gaps[b] < margin else 0.0
    return by_share(rule, r, gaps, margins, norms_of_one, C, g)


@compiled(helper=True)
def _by_interior_points(setting: Setting, C: float, ranking: Ranking, q: float, notes: Floats, g: Floats) -> float:
    """Fill `g` with the best joint step where every label has a vector of its own, by interior points; return Σλ."""
    curves = Responses(LINEAR, ranking.scores, q, 0.0, 0.0, np.zeros((0, 0)), np.zeros(0), 0.0, 0.0)
    total, iterations, left = interior_point(
        curves, ranking.is_relevant, setting.margin, C, setting.tolerance, MOST_ITERATIONS, g
    )
    notes[ITERATIONS], notes[GAP] = max(notes[ITERATIONS], iterations), max(notes[GAP], left)
    return total


@compiled(helper=True)
def price_of_slack(slack: float, steps: Floats) -> float:
    """Return what the dual subtracts for the features that a row shares with no other."""
    price = 0.0
    if slack > 0.0:
        for j in range(steps.shape[0]):
            price += 0.5 * slack * steps[j] * steps[j]
    return price


@compiled(helper=True)
def by_joint_step(
    setting: Setting, C: float, ranking: Ranking, q: float, work: Floats, g: Floats
) -> tuple[float, float]:
    """Fill `g` with the best joint step where every label has a vector of its own; return Σλ and the price of slack."""
    s, y, q = ranking.scores, ranking.relevant[ranking.low], q + setting.slack
    if q > 0.0:
        total = by_sorting(s, ranking.is_relevant, q, setting.margin, C, work, g)
        return total, price_of_slack(setting.slack, g)
    total = alone(setting.words.length, s[y] - s[ranking.rival], 0.0, setting.margin, C)
    g[y], g[ranking.rival] = total, -total
    return total, 0.0


@compiled(helper=True, error_model="numpy")
def by_share(
    rule: Words, y: int, gaps: Floats, margins: Floats, norms: Floats, C: float, g: Floats
) -> tuple[float, float]:
    """Fill `g` where one label, `y`, is right and the rule takes a share of each step; overwrites gaps[y].

    Return Σλ, and what the dual subtracts for the steps. Arrays have a place for each label.
    """
    gaps[y] = math.inf
    for r in range(gaps.shape[0]):
        g[r] = alone(rule.length, gaps[r], norms[r], margins[r], C)
    total, softened = shares(rule, gaps, margins, g), 0.0
    for r in range(gaps.shape[0]):
        softened += softening(rule.length, g[r], C)
        g[r] = -g[r]
    g[y] = total
    return total, softened


@compiled(helper=True)
def _pair_norms(margin: float, ranking: Ranking, vectors: Vectors) -> Floats:
    """‖V_r - V_s‖² of every pair that misses the margin, 0 for the others."""
    s, relevant = ranking.scores, ranking.relevant
    norms = np.zeros((relevant.shape[0], s.shape[0]))
    for a in range(relevant.shape[0]):
        for b in range(s.shape[0]):
            if not ranking.is_relevant[b] and s[relevant[a]] - s[b] < margin:
                norms[a, b] = _pair_norm(vectors, relevant[a], b)
    return norms
