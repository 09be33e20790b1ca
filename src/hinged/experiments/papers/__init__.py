"""The experiments of the four papers, run again: each a study with tables, curves and remarks."""

from hinged.experiments.papers.run import STUDIES, reproduce
from hinged.experiments.papers.study import Curves, Study, Table

__all__ = ["STUDIES", "Curves", "Study", "Table", "reproduce"]
