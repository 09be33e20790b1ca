"""The exact joint step on a Gram matrix, by an active-set method over pairs of labels.

The problem of optimal.py, in amounts on the variables of pairs.py:

    max  sum_j lam_j (m - (s_r - s_s)) - 1/2 ||sum_j lam_j z_j||²     lam >= 0, sum_j lam_j + slack = C

Without a cap the slack is infinite. One active variable is the base; the others trade with it. A primal method, as
in Nocedal and Wright, Numerical Optimization (2006), algorithm 16.3; directions that do not curve are followed until
an amount runs out. Derived in docs/maths.md, "The exact joint step on the Gram matrix".
"""

from __future__ import annotations

import math

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Bools, Floats
from hinged.rules.factor import append, remove, solve
from hinged.rules.gram import Gram, make_known, whole
from hinged.rules.pairs import (
    EPS,
    FLAT,
    Active,
    Problem,
    doubt,
    inner,
    is_news,
    lead,
    most_violated,
    net,
    product,
    rises,
    settled,
)

__all__ = ["maximise", "on_gram"]

SHORT = 1.0 - 2.0**-48  # of the step: labels that should end level keep their order, whatever rounding does later
NEWTON, EXCHANGES = 20, 20  # passes over one set of active variables: by the factor, then two variables at a time


@compiled
def on_gram(
    scores: Floats, is_relevant: Bools, K: Floats, margin: float, C: float, skip_flat: bool, g: Floats
) -> float:
    """Exact joint step for any sharing scheme, from the Gram matrix K of the labels' vectors; return its total.

    Pairs of norm 0 cannot be met by any move. They take what is left of `C` in the dual, as its definition has it,
    unless `skip_flat` leaves them out, as MIRA does; without a cap they are always left out, and so is a pair that
    contradicts those met before it.

    Parameters
    ----------
    scores : float64 array (labels,)
    is_relevant : bool array (labels,)
    K : float64 array (labels, labels)
    margin, C : float
        The margin asked for, and the cap on the total (may be infinite).
    skip_flat : bool
    g : float64 array (labels,)
        Net coefficients on return.
    """
    return maximise(scores, is_relevant, whole(K), margin, C, skip_flat, g)[0]


@compiled(helper=True)
def maximise(
    scores: Floats,
    is_relevant: Bools,
    gram: Gram,
    margin: float,
    C: float,
    skip_flat: bool,
    g: Floats,
    moving_only: bool = False,
) -> tuple[float, int]:
    """Fill `g` as `on_gram` says; return its total, and how many passes it took, each O(k n) with n active variables.

    With `moving_only`, what pairs of norm 0 took is in the total alone.

    A pass lets the most violated pair join, once the active ones are settled, or moves these towards the point
    where all of them gain the same: as far as the objective rises, or until an amount runs out and leaves.
    """
    # lead: what a variable gains more than the base · rise = Kg: what the scores gained so far
    # h: the move per label · bend: its curvature h'Kh · extent: its length at most
    k, uncapped = scores.shape[0], math.inf == C
    problem, farthest = _problem(scores, gram.K, margin)
    active = _room(k + 3)
    left_out = _left_out(gram, is_relevant, skip_flat or uncapped)
    rise, h, rate = np.zeros(k), np.empty(k), np.empty(k)
    active.amount[0], n = C, 1
    reach, fresh, tries, passes = 0.0, True, 0, 0
    while passes < 20 * k + 200:
        passes += 1
        joins = False
        if settled(problem, active, n, rise, reach) or tries == NEWTON + EXCHANGES:
            if not fresh:  # steps were added up so far: look again before going on
                reach = rises(problem, active, n, h, rise)
                fresh = True
                continue
            before, n = n, _admit(problem, gram, active, n, rise, is_relevant, left_out, reach)
            if n == before:
                break
            joins, tries = True, 0
        slope = _aim(active, n, tries < NEWTON)
        bend, extent = _along(problem, active, n, h, rate)
        first, until = _first_to_run_out(active, n)
        far = min(until, slope / bend) if bend > 0.0 else until
        if far == math.inf or (uncapped and bend <= FLAT * extent**2 and far * extent > min(1e4 * reach, farthest)):
            if not joins:
                tries = NEWTON + EXCHANGES
            elif uncapped:  # no amount of it suffices, or one beyond all proportion: the active pairs say the opposite
                n -= 1
                left_out[active.up[n], active.down[n]] = True
            else:  # numbers beyond floating point
                break
            continue
        _go(active, n, far, rate, rise)
        reach += far * extent
        fresh, tries = False, tries + 1
        if far == until:
            n = _leave(problem, active, n, first)
            tries = 0
    return _finish(problem, active, n, reach, moving_only, g), passes


