"""What wrong answers cost: `hinged.costs` by its usual name."""

from hinged.tasks.cost import Tree, cost_matrix

__all__ = ["Tree", "cost_matrix"]
