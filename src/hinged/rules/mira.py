"""MIRA: the exact projection onto all of a trial's constraints, the papers' comparator."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["Mira"]


@dataclass(frozen=True)
class Mira:
    """Crammer and Singer's MIRA: the joint step of `"optimal"` with a small margin `beta` and its own cap.

    Parameters
    ----------
    beta : float
        The margin to be met, positive (from all-zero weights a margin of 0 would never move).
    cap : float
        Bound on the right label's coefficient: infinity projects exactly; 1 is Crammer and Singer's own problem.

    Examples
    --------
    >>> Mira(cap=1.0)
    Mira(beta=0.01, cap=1.0)
    """

    beta: float = 0.01
    cap: float = math.inf
