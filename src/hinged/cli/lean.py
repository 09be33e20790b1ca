"""Start-up without what no command needs: scikit-learn's base asks for scipy.stats and pandas, and uses neither."""

from __future__ import annotations

import sys
from types import ModuleType

__all__ = ["import_lean"]

UNUSED = ("scipy.stats", "pandas")


def import_lean() -> None:
    """Import scikit-learn's base with stand-ins for them, which are gone afterwards: half the time.

    Whoever asks for the real ones later gets them. Where this does not work (another scikit-learn), nothing is lost:
    the usual import follows.
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
