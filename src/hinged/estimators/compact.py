"""The compact form of a model's state: one run of bytes, exact, with nothing in it that can be worked out again.

Whole numbers are kept in the smallest type that holds them, or that holds their steps; floats in single precision
where that loses nothing. Where most numbers are 0, a bit for each says which are not, and only those are kept. Hashes
of words are computed anew from the words. Then all of it is one zstd frame with a checksum.
"""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_left
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hinged.io.frames import CONTEXTS
from hinged.io.values import from_plain, to_plain
from hinged.loops.blocks import SparseValues
from hinged.text.rows import START, hash_start
from hinged.text.tokens import PRIME, hash_words
from hinged.text.words import check_words

__all__ = ["hashes_of", "pack", "unpack"]

MAGIC = b"hinged-state 1\n"
HASHES, ENDS, ARENA = "words.hashes", "words.ends", "words.arena"
PLAIN, STEPS, BITS, WORDS, SPARSE, PLANES = "plain", "steps", "bits", "words", "sparse", "planes"
VALUES = re.compile(r"store\d+\.values")
UNSIGNED = [np.dtype(f"u{size}") for size in (1, 2, 4, 8)]
LARGEST = [(1 << bits) - 1 for bits in (8, 16, 32)]  # numbers of all types but the last
FEW = 8  # numbers that are stored as they are
BEYOND = 2  # among the ways to hash a word: neither with nor without a field before it

Content = tuple[dict[str, Any], dict[str, Any], dict[str, list[Hashable]]]


class Piece(NamedTuple):
    """How an array lies in the bytes."""

    name: str
    dtype: str
    shape: list[int]
    coding: str
    stored: str  # type of the stored numbers
    size: int  # bytes


def pack(about: dict[str, Any], arrays: dict[str, np.ndarray], names: dict[str, list[Hashable]]) -> bytes:
    """Return facts, arrays and names as bytes."""
    pieces, content = [], []
    for name, array in sorted(arrays.items(), key=lambda item: item[0] == HASHES):  # after what they are made of
        if name == HASHES:
            coding, stored, data = WORDS, "|u1", _hashes_beyond(array, arrays[ENDS], arrays[ARENA], about).tobytes()
        else:
            coding, stored, data = _coded(array)
        pieces.append((name, array.dtype.str, array.shape, coding, stored, len(data)))
        content.append(data)
    plain = {name: [to_plain(value, name) for value in values] for name, values in names.items()}
    head = json.dumps({"about": about, "arrays": pieces, "names": plain}, separators=(",", ":")).encode()
    return MAGIC + CONTEXTS.packing.compress(b"".join([len(head).to_bytes(8, "little"), head, *content]))


def unpack(data: bytes) -> Content:
    """Return what `pack` was given, or raise a ValueError that says what is wrong with the bytes.

    Values of stores of which most are 0 stay `SparseValues`.
    """
    import zstandard

    if not data.startswith(MAGIC):
        raise ValueError("these bytes are not the state of a model; give what to_bytes() returned.")
    try:
        body = memoryview(CONTEXTS.unpacking.decompress(memoryview(data)[len(MAGIC) :]))
        end = 8 + int.from_bytes(body[:8], "little")
        head = json.loads(body[8:end].tobytes())
        content = np.frombuffer(body, np.uint8)
        arrays: dict[str, Any] = {}
        for piece in map(Piece._make, head["arrays"]):
            begin, end = end, end + piece.size
            raw = content[begin:end]
            if not begin <= end <= len(content):
                raise ValueError("its arrays end beyond it")
            stored = raw if piece.coding in (SPARSE, PLANES) else raw.view(piece.stored)
            arrays[piece.name] = DECODERS[piece.coding](stored, piece, arrays, head["about"])
        names = {name: [from_plain(value) for value in values] for name, values in head["names"].items()}
    except (zstandard.ZstdError, KeyError, TypeError, ValueError, IndexError, OverflowError) as problem:
        raise ValueError(f"the state of a model is damaged or cut short ({problem}).") from problem
    return head["about"], arrays, names


