"""`hinged warm-up`: compile all loops once, so that later runs start at once."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import Annotated

from hinged.cli.options import flag
from hinged.cli.progress import bar
from hinged.cli.tables import emit, emit_json

__all__ = ["warm_up"]

MOST_WORKERS = 4  # each takes up to 1 GB of memory, and one version alone takes a fifth of the time of all


def warm_up(as_json: Annotated[bool, flag("--json", "Print the result as JSON.")] = False) -> None:
    """Compile every loop for this machine and keep the result.

    Run it once after installing.

    Example: hinged warm-up
    """
    from hinged.compiling.notice import quiet

    start, versions = time.perf_counter(), _versions()
    workers = min(os.cpu_count() or 1, MOST_WORKERS)
    with bar() as show, quiet():
        show(f"compiling {len(versions)} versions", 0, len(versions))
        with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
            running = {pool.submit(_compile, name): name for name in versions}
            for done, each in enumerate(as_completed(running), 1):
                each.result()
                show(f"compiled {running[each]}", done, len(versions))
        for run in versions.values():  # of a loop that two processes stored at once, one version may be missing
            run()
    seconds = time.perf_counter() - start
    if as_json:
        emit_json({"versions": len(versions), "seconds": seconds}, one_line=True)
    else:
        emit(f"Compiled in {len(versions)} versions and stored ({seconds:.1f} s); later runs start at once.")


def _versions() -> dict[str, Callable[[], None]]:
    """Return what compiles each version, by name."""
    from hinged.io.examples.warm_up import warm_up as compile_readers
    from hinged.loops.warm_up import VERSIONS
    from hinged.text.warm_up import warm_up as compile_text

    return VERSIONS | {"text": compile_text, "readers": compile_readers}


def _compile(name: str) -> None:
    """Compile one version, in a process of the pool."""
    from hinged.compiling.notice import quiet

    with quiet():
        _versions()[name]()
