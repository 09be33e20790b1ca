"""Learners that differ in C alone, side by side: a row is read, scaled and looked up once for all of them.

Of label r, expert e has the column r·E + e of the weights. They answer together, by the mean of their scores weighted
by p_e ∝ exp(-η γ L_e), where L_e ← γ L_e + ℓ_e sums up the expert's hinge losses, in units of the margin, and forgets
old ones. What that costs is proven in docs/maths.md, "Several C at once".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats, Ints
from hinged.geometry.euclidean import moved_sq_norm
from hinged.loops.costs import round_loss
from hinged.loops.ledger import GAIN, PENALTY, SQ_NORM
from hinged.loops.shares import FORGETTING, RATE, share_out
from hinged.loops.steps import Ranking, Step, Vectors, net_coefficients
from hinged.tasks.labels import judge

if TYPE_CHECKING:
    from hinged.loops.round import Problem, Work

__all__ = ["FORGETTING", "HALF_DECADES", "RATE", "Experts", "choose_steps", "mean_scores", "new_experts", "note_steps"]

#: The C of experts, half-decades around the one that suits most streams of rows with a length of about 1.
HALF_DECADES = tuple(10.0 ** (i / 2) for i in range(-3, 2))
#: What a round came to for an expert: its loss, Σλm, what the dual subtracts, ⟨ω, move⟩ and the move's squared length.
LOSS, GAINED, SOFTENED, INNER, SQ_MOVE = range(5)


class Experts(NamedTuple):
    """What is kept of each expert besides its weights; without experts, all arrays are empty."""

    caps: np.ndarray  # float64 (experts,): C
    shares: np.ndarray  # float64 (experts,): p
    losses: np.ndarray  # float64 (experts,): L
    sums: np.ndarray  # float64 (experts, 3): GAIN, SQ_NORM and PENALTY, as in a ledger
    round: np.ndarray  # float64 (experts, 5): LOSS ... of the round at hand


def new_experts(caps: tuple[float, ...]) -> Experts:
    """Experts with these C that have learnt nothing."""
    n = len(caps)
    shares = np.full(n, 1.0 / max(1, n))
    return Experts(np.array(caps, np.float64), shares, np.zeros(n), np.zeros((n, 3)), np.zeros((n, 5)))


@compiled(helper=True)
def mean_scores(experts: Experts, wide: Floats, s: Floats) -> None:
    """Scores of the labels from those of the columns: the experts' mean."""
    n = experts.caps.shape[0]
    for r in range(s.shape[0]):
        s[r] = 0.0
        for e in range(n):
            s[r] += experts.shares[e] * wide[r * n + e]


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

    With several experts, each chooses its own by its own scores, which are in `work.x.wide`. Then `work.wide_g` is
    filled for `move`, and `experts.round` has the sums of each. Once `stop[0]` is set, the answer is of no use.
    """
    setting, relevant, is_relevant = problem.setting, ranking.relevant, ranking.is_relevant
    n, k, wide, wide_g, total = experts.caps.shape[0], ranking.scores.shape[0], work.x.wide, work.wide_g, 0.0
    s, g, own, cap = work.own_scores[:k], work.g[:k], ranking, setting.C
    step = Step(0.0, 0.0, 0.0)
    for e in range(max(1, n)):
        gap = 0.0
        if n > 0:
            for r in range(k):
                s[r] = wide[r * n + e]
            low, rival, gap, _rank = judge(s, relevant, is_relevant)
            own, cap = Ranking(s, relevant, is_relevant, low, rival), experts.caps[e]
        C = cap * weight if setting.uses_weight else cap
        step = net_coefficients(problem.own, problem, C, own, vectors, work, notes, stop)
        if n > 0:
            now = experts.round[e]
            now[LOSS] = round_loss(setting, problem.costs, s, relevant[0], gap) / setting.margin
            now[GAINED], now[SOFTENED], now[INNER], now[SQ_MOVE] = step.gain, step.penalty, 0.0, 0.0
            for r in range(k):
                wide_g[r * n + e] = g[r]
                now[INNER] += g[r] * s[r]
                now[SQ_MOVE] += vectors.q * np.float64(wide_g[r * n + e]) ** 2
            total += step.total
    if n == 0:
        return step
    g[:] = 0.0
    if stop[0] != 0:
        wide_g[: n * k] = 0
    return Step(total, 0.0, 0.0)


@compiled(helper=True, forceinline=True)
def note_steps(experts: Experts, counted: bool) -> None:
    """Enter the round at hand in each expert's certificate; if it is `counted`, judge the experts by their losses."""
    for e in range(experts.caps.shape[0]):
        sums, now = experts.sums[e], experts.round[e]
        sums[GAIN] += now[GAINED]
        sums[PENALTY] += now[SOFTENED]
        sums[SQ_NORM] = moved_sq_norm(sums[SQ_NORM], now[INNER], now[SQ_MOVE])
    if counted:
        _judge_experts(experts)


@compiled(helper=True)
def _judge_experts(experts: Experts) -> None:
    """Add the losses of the round at hand, and give each expert its share in the next answer."""
    for e in range(experts.caps.shape[0]):
        experts.losses[e] = FORGETTING * experts.losses[e] + experts.round[e, LOSS]
    share_out(experts.losses, experts.shares)