@compiled(helper=True)
def _problem(scores: Floats, K: Floats, margin: float) -> tuple[Problem, float]:
    """Return the problem, and how far an uncapped step may go before rounding would blur the margin."""
    lengths, farthest = np.empty(scores.shape[0]), math.inf
    for t in range(scores.shape[0]):
        lengths[t] = math.sqrt(max(K[t, t], 0.0))
        if lengths[t] > 0.0:
            farthest = min(farthest, 1e-3 * margin / (EPS * lengths[t]))
    return Problem(scores, K, lengths, margin), farthest


@compiled(helper=True)
def _room(size: int) -> Active:
    """Return room for `size` active variables."""
    return Active(
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        np.zeros(size),
        np.zeros(size),
        np.empty(size),
        np.empty((size, size)),
    )


@compiled(helper=True)
def _left_out(gram: Gram, is_relevant: Bools, some_are: bool) -> Bools:
    """Which pairs may not join: none yet. Where some are to be left out, pairs are compared that never join."""
    k = is_relevant.shape[0] if some_are else 0
    for t in range(k):
        if is_relevant[t]:
            make_known(gram, t)
    return np.zeros((k, k), np.bool_)


@compiled(helper=True)
def _admit(
    problem: Problem,
    gram: Gram,
    active: Active,
    n: int,
    rise: Floats,
    is_relevant: Bools,
    left_out: Bools,
    reach: float,
) -> int:
    """Let the most violated variable join the `n` active ones, and aim at it; return how many there are now."""
    r, s = most_violated(problem, active, rise, is_relevant, left_out, reach)
    if n == active.amount.shape[0] or not is_news(problem, active, n, rise, reach, r, s):
        return n
    if r != s:
        make_known(gram, r)
        make_known(gram, s)
    _join(problem, active, n, r, s)
    active.step[:n] = 0.0
    active.step[n] = lead(problem, active, rise, r, s)
    return n + 1


@compiled(helper=True)
def _go(active: Active, n: int, far: float, rate: Floats, rise: Floats) -> None:
    """Go so far along the step: amounts change, and scores rise."""
    for i in range(n):
        active.amount[i] = max(0.0, active.amount[i] + far * active.step[i])
    for t in range(rise.shape[0]):
        rise[t] += far * rate[t]


@compiled(helper=True)
def _along(problem: Problem, active: Active, n: int, h: Floats, rate: Floats) -> tuple[float, float]:
    """Fill `h` and `rate` = Kh for the active variables' step; return its curvature and its length at most."""
    net(active, active.step, n, h)
    product(problem.K, h, rate)
    bend, extent = 0.0, 0.0
    for t in range(h.shape[0]):
        bend += h[t] * rate[t]
        extent += abs(h[t]) * problem.length[t]
    return bend, extent


