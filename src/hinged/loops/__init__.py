"""Compiled loops that join rules, tasks and sharing; the only place where speed is the subject."""

from hinged.loops.labels import learn, score
from hinged.loops.memory import Paged
from hinged.loops.model import LabelModel

__all__ = ["LabelModel", "Paged", "learn", "score"]
