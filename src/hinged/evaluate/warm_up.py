"""Compile what commands need between a file and a learnt model, so that no user waits for it later."""

from __future__ import annotations

import io
from collections.abc import Callable

from hinged.evaluate.answers import answer
from hinged.evaluate.stream import learn_stream, learner_for
from hinged.io.examples import read

__all__ = ["warm_up"]

#: Three examples in each format that is parsed by compiled code.
FILES = {
    "jsonl": b'{"label": "a", "size": 1.5}\n{"label": "b", "size": 2}\n{"label": "a", "size": 1}\n',
    "csv": b'label,text\na,"x ""y"""\nb,z\na,x\n',
    "csv of numbers": b"label,size,colour\na,1.5,red\nb,2,blue\na,1,red\n",
    "tsv": b"label\ttext\na\tx y\nb\tz\na\tx\n",
    "svmlight": b"1 1:0.5 3:1\n2 2:1\n1 1:1\n",
    "vw": b"a 2.0 |f x:1.5 y\nb |g z\na |f x\n",
    "lines": b"a\tx y\nb\tz\na\tx\n",
}


def warm_up(progress: Callable[[str, int, int], None] | None = None) -> None:
    """Read, learn and predict three examples of each format.

    Parameters
    ----------
    progress : callable, optional
        Told (name, done, total) before each.
    """
    for done, (name, content) in enumerate(FILES.items()):
        if progress is not None:
            progress(name, done, len(FILES))
        model, chunks = learner_for(read(io.BytesIO(content), name.split()[0]), None, {})
        for _ in learn_stream(model, chunks):
            pass
        for chunk in read(io.BytesIO(content), name.split()[0]):
            answer(model, chunk)
