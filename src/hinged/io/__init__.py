"""Example readers and the model file."""

from hinged.io.model_file import load, save

__all__ = ["load", "save"]
