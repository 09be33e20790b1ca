"""Functions that only compiled code calls: compiled as parts of their callers.

Numba optimises a function and makes machine code of it as soon as its types are known, then links it into each of its
callers and does both again, at every level of calls. Machine code of functions that Python never calls is never run.
Leaving it out takes three quarters off the time that LLVM spends on the loops over labels; docs/native.md has figures.

Numba hands most options of a function on to all that it calls, and compiles its own functions, such as `np.empty`,
once for every combination of them. Callers hide from what they call all options that change no result.

This relies on classes of `numba.core` that have been the same in all versions from 0.61 to 0.68.
"""

from __future__ import annotations

from typing import Any

from numba import njit
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import AnalysisPass, LoweringPass, register_pass
from numba.core.lowering import Lower
from numba.core.registry import CPUDispatcher
from numba.core.targetconfig import ConfigStack
from numba.core.typed_passes import AnnotateTypes, BaseNativeLowering, NativeLowering
from numba.core.untyped_passes import TranslateByteCode

from hinged.compiling.owners import owns, without_owner

__all__ = ["WholeCompiler", "as_part"]

#: Options of a function that change what Numba compiles for its calls.
INHERITED = {"nrt", "error_model", "fastmath", "boundscheck"}


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


@register_pass(mutates_CFG=False, analysis_only=True)
class HideOptions(AnalysisPass):
    """Let what this function calls inherit those of its options alone that matter there."""

    _name = "hide_options"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """Change the copy of the options that functions called from here will see."""
        seen = ConfigStack().top()
        for name in seen.options:
            if name not in INHERITED:
                seen.discard(name)
        return False


class WholeCompiler(Compiler):
    """Numba's compiler, for functions that Python calls."""

    def define_pipelines(self) -> Any:
        """Return the usual passes with `HideOptions` among them."""
        pipelines = super().define_pipelines()
        for pipeline in pipelines:
            pipeline.add_pass_after(HideOptions, TranslateByteCode)
            pipeline.finalize()
        return pipelines


class BorrowingLower(Lower):
    """Numba's translator to LLVM, for functions that borrow their arguments."""

    def extract_function_arguments(self) -> Any:
        """Take the arrays among the arguments without their owners, unless the function may return one of them.

        The caller keeps what it hands on until the function returns. Then nobody need count references to it meanwhile.
        """
        arguments = super().extract_function_arguments()
        if not owns(self.context, self.fndesc.restype):
            kinds = self.fndesc.argtypes
            arguments = [
                without_owner(self.context, self.builder, kind, value)
                for kind, value in zip(kinds, arguments, strict=True)
            ]
            self.fnargs = arguments
        return arguments


@register_pass(mutates_CFG=True, analysis_only=False)
class PartLowering(BaseNativeLowering):
    """The translation of parts to LLVM."""

    _name = "part_lowering"  # type: ignore[assignment]

    @property
    def lowering_class(self) -> type[Lower]:
        """The translator."""
        return BorrowingLower


class PartCompiler(WholeCompiler):
    """Numba's compiler, for parts."""

    def define_pipelines(self) -> Any:
        """Return the passes with `BeginPart` among them, and `PartLowering` in place of Numba's own."""
        pipelines = super().define_pipelines()
        for pipeline in pipelines:
            pipeline.add_pass_after(BeginPart, AnnotateTypes)
            pipeline.passes = [
                (PartLowering if each is NativeLowering else each, about) for each, about in pipeline.passes
            ]
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
