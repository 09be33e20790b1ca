"""How far to move, along which constraints: scores and pair norms in, one net coefficient per label out."""

from hinged.rules.interior_point import interior_point
from hinged.rules.joint import joint_step
from hinged.rules.mira import Mira
from hinged.rules.optimal import Optimal
from hinged.rules.passive_aggressive import pa, pa1, pa2
from hinged.rules.perceptron import perceptron
from hinged.rules.response import Responses, linear
from hinged.rules.search import by_search
from hinged.rules.simultaneous import simultaneous
from hinged.rules.table import RULES, resolve

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
