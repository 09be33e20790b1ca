"""From accumulated moves to weights."""

from hinged.geometry.adaptive import Adaptive, variance
from hinged.geometry.choice import resolve
from hinged.geometry.entropy import Entropy, curvature, simplex_weights
from hinged.geometry.euclidean import moved_sq_norm
from hinged.geometry.forgetting import HalfLife

__all__ = ["Adaptive", "Entropy", "HalfLife", "curvature", "moved_sq_norm", "resolve", "simplex_weights", "variance"]
