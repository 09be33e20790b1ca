"""Learners that differ in C alone, side by side: a row is read, scaled and looked up once for all of them.

The mean weights of the last of them, the boldest, may be one more forecaster, which learns nothing of its own. Its
column of the weights is *late*: it holds Σ mass(age) · move of that learner, so that after T rounds the mean is
w - late / mass(T). All forecasters answer together, by the mean of their scores weighted by p_e ∝ exp(-η γ L_e), where
L_e ← γ L_e + z_e counts the mistakes of a forecaster and forgets old ones. What this costs is in docs/maths.md,
"Several C at once".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats, Ints
from hinged.geometry.euclidean import moved_sq_norm
from hinged.loops.ledger import GAIN, PENALTY, SQ_NORM
from hinged.loops.pages import SEGMENT, column_of
from hinged.loops.shares import FORGETTING, GROWTH, RATE, mass, share_out
from hinged.loops.steps import Ranking, Step, Vectors, net_coefficients
from hinged.tasks.labels import judge

if TYPE_CHECKING:
    from hinged.loops.round import Problem, Work

__all__ = [
    "BOLD",
    "FORGETTING",
    "RATE",
    "SINGLE",
    "SOFT",
    "Experts",
    "choose_steps",
    "common_scores",
    "judge_forecasters",
    "mixture",
    "move_late",
    "new_experts",
    "note_steps",
]

#: C of the learners: those with the fewest mistakes on 33 streams. Columns of numbers need a small and a large one,
#: half a decade from 1; for words, rows of length 1, one learner and its mean are as good. With slack in the
#: rule no small C is needed.
BOLD, SINGLE, SOFT = (10**-0.5, 10**0.5), (1.0,), (10**0.5,)
#: What a round came to for a forecaster: whether it made a mistake; for a learner also Σλm, what the dual subtracts,
#: ⟨ω, move⟩ and the move's squared length; for all, the share before it is divided by the sum of them.
MISTAKE, GAINED, SOFTENED, INNER, SQ_MOVE, CREDIT = range(6)


class Experts(NamedTuple):
    """What is kept of each forecaster besides its weights; without experts, all arrays are empty."""

    caps: np.ndarray  # float64 (learners,): C
    shares: np.ndarray  # float64 (forecasters,): p; the learners come first, then their mean
    mistakes: np.ndarray  # float64 (forecasters,): L
    sums: np.ndarray  # float64 (learners, 3): GAIN, SQ_NORM and PENALTY, as in a ledger
    round: np.ndarray  # float64 (forecasters, 6): MISTAKE ... of the round at hand
    growth: float  # by which later rounds count for more in the mean: see `mass`
    by_best: bool  # a label set is a mistake if its best label is not above all wrong ones; else, if any is not


def new_experts(caps: tuple[float, ...], mean: bool) -> Experts:
    """Learners with these C that have learnt nothing, and where asked the mean of the last one; none if that is one."""
    caps, n = (caps, len(caps) + mean) if len(caps) + mean > 1 else ((), 0)
    shares = np.full(n, 1.0 / max(1, n))
    sums, outcome = np.zeros((len(caps), 3)), np.zeros((n, 6))
    return Experts(np.array(caps, np.float64), shares, np.zeros(n), sums, outcome, GROWTH, True)


@compiled(helper=True)
def common_scores(experts: Experts, rounds: int, wide: Floats, s: Floats) -> None:
    """Scores of the labels from those of the columns; in `wide`, those of late columns become those of the mean.

    `rounds` are those learnt so far; with 0, the mean is what its learner is now.
    """
    n, learners, k = experts.shares.shape[0], experts.caps.shape[0], s.shape[0]
    share = 1.0 / mass(experts.growth, float(rounds)) if rounds > 0 else 0.0
    s[:] = 0.0
    for e in range(n):
        for first in range(0, k, SEGMENT):
            begin, part = column_of(n, first, e), s[first : first + SEGMENT]
            own = wide[begin : begin + SEGMENT]
            if e == learners:
                current = wide[begin - SEGMENT : begin]
                for r in range(part.shape[0]):
                    own[r] = np.float64(current[r]) - share * np.float64(own[r])
            for r in range(part.shape[0]):
                part[r] += experts.shares[e] * own[r]


@compiled(helper=True)
def mixture(experts: Experts, rounds: int) -> Floats:
    """Factor of each column in the common scores."""
    learners, factors = experts.caps.shape[0], experts.shares.copy()
    if learners < factors.shape[0]:
        factors[learners - 1] += experts.shares[learners]
        held = mass(experts.growth, float(rounds))
        factors[learners] = -experts.shares[learners] / held if rounds > 0 else 0.0
    return factors


@compiled(helper=True, forceinline=True)
def choose_steps(
    problem: Problem,
    experts: Experts,
    weight: float,
    ranking: Ranking,
    vectors: Vectors,
    work: Work,
    notes: Floats,
    stop: Ints,
) -> Step:
    """Let the rule choose its step, by the scores of `ranking`; return the sums of it.

    With experts, each learner chooses its own by its own scores, which are in `work.x.wide`. Then `work.wide_g` is
    filled for `move`, and `experts.round` has the outcome of each. Once `stop[0]` is set, the answer is of no use.
    """
    setting, relevant, is_relevant = problem.setting, ranking.relevant, ranking.is_relevant
    n, k, wide, wide_g, total = experts.shares.shape[0], ranking.scores.shape[0], work.x.wide, work.wide_g, 0.0
    s, g, own, cap = work.own_scores[:k], work.g[:k], ranking, setting.C
    step = Step(0.0, 0.0, 0.0)
    for e in range(max(1, n)):
        if n > 0:
            for r in range(k):
                s[r] = wide[column_of(n, r, e)]
            low, rival, gap, rank = judge(s, relevant, is_relevant)
            experts.round[e, MISTAKE] = 0.0 if (rank == 1 if experts.by_best else gap > 0.0) else 1.0
            if e == experts.caps.shape[0]:
                break
            own, cap = Ranking(s, relevant, is_relevant, low, rival), experts.caps[e]
        C = cap * weight if setting.uses_weight else cap
        step = net_coefficients(problem.own, problem, C, own, vectors, work, notes, stop)
        if n > 0:
            now = experts.round[e]
            now[GAINED], now[SOFTENED], now[INNER], now[SQ_MOVE] = step.gain, step.penalty, 0.0, 0.0
            for r in range(k):
                c = column_of(n, r, e)
                wide_g[c] = g[r]
                now[INNER] += g[r] * s[r]
                now[SQ_MOVE] += vectors.q * np.float64(wide_g[c]) ** 2
            total += step.total
    if n == 0:
        return step
    g[:] = 0.0
    if stop[0] != 0:
        wide_g[:] = 0
    return Step(total, 0.0, 0.0)


@compiled(helper=True)
def move_late(experts: Experts, age: float, k: int, wide_g: Floats) -> None:
    """Net coefficients of the late columns, from those of the last learner; `age` rounds were learnt before."""
    n, learners = experts.shares.shape[0], experts.caps.shape[0]
    if learners < n:
        held = mass(experts.growth, age)
        for first in range(0, k, SEGMENT):
            begin = column_of(n, first, learners)
            late, last = wide_g[begin : begin + SEGMENT], wide_g[begin - SEGMENT : begin]
            for r in range(min(SEGMENT, k - first)):
                late[r] = held * np.float64(last[r])


@compiled(helper=True, forceinline=True)
def note_steps(experts: Experts, counted: bool) -> None:
    """Enter the round at hand in each learner's certificate; if it is `counted`, judge the forecasters by it."""
    for e in range(experts.caps.shape[0]):
        sums, now = experts.sums[e], experts.round[e]
        sums[GAIN] += now[GAINED]
        sums[PENALTY] += now[SOFTENED]
        sums[SQ_NORM] = moved_sq_norm(sums[SQ_NORM], now[INNER], now[SQ_MOVE])
    if counted:
        judge_forecasters(experts)


@compiled(helper=True)
def judge_forecasters(experts: Experts) -> None:
    """Add the mistakes of the round at hand, and give each forecaster its share in the next answer."""
    for e in range(experts.shares.shape[0]):
        experts.mistakes[e] = FORGETTING * experts.mistakes[e] + experts.round[e, MISTAKE]
    share_out(experts.mistakes, experts.round[:, CREDIT], experts.shares)
