"""Sequences: one tag per token, scored by what each token says of each tag and by what follows what.

A sequence y of n tags scores Σ_i E[i, y_i] + Σ_i T[y_(i-1), y_i], with E the emissions (tokens, tags) and T the
transitions (previous, current); nothing is added for the first or the last tag. Crammer et al. (2006), section 9, with
first-order features. Every search here is exact; ties go to the lowest tag, for the last tag and for each predecessor.

Rows of E and T are padded, so that the innermost loop runs over whole vectors of tags: the first `k` columns count.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats, Int16s, Ints
from hinged.compiling.copying import copy_to

__all__ = [
    "Scratch",
    "best_by_errors",
    "best_path",
    "best_paths",
    "count_errors",
    "largest_loss",
    "path_score",
    "raised_by_cost",
    "room_for",
    "table_cost",
]


class Scratch(NamedTuple):
    """Arrays that searches over sequences work in, made once by `room_for`."""

    came: np.ndarray  # int64 (tokens, width): where the best path to each tag came from
    work: np.ndarray  # float64 (2, width)
    scores: np.ndarray  # float64 (2, tags, m): the m best paths that end in each tag
    from_tag: np.ndarray  # int64 (tokens, tags, m), both: where each of these came from
    from_place: np.ndarray
    raised: np.ndarray  # float64 (tokens, width): emissions to which costs are added
    came_by: np.ndarray  # int16 (tokens, tokens + 1, width): `came` for each number of errors
    work_by: np.ndarray  # float64 (2 tokens + 4, width)


@compiled
def room_for(tokens: int, width: int, k: int, m: int, costs: bool = False, by_errors: bool = False) -> Scratch:
    """Return room for the `m` best of `k` tags, with costs added to emissions, or by the number of errors as well."""
    many, most = m if m > 1 else 0, tokens if by_errors else 0
    return Scratch(
        np.zeros((tokens, width), np.int64),
        np.zeros((2, width)),
        np.zeros((2, k, many)),
        np.zeros((tokens, k, many), np.int64),
        np.zeros((tokens, k, many), np.int64),
        np.empty((tokens if costs else 0, width)),
        np.zeros((most, most + 1, width), np.int16),
        np.zeros((2 * most + 4, width)),
    )


@compiled
def path_score(E: Floats, T: Floats, n: int, tags: Ints) -> float:
    """The score of one sequence of `n` tags."""
    total = E[0, tags[0]]
    for i in range(1, n):
        total = total + T[tags[i - 1], tags[i]] + E[i, tags[i]]  # in the order of the searches
    return total


@compiled(helper=True)
def count_errors(n: int, tags: Ints, other: Ints) -> int:
    """Positions at which two sequences differ: the Hamming cost."""
    errors = 0
    for i in range(n):
        errors += tags[i] != other[i]
    return errors


@compiled(helper=True)
def table_cost(rho: Floats, n: int, tags: Ints, other: Ints) -> float:
    """Σ_i ρ[y_i, y'_i]; an empty table is the Hamming cost."""
    if rho.shape[0] == 0:
        return float(count_errors(n, tags, other))
    total = 0.0
    for i in range(n):
        total += rho[tags[i], other[i]]
    return total


@compiled(inline=True)
def _extend(T: Floats, before: Floats, k: int, best: Floats, came: Ints | Int16s) -> None:
    """For each tag, the best way to reach it: best[c] = max_p before[p] + T[p, c], and that p."""
    width = best.shape[0]
    row = T[0]
    for c in range(width):
        best[c] = before[0] + row[c]
        came[c] = 0
    for p in range(1, k):
        row = T[p]
        start = before[p]
        for c in range(width):  # selects, not branches: this becomes SIMD code
            reached = start + row[c]
            better = reached > best[c]
            came[c] = p if better else came[c]
            best[c] = reached if better else best[c]


@compiled
def best_path(E: Floats, T: Floats, n: int, k: int, came: Ints, work: Floats, tags: Ints) -> float:
    """Viterbi's search: fill `tags` with the best of all k^n sequences; return its score.

    Parameters
    ----------
    E, T : float64 arrays (tokens, width) and (tags, width)
        Emissions and transitions.
    n, k : int
        Tokens and tags; the last of the `width` columns may be padding.
    came : int64 array (tokens, width), work : float64 array (2, width)
        Scratch.
    tags : int64 array (tokens,)
        The sequence on return.

    Examples
    --------
    >>> E, T = np.array([[0.0, 1.0], [2.0, 0.0]]), np.array([[0.5, 0.0], [-2.0, 0.0]])
    >>> tags = np.zeros(2, np.int64)
    >>> best_path(E, T, 2, 2, np.zeros((2, 2), np.int64), np.zeros((2, 2)), tags), tags.tolist()
    (2.5, [0, 0])
    """
    now, best = work[0], work[1]
    copy_to(now, E[0])
    for i in range(1, n):
        _extend(T, now, k, best, came[i])
        emission = E[i]
        for c in range(now.shape[0]):
            now[c] = best[c] + emission[c]
    last = 0
    for c in range(1, k):
        if now[c] > now[last]:
            last = c
    score = now[last]
    tags[n - 1] = last
    for i in range(n - 1, 0, -1):
        last = came[i, last]
        tags[i - 1] = last
    return score


@compiled
def raised_by_cost(E: Floats, n: int, k: int, right: Ints, rho: Floats, raised: Floats) -> None:
    """Fill `raised` with emissions to which the cost of each tag is added; an empty table is the Hamming cost."""
    for i in range(n):
        for c in range(k):
            cost = rho[right[i], c] if rho.shape[0] > 0 else 0.0 if c == right[i] else 1.0
            raised[i, c] = E[i, c] + cost


@compiled
def largest_loss(E: Floats, T: Floats, n: int, k: int, right: Ints, predicted: Ints, room: Scratch, tags: Ints) -> int:
    r"""Find the sequence with the largest score plus :math:`\sqrt e`, e its errors; fill `tags`, return e.

    The root does not fall apart over positions, so the number of errors becomes part of the state: O(n E k²) for up to
    E errors. How many can matter is bounded first: with A the largest score plus e, which is an ordinary search, no
    sequence of e errors reaches more than A - e + √e.

    Parameters
    ----------
    right, predicted : int64 arrays (tokens,)
        The right tags, and the best ones.
    room : Scratch
        By errors; its `raised` are emissions with 1 added to each wrong tag.
    """
    A = best_path(room.raised, T, n, k, room.came, room.work, tags)
    known = path_score(E, T, n, right)
    for other in (predicted, tags):
        known = max(known, path_score(E, T, n, other) + math.sqrt(count_errors(n, right, other)))
    known -= 1e-9 * (1.0 + abs(known))  # what is found by another sum may differ in the last digits
    most = 0
    for e in range(1, n + 1):
        if A - e + math.sqrt(e) >= known:
            most = e
    return best_by_errors(E, T, n, k, right, most, room, tags)


@compiled
def best_by_errors(E: Floats, T: Floats, n: int, k: int, right: Ints, most: int, room: Scratch, tags: Ints) -> int:
    """The largest score plus √e among sequences of up to `most` errors; fill `tags`, return e.

    The best path to each tag with each number of errors, then the best of them all; of equals, the fewest errors.
    """
    if most == 0:
        copy_to(tags[:n], right)
        return 0
    came, work = room.came_by, room.work_by
    now, new = work[: n + 1], work[n + 1 : 2 * n + 2]
    best = work[2 * n + 2]
    now[:2] = -math.inf
    for c in range(k):
        now[1, c] = E[0, c]
    now[1, right[0]], now[0, right[0]] = -math.inf, E[0, right[0]]
    for i in range(1, n):
        reached = min(i, most)
        new[: reached + 2] = -math.inf
        for e in range(reached + 1):
            _extend(T, now[e], k, best, came[i, e])
            at = came[i, e, right[i]]  # the right tag adds no error
            straight = now[e, at] + T[at, right[i]] + E[i, right[i]]
            for c in range(k):
                new[e + 1, c] = best[c] + E[i, c]
            new[e + 1, right[i]] = -math.inf
            new[e, right[i]] = straight
        now, new = new, now
    errors, last, top = 0, right[n - 1], now[0, right[n - 1]]
    for e in range(1, min(n, most) + 1):
        for c in range(k):
            if now[e, c] + math.sqrt(e) > top:
                errors, last, top = e, c, now[e, c] + math.sqrt(e)
    e = errors
    for i in range(n - 1, -1, -1):
        tags[i] = last
        if last != right[i]:
            e -= 1
        if i > 0:
            last = came[i, e, last]
    return errors


@compiled
def best_paths(E: Floats, T: Floats, n: int, k: int, m: int, room: Scratch, tags: Ints, tops: Floats) -> int:
    """Find the `m` best sequences, best first: fill `tags` and `tops`, return how many there are (at most k^n).

    Each tag keeps a list of the `m` best paths that end in it. The first sequence is that of `best_path`.

    Parameters
    ----------
    room : Scratch
        For `m`.
    tags : int64 array (m, tokens)
    tops : float64 array (m,)
    """
    if m == 1:
        tops[0] = best_path(E, T, n, k, room.came, room.work, tags[0])
        return 1
    scores, from_tag, from_place = room.scores, room.from_tag, room.from_place
    now, new = scores[0], scores[1]
    now[:] = -math.inf
    for c in range(k):
        now[c, 0] = E[0, c]
    for i in range(1, n):
        for c in range(k):
            reached, tag, place = new[c], from_tag[i, c], from_place[i, c]
            reached[:] = -math.inf
            for p in range(k):
                for j in range(m):
                    value = now[p, j] + T[p, c]
                    if not value > reached[m - 1]:  # the rest of this list is no better
                        break
                    _insert(reached, tag, place, value, p, j)
            for j in range(m):
                reached[j] += E[i, c]
        now, new = new, now
    tops[:] = -math.inf
    last, place = np.empty(m, np.int64), np.empty(m, np.int64)
    for c in range(k):
        for j in range(m):
            if not now[c, j] > tops[m - 1]:
                break
            _insert(tops, last, place, now[c, j], c, j)
    found = 0
    while found < m and tops[found] > -math.inf:
        c, j = last[found], place[found]
        for i in range(n - 1, -1, -1):
            tags[found, i] = c
            if i > 0:
                c, j = from_tag[i, c, j], from_place[i, c, j]
        found += 1
    return found


@compiled(inline=True)
def _insert(values: Floats, tag: Ints, place: Ints, value: float, p: int, j: int) -> None:
    """Put a path into a falling list, behind its equals; the last one drops out."""
    at = values.shape[0] - 1
    while at > 0 and value > values[at - 1]:
        values[at], tag[at], place[at] = values[at - 1], tag[at - 1], place[at - 1]
        at -= 1
    values[at], tag[at], place[at] = value, p, j
