"""The model file, and settings and labels as plain data."""

from hinged.io.model_file import read, write
from hinged.io.values import from_json, to_json

__all__ = ["from_json", "read", "to_json", "write"]
