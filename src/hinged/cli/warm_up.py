"""`hinged warm-up`: compile all loops once, so that later runs start at once."""

from __future__ import annotations

import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Annotated

from hinged.cli.options import flag
from hinged.cli.progress import bar
from hinged.cli.tables import emit, emit_json

__all__ = ["warm_up"]


def warm_up(as_json: Annotated[bool, flag("--json", "Print the result as JSON.")] = False) -> None:
    """Compile every loop for this machine and keep the result.

    Run it once after installing.

    Example: hinged warm-up
    """
    from hinged.compiling.notice import quiet
    from hinged.loops.warm_up import warm_up as compile_loops
    from hinged.loops.warm_up import warm_up_labels

    start = time.perf_counter()
    with ProcessPoolExecutor(1, get_context("spawn")) as beside, bar() as show, quiet():

        def advance(name: str, done: int, total: int) -> None:
            show(f"compiling {name}", done, total)

        others = beside.submit(_compile_others)
        warm_up_labels(progress=advance)
        others.result()
        versions = compile_loops()  # a loop compiled by both processes at once may have been stored by one of them only
    seconds = time.perf_counter() - start
    if as_json:
        emit_json({"versions": versions, "seconds": seconds}, one_line=True)
    else:
        emit(f"Compiled in {versions} versions and stored ({seconds:.1f} s); later runs start at once.")


def _compile_others() -> None:
    """Compile, on another core, what the label loops do not need."""
    from hinged.compiling.notice import quiet
    from hinged.io.examples.warm_up import warm_up as compile_readers
    from hinged.loops.warm_up import warm_up_others
    from hinged.text.warm_up import warm_up as compile_text

    with quiet():
        compile_text()
        compile_readers()
        warm_up_others()
