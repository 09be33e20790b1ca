"""What a reader may be told about a file, beside its format."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Options"]


@dataclass(frozen=True)
class Options:
    """Names of columns, and sizes; None means: guess from common names.

    Attributes
    ----------
    text : tuple of str, optional
        Columns (or keys) that hold text.
    label, weight, tag : str, optional
        Column of the label, of the importance weight, of the example's own name.
    label_sep : str, optional
        What separates several labels in one cell.
    quote : str
        What may surround a cell of CSV or TSV; "" for nothing.
    chunk_bytes : int
        About how many bytes make a chunk.
    """

    text: tuple[str, ...] | None = None
    label: str | None = None
    weight: str | None = None
    tag: str | None = None
    label_sep: str | None = None
    quote: str = '"'
    chunk_bytes: int = 1 << 22
