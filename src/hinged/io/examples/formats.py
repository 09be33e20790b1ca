"""The table of formats: being listed is being read, written, detected, documented and tested."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["FORMATS", "Format", "check_format", "format_of_name"]


class Format(NamedTuple):
    """What the rest needs to know of a format.

    Attributes
    ----------
    reads : str
        Module and function that read it.
    writes : str
        Function that writes it, "" where none does.
    suffixes : tuple of str
        How names of such files end.
    table : bool
        Whether it has columns or keys that options can name.
    says : str
        What it looks like, for messages and help.
    """

    reads: str
    writes: str
    suffixes: tuple[str, ...]
    table: bool
    says: str


FORMATS = {
    "jsonl": Format(
        "jsonl.chunks", "text.jsonl", (".jsonl", ".ndjson", ".json"), True, '{"label": …, "text": …} a line'
    ),
    "csv": Format("csv.chunks", "text.csv", (".csv",), True, "comma-separated with a header row"),
    "tsv": Format("csv.tab_chunks", "text.tsv", (".tsv", ".tab"), True, "tab-separated with a header row"),
    "svmlight": Format(
        "svmlight.chunks", "features.svmlight", (".svm", ".svmlight", ".libsvm"), False, "label index:value …"
    ),
    "vw": Format("vw.chunks", "features.vw", (".vw",), False, "label |namespace name:value …"),
    "lines": Format("lines.chunks", "text.lines", (".txt", ".text", ".lines"), False, "label<TAB>text"),
    "parquet": Format("parquet.chunks", "columns.parquet", (".parquet", ".pq"), True, "Parquet, by pyarrow"),
    "arrow": Format(
        "parquet.arrow_chunks",
        "columns.arrow",
        (".arrow", ".feather", ".ipc", ".arrows"),
        True,
        "Arrow IPC, by pyarrow",
    ),
    "folders": Format("folders.chunks", "", (), False, "a folder of files, label/…/file"),
}
PACKED = (".gz", ".gzip", ".zst", ".zstd")


def check_format(name: str) -> Format:
    """The format of a name; an unknown one is refused with the list."""
    if name not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}; got {name!r}.")
    return FORMATS[name]


def format_of_name(name: str) -> str | None:
    """The format that a file's name suggests, whether packed or not.

    Examples
    --------
    >>> format_of_name("mail.jsonl.gz"), format_of_name("a/b.CSV"), format_of_name("data")
    ('jsonl', 'csv', None)
    """
    name = name.lower()
    for suffix in PACKED:
        name = name.removesuffix(suffix)
    return next((key for key, one in FORMATS.items() if one.suffixes and name.endswith(one.suffixes)), None)
