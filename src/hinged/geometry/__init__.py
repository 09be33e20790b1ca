"""From accumulated moves to weights."""

from hinged.geometry.entropy import Entropy, curvature, resolve, simplex_weights
from hinged.geometry.euclidean import moved_sq_norm

__all__ = ["Entropy", "curvature", "moved_sq_norm", "resolve", "simplex_weights"]
