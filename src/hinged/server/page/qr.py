"""A QR code for a short text, drawn with characters in a terminal (ISO/IEC 18004: bytes, level L, versions 1 to 5)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby

__all__ = ["qr_matrix", "qr_text"]

#: Data and correction bytes of versions 1 to 5 at level L, which have one block each.
SIZES = ((19, 7), (34, 10), (55, 15), (80, 20), (108, 26))
#: Level L with each of the masks, and their own correction bits.
FORMATS = (
    "111011111000100", "111001011110011", "111110110101010", "111100010011101",
    "110011000101111", "110001100011000", "110110001000001", "110100101110110",
)  # fmt: skip
MASKS: tuple[Callable[[int, int], bool], ...] = (
    lambda r, c: (r + c) % 2 == 0,
    lambda r, c: r % 2 == 0,
    lambda r, c: c % 3 == 0,
    lambda r, c: (r + c) % 3 == 0,
    lambda r, c: (r // 2 + c // 3) % 2 == 0,
    lambda r, c: r * c % 2 + r * c % 3 == 0,
    lambda r, c: (r * c % 2 + r * c % 3) % 2 == 0,
    lambda r, c: ((r + c) % 2 + r * c % 3) % 2 == 0,
)
LIKE_A_FINDER = ("10111010000", "00001011101")


def qr_text(text: str) -> str | None:
    """Draw a QR code, two rows in one line of text; None where the text is too long for one.

    Examples
    --------
    >>> len(qr_text("http://127.0.0.1:8025/").splitlines()), qr_text("x" * 107)
    (17, None)
    """
    if len(text.encode()) > SIZES[-1][0] - 2:
        return None
    dark = qr_matrix(text.encode())
    size = len(dark)

    def light(row: int, column: int) -> bool:
        return not (0 <= row < size and 0 <= column < size and dark[row][column])

    blocks = {(True, True): "█", (True, False): "▀", (False, True): "▄", (False, False): " "}
    return "\n".join(
        "".join(blocks[light(row, column), light(row + 1, column)] for column in range(-4, size + 4))
        for row in range(-4, size + 4, 2)
    )


def qr_matrix(data: bytes) -> list[list[bool]]:
    """Return the modules of the smallest QR code that holds the bytes; True is dark."""
    version = next(i for i, (room, _) in enumerate(SIZES, 1) if len(data) <= room - 2)
    room, extra = SIZES[version - 1]
    bits = f"0100{len(data):08b}" + "".join(f"{byte:08b}" for byte in data) + "0000"
    words = [int(bits[i : i + 8], 2) for i in range(0, len(bits), 8)]
    words += [(0xEC, 0x11)[i % 2] for i in range(room - len(words))]
    stream = "".join(f"{word:08b}" for word in [*words, *correction(words, extra)])
    return min((_laid(version, stream, mask) for mask in range(len(MASKS))), key=_penalty)


def _laid(version: int, stream: str, mask: int) -> list[list[bool]]:
    size = 17 + 4 * version
    fixed = _patterns(version, size, FORMATS[mask])
    places = [place for place in _zigzag(size) if place not in fixed]
    matrix = [[fixed.get((row, column), False) for column in range(size)] for row in range(size)]
    for (row, column), bit in zip(places, stream.ljust(len(places), "0"), strict=True):
        matrix[row][column] = (bit == "1") != MASKS[mask](row, column)
    return matrix


def _penalty(matrix: list[list[bool]]) -> int:
    """Count what makes a code hard to read: long runs of one colour, and what looks like a finder but is none."""
    lines = ["".join(str(int(one)) for one in line) for line in [*matrix, *zip(*matrix, strict=True)]]
    runs = [len(list(run)) for line in lines for _, run in groupby(line)]
    false = sum(line.startswith(LIKE_A_FINDER, i) for line in lines for i in range(len(line)))
    return sum(run - 2 for run in runs if run >= 5) + 40 * false


def correction(words: list[int], extra: int) -> list[int]:
    """Return the Reed-Solomon bytes of a message: the remainder of its polynomial over GF(256).

    Examples
    --------
    >>> correction([32, 91, 11, 120, 209, 114, 220, 77, 67, 64, 236, 17, 236, 17, 236, 17], 10)
    [196, 35, 39, 119, 235, 215, 231, 226, 93, 23]
    """
    generator, root = [1], 1
    for _ in range(extra):
        raised, times = [*generator, 0], [0, *(_times(one, root) for one in generator)]
        generator = [a ^ b for a, b in zip(raised, times, strict=True)]
        root = _times(root, 2)
    rest = [*words, *[0] * extra]
    for i in range(len(words)):
        factor = rest[i]
        for j, one in enumerate(generator):
            rest[i + j] ^= _times(one, factor)
    return rest[len(words) :]


def _times(a: int, b: int) -> int:
    """The product in GF(256), modulo x^8 + x^4 + x^3 + x^2 + 1."""
    product = 0
    while b:
        product ^= a * (b & 1)
        a, b = (a << 1) ^ (0x11D * (a >> 7)), b >> 1
    return product


def _patterns(version: int, size: int, told: str) -> dict[tuple[int, int], bool]:
    """The modules that are the same whatever the text: how readers find the code, and its format."""
    fixed = {}
    for top, left in ((0, 0), (0, size - 7), (size - 7, 0)):  # finders, with a light border
        for row in range(max(0, top - 1), min(size, top + 8)):
            for column in range(max(0, left - 1), min(size, left + 8)):
                fixed[row, column] = max(abs(row - top - 3), abs(column - left - 3)) in (0, 1, 3)
    for i in range(8, size - 8):  # timing
        fixed[6, i] = fixed[i, 6] = i % 2 == 0
    if version > 1:  # alignment
        middle = size - 7
        for row in range(middle - 2, middle + 3):
            for column in range(middle - 2, middle + 3):
                fixed[row, column] = max(abs(row - middle), abs(column - middle)) != 1
    along = [0, 1, 2, 3, 4, 5, 7, 8]
    first = [(8, i) for i in along] + [(i, 8) for i in reversed(along[:-1])]
    second = [(size - 1 - i, 8) for i in range(7)] + [(8, size - 8 + i) for i in range(8)]
    for places in (first, second):
        fixed.update({place: bit == "1" for place, bit in zip(places, told, strict=True)})
    fixed[size - 8, 8] = True
    return fixed


def _zigzag(size: int) -> list[tuple[int, int]]:
    """All modules in the order in which bits are laid: columns in pairs from the right, up and down in turn."""
    pairs = [right if right > 6 else right - 1 for right in range(size - 1, 0, -2)]  # column 6 is timing
    return [
        (row, column)
        for turn, right in enumerate(pairs)
        for row in (range(size - 1, -1, -1) if turn % 2 == 0 else range(size))
        for column in (right, right - 1)
    ]
