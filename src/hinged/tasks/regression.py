"""A number: the score must lie within ε of it.

Crammer et al. (2006), section 5. Of the two constraints ⟨w, x⟩ >= y - ε and -⟨w, x⟩ >= -y - ε at most one is violated,
so a round has one: the score must rise to y - ε, or fall to y + ε.
"""

from __future__ import annotations

from hinged.compiling import compiled

__all__ = ["towards"]


@compiled(helper=True)
def towards(target: float, score: float, epsilon: float) -> tuple[float, float]:
    r"""The side s = sign(y - ŷ) on which the score must move, and the margin s·y - ε of that constraint.

    Its hinge, :math:`s y - \epsilon - s \hat y`, is the ε-insensitive loss :math:`|y - \hat y| - \epsilon`.

    Examples
    --------
    >>> towards(2.0, 0.5, 0.25), towards(-1.0, 0.5, 0.25)
    ((1.0, 1.75), (-1.0, 0.75))
    """
    s = 1.0 if target > score else -1.0
    return s, s * target - epsilon
