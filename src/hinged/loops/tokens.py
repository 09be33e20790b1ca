"""Scores of tokens and the answers to sentences, from two kinds of weights.

W[feature, tag] has a contiguous row for each feature that was learnt, so that scoring a token is a sum of rows;
T[previous, current] is what follows what.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Floats, Ints
from hinged.loops.ledger import LEARNT
from hinged.tasks.sequence import best_paths, room_for

__all__ = ["Answer", "Chain", "Sentences", "answer", "emissions"]


class Sentences(NamedTuple):
    """Sentences of tokens of features, in two levels of compressed rows."""

    ends: np.ndarray  # int64 (sentences + 1,): where each sentence's tokens begin
    indptr: np.ndarray  # int64 (tokens + 1,): where each token's features begin
    features: np.ndarray  # int32
    values: np.ndarray  # float32 or float64; empty where every value is 1


class Chain(NamedTuple):
    """The weights, and beside each, where an average is kept, the sum it needs (docs/maths.md, "Averaging")."""

    slots: np.ndarray  # int32 (features,): row of W of each feature, 0 for none
    W: np.ndarray  # (1 or 2, rows, width): row 0 stays zero
    T: np.ndarray  # float64 (1 or 2, tags, width): [previous, current]
    used: np.ndarray  # int64 (1,): rows of W in use, row 0 among them


class Answer(NamedTuple):
    """What sentences were answered with."""

    emissions: np.ndarray  # (tokens, tags)
    tags: np.ndarray  # (m, tokens), the best sequences
    scores: np.ndarray  # (m, sentences)
    found: np.ndarray  # (sentences,): how many sequences there are, m at most


@compiled(helper=True)
def emissions(chain: Chain, sentences: Sentences, begin: int, n: int, layer: int, E: Floats) -> None:
    """Fill E with Σ_j v_j W[f_j] for each of `n` tokens, in the order of their features.

    A reader may hold a view in which features met since have no row yet: they count for nothing.
    """
    slots, W, indptr, features, values = (
        chain.slots,
        chain.W[layer],
        sentences.indptr,
        sentences.features,
        sentences.values,
    )
    ones = values.shape[0] == 0
    known, rows, width = slots.shape[0], W.shape[0], W.shape[1]
    for i in range(n):
        out = E[i]
        out[:] = 0.0
        j, end = indptr[begin + i], indptr[begin + i + 1]
        while ones and j + 4 <= end:  # four rows in one pass over the scores
            f0, f1, f2, f3 = features[j], features[j + 1], features[j + 2], features[j + 3]
            s0, s1 = slots[f0] if f0 < known else 0, slots[f1] if f1 < known else 0
            s2, s3 = slots[f2] if f2 < known else 0, slots[f3] if f3 < known else 0
            w0, w1, w2, w3 = (
                W[s0 if s0 < rows else 0],
                W[s1 if s1 < rows else 0],
                W[s2 if s2 < rows else 0],
                W[s3 if s3 < rows else 0],
            )
            for c in range(width):
                out[c] = (((out[c] + w0[c]) + w1[c]) + w2[c]) + w3[c]
            j += 4
        while j < end:
            f = features[j]
            s = slots[f] if f < known else 0
            if 0 < s < rows:
                row, value = W[s], 1.0 if ones else np.float64(values[j])
                for c in range(width):
                    out[c] += value * row[c]
            j += 1


@compiled(helper=True)
def _mean_emissions(
    chain: Chain, sentences: Sentences, begin: int, n: int, counts: Ints, mean: bool, E: Floats, aside: Floats
) -> None:
    """Emissions by the `mean` weights, W - A / rounds, or by W itself.

    The rounds are read last: with a concurrent writer, no move is then younger than they are.
    """
    if mean:
        emissions(chain, sentences, begin, n, 1, aside)
    emissions(chain, sentences, begin, n, 0, E)
    rounds = counts[LEARNT]
    if mean and rounds > 0:
        for i in range(n):
            for c in range(E.shape[1]):
                E[i, c] -= aside[i, c] / rounds


@compiled
def answer(chain: Chain, sentences: Sentences, k: int, counts: Ints, mean: bool, m: int, out: Answer) -> None:
    """Fill `out`, an `Answer`, with the emissions of all tokens and the `m` best sequences, none where `m` is 0.

    By the `mean` weights over the rounds in `counts`, or by the current ones.
    """
    longest, width, E = _longest(sentences), chain.W.shape[2], out.emissions
    aside = np.empty((longest, width))
    late = chain.T[chain.T.shape[0] - 1].copy()
    T = chain.T[0].copy()
    rounds = counts[LEARNT]
    if mean and rounds > 0:
        T -= late / rounds
    room = room_for(longest, width, k, m)
    for t in range(sentences.ends.shape[0] - 1):
        a, b = sentences.ends[t], sentences.ends[t + 1]
        _mean_emissions(chain, sentences, a, b - a, counts, mean, E[a:b], aside)
        if m > 0:
            out.found[t] = best_paths(E[a:b], T, b - a, k, m, room, out.tags[:, a:b], out.scores[:, t])


@compiled(helper=True)
def _longest(sentences: Sentences) -> int:
    longest = 0
    for t in range(sentences.ends.shape[0] - 1):
        longest = max(longest, sentences.ends[t + 1] - sentences.ends[t])
    return longest
