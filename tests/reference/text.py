"""The tokeniser and the hash, in plain Python."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping


def is_word_character(c: str) -> bool:
    return c.isalnum() or c == "_" or (ord(c) > 0x2FF and unicodedata.category(c)[0] == "M") or ord(c) >= 0x20000


def words_of(text: str | bytes, lowercase: bool = True) -> list[str]:
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    kept = "".join((c.lower()[0] if lowercase else c) if is_word_character(c) else " " for c in text)
    return [word for word in kept.split(" ") if word]


def features_of(
    document: str | bytes | Mapping[str, str | bytes],
    words: tuple[int, int] | None = (1, 1),
    chars: tuple[int, int] | None = None,
    lowercase: bool = True,
) -> Iterator[str]:
    """Every feature of a document, in order, as often as it occurs."""
    fields = document if isinstance(document, Mapping) else {"": document}
    for field, text in fields.items():
        found = words_of(text, lowercase)
        if words is not None:
            for size in range(words[0], words[1] + 1):
                for i in range(len(found) - size + 1):
                    yield (f"{field}:" if field else "") + " ".join(found[i : i + size])
        if chars is not None:
            for size in range(chars[0], chars[1] + 1):
                for word in found:
                    padded = f" {word} "
                    for i in range(len(padded) - size + 1):
                        yield f"{field}~:{padded[i : i + size]}"


def hash_of(feature: str, seed: int = 0) -> int:
    """FNV-1a, then the finaliser of MurmurHash3, in 64 bits."""
    state = 0xCBF29CE484222325
    for byte in (seed.to_bytes(8, "little") if seed else b"") + feature.encode("utf-8", "surrogatepass"):
        state = (state ^ byte) * 0x100000001B3 % 2**64
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        state = (state ^ state >> 33) * factor % 2**64
    return state ^ state >> 33
