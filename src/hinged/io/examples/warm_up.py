"""Compile the readers ahead of their first use."""

from __future__ import annotations

import io

from hinged.io.examples.reader import read

__all__ = ["warm_up"]

#: One small file for each way through the compiled parsers.
FILES = {
    "vw": [b"1 |f a:0.5 b"],
    "svmlight": [b"1 1:0.5"],
    "lines": [b"a\tb"],
    "csv": [b"label,text\na,b c\n", b"y,a,b\n1,0.5,x\n", b"y,a,importance\n1,0.5,1\n"],
}


def warm_up() -> None:
    """Read a line of each format that compiled code parses."""
    for format, files in FILES.items():
        for data in files:
            for _ in read(io.BytesIO(data), format):
                pass
