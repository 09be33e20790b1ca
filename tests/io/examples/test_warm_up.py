"""Warming up compiles all there is: whatever is read later, nothing is compiled again."""

import io
import sys

import pytest
from numba import config
from tests.fuzz.seeds import FILES
from tests.reference.examples import rows_of

from hinged.io.examples import FORMATS, read
from hinged.io.examples.warm_up import warm_up


def compiled():
    return {
        f"{name}.{key}": sorted(map(str, thing.signatures))
        for name, module in list(sys.modules.items())
        if name.startswith("hinged.io.examples")
        for key, thing in vars(module).items()
        if hasattr(thing, "py_func")
    }


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled with the compiler switched off")
def test_nothing_is_compiled_after_warming_up(tmp_path):
    warm_up()
    before = compiled()
    assert any(before.values())
    for format in FORMATS.keys() & FILES.keys():
        for data in FILES[format]:
            (tmp_path / "x").write_bytes(data)
            for source in (io.BytesIO(data), tmp_path / "x"):
                rows_of(read(source, format, on_error="skip", chunk_bytes=20))
    assert compiled() == before
