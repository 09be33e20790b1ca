"""The loop over tagged sentences: score the tokens, search, count, step, move.

It joins a task (the right sequence above its rivals, each by the root of its cost) and a rule on that list. It never
allocates room for features: where that runs out it stops before the round and says so in `cursor`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats, Int32s, Ints
from hinged.compiling.copying import copy_to
from hinged.geometry.adaptive import variance
from hinged.geometry.euclidean import moved_sq_norm
from hinged.loops.ledger import GAIN, LABELS, LEARNT, MISTAKES, NOVEL, PENALTY, ROUNDS, SQ_NORM, UPDATES, Told
from hinged.loops.metric import Metric, adapts
from hinged.loops.tokens import Chain, Sentences, emissions
from hinged.rules.combine import multipliers
from hinged.rules.words import Words, is_joint
from hinged.tasks.labels import find_new
from hinged.tasks.sequence import Scratch, best_paths, largest_loss, path_score, raised_by_cost, room_for, table_cost

__all__ = ["ADDITIVE", "COST", "MAX_LOSS", "PREDICTION", "ChainLearner", "Lessons", "Wish", "learn"]

PREDICTION, MAX_LOSS, ADDITIVE = range(3)
COST = PENALTY + 1  # place of Σρ(y, ŷ) among the sums


class Wish(NamedTuple):
    """What a round asks for, as the loop reads it."""

    words: Words  # the rule
    C: float
    uses_weight: bool
    constraint: int  # PREDICTION, MAX_LOSS or ADDITIVE
    n_best: int
    least_norm: float  # a direction with a smaller squared norm counts as none
    learns_new: bool = False  # a sentence with a new tag is learnt, though never counted


class Lessons(NamedTuple):
    """Tagged sentences, and the order in which they are learnt."""

    sentences: Sentences
    tags: Ints  # int64 (tokens,): the right tags; -1 or one beyond those known makes the round a new tag's
    order: Ints  # int64 (rounds,): sentences
    weights: Floats  # float64 (sentences,) or empty


class ChainLearner(NamedTuple):
    """What the loop reads and changes."""

    wish: Wish
    rho: Floats  # float64 (tags, tags): costs by position; empty for the number of errors
    chain: Chain
    counts: Ints  # int64 (6,) as in `Ledger`
    sums: Floats  # float64 (COST + 1,)
    marks: Int32s  # int32 (features,): zeros, before and after
    metric: Metric


class Round(NamedTuple):
    """Arrays that rounds work in, made once; m rivals at most."""

    E: Floats  # float64 (tokens, width): emissions
    room: Scratch  # of the searches
    listed: Ints  # int64 (m, tokens): the best sequences, and their scores
    tops: Floats
    rivals: Ints  # int64 (m, tokens): those of them that are wrong
    gaps: Floats  # float64 (m,): by how much the right sequence beats each rival, and by how much it should
    margins: Floats
    lam: Floats  # float64 (m,): multipliers
    gram: Floats  # float64 (m, m): inner products of the directions
    D: Floats  # float64 (m, features touched + 1, width): the directions, by feature and by transition
    across: Floats  # float64 (m, tags, width)
    touched: Ints  # int64 (features touched + 1,)
    roots: Floats  # float64 (features touched + 1,): roots of the variances; ones where Euclidean


@compiled(helper=True)
def _room(lessons: Lessons, first: int, wish: Wish, width: int, k: int) -> Round:
    """Return room for the rounds from `first` on."""
    sentences, m = lessons.sentences, wish.n_best
    longest, most = 1, 1
    for i in lessons.order[first:]:
        a, b = sentences.ends[i], sentences.ends[i + 1]
        longest, most = max(longest, b - a), max(most, sentences.indptr[b] - sentences.indptr[a])
    return Round(
        np.empty((longest, width)),
        room_for(longest, width, k, m, wish.constraint != PREDICTION, wish.constraint == MAX_LOSS),
        np.zeros((m, longest), np.int64),
        np.zeros(m),
        np.zeros((m, longest), np.int64),
        np.zeros(m),
        np.zeros(m),
        np.zeros(m),
        np.zeros((m, m)),
        np.zeros((m, most + 1, width)),
        np.zeros((m, k, width)),
        np.zeros(most + 1, np.int64),
        np.ones(most + 1),
    )


@compiled
def learn(lessons: Lessons, learner: ChainLearner, given: Floats, k_after: int, told: Told, cursor: Ints) -> None:
    """Learn the sentences in their order from `cursor[0]` on, changing the weights and the counts in place.

    Parameters
    ----------
    lessons : Lessons
    learner : ChainLearner
    given : float64 array (n_best,)
        Costs of the sequences of the list, where a user's function gave them; else empty. For one sentence.
    k_after : int
        Tags known after these sentences.
    told : Told
        Gets each round's flag, where in the list the right sequence was, and the loss: of the rivals' the largest.
    cursor : int64 array (2,)
        The next round; rows of W it may need where it could not begin, else 0.
    """
    chain, counts, sentences = learner.chain, learner.counts, lessons.sentences
    now = _room(lessons, cursor[0], learner.wish, chain.W.shape[2], k_after)
    cursor[1] = 0
    while cursor[0] < lessons.order.shape[0]:
        t = cursor[0]
        i = lessons.order[t]
        a, b = sentences.ends[i], sentences.ends[i + 1]
        weight = lessons.weights[i] if lessons.weights.shape[0] > 0 else 1.0
        need = sentences.indptr[b] - sentences.indptr[a]
        if chain.used[0] + need > chain.W.shape[1]:
            cursor[1] = need
            return
        y = lessons.tags[a:b]
        is_new, k = find_new(y, counts[LABELS])
        if is_new:
            told.flags[t], told.ranks[t] = -1, 0
            counts[NOVEL] += 1
            if weight > 0.0:
                counts[LABELS] = k
        if not is_new or (learner.wish.learns_new and weight > 0.0):
            emissions(chain, sentences, a, b - a, 0, now.E)
            found, rank = _rank(learner, y, k, now)
            if not is_new:
                told.flags[t], told.ranks[t] = rank > 1, rank
                _count(learner, y, rank, given, now)
            n_rivals = _find_rivals(learner, y, k, given, found, now)
            misses, loss = _compare(learner, y, n_rivals, given, now)
            if not is_new:
                told.losses[t] = loss
            if misses and weight > 0.0:
                _step(learner, sentences, a, y, n_rivals, weight, now)
        counts[ROUNDS] += 1
        counts[LEARNT] += weight > 0.0
        cursor[0] = t + 1


@compiled(helper=True)
def _rank(learner: ChainLearner, y: Ints, k: int, now: Round) -> tuple[int, int]:
    """List the best sequences; return how many are listed, and at which rank the right one is."""
    n, m = y.shape[0], learner.wish.n_best
    found = best_paths(now.E, learner.chain.T[0], n, k, m, now.room, now.listed, now.tops)
    rank = m + 1
    for j in range(found - 1, -1, -1):
        if _same(n, now.listed[j], y):
            rank = j + 1
    return found, rank


@compiled(helper=True)
def _count(learner: ChainLearner, y: Ints, rank: int, given: Floats, now: Round) -> None:
    """Count a sentence whose right sequence is at that rank among those listed."""
    learner.counts[MISTAKES] += rank > 1
    if rank > 1:
        cost = given[0] if given.shape[0] > 0 else table_cost(learner.rho, y.shape[0], y, now.listed[0])
        learner.sums[COST] += cost


@compiled(helper=True)
def _find_rivals(learner: ChainLearner, y: Ints, k: int, given: Floats, found: int, now: Round) -> int:
    """Fill in the sequences that the right one is compared with, and their given costs; return how many.

    Without costs in the search these are the wrong ones among the `found` that are listed.
    """
    constraint, T, n, m = learner.wish.constraint, learner.chain.T[0], y.shape[0], learner.wish.n_best
    if constraint != PREDICTION:
        raised_by_cost(now.E, n, k, y, learner.rho, now.room.raised)
    if constraint == MAX_LOSS:
        return 1 if largest_loss(now.E, T, n, k, y, now.listed[0], now.room, now.rivals[0]) > 0 else 0
    if constraint == ADDITIVE:
        found = best_paths(now.room.raised, T, n, k, m, now.room, now.listed, now.tops)
    n_rivals = 0
    for j in range(found):
        if not _same(n, now.listed[j], y):
            copy_to(now.rivals[n_rivals], now.listed[j])
            now.margins[n_rivals] = given[j] if given.shape[0] > 0 else 0.0
            n_rivals += 1
    return n_rivals


@compiled(helper=True)
def _compare(learner: ChainLearner, y: Ints, n_rivals: int, given: Floats, now: Round) -> tuple[bool, float]:
    """Fill in gaps and margins; return True if some rival is too near, and the largest loss."""
    E, T, n, margins = now.E, learner.chain.T[0], y.shape[0], now.margins
    right, misses, loss = path_score(E, T, n, y), False, 0.0
    for j in range(n_rivals):
        now.gaps[j] = right - path_score(E, T, n, now.rivals[j])
        cost = margins[j] if given.shape[0] > 0 else table_cost(learner.rho, n, y, now.rivals[j])
        margins[j] = cost if learner.wish.constraint == ADDITIVE else math.sqrt(cost)
        misses = misses or now.gaps[j] < margins[j] or now.gaps[j] <= 0.0
        loss = max(loss, margins[j] - now.gaps[j])
    return misses, loss


@compiled(helper=True)
def _step(
    learner: ChainLearner, sentences: Sentences, a: int, y: Ints, n_rivals: int, weight: float, now: Round
) -> None:
    """Ask the rule for its multipliers, and move by them."""
    wish, counts, sums, k = learner.wish, learner.counts, learner.sums, learner.counts[LABELS]
    gaps, margins, lam = now.gaps[:n_rivals], now.margins[:n_rivals], now.lam[:n_rivals]
    n_touched = _directions(sentences, a, y, now.rivals[:n_rivals], learner.marks, now)
    _stretch(learner.metric, n_rivals, n_touched, now)
    _inner_products(n_rivals, n_touched, k, wish, now)
    C = wish.C * weight if wish.uses_weight else wish.C
    total, softened = multipliers(wish.words, gaps, margins, now.gram, C, lam)
    if total > 0.0:
        counts[UPDATES] += 1
        sums[PENALTY] += softened
        inner = 0.0
        for j in range(n_rivals):
            sums[GAIN] += lam[j] * margins[j]
            inner += lam[j] * gaps[j]
        moved = _move(learner.chain, learner.metric, lam, n_touched, k, float(counts[LEARNT]), now)
        sums[SQ_NORM] = moved_sq_norm(sums[SQ_NORM], inner, moved)


@compiled(helper=True)
def _same(n: int, tags: Ints, other: Ints) -> bool:
    i = 0
    while i < n and tags[i] == other[i]:
        i += 1
    return i == n


@compiled(helper=True)
def _directions(sentences: Sentences, a: int, y: Ints, rivals: Ints, marks: Int32s, now: Round) -> int:
    """z_j = Φ(x, y) - Φ(x, ŷ_j): rows 1 to the number returned of D[j], for the features in `touched`; and `across`."""
    D, across, touched, m, n = now.D, now.across, now.touched, rivals.shape[0], y.shape[0]
    across[:m] = 0.0
    n_touched = 0
    for j in range(m):
        other = rivals[j]
        for i in range(n):
            if i > 0:
                across[j, y[i - 1], y[i]] += 1.0
                across[j, other[i - 1], other[i]] -= 1.0
            if y[i] == other[i]:
                continue
            for at in range(sentences.indptr[a + i], sentences.indptr[a + i + 1]):
                f = sentences.features[at]
                place = marks[f]
                if place == 0:
                    n_touched += 1
                    place = n_touched
                    marks[f] = place
                    touched[place] = f
                    D[:m, place] = 0.0
                value = 1.0 if sentences.values.shape[0] == 0 else np.float64(sentences.values[at])
                D[j, place, y[i]] += value
                D[j, place, other[i]] -= value
    for place in range(1, n_touched + 1):
        marks[touched[place]] = 0
    return n_touched


@compiled(helper=True)
def _stretch(metric: Metric, m: int, n_touched: int, now: Round) -> None:
    """Replace the features' part of z_j by √Σ of it, whose plain inner products are those in the metric."""
    if adapts(metric):
        for place in range(1, n_touched + 1):
            now.roots[place] = math.sqrt(variance(metric.seen[now.touched[place]], metric.r))
            for j in range(m):
                own = now.D[j, place]
                for c in range(own.shape[0]):
                    own[c] *= now.roots[place]


