"""The rounds of a block as one program on the device: no host between them.

A program holds the scores of a few rows at a time, a strip of the block. A round takes its row of them, judges it,
chooses the step, and adds the step's share, g K(x_i, ·), to the rows of the strip; the next round then sees it. What
earlier strips moved is added to a strip before its first round. Whatever does not depend on the steps is fetched a
round ahead, and not touched before it is needed, or the program would wait for it.

Triton has no compiled functions of Numba's, so the step of a rule is written again here, for all labels at once.
tests/mercer/test_devices.py compares it with `hinged.rules.combine.over_labels` bit for bit, in Triton's interpreter.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import triton
import triton.language as tl

from hinged.mercer.steps import Rule
from hinged.rules import words

__all__ = ["COLUMNS", "Program", "can_run", "shape_for"]

#: What is recorded of a round, by column of the table.
COLUMNS = ("flag", "rank", "total", "inner", "sq_move", "lead", "hit", "middle", "noted", "loss", "softened", "first")
#: What a program holds for up to 16 labels: rows of a strip, moved rows looked at together. More labels, fewer rows.
STRIP, PAST, MOST_LABELS = 32, 16, 2048
WARPS = 4
# the words of rules, as programs read them
CONSTANT, PA1, PA2 = tl.constexpr(words.CONSTANT), tl.constexpr(words.PA1), tl.constexpr(words.PA2)
ONE, MEAN, MISSING = tl.constexpr(words.ONE), tl.constexpr(words.MEAN), tl.constexpr(words.MISSING)


@triton.jit
def _alone(gap, norm, margin, cap, infinite, LENGTH: tl.constexpr):  # type: ignore[no-untyped-def]
    """`hinged.rules.length.alone`, for one gap or several of the same norm."""
    loss = margin - gap
    if LENGTH == CONSTANT:
        step = tl.where(gap <= 0.0, cap, 0.0 * cap)
    elif LENGTH == PA2:
        step = tl.where(loss > 0.0, loss / (norm + 1.0 / (2.0 * cap)), 0.0 * cap)
    else:
        step = loss / tl.where(norm > 0.0, norm, 1.0)
        still = 0.0 * norm  # a direction of norm 0: the step counts as C where there is a cap, and nothing moves
        if LENGTH == PA1:
            step = tl.minimum(step, cap)
            still = tl.where(infinite == 0, cap, still)
        step = tl.where(loss > 0.0, tl.where(norm > 0.0, step, still), 0.0 * norm)
    return step


@triton.jit
def _mean(gaps, steps, margin, CHOOSE: tl.constexpr):  # type: ignore[no-untyped-def]
    """`hinged.rules.combine.mean`: an equal share of each chosen step."""
    if CHOOSE == MISSING:
        chosen = gaps < margin
    else:
        chosen = gaps <= 0.0
    count = tl.sum(tl.where(chosen, 0.0 * margin + 1.0, 0.0 * margin), axis=0)
    return tl.where(chosen, steps / tl.maximum(count, 1.0), 0.0 * margin)


@triton.jit
def _joint(own, rivals, top, rival, length, margin, cap, labels):  # type: ignore[no-untyped-def]
    """`hinged.rules.optimal.by_sorting` for one right label: rivals join from the highest on, while that gains.

    Return the total, and the level to which the rivals above it are pressed.
    """
    joined, count = top, 0.0 * margin + 1.0
    left = tl.where((labels == rival) | (rivals <= own - margin), float("-inf"), rivals)
    total = tl.minimum((margin - own + joined) / (2.0 * length), cap)
    following, at = tl.max(left, axis=0, return_indices=True, return_indices_tie_break_left=True)
    while (joined - count * following) / length < total:
        joined, count = joined + following, count + 1.0
        left = tl.where(labels == at, float("-inf"), left)
        total = (margin - own + joined / count) / (length * (1.0 + 1.0 / count))
        total = tl.minimum(total, cap)
        following, at = tl.max(left, axis=0, return_indices=True, return_indices_tie_break_left=True)
    return total, (joined - length * total) / count


@triton.jit
def _step(  # type: ignore[no-untyped-def]
    s, y, own, rivals, top, rival, known, length, margin, cap, least, infinite, labels,
    CHOOSE: tl.constexpr, LENGTH: tl.constexpr, COMBINE: tl.constexpr,
):  # fmt: skip
    """`hinged.rules.combine.over_labels` for one right label `y` with vectors of the labels' own, ‖x‖² = `length`.

    Return the labels' net coefficients, Σλ, and what the dual subtracts.
    """
    zero = 0.0 * margin
    softened = zero
    norm = tl.where(2.0 * length >= least, 2.0 * length, zero)
    if COMBINE == ONE:
        total = _alone(own - top, norm, margin, cap, infinite, LENGTH)
        g = tl.where(labels == y, total, tl.where(labels == rival, -total, zero))
        if LENGTH == PA2:
            softened = total * total / (4.0 * cap)
    elif COMBINE == MEAN:
        gaps = own - rivals
        steps = _mean(gaps, _alone(gaps, norm, margin, cap, infinite, LENGTH), margin, CHOOSE)
        total = tl.sum(steps, axis=0)
        g = tl.where(labels == y, total, -steps)
        if LENGTH == PA2:
            softened = tl.sum(steps * steps / (4.0 * cap), axis=0)
    else:
        total = _alone(own - top, zero, margin, cap, infinite, LENGTH)
        g = tl.where(labels == y, total, tl.where(labels == rival, -total, zero))
        if length >= least:
            total, down = _joint(own, rivals, top, rival, length, margin, cap, labels)
            others = (labels < known) & (labels != y)
            moves = tl.where(others, tl.maximum(zero, (s - down) / length), zero)
            up = tl.maximum(zero, ((length * total + own) - own) / length)
            g = tl.where(labels == y, up, -moves)
    return g, total, softened


@triton.jit
def _corrected(  # type: ignore[no-untyped-def]
    scores, among, coef, moved, rows, labels, n, n_moved, K: tl.constexpr, PAST: tl.constexpr
):
    """The scores of a strip's rows: by the past, and by what the block moved so far."""
    past = tl.arange(0, PAST)
    s_all = tl.load(scores + rows[:, None] * K + labels[None, :], mask=rows[:, None] < n, other=0.0)
    for m in range(0, n_moved, PAST):
        some = m + past < n_moved
        at = tl.load(moved + m + past, mask=some, other=0)
        inside = some[:, None] & (rows[None, :] < n)
        values = tl.load(among + at[:, None] * n + rows[None, :], mask=inside, other=0.0).to(tl.float64)
        by = tl.load(coef + at[:, None] * K + labels[None, :], mask=some[:, None], other=0.0)
        s_all += tl.sum(values[:, :, None] * by[:, None, :], axis=0)
    return s_all


