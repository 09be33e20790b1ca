"""From accumulated moves to weights."""

from hinged.geometry.euclidean import moved_sq_norm

__all__ = ["moved_sq_norm"]
