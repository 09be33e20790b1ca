"""Running the command line in this process."""

import io
import sys

import pytest

from hinged.cli.main import main


def pipe_in(text, monkeypatch):
    """Let a text be the standard input of this process."""
    piped = io.TextIOWrapper(io.BufferedReader(io.BytesIO(text.encode())), encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", piped)


@pytest.fixture
def call(capsys, monkeypatch):
    """Call with the arguments of the program, and what is piped in; gives exit code, stdout and stderr."""

    def run(*arguments, stdin=None):
        if stdin is not None:
            pipe_in(stdin, monkeypatch)
        with pytest.raises(SystemExit) as stopped:
            main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return stopped.value.code, said.out, said.err

    return run


def is_one_sentence(err):
    """Whether stderr holds one line, after that on what is read if there is one, and it ends like a sentence."""
    first, _, rest = err.partition("\n")
    err = rest if first.startswith("reading ") else err
    return len(err.strip().splitlines()) == 1 and err.rstrip().endswith(".") and err.startswith("hinged: ")
