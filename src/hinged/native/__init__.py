"""Memory by its address, and machine instructions that Numba does not offer; docs/native.md says what each gains.

With `HINGED_PLAIN=1` in the environment, plain loops take the place of the instructions and give the same bits.
"""

import os
from typing import Any

from numba import config  # type: ignore[attr-defined]

from hinged.native import instructions, plain
from hinged.native.memory import borrowed, segment

PLAIN = bool(config.DISABLE_JIT) or os.environ.get("HINGED_PLAIN", "0") not in ("", "0")  # type: ignore[attr-defined]
BLOCK = 64  # bytes that the functions on blocks read at once

_code: Any = plain if PLAIN else instructions
add_rows = _code.add_rows
best_of = _code.best_of
copy_block = _code.copy_block
count_bits = _code.count_bits
eight_bytes = _code.eight_bytes
equal_bytes = _code.equal_bytes
fetch = _code.fetch
lowest_bit = _code.lowest_bit
sum_rows = _code.sum_rows
wide_bytes = _code.wide_bytes
word_bytes = _code.word_bytes

__all__ = [
    "BLOCK",
    "PLAIN",
    "add_rows",
    "best_of",
    "borrowed",
    "copy_block",
    "count_bits",
    "eight_bytes",
    "equal_bytes",
    "fetch",
    "lowest_bit",
    "segment",
    "sum_rows",
    "wide_bytes",
    "word_bytes",
]
