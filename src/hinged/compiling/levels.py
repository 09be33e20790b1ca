"""Instruction sets that wheels carry machine code for, and which of them this processor runs.

`docs/native.md` has the measurements behind the choice. To compile for a level, set `NUMBA_CPU_NAME` to its name and
`NUMBA_CPU_FEATURES` to nothing; `make wheel` does so for each.
"""

from __future__ import annotations

import platform
from typing import Any, TypeAlias

__all__ = ["LEVELS", "Target", "level_of", "levels_here"]

#: What LLVM compiles for: platform, processor, and features in addition to the processor's own.
Target: TypeAlias = tuple[str, str, str]

#: For each architecture, levels from the best to the one that every processor has, with the features they need. Names
#: and features are LLVM's.
LEVELS = {
    "x86_64": {
        "x86-64-v3": frozenset({"+avx2", "+bmi", "+bmi2", "+f16c", "+fma", "+lzcnt", "+movbe", "+popcnt", "+xsave"}),
        "generic": frozenset[str](),
    },
    "aarch64": {"generic": frozenset[str]()},
}


def levels_here() -> list[str]:
    """Return the names of this machine's levels, the best one first.

    Examples
    --------
    >>> levels_here()[-1]
    'generic'
    """
    return list(LEVELS.get(platform.machine(), ["generic"]))


def level_of(codegen: Any) -> Target | None:
    """Return the best level whose code runs where Numba's code generator would compile for; None if there is none.

    What Numba's own variables forbid, such as `NUMBA_ENABLE_AVX=0`, is missing in the generator's features.
    """
    triple, _, features = codegen.magic_tuple()
    present = frozenset(features.split(","))
    for level, needed in LEVELS.get(triple.split("-")[0], {}).items():
        if needed <= present:
            return triple, level, ""
    return None
