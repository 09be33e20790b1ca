"""A QR code for a short text, drawn with characters in a terminal."""

from __future__ import annotations

import segno

__all__ = ["qr_matrix", "qr_text"]

LONGEST = 106  # bytes: version 5, 37 modules wide, which fits a small terminal
BLOCKS = {(True, True): " ", (True, False): "▄", (False, True): "▀", (False, False): "█"}  # dark above, dark below


def qr_text(text: str) -> str | None:
    """Draw a QR code, two rows per line of text; None if the text is too long.

    Examples
    --------
    >>> len(qr_text("http://127.0.0.1:8025/").splitlines()), qr_text("x" * 107)
    (17, None)
    """
    if len(text.encode()) > LONGEST:
        return None
    matrix = qr_matrix(text.encode())
    margin = [[False] * (len(matrix) + 8)] * 4
    rows = [*margin, *([*[False] * 4, *row, *[False] * 4] for row in matrix), *margin, margin[0]]
    return "\n".join(
        "".join(BLOCKS[above, below] for above, below in zip(*pair, strict=True))
        for pair in zip(rows[: len(matrix) + 8 : 2], rows[1::2], strict=False)
    )


def qr_matrix(data: bytes) -> list[list[bool]]:
    """Return the modules of the smallest QR code of level L for the bytes; True is dark."""
    code = segno.make_qr(data, error="l", mode="byte", boost_error=False)
    return [[bool(module) for module in row] for row in code.matrix]