# ------------------------------------------------------------------ one array
def _coded(array: np.ndarray) -> tuple[str, str, bytes]:
    """Return how an array is coded, the type of the numbers that are stored of it, and these as bytes."""
    if array.dtype.kind == "b":
        return BITS, "|u1", np.packbits(array).tobytes()
    if array.size <= FEW or array.dtype.kind not in "iuf":
        return PLAIN, array.dtype.str, array.tobytes()
    if array.dtype.kind == "f":
        return _coded_floats(array)
    low, high = int(array.min()), int(array.max())
    plain = _smallest(low, high)
    if array.ndim == 1 and high < 1 << 62 < 2 * ((1 << 62) + low):
        steps = array.astype(np.int64)
        steps[1:] -= steps[:-1].copy()
        smaller = _smallest(int(steps.min()), int(steps.max()))
        if smaller.itemsize < plain.itemsize:
            return STEPS, smaller.str, steps.astype(smaller).tobytes()
    if array.ndim > 1 and _is_sparse(array):
        there = array != 0
        return SPARSE, plain.str, np.packbits(there).tobytes() + array[there].astype(plain).tobytes()
    stored = array.astype(plain, copy=False)
    if plain.itemsize == 1:
        return PLAIN, plain.str, stored.tobytes()
    return PLANES, plain.str, stored.reshape(-1, 1).view(np.uint8).T.tobytes()


def _coded_floats(array: np.ndarray) -> tuple[str, str, bytes]:
    if array.ndim > 1 and _is_sparse(array) and not _has_signed_zeros(array):
        there = array != 0
        kept = _single(array[there])
        return SPARSE, kept.dtype.str, np.packbits(there).tobytes() + kept.tobytes()
    stored = _single(array)
    return PLAIN, stored.dtype.str, stored.tobytes()


def _is_sparse(array: np.ndarray) -> bool:
    """Return True if less than half of an array is not 0."""
    return 2 * int(np.count_nonzero(array)) < array.size


def _has_signed_zeros(array: np.ndarray) -> bool:
    """Return True if some number is -0.0, which is 0 though its bits are not."""
    return int(np.count_nonzero(array)) != np.count_nonzero(array.view(f"u{array.itemsize}"))


def _single(array: np.ndarray) -> np.ndarray:
    """Return an array in single precision if that loses nothing, else as it is."""
    if array.dtype != np.float64:
        return array
    with np.errstate(over="ignore"):
        single = array.astype(np.float32)
    return single if bool((single == array).all()) else array


def _smallest(low: int, high: int) -> np.dtype:
    """Return the smallest type of whole numbers that holds all of them."""
    if low >= 0:
        return UNSIGNED[bisect_left(LARGEST, high)]
    return np.result_type(np.min_scalar_type(low), np.min_scalar_type(high))


def _plain(stored: np.ndarray, piece: Piece, arrays: dict[str, Any], about: dict[str, Any]) -> np.ndarray:
    return stored.astype(piece.dtype, copy=False).reshape(piece.shape)


