"""The formats of example files, in one table, and which of them a file has: its content decides, then its name."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from typing import Any, NamedTuple

from hinged.io.examples.columns import LABELS, TEXTS, looks_like_number
from hinged.io.examples.source import BOM

__all__ = ["FORMATS", "Format", "check_format", "delimiter_of", "detect", "format_of_name", "function_named"]


class Format(NamedTuple):
    """What the package knows of a format.

    Attributes
    ----------
    reads : str
        Module and function that read it.
    writes : str
        Module and function that write it, "" where none does.
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
        "jsonl.chunks", "write.jsonl", (".jsonl", ".ndjson", ".json"), True, '{"label": …, "text": …} a line'
    ),
    "csv": Format("csv.chunks", "write.csv", (".csv",), True, "comma-separated with a header row"),
    "tsv": Format("csv.tab_chunks", "write.tsv", (".tsv", ".tab"), True, "tab-separated with a header row"),
    "svmlight": Format(
        "svmlight.chunks", "write.svmlight", (".svm", ".svmlight", ".libsvm"), False, "label index:value …"
    ),
    "vw": Format("vw.chunks", "write.vw", (".vw",), False, "label |namespace name:value …"),
    "lines": Format("lines.chunks", "write.lines", (".txt", ".text", ".lines"), False, "label<TAB>text"),
    "parquet": Format("arrow.parquet_chunks", "arrow.write_parquet", (".parquet", ".pq"), True, "Parquet, by pyarrow"),
    "arrow": Format(
        "arrow.arrow_chunks",
        "arrow.write_arrow",
        (".arrow", ".feather", ".ipc", ".arrows"),
        True,
        "Arrow IPC, by pyarrow",
    ),
    "folders": Format("folders.chunks", "", (), False, "a folder of files, label/…/file"),
}
MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow"}  # how such files begin
PACKED = (".gz", ".gzip", ".zst", ".zstd")

CERTAIN = ("jsonl", "svmlight")  # whatever the name suggests
CONLLU = 10  # columns
LINES = 20  # of the beginning are looked at
WORDS = 4  # at most in a column's name; a sentence has more
SEVERAL, SHORT = 5, 40  # this many rows of cells this short are a table, whatever the first row looks like
NUMBER = rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
SVMLIGHT = re.compile(
    rb"\s*(?:%(n)s(?:,%(n)s)*(?=\s|#|$))?(?:\s*qid:\S+)?(?:\s*\b\d+:%(n)s(?=\s|#|$))*\s*(?:#.*)?" % {b"n": NUMBER}
)
NAME = re.compile(r"[\w .:()#/-]{0,60}")
#: Up to three words and a tag before the bar; a word that touches it must be a tag by its quote, or not be alone.
VW = re.compile(rb"\s*(?:[^\s|\"{]+[ ]+){0,3}(?:'[^\s|]*)?\|.*|\s*(?:[^\s|\"{]+[ ]+){1,3}[^\s|]*\|.*", re.DOTALL)


def check_format(name: str) -> Format:
    """Return the format of a name; an unknown one is refused with the list."""
    if name not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}; got {name!r}.")
    return FORMATS[name]


def function_named(place: str, file: str) -> Callable[..., Any]:
    """Import the function of a module of this folder that reads or writes `file`.

    Examples
    --------
    >>> function_named("lines.chunks", "a.txt").__name__
    'chunks'
    """
    module, function = place.split(".")
    if module == "arrow" and find_spec("pyarrow") is None:
        raise ImportError(f'{file} needs pyarrow, which is not installed; try: pip install "hinged[parquet]"')
    return getattr(import_module(f"hinged.io.examples.{module}"), function)


def format_of_name(name: str) -> str | None:
    """Return the format that a file's name suggests, compressed or not.

    Examples
    --------
    >>> format_of_name("mail.jsonl.gz"), format_of_name("a/b.CSV"), format_of_name("data")
    ('jsonl', 'csv', None)
    """
    name = name.lower()
    for suffix in PACKED:
        name = name.removesuffix(suffix)
    return next((key for key, one in FORMATS.items() if one.suffixes and name.endswith(one.suffixes)), None)


def detect(head: bytes, name: str = "") -> str:
    """Detect the format of a file that begins with `head`.

    Parameters
    ----------
    head : bytes
        The beginning, decompressed; at least a line if the file has one.
    name : str
        The file's name, a hint only.

    Raises
    ------
    ValueError
        If it cannot be detected; the message lists the formats.

    Examples
    --------
    >>> detect(b"1 |f a:0.5 b"), detect(b"+1 3:0.5 7:1"), detect(b'{"label": "a"}'), detect(b"label,text", "x.csv")
    ('vw', 'svmlight', 'jsonl', 'csv')
    """
    hint, lines = format_of_name(name), _whole_lines(head.removeprefix(BOM))
    format = _by_magic(head) or (_by_lines(lines, head, hint) if lines else hint)
    if format is None:
        raise ValueError(_why_undetected(lines, head, name))
    return format


def _by_magic(head: bytes) -> str | None:
    return next((format for magic, format in MAGIC.items() if head.startswith(magic)), None)


def _by_lines(lines: list[bytes], head: bytes, hint: str | None) -> str | None:
    """Return the format that the first lines fit best; None if they fit none, or look like tagged sentences."""
    if table := _known_header(lines[0]):
        return table
    fits = [one for one, test in TESTS.items() if test(lines)]
    return None if fits in ([], ["lines"]) and _is_conll(head) else _chosen(fits, hint)


