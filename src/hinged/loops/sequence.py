"""The loop over tagged sentences: score the tokens, search, count, step, move.

It joins a task (the right sequence above its rivals, each by the root of its cost) and a rule on that list. It never
makes room for features: where that runs out it stops before the round and says so in `cursor`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from hinged.geometry.euclidean import moved_sq_norm
from hinged.loops.ledger import GAIN, LABELS, LEARNT, MISTAKES, NOVEL, PENALTY, ROUNDS, SQ_NORM, UPDATES
from hinged.loops.tokens import emissions
from hinged.rules.combine import multipliers
from hinged.rules.words import JOINT, Words
from hinged.tasks.sequence import best_path, best_paths, largest_loss, path_score, raised_by_cost, table_cost

__all__ = ["ADDITIVE", "COST", "MAX_LOSS", "PREDICTION", "Wish", "learn"]

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


# ------------------------------------------------------------------ learning
@njit(cache=True, nogil=True)
def learn(
    sentences: Any,
    tags: Any,
    order: Any,
    weights: Any,
    wish: Any,
    rho: Any,
    given: Any,
    chain: Any,
    counts: Any,
    sums: Any,
    marks: Any,
    k_after: int,
    told: Any,
    cursor: Any,
) -> None:
    """Learn the sentences of `order` from `cursor[0]` on, changing the weights and the counts in place.

    Parameters
    ----------
    tags : int64 array (tokens,)
        The right tags; -1 or one beyond those known makes the round a new tag's.
    weights : float64 array (sentences,) or empty
    rho : float64 array (tags, tags)
        Costs by position; empty for the number of errors.
    given : float64 array (n_best,)
        Costs of the sequences of the list, where a function of the user's told them; else empty. For one sentence.
    marks : int32 array (features,)
        Zeros, before and after.
    told : Told
        Gets each round's flag, where in the list the right sequence was, and the loss: of the rivals' the largest.
    cursor : int64 array (2,)
        The next round; rows of W it may need where it could not begin, else 0.
    """
    flags, ranks, losses = told.flags, told.ranks, told.losses
    longest, most = 1, 1
    for t in range(cursor[0], order.shape[0]):
        a, b = sentences.ends[order[t]], sentences.ends[order[t] + 1]
        longest, most = max(longest, b - a), max(most, sentences.indptr[b] - sentences.indptr[a])
    width, m = chain.W.shape[2], wish.n_best
    T = chain.T[0]
    E, raised = np.empty((longest, width)), np.empty((longest if wish.constraint != PREDICTION else 0, width))
    came, work = np.zeros((longest, width), np.int64), np.zeros((2, width))
    by_errors = longest if wish.constraint == MAX_LOSS else 0
    came_by_errors = np.zeros((by_errors, by_errors + 1, width), np.int16)
    work_by_errors = np.zeros((2 * by_errors + 4, width))
    many = m if m > 1 else 0
    scores = np.zeros((2, k_after, many))
    from_tag, from_place = np.zeros((longest, k_after, many), np.int64), np.zeros((longest, k_after, many), np.int64)
    listed, tops = np.zeros((m, longest), np.int64), np.zeros(m)
    rivals = np.zeros((m, longest), np.int64)
    gaps, margins, lam, gram = np.zeros(m), np.zeros(m), np.zeros(m), np.zeros((m, m))
    D, across = np.zeros((m, most + 1, width)), np.zeros((m, k_after, width))
    touched = np.zeros(most + 1, np.int64)
    cursor[1] = 0
    while cursor[0] < order.shape[0]:
        t = cursor[0]
        i = order[t]
        a, b = sentences.ends[i], sentences.ends[i + 1]
        n, k = b - a, counts[LABELS]
        y = tags[a:b]
        weight = weights[i] if weights.shape[0] > 0 else 1.0
        need = sentences.indptr[b] - sentences.indptr[a]
        if chain.used[0] + need > chain.W.shape[1]:
            cursor[1] = need
            return
        least, after = 0, k
        for j in range(n):
            least, after = min(least, y[j]), max(after, y[j] + 1)
        if least < 0 or after > k:
            flags[t], ranks[t] = -1, 0
            counts[NOVEL] += 1
            if weight > 0.0:
                counts[LABELS] = after
        else:
            # ---- predict and count
            emissions(chain, sentences, a, n, 0, E)
            found = _search(E, T, n, k, m, came, work, scores, from_tag, from_place, listed, tops)
            rank = m + 1
            for j in range(found - 1, -1, -1):
                if _same(n, listed[j], y):
                    rank = j + 1
            flags[t], ranks[t] = rank > 1, rank
            counts[MISTAKES] += rank > 1
            if rank > 1:
                sums[COST] += given[0] if given.shape[0] > 0 else table_cost(rho, n, y, listed[0])
            # ---- who the rivals are, and what is asked of each
            n_rivals = 0
            if wish.constraint == MAX_LOSS:
                raised_by_cost(E, n, k, y, rho, raised)
                wrong = largest_loss(E, T, n, k, y, listed[0], raised, came, came_by_errors, work_by_errors, rivals[0])
                n_rivals = 1 if wrong > 0 else 0
            else:
                if wish.constraint == ADDITIVE:
                    raised_by_cost(E, n, k, y, rho, raised)
                    found = _search(raised, T, n, k, m, came, work, scores, from_tag, from_place, listed, tops)
                for j in range(found):
                    if not _same(n, listed[j], y):
                        rivals[n_rivals] = listed[j]
                        margins[n_rivals] = given[j] if given.shape[0] > 0 else 0.0
                        n_rivals += 1
            right, hurts, loss = path_score(E, T, n, y), False, 0.0
            for j in range(n_rivals):
                gaps[j] = right - path_score(E, T, n, rivals[j])
                cost = margins[j] if given.shape[0] > 0 else table_cost(rho, n, y, rivals[j])
                margins[j] = cost if wish.constraint == ADDITIVE else math.sqrt(cost)
                hurts = hurts or gaps[j] < margins[j] or gaps[j] <= 0.0
                loss = max(loss, margins[j] - gaps[j])
            losses[t] = loss
            # ---- step and move
            if hurts and weight > 0.0:
                n_touched = _directions(sentences, a, n, y, rivals, n_rivals, marks, touched, D, across)
                _inner_products(D, across, n_rivals, n_touched, k, wish, gram)
                C = wish.C * weight if wish.uses_weight else wish.C
                total, softened = multipliers(wish.words, gaps[:n_rivals], margins[:n_rivals], gram, C, lam[:n_rivals])
                if total > 0.0:
                    counts[UPDATES] += 1
                    sums[PENALTY] += softened
                    inner = 0.0
                    for j in range(n_rivals):
                        sums[GAIN] += lam[j] * margins[j]
                        inner += lam[j] * gaps[j]
                    age = float(counts[LEARNT])
                    moved = _move(chain, D, across, lam, n_rivals, touched, n_touched, k, age, work[0])
                    sums[SQ_NORM] = moved_sq_norm(sums[SQ_NORM], inner, moved)
        counts[ROUNDS] += 1
        counts[LEARNT] += weight > 0.0
        cursor[0] = t + 1


@njit(cache=True)
def _search(
    E: Any,
    T: Any,
    n: int,
    k: int,
    m: int,
    came: Any,
    work: Any,
    scores: Any,
    from_tag: Any,
    from_place: Any,
    listed: Any,
    tops: Any,
) -> int:
    """The `m` best sequences in `listed`; how many there are."""
    if m == 1:
        tops[0] = best_path(E, T, n, k, came, work, listed[0])
        return 1
    return best_paths(E, T, n, k, m, scores, from_tag, from_place, listed, tops)


@njit(cache=True)
def _same(n: int, tags: Any, other: Any) -> bool:
    i = 0
    while i < n and tags[i] == other[i]:
        i += 1
    return i == n


@njit(cache=True)
def _directions(
    sentences: Any, a: int, n: int, y: Any, rivals: Any, m: int, marks: Any, touched: Any, D: Any, across: Any
) -> int:
    """z_j = Φ(x, y) - Φ(x, ŷ_j): rows 1 to the number returned of D[j], for the features in `touched`; and `across`."""
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


@njit(cache=True)
def _inner_products(D: Any, across: Any, m: int, n_touched: int, k: int, wish: Any, gram: Any) -> None:
    """⟨z_i, z_j⟩: all of them for joint steps, else the squared norms alone."""
    for i in range(m):
        for j in range(0 if wish.words.combine == JOINT else i, i + 1):
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


@njit(cache=True)
def _move(
    chain: Any, D: Any, across: Any, lam: Any, m: int, touched: Any, n_touched: int, k: int, age: float, move: Any
) -> float:
    """Add Σ_j λ_j z_j to the weights, and that times `age` to the sums of the average; return its squared norm."""
    W, T, width, averaged = chain.W, chain.T, chain.W.shape[2], chain.W.shape[0] == 2
    square = 0.0
    for place in range(1, n_touched + 1):
        here = 0.0
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
        slot = chain.slots[touched[place]]
        if slot == 0:
            slot = chain.used[0]
            chain.slots[touched[place]] = slot
            chain.used[0] += 1
        row = W[0, slot]
        for c in range(width):
            row[c] += move[c]
        if averaged:
            kept = W[1, slot]
            for c in range(width):
                kept[c] += age * move[c]
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