def _sparse(raw: np.ndarray, piece: Piece, arrays: dict[str, Any], about: dict[str, Any]) -> np.ndarray | SparseValues:
    size = math.prod(piece.shape)
    n_bytes = -(-size // 8)
    if size < 0 or n_bytes > len(raw):
        raise ValueError("an array is shorter than its shape says")
    there = np.unpackbits(raw[:n_bytes], count=size)
    kept = np.frombuffer(raw, piece.stored, offset=n_bytes).astype(piece.dtype)
    if np.count_nonzero(there) != len(kept):
        raise ValueError("an array has more or fewer numbers than it says")
    bits = np.zeros(8 * -(-size // 64), np.uint8)
    bits[:n_bytes] = np.packbits(there, bitorder="little")
    found = SparseValues(tuple(piece.shape), bits.view(np.uint64), kept)
    return found if VALUES.fullmatch(piece.name) else found.dense()


def _planes(raw: np.ndarray, piece: Piece, arrays: dict[str, Any], about: dict[str, Any]) -> np.ndarray:
    """Numbers of several bytes: the first byte of all, then the second one of all, and so on."""
    each = np.dtype(piece.stored).itemsize
    numbers = np.ascontiguousarray(raw.reshape(each, -1).T).view(piece.stored)
    return numbers.astype(piece.dtype, copy=False).reshape(piece.shape)


def _steps(stored: np.ndarray, piece: Piece, arrays: dict[str, Any], about: dict[str, Any]) -> np.ndarray:
    return stored.cumsum(dtype=np.int64).astype(piece.dtype, copy=False).reshape(piece.shape)


def _bits(stored: np.ndarray, piece: Piece, arrays: dict[str, Any], about: dict[str, Any]) -> np.ndarray:
    return np.unpackbits(stored, count=math.prod(piece.shape)).view(np.bool_).reshape(piece.shape)


# ------------------------------------------------------------------ hashes of words
def hashes_of(arena: npt.NDArray[np.uint8], ends: npt.NDArray[np.int64], start: np.uint64) -> npt.NDArray[np.uint64]:
    """Return the hash of each word arena[ends[p] : ends[p + 1]] as `hinged.text` computes it, from a state on.

    Examples
    --------
    >>> from hinged.text import Vocabulary
    >>> words = Vocabulary().fit(["a cat sat"]).word_list_.arrays()
    >>> bool((hashes_of(words["arena"], words["ends"], START) == words["hashes"]).all())
    True
    """
    hashes = np.empty(len(ends) - 1, np.uint64)
    hash_words(_read_only(arena), ends, np.array([start]), np.zeros(len(hashes), np.uint8), hashes)
    return hashes


def _read_only(array: np.ndarray) -> np.ndarray:
    """Return a view that cannot be written to; compiled code is made once for those that can and once for others."""
    view = array.view()
    view.flags.writeable = False
    return view


def _starts(about: dict[str, Any]) -> tuple[np.uint64, np.uint64]:
    """Return the states of the hash before a word without a field, and before one that begins with its field."""
    seed = int(about.get("params", {}).get("seed") or 0)
    if seed:
        return hash_start(seed), hash_start(seed)
    return START_OF_ANY, START_OF_FIELDS


START_OF_ANY = hash_start(0)
START_OF_FIELDS = np.uint64(START * int(PRIME) ** 8 % (1 << 64))  # after the eight bytes of the seed 0


def _hashes_beyond(hashes: np.ndarray, ends: np.ndarray, arena: np.ndarray, about: dict[str, Any]) -> np.ndarray:
    """Return, as bytes, how each hash comes about, then those that cannot be worked out."""
    ways = np.full(len(hashes), BEYOND, np.uint8)
    for way, start in enumerate(_starts(about)):
        if BEYOND in ways:
            ways[hashes_of(arena, ends, start) == hashes] = way
    return np.concatenate([ways, hashes[ways == BEYOND].view(np.uint8)])


def _hashes(stored: np.ndarray, piece: Piece, arrays: dict[str, Any], about: dict[str, Any]) -> np.ndarray:
    n, arena, ends = piece.shape[0], arrays[ARENA], arrays[ENDS]
    check_words(n, ends, arena)
    ways, rest = stored[:n].copy(), stored[n:]
    hashes = np.zeros(n, np.uint64)
    hash_words(_read_only(arena), ends, np.array(_starts(about)), ways, hashes)
    hashes[ways >= BEYOND] = np.frombuffer(rest.tobytes(), np.uint64)
    return hashes


#: From the coding of an array to the function that undoes it; hashes come after the words they are computed from.
DECODERS: dict[str, Callable[[np.ndarray, Piece, dict[str, Any], dict[str, Any]], np.ndarray | SparseValues]] = {
    PLAIN: _plain,
    STEPS: _steps,
    BITS: _bits,
    WORDS: _hashes,
    SPARSE: _sparse,
    PLANES: _planes,
}