@compiled(helper=True)
def _inner_products(m: int, n_touched: int, k: int, wish: Wish, now: Round) -> None:
    """⟨z_i, z_j⟩: all of them for joint steps, else the squared norms alone."""
    D, across, gram = now.D, now.across, now.gram
    for i in range(m):
        for j in range(0 if is_joint(wish.words) else i, i + 1):
            total = 0.0
            for place in range(1, n_touched + 1):
                for c in range(k):
                    total += D[i, place, c] * D[j, place, c]
            for p in range(k):
                for c in range(k):
                    total += across[i, p, c] * across[j, p, c]
            if i == j and total < wish.least_norm:
                total = 0.0
            gram[i, j] = total
            gram[j, i] = total


@compiled(helper=True)
def _move(chain: Chain, metric: Metric, lam: Floats, n_touched: int, k: int, age: float, now: Round) -> float:
    """Add Σ_j λ_j z_j, in the metric, to the weights, and that times `age` to the sums of the average.

    Return its squared norm. In a metric each feature that moves is entered with the x² of a pair of labels: half the
    squared length that it has in the mean direction Σ λ_j z_j / Σ λ_j.
    """
    D, across, touched, move, m = now.D, now.across, now.touched, now.room.work[0], lam.shape[0]
    W, T, width, averaged = chain.W, chain.T, chain.W.shape[2], chain.W.shape[0] == 2
    square, total = 0.0, np.sum(lam)
    for place in range(1, n_touched + 1):
        here, root = 0.0, now.roots[place]
        for c in range(width):
            move[c] = lam[0] * D[0, place, c]
        for j in range(1, m):
            for c in range(width):
                move[c] += lam[j] * D[j, place, c]
        for c in range(k):
            here += move[c] * move[c]
        if here == 0.0:
            continue
        square += here
        if adapts(metric):
            metric.seen[touched[place]] += 0.5 * here / (root * total) ** 2
        slot = chain.slots[touched[place]]
        if slot == 0:
            slot = chain.used[0]
            chain.slots[touched[place]] = slot
            chain.used[0] += 1
        row = W[0, slot]
        for c in range(width):
            row[c] += root * move[c]
        if averaged:
            kept = W[1, slot]
            for c in range(width):
                kept[c] += age * (root * move[c])
    for p in range(k):
        for c in range(k):
            step = 0.0
            for j in range(m):
                step += lam[j] * across[j, p, c]
            if step != 0.0:
                square += step * step
                T[0, p, c] += step
                if averaged:
                    T[1, p, c] += age * step
    return square
