"""Decorators of functions that only compiled code calls."""

from __future__ import annotations

from functools import partial

from numba import njit

__all__ = ["inlined", "internal"]

#: A function with one caller becomes part of it. By itself it would be optimised twice: alone and inside its caller.
inlined = partial(njit, cache=True, inline="always")

#: Without the wrappers for calls from Python and C, a function that is given whole models compiles in half the time.
#: Calling one from Python crashes, except where the compiler is switched off.
internal = partial(njit, cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
