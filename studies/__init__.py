"""The experiments of the four papers, run again (`python -m studies`): each a study with tables, curves and remarks."""

from studies.run import STUDIES, reproduce
from studies.study import Curves, Study, Table

__all__ = ["STUDIES", "Curves", "Study", "Table", "reproduce"]