def _why_undetected(lines: list[bytes], head: bytes, name: str) -> str:
    """Return a sentence on a file whose format is not known, and what to do."""
    what = name or "the file"
    if not lines:
        return f"{what} is empty, so its format cannot be detected; {_choices()}."
    if _is_conll(head):
        return (
            f"{what} looks like tagged sentences, a token a line; learn them with --task sequence "
            "(hinged.io.examples.read_sentences in Python)."
        )
    if lines[0].startswith(b"["):
        return f"{what} is one JSON array; write one object a line first: jq -c '.[]' {name or 'FILE'}"
    start = lines[0][:40].decode("utf-8", "replace")
    return f"the format of {what} cannot be detected from its beginning, {start!r}; {_choices()}."


def _chosen(fits: list[str], hint: str | None) -> str | None:
    """Choose between the formats that the content fits and the one that the name suggests."""
    if fits and (fits[0] in CERTAIN or hint not in fits or hint == "lines"):  # .txt means little
        return fits[0]
    return None if hint in MAGIC.values() else hint  # if it is wrong, an error will quote a line that does not fit


def _choices() -> str:
    return "name one with --format (format= in Python): " + "; ".join(
        f"{key}, {one.says}" for key, one in FORMATS.items()
    )


def _whole_lines(head: bytes) -> list[bytes]:
    """Return the first lines that are not blank; the last piece only where there is no whole line."""
    pieces = head.split(b"\n")
    whole = [line.strip(b"\r") for line in pieces[:-1] if line.strip()]
    return (whole or [line for line in pieces[-1:] if line.strip()])[:LINES]


def _most(lines: list[bytes], fit: Callable[[bytes], object]) -> bool:
    """Return True if more than half of the lines fit: a few may be malformed."""
    return 2 * sum(bool(fit(line)) for line in lines) > len(lines)


def _is_conll(head: bytes) -> bool:
    """Return True if all lines have the same number of words, with empty lines between: CoNLL columns, or CoNLL-U."""
    pieces = [line.strip() for line in head.split(b"\n")[:-1]]
    widths = {len(line.split()) for line in pieces if line and not line.startswith(b"# ")}
    between = b"" in pieces[1:-1]
    return between and len(widths) == 1 and (CONLLU in widths or (min(widths) > 1 and b"\t" not in head))


def _is_svmlight(lines: list[bytes]) -> bool:
    return _most(lines, SVMLIGHT.fullmatch) and any(b":" in line for line in lines)


def _known_header(line: bytes) -> str | None:
    """Return the format of the table whose header this is: short names, one of which means a label or text."""
    for delimiter, format in ((b"\t", "tsv"), (b",", "csv"), (b";", "csv")):
        names = [cell.strip(b' "').decode("utf-8", "replace").lower() for cell in line.split(delimiter)]
        if len(names) > 1 and all(map(NAME.fullmatch, names)) and {*names} & {*LABELS, *TEXTS}:
            return format
    return None


def _is_tsv(lines: list[bytes]) -> bool:
    """Return True if several lines have the same number of tabs, two or more, and the first is a header."""
    tabs = [line.count(b"\t") for line in lines]
    return len(lines) > 2 and tabs[0] > 1 and len(set(tabs)) == 1 and _is_header(lines[0].split(b"\t"))


def _is_csv(lines: list[bytes]) -> bool:
    text = [line.decode("utf-8", "replace") for line in lines]
    try:
        rows = list(csv.reader(text, delimiter=delimiter_of(lines[0])))
    except csv.Error:
        return False
    return b"\t" not in lines[0] and _is_table(rows)


def _is_table(rows: list[list[str]]) -> bool:
    """Return True if rows have the same number of cells, two or more, and the first one is a header."""
    if len(rows) < 2 or len(rows[0]) < 2 or len(set(map(len, rows))) > 1:
        return False
    if not _is_header([cell.encode("utf-8", "replace") for cell in rows[0]]):
        return False
    return _are_names(rows) or (len(rows) >= SEVERAL and max(map(len, chain(*rows))) <= SHORT)


def delimiter_of(header: bytes) -> str:
    """Return what separates the cells of CSV: a semicolon where there is no comma."""
    return ";" if b";" in header and b"," not in header else ","


def _are_names(rows: list[list[str]]) -> bool:
    """Return True if the first row names columns: few words each, no space after a comma unless numbers follow."""
    spaced = any(cell.startswith(" ") for cell in rows[0])
    numbers = any(map(looks_like_number, chain(*rows[1:])))
    names = all(NAME.fullmatch(name) and len(name.split()) <= WORDS and name[-1:] != "." for name in rows[0])
    return names and (numbers or not spaced)


def _is_header(cells: list[bytes]) -> bool:
    """Return True if cells can be names of columns: short, different from each other, and not all numbers."""
    names = [cell.strip().decode("latin-1") for cell in cells if cell.strip()]
    short, distinct = max(map(len, names), default=0) <= 100, len(set(names)) == len(names)
    return short and distinct and not all(map(looks_like_number, names))


TESTS: dict[str, Callable[[list[bytes]], bool]] = {
    "jsonl": lambda lines: _most(lines, lambda line: line.lstrip().startswith(b"{")),
    "svmlight": _is_svmlight,
    "vw": lambda lines: _most(lines, VW.fullmatch),
    "tsv": _is_tsv,
    "lines": lambda lines: _most(lines, lambda line: b"\t" in line),
    "csv": _is_csv,
}
