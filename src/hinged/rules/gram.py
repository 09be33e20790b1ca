"""Inner products of the labels' vectors, computed label by label as the joint step asks for them.

A round moves few labels, and those of all others would take most of its time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hinged.compiling import compiled
from hinged.compiling.arrays import Bools, Floats, Ints

__all__ = ["AT_ONCE", "Gram", "make_known", "whole"]

#: Coordinates between two checks for a request to stop.
AT_ONCE = 128


class Gram(NamedTuple):
    """⟨V_r, V_s⟩ for labels r, s of which one is known; ‖V_r‖² for all."""

    K: Floats  # (labels, labels), symmetric; off the diagonal, pairs that are not known lack the share of `phi`
    known: Bools  # (labels,)
    phi: Floats  # (parts, coordinates, labels): what V_r holds besides what is in `K` from the start
    stop: Ints  # once stop[0] is set, the answer is of no use


@compiled(helper=True)
def whole(K: Floats) -> Gram:
    """Return a Gram matrix of which all is known."""
    return Gram(K, np.ones(K.shape[0], np.bool_), np.zeros((0, 0, 0)), np.zeros(1, np.int64))


@compiled(helper=True)
def make_known(gram: Gram, r: int) -> None:
    """Compute ⟨V_r, V_s⟩ for every label s.

    A coordinate at a time, so that memory is read in order; where V_r has zeros, it costs nothing.
    """
    K, known, phi = gram.K, gram.known, gram.phi
    if known[r]:
        return
    row = np.zeros(K.shape[0])
    for p in range(phi.shape[0]):
        for j in range(phi.shape[1]):
            if j % AT_ONCE == 0 and gram.stop[0] != 0:
                return
            own = phi[p, j, r]
            if own != 0.0:
                for s in range(row.shape[0]):
                    row[s] += own * phi[p, j, s]
    for s in range(row.shape[0]):
        if s != r and not known[s]:
            K[r, s] = K[s, r] = row[s] + K[r, s]
    known[r] = True