@triton.jit
def _judge(s, y, known, margin, labels):  # type: ignore[no-untyped-def]
    """What `hinged.tasks.labels.judge` and `runner_up` say of one right label, its score and the rivals' scores.

    Return those, the highest rival's score and number, the gap, the winner's lead, 1 if it is right, and the rank.
    """
    zero = 0.0 * margin
    one = zero + 1.0
    own = tl.sum(tl.where(labels == y, s, zero), axis=0)
    rivals = tl.where((labels < known) & (labels != y), s, float("-inf"))
    top, rival = tl.max(rivals, axis=0, return_indices=True, return_indices_tie_break_left=True)
    gap = own - top
    lead, hit, rank = gap, one, one
    if gap <= 0.0:
        rank = one + tl.sum(tl.where(rivals >= own, one, zero), axis=0)
        second = tl.max(tl.where(labels == rival, float("-inf"), rivals), axis=0)
        lead, hit = top - tl.maximum(own, second), zero
        if (gap == 0.0) & (y < rival):  # a tie goes to the lowest label
            hit = one
    return own, rivals, top, rival, gap, lead, hit, rank


@triton.jit(do_not_specialize=["n_known"])
def _program(  # type: ignore[no-untyped-def]
    scores, among, worst, meta, told, coef, moved, status, numbers, n, n_known, infinite,
    CHOOSE: tl.constexpr, LENGTH: tl.constexpr, COMBINE: tl.constexpr, LEARNS_NEW: tl.constexpr,
    K: tl.constexpr, STRIP: tl.constexpr, PAST: tl.constexpr, COLS: tl.constexpr,
):  # fmt: skip
    """Run the rounds of a block; `Program.run` says what each array holds."""
    labels, strip = tl.arange(0, K), tl.arange(0, STRIP)
    margin, least = tl.load(numbers), tl.load(numbers + 1)
    zero = 0.0 * least
    one = zero + 1.0
    largest = tl.load(worst)
    sound = largest - largest == 0.0
    known, n_moved = n_known.to(tl.int64), n_known.to(tl.int64) * 0
    next_length = tl.load(among)
    next_y, next_cap, next_weight = tl.load(meta), tl.load(meta + 1), tl.load(meta + 2)
    s_all = tl.zeros([STRIP, K], tl.float64)
    rows = strip
    next_products = tl.zeros([STRIP], among.dtype.element_ty)
    for i in range(n):
        if i % STRIP == 0:
            rows = i + strip
            tl.debug_barrier()
            s_all = _corrected(scores, among, coef, moved, rows, labels, n, n_moved, K, PAST)
            next_products = tl.load(among + i * n + rows, mask=rows < n, other=0.0)
        products, length = next_products.to(tl.float64), next_length.to(tl.float64)
        y, cap, weight = next_y.to(tl.int64), next_cap, next_weight
        later = tl.minimum(i + 1, n - 1)
        next_products = tl.load(among + later * n + rows, mask=rows < n, other=0.0)
        next_length = tl.load(among + later * n + later)
        of_later = meta + 3 * later
        next_y, next_cap, next_weight = tl.load(of_later), tl.load(of_later + 1), tl.load(of_later + 2)
        s = tl.sum(tl.where(rows[:, None] == i, s_all, zero), axis=0)
        sound = sound & (length >= 0.0)
        flag, rank, total, inner, sq_move, lead = zero, one, zero, zero, zero, zero
        hit, middle, noted, loss, softened, first = zero, zero, zero, zero, zero, zero
        is_new = (y >= known) | (y < 0)
        if is_new & (weight > 0.0):
            known = tl.maximum(known, y + 1)
        if (known > 1) & ((is_new == 0) | ((weight > 0.0) & LEARNS_NEW)):
            own, rivals, top, rival, gap, lead, hit, rank = _judge(s, y, known, margin, labels)
            sound = sound & (gap - gap == 0.0)
            flag, noted = tl.where(gap <= 0.0, one, zero), tl.where(weight > 0.0, one, zero)
            middle, loss = 0.5 * (own + top), tl.maximum(zero, margin - gap)
            first = zero + tl.where(hit > zero, y, rival)
            if (weight > 0.0) & (gap < margin):
                g, total, softened = _step(
                    s, y, own, rivals, top, rival, known, length, margin, cap, least, infinite, labels,
                    CHOOSE, LENGTH, COMBINE,
                )  # fmt: skip
                if total > 0.0:
                    inner = tl.sum(tl.where(labels < known, g * s, zero), axis=0)
                    sq_move = length * tl.sum(g * g, axis=0)
                    tl.store(coef + i * K + labels, g)
                    tl.store(moved + n_moved, i)
                    n_moved += 1
                    s_all += products[:, None] * g[None, :]
        if is_new:  # learnt or not, it is not counted
            flag, rank, noted, loss = -one, zero, zero, zero
        row = told + i * COLS
        tl.store(row + 0, flag)
        tl.store(row + 1, rank)
        tl.store(row + 2, total)
        tl.store(row + 3, inner)
        tl.store(row + 4, sq_move)
        tl.store(row + 5, lead)
        tl.store(row + 6, hit)
        tl.store(row + 7, middle)
        tl.store(row + 8, noted)
        tl.store(row + 9, loss)
        tl.store(row + 10, softened)
        tl.store(row + 11, first)
    tl.store(status, known)
    tl.store(status + 1, n_moved)
    tl.store(status + 2, sound.to(tl.int64))


