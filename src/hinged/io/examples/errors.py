"""A line that cannot be read: where it is, what is wrong with it, and what was expected."""

from __future__ import annotations

__all__ = ["BadLine", "excerpt"]

SHOWN = 40


class BadLine(ValueError):  # noqa: N818
    """One malformed line (or record) of a file.

    Parameters
    ----------
    source : str
        The file, or "stdin".
    line : int
        Number of the line, from 1; of the record where a format has no lines.
    problem : str
        What was found.
    expected : str
        What would have been right.

    Examples
    --------
    >>> print(BadLine("mail.vw", 3, "the value 'x' of feature 'a' is no number", "name:number"))
    mail.vw:3: the value 'x' of feature 'a' is no number; expected name:number.
    """

    def __init__(self, source: str, line: int, problem: str, expected: str) -> None:
        super().__init__(f"{source}:{line}: {problem}; expected {expected}.")
        self.source = source
        self.line = line
        self.problem = problem
        self.expected = expected

    def __reduce__(self) -> tuple[type[BadLine], tuple[str, int, str, str]]:
        return type(self), (self.source, self.line, self.problem, self.expected)


def excerpt(piece: bytes) -> str:
    """A piece of a file for a message: short, quoted, any bytes.

    Examples
    --------
    >>> excerpt(b"abc"), excerpt(b"a" * 100), excerpt(bytes([255]))
    ("'abc'", "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…'", "'\\\\xff'")
    """
    if len(piece) > SHOWN:
        return repr(piece[:SHOWN].decode("utf-8", "ignore") + "…")
    return repr(piece.decode("utf-8", "surrogateescape")).replace("\\udc", "\\x")
