"""A program that makes one step of a rule and nothing else; a file of its own because importing it needs Triton."""

import math

import torch
import triton
import triton.language as tl

from hinged.mercer.persistent import _judge, _step


@triton.jit
def _one_step(
    scores, out, y, known, length, margin, cap, least, infinite,
    CHOOSE: tl.constexpr, LENGTH: tl.constexpr, COMBINE: tl.constexpr, K: tl.constexpr,
):  # fmt: skip
    labels = tl.arange(0, K)
    length, margin, cap, least = tl.load(length), tl.load(margin), tl.load(cap), tl.load(least)
    y = tl.load(y)
    s = tl.load(scores + labels)
    own, rivals, top, rival, _gap, _lead, _hit, _rank = _judge(s, y, known, margin, labels)
    g, total, softened = _step(
        s, y, own, rivals, top, rival, known, length, margin, cap, least, infinite, labels, CHOOSE, LENGTH, COMBINE
    )
    tl.store(out + labels, g)
    tl.store(out + K, total)
    tl.store(out + K + 1, softened)


def one_step(words, scores, y, length, margin, C, least):
    """Net coefficients, Σλ and what the dual subtracts, as a program on a device has them."""
    k = len(scores)
    out = torch.zeros(k + 2, dtype=torch.float64)
    numbers = (torch.tensor([value], dtype=torch.float64) for value in (length, margin, C, least))
    _one_step[(1,)](
        torch.as_tensor(scores), out, torch.tensor([y]), k, *numbers, int(math.isinf(C)),
        CHOOSE=words.choose, LENGTH=words.length, COMBINE=words.combine, K=k,
    )  # fmt: skip
    return out[:k].numpy(), float(out[k]), float(out[k + 1])