@triton.jit(do_not_specialize=["first_round"])
def _keep(  # type: ignore[no-untyped-def]
    moved, x, sq, coef, rows, squares, by, rounds, d, k, first_round, K: tl.constexpr, D: tl.constexpr
):
    j = tl.program_id(0)
    i = tl.load(moved + j)
    for start in range(0, d, D):
        part = start + tl.arange(0, D)
        tl.store(rows + j * d + part, tl.load(x + i * d + part, mask=part < d), mask=part < d)
    labels = tl.arange(0, K)
    g = tl.load(coef + i * K + labels)
    tl.store(by + j * k + labels, g.to(by.dtype.element_ty), mask=labels < k)
    tl.store(squares + j, tl.load(sq + i))
    tl.store(rounds + j, first_round + i)


def can_run(rule: words.Words, n_labels: int) -> bool:
    """Return True if the program knows how the rule combines steps, and holds so many labels."""
    return rule.combine in (words.ONE, words.MEAN, words.JOINT) and n_labels <= MOST_LABELS


def shape_for(n_labels: int) -> tuple[int, int, int]:
    """Labels of a program, rows of a strip, and moved rows looked at together; all are powers of two.

    Examples
    --------
    >>> shape_for(10), shape_for(100)
    ((16, 32, 16), (128, 8, 8))
    """
    width = triton.next_power_of_2(max(2, n_labels))
    halvings = max(0, width.bit_length() - 5)
    return width, STRIP >> (halvings + 1) // 2, PAST >> halvings // 2


