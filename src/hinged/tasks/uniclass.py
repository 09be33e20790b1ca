"""One class: a ball that must hold every vector; its centre is what is learnt.

The direction from the centre to a vector has length 1, so the steps are those of a constraint whose ‖z‖² is 1.
Crammer et al. (2006), section 6. With a radius to be learnt there is one more coordinate: it starts at the largest
radius B, its target is always 0, and the ball of radius B around both cuts the plane of the data in a ball of radius
√(B² - h²).
"""

from __future__ import annotations

import math

from hinged.compiling import compiled

__all__ = ["radius"]


@compiled(helper=True)
def radius(largest: float, height: float) -> float:
    """Return the ball's radius at a height of the additional coordinate; `largest` where the radius is fixed.

    Examples
    --------
    >>> radius(5.0, 3.0), radius(5.0, 0.0)
    (4.0, 5.0)
    """
    return math.sqrt(max(0.0, largest * largest - height * height))
