"""How far to move, along which constraints: scores and pair norms in, one net coefficient per label out."""

from hinged.rules.combine import simultaneous
from hinged.rules.interior_point import interior_point
from hinged.rules.joint import joint_step
from hinged.rules.length import pa, pa1, pa2, perceptron
from hinged.rules.response import Responses, linear
from hinged.rules.search import by_search
from hinged.rules.table import RULES, Mira, Optimal, resolve

__all__ = [
    "RULES",
    "Mira",
    "Optimal",
    "Responses",
    "by_search",
    "interior_point",
    "joint_step",
    "linear",
    "pa",
    "pa1",
    "pa2",
    "perceptron",
    "resolve",
    "simultaneous",
]
