"""Files of machine code: one for each version of a function, with a checksum.

A file holds what Numba needs to call a compiled function again. Numba's own files also hold LLVM's bitcode, three
quarters of the whole, which is parsed at every start: 45 of the 53 ms that loading the loop over labels takes. It is
needed only where a function that is compiled later links this one, so here it is compressed, and parsed on demand.
This relies on classes of `numba.core` that have been the same in all versions from 0.61 to 0.68.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompileResult, compile_result
from numba.core.serialize import dumps

__all__ = ["read", "rebuild", "reduce", "signature", "write"]

MAGIC = b"hinged code 1\n"
DIGEST = hashlib.sha256().digest_size


# ------------------------------------------------------------------ bytes on disk
def write(path: Path, payload: tuple[Any, ...]) -> None:
    """Store a payload under a path, whole or not at all; readers meanwhile see the file that was there before."""
    data = dumps(payload)
    handle, beside = tempfile.mkstemp(prefix=path.name, suffix=".tmp", dir=path.parent)  # only its owner may read it
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(MAGIC + hashlib.sha256(data).digest() + data)
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise


def read(path: Path, trusted: Callable[[os.stat_result], bool]) -> tuple[Any, ...] | None:
    """Return a stored payload; None if there is no such file, it is damaged, or `trusted` refuses its owner or mode."""
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or not trusted(status):
                return None
            content = file.read()
    except OSError:
        return None
    head = len(MAGIC) + DIGEST
    data = memoryview(content)[head:]
    if content[:head] != MAGIC + hashlib.sha256(data).digest():
        return None
    payload: tuple[Any, ...] = pickle.loads(data)
    return payload


# ------------------------------------------------------------------ from compiled functions to payloads and back
def reduce(result: Any) -> tuple[Any, ...]:
    """Return what is needed to call a compiled function in another process."""
    from zstandard import compress  # used by processes that compile

    (name, _, (machine_code, bitcode)), *others = result._reduce()
    description, environment, types, objectmode, lifted, _, reload_init, environments = others
    shared = result.library._get_module_for_linking()
    values = (*shared.functions, *shared.global_variables)
    symbols = sorted(value.name for value in values if not value.is_declaration)
    code = (name, machine_code, symbols, compress(bitcode, 10))
    return code, description, environment, types, objectmode, lifted, reload_init, environments


def signature(payload: tuple[Any, ...]) -> Any:
    """Return the types of arguments and result of a stored function."""
    return payload[3]


def rebuild(context: Any, payload: tuple[Any, ...]) -> CompileResult:
    """Return the compiled function of a payload, ready to be called; the counterpart of `CompileResult._rebuild`."""
    code, description, environment, types, objectmode, lifted, reload_init, environments = payload
    for start in reload_init:
        start()
    library = StoredLibrary(context.codegen(), *code)
    result = compile_result(
        target_context=context,
        typing_context=context.typing_context,
        library=library,
        environment=environment,
        entry_point=context.get_executable(library, description, environment),
        fndesc=description,
        type_annotation="",
        signature=types,
        objectmode=objectmode,
        lifted=lifted,
        reload_init=reload_init,
        referenced_envs=environments,
    )
    for each in environments:
        library.codegen.set_env(each.env_name, each)
    return result


class StoredLibrary(JITCodeLibrary):
    """Machine code from a file; its bitcode is parsed when another function links it."""

    def __init__(self, codegen: Any, name: str, machine_code: bytes, symbols: list[str], bitcode: bytes) -> None:
        super().__init__(codegen, name)
        self._bitcode = bitcode
        self.enable_object_caching()
        self._set_compiled_object(machine_code)
        self._finalize_final_module()
        codegen._engine._defined_symbols.update(symbols)

    def _get_module_for_linking(self) -> Any:
        if self._shared_module is None:
            from zstandard import decompress

            self._shared_module = llvm.parse_bitcode(decompress(self._bitcode))
        return self._shared_module
