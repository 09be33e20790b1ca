"""Which labels own which weights, and the label features φ(x, r) through which shared weights are read."""

from hinged.sharing.evidence import Evidence
from hinged.sharing.features import Distance, First, Frequency, Tfidf
from hinged.sharing.groups import Groups
from hinged.sharing.plan import Plan, resolve

__all__ = ["Distance", "Evidence", "First", "Frequency", "Groups", "Plan", "Tfidf", "resolve"]
