"""Which format a file is in, by what it begins with; its name only settles what the content leaves open."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable

from hinged.io.examples.columns import LABELS, TEXTS, looks_like_number
from hinged.io.examples.formats import FORMATS, format_of_name

__all__ = ["detect"]

CERTAIN = ("jsonl", "svmlight")  # whatever the name says
CONLLU = 10  # columns
LINES = 20  # of the beginning are looked at
WORDS = 4  # at most in a column's name; a sentence has more
SEVERAL, SHORT = 5, 40  # so many rows alike, of cells so short, are a table whatever the first row looks like
NUMBER = rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
SVMLIGHT = re.compile(
    rb"\s*(?:%(n)s(?:,%(n)s)*(?=\s|#|$))?(?:\s*qid:\S+)?(?:\s*\b\d+:%(n)s(?=\s|#|$))*\s*(?:#.*)?" % {b"n": NUMBER}
)
NAME = re.compile(r"[\w .:()#/-]{0,60}")
#: Up to three words and a tag before the bar; a word that touches it must be a tag by its quote, or not be alone.
VW = re.compile(rb"\s*(?:[^\s|\"{]+[ ]+){0,3}(?:'[^\s|]*)?\|.*|\s*(?:[^\s|\"{]+[ ]+){1,3}[^\s|]*\|.*", re.DOTALL)


def detect(head: bytes, name: str = "") -> str:
    """The format of a file that begins with `head`.

    Parameters
    ----------
    head : bytes
        The beginning, unpacked; a line and more where there is one.
    name : str
        The file's name, a hint only.

    Raises
    ------
    ValueError
        Where it cannot be told; the sentence lists the formats.

    Examples
    --------
    >>> detect(b"1 |f a:0.5 b"), detect(b"+1 3:0.5 7:1"), detect(b'{"label": "a"}'), detect(b"label,text", "x.csv")
    ('vw', 'svmlight', 'jsonl', 'csv')
    """
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return "arrow"
    hint = format_of_name(name)
    lines = _whole_lines(head.removeprefix(b"\xef\xbb\xbf"))
    if not lines:
        if hint:
            return hint
        raise ValueError(f"{name or 'the file'} is empty, so its format cannot be told; {_choices()}.")
    if table := _known_header(lines[0]):
        return table
    fits = [one for one, test in TESTS.items() if test(lines)]
    if (not fits or fits == ["lines"]) and _is_conll(head):
        raise ValueError(
            f"{name or 'the file'} looks like tagged sentences, a token a line; learn them with --task sequence "
            "(hinged.io.examples.read_sentences in Python)."
        )
    if fits and (fits[0] in CERTAIN or hint not in fits or hint == "lines"):  # .txt says next to nothing
        return fits[0]
    if hint and hint not in ("parquet", "arrow"):  # if it is wrong, a line will be shown that does not fit
        return hint
    if lines[0].startswith(b"["):
        raise ValueError(
            f"{name or 'the file'} is one JSON array; write one object a line first: jq -c '.[]' {name or 'FILE'}"
        )
    start = lines[0][:40].decode("utf-8", "replace")
    raise ValueError(f"the format of {name or 'the file'} cannot be told from its beginning, {start!r}; {_choices()}.")


def _choices() -> str:
    return "name one with --format (format= in Python): " + "; ".join(
        f"{key}, {one.says}" for key, one in FORMATS.items()
    )


def _whole_lines(head: bytes) -> list[bytes]:
    """The first lines that are not blank; the last piece only where there is no whole line."""
    pieces = head.split(b"\n")
    whole = [line.strip(b"\r") for line in pieces[:-1] if line.strip()] or [
        line for line in pieces[-1:] if line.strip()
    ]
    return whole[:LINES]


def _most(lines: list[bytes], fit: Callable[[bytes], object]) -> bool:
    """Whether more than half of the lines fit: a few may be malformed."""
    return 2 * sum(bool(fit(line)) for line in lines) > len(lines)


def _is_conll(head: bytes) -> bool:
    """Whether these are lines of as many words each, with empty lines between: CoNLL columns, or CoNLL-U."""
    pieces = [line.strip() for line in head.split(b"\n")[:-1]]
    widths = {len(line.split()) for line in pieces if line and not line.startswith(b"# ")}
    between = b"" in pieces[1:-1]
    return between and len(widths) == 1 and (CONLLU in widths or (min(widths) > 1 and b"\t" not in head))


def _is_jsonl(lines: list[bytes]) -> bool:
    return _most(lines, lambda line: line.lstrip().startswith(b"{"))


def _is_svmlight(lines: list[bytes]) -> bool:
    return _most(lines, SVMLIGHT.fullmatch) and any(b":" in line for line in lines)


def _is_vw(lines: list[bytes]) -> bool:
    return _most(lines, VW.fullmatch)


def _known_header(line: bytes) -> str | None:
    """The kind of table whose header this is: short names, among them one that means a label or text."""
    for delimiter, format in ((b"\t", "tsv"), (b",", "csv"), (b";", "csv")):
        names = [cell.strip(b' "').decode("utf-8", "replace").lower() for cell in line.split(delimiter)]
        if len(names) > 1 and all(map(NAME.fullmatch, names)) and {*names} & {*LABELS, *TEXTS}:
            return format
    return None


def _is_tsv(lines: list[bytes]) -> bool:
    """The same number of tabs, two or more, in several lines, the first a header."""
    tabs = [line.count(b"\t") for line in lines]
    return len(lines) > 2 and tabs[0] > 1 and len(set(tabs)) == 1 and _is_header(lines[0].split(b"\t"))


def _is_lines(lines: list[bytes]) -> bool:
    return _most(lines, lambda line: b"\t" in line)


def _is_csv(lines: list[bytes]) -> bool:
    text = [line.decode("utf-8", "replace") for line in lines]
    delimiter = ";" if ";" in text[0] and "," not in text[0] else ","
    try:
        rows = list(csv.reader(text, delimiter=delimiter))
    except csv.Error:
        return False
    header = [cell.encode("utf-8", "replace") for cell in rows[0]]
    if len(header) < 2 or b"\t" in lines[0] or not _is_header(header):
        return False
    if len(rows) < 2 or any(len(row) != len(header) for row in rows):
        return False
    return _are_names(rows) or (len(rows) >= SEVERAL and all(len(cell) <= SHORT for row in rows for cell in row))


def _are_names(rows: list[list[str]]) -> bool:
    """Whether the first row names columns: few words each, and no blank after a comma unless numbers follow below."""
    spaced = any(cell.startswith(" ") for cell in rows[0])
    numbers = any(looks_like_number(cell.strip()) for row in rows[1:] for cell in row if cell.strip())
    names = all(NAME.fullmatch(name) and len(name.split()) <= WORDS and name[-1:] != "." for name in rows[0])
    return names and (numbers or not spaced)


def _is_header(cells: list[bytes]) -> bool:
    names = [cell.strip() for cell in cells]
    full = [name for name in names if name]
    short = all(len(name) <= 100 for name in names)
    return (
        bool(full)
        and short
        and len(set(full)) == len(full)
        and not all(looks_like_number(n.decode("latin-1")) for n in full)
    )


TESTS = {"jsonl": _is_jsonl, "svmlight": _is_svmlight, "vw": _is_vw, "tsv": _is_tsv, "lines": _is_lines, "csv": _is_csv}
