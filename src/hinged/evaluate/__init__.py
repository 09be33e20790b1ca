"""Progressive validation, reports and plots."""

from hinged.evaluate.progressive import Progress, progressive

__all__ = ["Progress", "progressive"]