class Program:
    """The program of a rule for blocks of up to `size` rounds, with the room it works in.

    Parameters
    ----------
    rule : Rule
    size, n_labels : int
    n_known : int
        Labels known before the first block.
    device : torch.device
    """

    def __init__(self, rule: Rule, size: int, n_labels: int, n_known: int, device: torch.device) -> None:
        def zeros(*shape: int, of: torch.dtype = torch.float64) -> torch.Tensor:
            return torch.zeros(shape, dtype=of, device=device)

        self.rule = rule
        self.width, self.strip, self.past = shape_for(n_labels)
        self.scores, self.coef = zeros(size, self.width), zeros(size, self.width)
        self.moved, self.status = zeros(size, of=torch.int64), zeros(3, of=torch.int64)
        self.n_known = n_known
        self.numbers = torch.tensor([rule.margin, rule.least_norm], dtype=torch.float64, device=device)

    def run(self, among: torch.Tensor, meta: torch.Tensor, told: torch.Tensor) -> tuple[torch.Tensor, int, bool]:
        """Run a block's rounds from `scores`, by everything learnt before; fill `coef` where a step was made.

        Parameters
        ----------
        among : (rounds, rounds)
            K among the rows of the block.
        meta : float64 (rounds, 3)
            The right label of each, its cap on steps, its weight.
        told : float64 (rounds, len(COLUMNS))
            Filled.

        Returns
        -------
        moved : int64 tensor
            The rounds that made a step.
        n_known : int
            Labels known after the block; set `self.n_known` to it once the block is done with.
        sound : bool
            False where the kernel gave what is no number, or K(x, x) < 0.
        """
        worst, rule = torch.linalg.vector_norm(among, math.inf), self.rule.words
        _program[(1,)](
            self.scores, among, worst, meta, told, self.coef, self.moved, self.status, self.numbers,
            len(among), self.n_known, int(math.inf == self.rule.C),
            CHOOSE=rule.choose, LENGTH=rule.length, COMBINE=rule.combine, LEARNS_NEW=bool(self.rule.learns_new),
            K=self.width, STRIP=self.strip, PAST=self.past, COLS=len(COLUMNS), num_warps=WARPS,
        )  # fmt: skip
        n_known, n_moved, sound = self.status.tolist()
        return self.moved[:n_moved], n_known, bool(sound)

    def keep(self, moved: torch.Tensor, x: torch.Tensor, sq: torch.Tensor, room: Any, first_round: int) -> None:
        """Copy the rows that moved, their squared norms, coefficients and rounds to where they are remembered."""
        if len(moved):
            _keep[(len(moved),)](
                moved, x, sq, self.coef, room.rows, room.squares, room.coef, room.rounds,
                x.shape[1], room.coef.shape[1], first_round, K=self.width, D=1024, num_warps=4,
            )  # fmt: skip
