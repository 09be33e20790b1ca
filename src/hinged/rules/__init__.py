"""How far to move, along which constraints: scores and pair norms in, one net coefficient per label out."""

from hinged.rules.mira import Mira
from hinged.rules.optimal import Optimal
from hinged.rules.passive_aggressive import pa, pa1, pa2
from hinged.rules.perceptron import perceptron
from hinged.rules.simultaneous import simultaneous
from hinged.rules.table import RULES, resolve

__all__ = ["RULES", "Mira", "Optimal", "pa", "pa1", "pa2", "perceptron", "resolve", "simultaneous"]
