"""Compiled loops that join rules, tasks and sharing; the only place where speed is the subject."""

from hinged.loops.labels import learn
from hinged.loops.memory import Paged
from hinged.loops.model import LabelModel
from hinged.loops.scoring import score

__all__ = ["LabelModel", "Paged", "learn", "score"]
