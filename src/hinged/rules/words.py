"""The words of which every rule is made: which constraints it chooses, how far it goes along one, how it combines.

Compiled loops read the words as small integers: a jitted function passed as an argument would be compiled again in
every process, a number is not. Other packages do not compare these numbers; they call the questions below, or the
functions of this package that answer with a step.
"""

from __future__ import annotations

from typing import NamedTuple

from hinged.compiling import compiled

# The constraints a rule chooses.
WORST, WRONG, MISSING = range(3)  # the worst alone · all that are ranked wrongly · all that miss the margin
# How far it would go along one of them: C on a mistake · up to the margin · at most C · softened by 1/2C.
CONSTANT, PA, PA1, PA2 = range(4)
# How it combines the steps: one step · their mean · the best joint step, also by interior points · a user's function.
ONE, MEAN, JOINT, INTERIOR, OWN = range(5)


class Words(NamedTuple):
    """A rule, as loops read it."""

    choose: int
    length: int
    combine: int


@compiled(helper=True)
def is_one(rule: Words) -> bool:
    """Return True if the rule moves along one constraint."""
    return rule.combine == ONE


@compiled(helper=True)
def is_joint(rule: Words) -> bool:
    """Return True if the rule solves for all constraints together, so that it reads all their inner products."""
    return rule.combine == JOINT or rule.combine == INTERIOR


@compiled(helper=True)
def is_interior(rule: Words) -> bool:
    """Return True if the rule finds its joint step by interior points."""
    return rule.combine == INTERIOR


@compiled(helper=True)
def is_own(rule: Words) -> bool:
    """Return True if the rule is a function of the user's."""
    return rule.combine == OWN


@compiled(helper=True)
def takes_missing(rule: Words) -> bool:
    """Return True if the rule moves along every constraint that misses its margin."""
    return rule.choose == MISSING


@compiled(helper=True)
def is_constant(rule: Words) -> bool:
    """Return True if every step has the same length, whatever the loss."""
    return rule.length == CONSTANT


@compiled(helper=True)
def is_uncapped(rule: Words) -> bool:
    """Return True if steps go up to the margin whatever it takes; a constraint that no move can meet is left out."""
    return rule.length == PA


@compiled(helper=True)
def is_softened(rule: Words) -> bool:
    """Return True if the rule's problem has squared losses, so that C softens steps in place of capping them."""
    return rule.length == PA2
