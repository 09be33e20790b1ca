"""The Euclidean geometry: the weights are the sum of the moves, and F is half their squared norm."""

from __future__ import annotations

from hinged.compiling import compiled

__all__ = ["moved_sq_norm"]


@compiled(helper=True)
def moved_sq_norm(sq_norm: float, inner: float, sq_move: float) -> float:
    r"""Squared norm after a move, :math:`\|w + \Delta\|^2 = \|w\|^2 + 2\langle w, \Delta\rangle + \|\Delta\|^2`.

    The inner product is a sum of scores already known, so the certificate costs O(1) a round beyond the update.

    Examples
    --------
    >>> moved_sq_norm(4.0, -1.0, 2.0)
    4.0
    """
    return sq_norm + 2.0 * inner + sq_move
