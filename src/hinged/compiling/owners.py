"""Arrays in compiled code without their owners, so that nobody counts references to them."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.np.arrayobj import make_array

__all__ = ["owns", "without_owner"]


def owns(context: Any, kind: Any) -> bool:
    """Return True if values of this type hold memory for which references are counted."""
    return bool(context.data_model_manager[kind].contains_nrt_meminfo())


def without_owner(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """The same value, in which no array has an owner, nor any in a tuple; lists and strings keep theirs."""
    if isinstance(kind, types.Array):
        view = make_array(kind)(context, builder, value)
        for owner in ("meminfo", "parent"):
            setattr(view, owner, getattr(view, owner).type(None))
        return view._getvalue()
    if isinstance(kind, types.BaseTuple):
        parts = [(part, builder.extract_value(value, i)) for i, part in enumerate(kind)]  # type: ignore
        return context.make_tuple(builder, kind, [without_owner(context, builder, *part) for part in parts])
    return value
