"""Two labels: the score's sign must be the label's, by a margin.

Crammer et al. (2006), section 3.
"""

from __future__ import annotations

from hinged.compiling import compiled

__all__ = ["sign"]


@compiled(helper=True)
def sign(label: int) -> float:
    """The label's sign: the second label is the positive one.

    Examples
    --------
    >>> sign(0), sign(1)
    (-1.0, 1.0)
    """
    return 1.0 if label == 1 else -1.0
