"""The variables of the joint step on a Gram matrix: what each earns, and which one is to join.

A variable is a pair (r, s) of a right and a wrong label, with direction z = V_r - V_s, or the slack, written r = s,
which has no direction and earns nothing. What counts is the lead: how much more a unit earns than one of the base.
"""

from __future__ import annotations

from typing import NamedTuple

from hinged.compiling import compiled
from hinged.compiling.arrays import Bools, Floats, Ints

__all__ = [
    "EPS",
    "FLAT",
    "Active",
    "Problem",
    "doubt",
    "inner",
    "is_news",
    "lead",
    "most_violated",
    "net",
    "product",
    "rises",
    "settled",
]

EPS = 2.0**-52
FLAT = 1e-14  # squares below this share of what they were computed from are rounding


class Problem(NamedTuple):
    """What stays: the scores, the Gram matrix, the vectors' lengths √K_rr, the margin."""

    scores: Floats
    K: Floats
    length: Floats
    margin: float


class Active(NamedTuple):
    """The active variables, the base first: pairs (up, down), or the slack as up = down.

    `L` is the factor of the Gram matrix of their directions less that of the base.
    """

    up: Ints
    down: Ints
    amount: Floats
    step: Floats  # where the amounts are going
    work: Floats
    L: Floats


# ------------------------------------------------------------------ what a unit earns
@compiled(helper=True)
def _ahead(x: Floats, r: int, s: int, a: int, b: int) -> float:
    """How much further apart r and s are than a and b; of two pairs, like labels first, which are often the same."""
    if r == s or a == b:
        return (x[r] - x[s]) - (x[a] - x[b])
    return (x[r] - x[a]) - (x[s] - x[b])


@compiled(helper=True)
def _start(problem: Problem, active: Active, r: int, s: int) -> float:
    """How much more the first unit of variable (r, s) earns than that of the base."""
    a, b = active.up[0], active.down[0]
    return problem.margin * (int(r != s) - int(a != b)) - _ahead(problem.scores, r, s, a, b)


@compiled(helper=True)
def lead(problem: Problem, active: Active, rise: Floats, r: int, s: int) -> float:
    """How much more another unit of variable (r, s) earns than one of the base."""
    return _start(problem, active, r, s) - _ahead(rise, r, s, active.up[0], active.down[0])


@compiled(helper=True)
def _blur(problem: Problem, reach: float, r: int, s: int) -> float:
    """How much of rise[r] - rise[s] may be rounding; `reach` is Σ|g| √K, so that |Kg| <= √K reach."""
    return 0.0 if r == s else EPS * (problem.length[r] + problem.length[s]) * reach


@compiled(helper=True)
def doubt(problem: Problem, active: Active, reach: float, r: int, s: int) -> float:
    """How large a lead may be rounding, that of the scores included."""
    a, b = active.up[0], active.down[0]
    given = 2.0 * problem.margin
    for t in (r, s, a, b):
        given += abs(problem.scores[t])
    return 4.0 * (EPS * given + _blur(problem, reach, r, s) + _blur(problem, reach, a, b))


@compiled(helper=True)
def net(active: Active, amounts: Floats, n: int, g: Floats) -> None:
    """Per label: the amounts of pairs that lift it, less those of pairs that press it."""
    g[:] = 0.0
    for i in range(n):
        if active.up[i] != active.down[i]:
            g[active.up[i]] += amounts[i]
            g[active.down[i]] -= amounts[i]


@compiled(helper=True)
def product(K: Floats, h: Floats, out: Floats) -> None:
    """Fill `out` with K h; K is symmetric, and h has many zeros."""
    out[:] = 0.0
    for t in range(h.shape[0]):
        if h[t] != 0.0:
            for u in range(h.shape[0]):
                out[u] += h[t] * K[t, u]


@compiled(helper=True)
def rises(problem: Problem, active: Active, n: int, g: Floats, rise: Floats) -> float:
    """Fill `rise` from the amounts; return the reach of `_blur`."""
    net(active, active.amount, n, g)
    product(problem.K, g, rise)
    reach = 0.0
    for t in range(g.shape[0]):
        reach += abs(g[t]) * problem.length[t]
    return reach


# ------------------------------------------------------------------ which variable joins
@compiled(helper=True)
def settled(problem: Problem, active: Active, n: int, rise: Floats, reach: float) -> bool:
    """Write the leads where the steps will be; return True if all of them are rounding of the rises."""
    a, b = active.up[0], active.down[0]
    active.step[0] = 0.0
    quiet = True
    for i in range(1, n):
        r, s = active.up[i], active.down[i]
        active.step[i] = lead(problem, active, rise, r, s)
        blur = _blur(problem, reach, r, s) + _blur(problem, reach, a, b)
        blur += EPS * abs(_start(problem, active, r, s))
        quiet = quiet and abs(active.step[i]) <= 2.0 * blur
    return quiet


@compiled(helper=True)
def most_violated(
    problem: Problem, active: Active, rise: Floats, is_relevant: Bools, left_out: Bools, reach: float
) -> tuple[int, int]:
    """The lowest right and the highest wrong label, or the slack if that earns more.

    With `left_out`, the pair whose margin is furthest away instead, lead / ‖z‖, among those that are neither left out
    nor flat: by the lengths of their own labels, or at 1e-12 of the longest.
    """
    scores, K = problem.scores, problem.K
    r, s = -1, -1
    if left_out.shape[0] == 0:
        for t in range(rise.shape[0]):
            if is_relevant[t]:
                if r < 0 or scores[t] + rise[t] < scores[r] + rise[r]:
                    r = t
            elif s < 0 or scores[t] + rise[t] > scores[s] + rise[s]:
                s = t
    else:
        furthest, longest = 0.0, 0.0
        for length in problem.length:
            longest = max(longest, length)
        least = (1e-12 * longest) ** 2
        for a in range(rise.shape[0]):
            for b in range(rise.shape[0] if is_relevant[a] else 0):
                more = lead(problem, active, rise, a, b)
                if is_relevant[b] or left_out[a, b] or more <= 0.0:
                    continue
                square = inner(K, a, b, a, b)
                if square > max(FLAT * (K[a, a] + K[b, b]), least) and more**2 / square > furthest:
                    if more > doubt(problem, active, reach, a, b):
                        r, s, furthest = a, b, more**2 / square
    if r < 0 or s < 0 or problem.margin - (scores[r] - scores[s]) < rise[r] - rise[s]:
        return 0, 0
    return r, s


@compiled(helper=True)
def is_news(problem: Problem, active: Active, n: int, rise: Floats, reach: float, r: int, s: int) -> bool:
    """Return True if a variable earns more than the base, beyond rounding, and is not active yet."""
    for i in range(n):
        if (active.up[i] == r and active.down[i] == s) or (r == s and active.up[i] == active.down[i]):
            return False
    return lead(problem, active, rise, r, s) > doubt(problem, active, reach, r, s)


@compiled(helper=True)
def inner(K: Floats, a: int, b: int, c: int, d: int) -> float:
    """⟨V_a - V_b, V_c - V_d⟩."""
    return (K[a, c] - K[a, d]) - (K[b, c] - K[b, d])
