"""One decorator for compiled functions, and where their machine code is stored."""

from hinged.compiling.decorator import compiled

__all__ = ["compiled"]
