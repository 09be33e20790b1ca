"""Mercer kernels, and exact online learning with them in blocks; NumPy is all it needs."""

from __future__ import annotations

from hinged.mercer.arrays import Learnt, learn
from hinged.mercer.budget import Budget
from hinged.mercer.fourier import Fourier
from hinged.mercer.functions import Centred, Gaussian, Linear, Polynomial
from hinged.mercer.products import Products

__all__ = ["Budget", "Centred", "Fourier", "Gaussian", "Learnt", "Linear", "Polynomial", "Products", "learn"]
