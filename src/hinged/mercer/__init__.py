"""Mercer kernels, and exact online learning with them in blocks; NumPy is all it needs."""

from __future__ import annotations

from hinged.mercer.arrays import Learnt, learn
from hinged.mercer.budget import Budget
from hinged.mercer.functions import Centred, Gaussian, Linear, Polynomial

__all__ = ["Budget", "Centred", "Gaussian", "Learnt", "Linear", "Polynomial", "learn"]
