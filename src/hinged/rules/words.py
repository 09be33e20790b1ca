"""The words of which every rule is made: which constraints it chooses, how far it goes along one, how it combines.

Compiled loops read the words as small integers: a jitted function passed as an argument would be compiled again in
every process, a number is not.
"""

from __future__ import annotations

from typing import NamedTuple

# The constraints a rule chooses.
WORST, WRONG, MISSING = range(3)  # the worst alone · all that are ranked wrongly · all that miss the margin
# How far it would go along one of them.
CONSTANT, PA, PA1, PA2 = range(
    4
)  # C on a mistake · up to the margin · the same, at most C · the same, softened by 1/2C
# How it combines the steps.
ONE, MEAN, JOINT, INTERIOR, OWN = range(5)
# one step · their mean · the best joint step · the same by interior points · by a function of the user's


class Words(NamedTuple):
    """A rule, as loops read it."""

    choose: int
    length: int
    combine: int