@compiled(helper=True)
def _finish(problem: Problem, active: Active, n: int, reach: float, moving_only: bool, g: Floats) -> float:
    """Drop what rounding left of variables, and fill `g` with the rest; return the total."""
    amount = active.amount
    total, all_of_it = 0.0, np.sum(amount[:n])
    for i in range(n):
        r, s = active.up[i], active.down[i]
        square = inner(problem.K, r, s, r, s)
        small = r != s and amount[i] <= 16.0 * EPS * all_of_it  # the slack may be infinite
        if small and amount[i] * square <= doubt(problem, active, reach, r, s):
            amount[i] = 0.0  # what rounding leaves of a pair whose share another one took, and it moves nothing
        amount[i] *= SHORT
        if r != s:
            total += amount[i]
            if moving_only and square <= 0.0:
                amount[i] = 0.0
    net(active, amount, n, g)
    return total


@compiled(helper=True)
def _join(problem: Problem, active: Active, n: int, r: int, s: int) -> int:
    """Let variable (r, s) join the `n` active ones with nothing on it; return how many there are now."""
    K, length, products = problem.K, problem.length, active.work
    up, down = active.up, active.down
    up[n], down[n], active.amount[n] = r, s, 0.0
    a, b = up[0], down[0]
    own, base = inner(K, r, s, a, b), inner(K, a, b, a, b)
    for i in range(1, n):
        products[i - 1] = (inner(K, r, s, up[i], down[i]) - own) - (inner(K, a, b, up[i], down[i]) - base)
    outside = append(active.L, n - 1, products, (inner(K, r, s, r, s) - own) - (own - base))
    # a direction within the span of the others must not vanish: rounding grows with the length of its detour
    detour, rest = length[r] + length[s], 1.0
    for i in range(1, n):
        detour += abs(products[i - 1]) * (length[up[i]] + length[down[i]])
        rest -= products[i - 1]
    detour += abs(rest) * (length[a] + length[b])
    least = 4.0 * EPS * detour**2
    active.L[n - 1, n - 1] = math.sqrt(max(outside, least if least > 0.0 else 1.0))
    return n + 1


# ------------------------------------------------------------------ which variables move and leave
@compiled(helper=True)
def _aim(active: Active, n: int, newton: bool) -> float:
    """Turn leads into a step that keeps the sum of the amounts; return the objective's slope along it.

    Newton's step brings all leads to 0. Where rounding spoils it, the best variable takes from the worst.
    """
    step, work = active.step, active.work
    if not newton:
        high, low = 0, -1
        for i in range(n):
            if step[i] > step[high]:
                high = i
            if active.amount[i] > 0.0 and (low < 0 or step[i] < step[low]):
                low = i
        slope = step[high] - step[low]
        step[:n] = 0.0
        if high != low:
            step[high], step[low] = 1.0, -1.0
        return slope
    for i in range(1, n):
        work[i - 1] = step[i]
    solve(active.L, n - 1, work)
    slope, step[0] = 0.0, 0.0
    for i in range(1, n):
        slope += step[i] * work[i - 1]
        step[i] = work[i - 1]
        step[0] -= work[i - 1]
    return slope


@compiled(helper=True)
def _first_to_run_out(active: Active, n: int) -> tuple[int, float]:
    """The variable whose amount ends first along the step, and where."""
    first, until = -1, math.inf
    for i in range(n):
        if active.step[i] < 0.0 and active.amount[i] < -active.step[i] * until:
            first, until = i, -active.amount[i] / active.step[i]
    return first, until


@compiled(helper=True)
def _leave(problem: Problem, active: Active, n: int, i: int) -> int:
    """Take out variable `i` of the `n` active ones; the largest takes over from a base. Return how many are left."""
    up, down, amount = active.up, active.down, active.amount
    removed = i
    if i > 0:
        remove(active.L, n - 1, i - 1)
    else:
        removed = 1 + int(np.argmax(amount[1:n]))
        up[0], down[0], amount[0] = up[removed], down[removed], amount[removed]
    for j in range(removed, n - 1):
        up[j], down[j], amount[j] = up[j + 1], down[j + 1], amount[j + 1]
    if i == 0:  # all directions change: the factor is computed again
        for j in range(1, n - 1):
            kept = amount[j]
            _join(problem, active, j, up[j], down[j])
            amount[j] = kept
    return n - 1
