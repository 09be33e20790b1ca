"""Helpers of compiled code, for tests that call them from Python."""

from hinged.compiling import compiled

__all__ = ["as_compiled"]


def as_compiled(*helpers):
    """The same functions, compiled so that Python can call them; Python runs helpers as they are written."""
    return tuple(compiled(getattr(helper, "py_func", helper)) for helper in helpers)
