"""A generated stream of mail, and real data sets on this machine."""

from hinged.experiments.datasets import *  # noqa: F403
from hinged.experiments.datasets import __all__ as __all__
