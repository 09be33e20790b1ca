"""Tagged sentences: CoNLL columns, a token a line and an empty line between sentences, and CoNLL-U.

Columns are separated by blanks or tabs, the tag is the last one, and a line of `-DOCSTART-` is left out. CoNLL-U has
ten columns separated by tabs, comments after `#`, and lines such as `8-9` and `8.1` that are no tokens of their own.
Malformed: lines with another number of columns than those before, bytes that are not UTF-8.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hinged.io.examples.errors import BadLine, excerpt
from hinged.io.examples.source import Source, open_stream

__all__ = ["CONLLU_COLUMNS", "Sentence", "SentenceReader", "read_sentences"]

CONLLU_COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
REMEMBERED = 10
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Sentence(NamedTuple):
    """One sentence.

    Attributes
    ----------
    tokens : list of tuple of str
        The columns of each token but its tag, the word first.
    tags : list of str
        Empty where the file has none.
    line : int
        Where it begins, from 1.
    """

    tokens: list[tuple[str, ...]]
    tags: list[str]
    line: int


def read_sentences(
    source: Source, format: str | None = None, *, tag: str | None = None, tagged: bool = True, on_error: str = "stop"
) -> SentenceReader:
    """Read sentences one by one; memory does not grow with the file.

    Parameters
    ----------
    source : path, "-" or binary file object
        gzip and zstd are unpacked.
    format : "conll" or "conllu", optional
        Told by the content if left out.
    tag : "upos", "xpos" or another column of CoNLL-U, default "upos"
    tagged : bool, default True
        Whether the last column of CoNLL columns is a tag.
    on_error : "stop" or "skip"
        Whether a malformed line raises `BadLine`, after the sentences before it, or its sentence is left out and
        counted.

    Examples
    --------
    >>> import io
    >>> for sentence in read_sentences(io.BytesIO(b"He PRP B-NP\\nsat VBD B-VP\\n\\nYes UH O\\n")):
    ...     print(sentence)
    Sentence(tokens=[('He', 'PRP'), ('sat', 'VBD')], tags=['B-NP', 'B-VP'], line=1)
    Sentence(tokens=[('Yes', 'UH')], tags=['O'], line=4)
    """
    if format not in (None, "conll", "conllu"):
        raise ValueError(f"format must be 'conll' or 'conllu'; got format={format!r}.")
    if tag is not None and tag not in CONLLU_COLUMNS[2:]:
        raise ValueError(f"tag must be a column of CoNLL-U, one of {', '.join(CONLLU_COLUMNS[2:])}; got tag={tag!r}.")
    if on_error not in ("stop", "skip"):
        raise ValueError(f'on_error must be "stop" or "skip"; got {on_error!r}.')
    return SentenceReader(source, format, tag, tagged, on_error)


class SentenceReader(Iterator[Sentence]):
    """An iterator of sentences that knows how far it is; `with` closes its file early.

    Attributes
    ----------
    source : str
        What messages call the file.
    format : "conll" or "conllu"
    skipped : int
        Sentences left out so far, for `on_error="skip"`.
    problems : list of BadLine
        The first ten malformed lines.
    """

    def __init__(self, source: Source, format: str | None, tag: str | None, tagged: bool, on_error: str) -> None:
        self._stream = open_stream(source)
        self.source, self.skipped = self._stream.name, 0
        self.problems: list[BadLine] = []
        self._on_error, self._tagged = on_error, tagged
        self.format = format or _detected(self._stream.peek())
        if tag is not None and self.format != "conllu":
            self.close()
            raise ValueError(f"tag={tag!r} names a column of CoNLL-U; {self.source} is no such file. Leave tag out.")
        self._tag_column = CONLLU_COLUMNS.index(tag or "upos")
        self._columns = 10 if self.format == "conllu" else 0  # of plain ones, as many as the first line has
        self._sentences = self._read()

    def __next__(self) -> Sentence:
        return next(self._sentences)

    def __enter__(self) -> SentenceReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; nothing more is read."""
        self._stream.close()

    @property
    def progress(self) -> tuple[int, int | None]:
        """Bytes read so far, as they lie on the disk, and how many there are (None where nobody knows)."""
        return self._stream.position, self._stream.size

    def _read(self) -> Iterator[Sentence]:
        tokens: list[tuple[str, ...]] = []
        tags: list[str] = []
        first, bad = 0, False
        try:
            line, number = b"", 0
            for number, line in enumerate(self._stream.as_raw(), start=1):
                if number == 1:
                    line = line.removeprefix(BYTE_ORDER_MARK)
                if not line.strip():
                    if tokens and not bad:
                        yield Sentence(tokens, tags, first)
                    self.skipped += bad
                    tokens, tags, bad = [], [], False
                    continue
                try:
                    token = self._token(line, number)
                except BadLine as problem:
                    if self._on_error == "stop":
                        raise
                    bad = True
                    self.problems += [problem][: REMEMBERED - len(self.problems)]
                    continue
                if token is not None:
                    if not tokens:
                        first = number
                    tokens.append(token[0])
                    tags += token[1]
            if tokens and not bad:
                yield Sentence(tokens, tags, first)
            self.skipped += bad
        finally:
            self.close()

    def _token(self, line: bytes, number: int) -> tuple[tuple[str, ...], list[str]] | None:
        """The columns of a line but the tag, and the tag where there is one; None where the line is no token."""
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            raise BadLine(self.source, number, f"{excerpt(line.rstrip())} is not UTF-8", "UTF-8") from None
        if self.format == "conllu":
            if text.startswith("#"):
                return None
            cells = text.rstrip("\r\n").split("\t")
            if len(cells) != 10:
                raise BadLine(self.source, number, f"the line has {len(cells)} columns", "10, separated by tabs")
            if not cells[0].isdigit():
                if not cells[0].replace("-", "").replace(".", "").isdigit():
                    raise BadLine(self.source, number, f"the first column is {cells[0]!r}", "the token's number")
                return None
            return (cells[1],), [cells[self._tag_column]]
        cells = [
            cell.decode("utf-8") for cell in line.split()
        ]  # at blanks and tabs: other spaces may be part of a word
        if cells[0] == "-DOCSTART-":
            return None
        self._columns = self._columns or len(cells)
        if len(cells) != self._columns:
            expected = f"{self._columns}, as in the lines before"
            raise BadLine(self.source, number, f"the line has {len(cells)} columns", expected)
        if not self._tagged:
            return tuple(cells), []
        if len(cells) < 2:
            raise BadLine(self.source, number, "the line has 1 column", "a word and a tag, separated by a blank")
        return tuple(cells[:-1]), cells[-1:]


def _detected(head: bytes) -> str:
    for line in head.removeprefix(BYTE_ORDER_MARK).splitlines():
        if line.strip() and not line.startswith(b"#"):
            return "conllu" if line.count(b"\t") == 9 and line[:1].isdigit() else "conll"
    return "conllu" if head.lstrip().startswith(b"#") else "conll"
