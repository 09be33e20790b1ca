"""The decorator of every compiled function; without Numba, functions stay plain Python, so kernel learners run on."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

if find_spec("numba") is None:
    COMPILES = False
else:
    from numba import config, njit
    from numba.core.types import unliteral

    from hinged.compiling.cache import PackageCache
    from hinged.compiling.notice import watch
    from hinged.compiling.parts import WholeCompiler, as_part

    COMPILES = not config.DISABLE_JIT  # type: ignore[attr-defined]

__all__ = ["DISPATCHERS", "compiled"]

#: Functions whose machine code is stored.
DISPATCHERS: list[Any] = []


def compiled(function: Callable | None = None, *, helper: bool = False, inline: bool = False, **options: Any) -> Any:
    """Compile a function when it is first called, and store its machine code for later processes.

    Parameters
    ----------
    function : callable
    helper : bool, default False
        The function is called by compiled functions alone. It becomes part of their code and is optimised there, once,
        instead of at every level of calls. Python runs it as it is written.
    inline : bool, default False
        The function is copied into its callers before their types are inferred. For functions that must not pass
        arrays as arguments, or whose arguments have types of their own at every call.
    **options
        Further options of `numba.njit`, such as `error_model="numpy"`. Python's lock is released unless `nogil=False`.
        With `forceinline=True` LLVM makes a helper part of each caller: for those that hand on the state of a round,
        whose dozens of arrays a call would pass one by one, which took longer than the round itself.

    Examples
    --------
    >>> @compiled
    ... def double(x):
    ...     return 2 * x
    >>> double(4)
    8
    """
    if function is None:
        return lambda each: compiled(each, helper=helper, inline=inline, **options)
    if not COMPILES:
        return function
    if inline:
        return njit(inline="always", **options)(function)
    if helper:
        return _by_type(as_part(function, **options))
    dispatcher = njit(**{"nogil": True, "pipeline_class": WholeCompiler, **options})(function)
    if PackageCache.holds(function):
        dispatcher._cache = PackageCache(function)
        DISPATCHERS.append(dispatcher)
        watch()
    return _by_type(dispatcher)


def _by_type(dispatcher: Any) -> Any:
    """Compile once for all numbers of a type; Numba would compile calls with constants as arguments once more."""
    template = dispatcher.get_call_template

    def get_call_template(args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        return template(tuple(map(unliteral, args)), {name: unliteral(kind) for name, kind in kws.items()})

    dispatcher.get_call_template = get_call_template
    return dispatcher
