"""Functions that only compiled code calls: compiled as parts of their callers.

Numba optimises a function and makes machine code of it as soon as its types are known, then links it into each of its
callers and does both again, at every level of calls. Machine code of functions that Python never calls is never run.
Leaving it out takes three quarters off the time that LLVM spends on the loops over labels; docs/native.md has figures.

This relies on classes of `numba.core` that have been the same in all versions from 0.61 to 0.68.
"""

from __future__ import annotations

from typing import Any

from numba import njit
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import LoweringPass, register_pass
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import AnnotateTypes

__all__ = ["as_part"]


class Unloaded:
    """The code generator of functions that are not in memory, whose environments need not be told to them."""

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing."""


class Part(JITCodeLibrary):
    """Code to be linked into callers, as it is."""

    codegen = Unloaded()

    def _optimize_final_module(self) -> None:
        """Leave that to the callers."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: no function has an address."""
        return 0


@register_pass(mutates_CFG=False, analysis_only=True)
class BeginPart(LoweringPass):
    """Choose where a part's code goes, before it is made."""

    _name = "begin_part"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """Give the compiler a `Part` to fill."""
        state.library = Part(state.targetctx.codegen(), state.func_id.func_qualname)
        return False


class PartCompiler(Compiler):
    """Numba's compiler, for parts."""

    def define_pipelines(self) -> Any:
        """Return the usual passes with `BeginPart` among them."""
        pipelines = super().define_pipelines()
        for pipeline in pipelines:
            pipeline.add_pass_after(BeginPart, AnnotateTypes)
            pipeline.finalize()
        return pipelines


class PartDispatcher(CPUDispatcher):
    """A function that compiled code calls as compiled, and Python as it is written."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.py_func(*args, **kwargs)


def as_part(function: Any, **options: Any) -> Any:
    """Return the function such that compiled code can call it."""
    options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": PartCompiler}
    part: Any = njit(**options)(function)
    part.__class__ = PartDispatcher
    return part
