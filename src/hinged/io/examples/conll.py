"""Tagged sentences: CoNLL columns, a token a line and an empty line between sentences, and CoNLL-U.

Columns are separated by blanks or tabs, the tag is the last one, and a line of `-DOCSTART-` is skipped. CoNLL-U has
ten columns separated by tabs, comments after `#`, and lines such as `8-9` and `8.1` that are not tokens.
Malformed: lines with another number of columns than those before, bytes that are not UTF-8.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from hinged.io.examples.chunk import BadLine, excerpt
from hinged.io.examples.reader import BaseReader
from hinged.io.examples.source import BOM, Source, open_stream

__all__ = ["CONLLU_COLUMNS", "ConllReader", "Sentence", "read_sentences"]

CONLLU_COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")


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
) -> ConllReader:
    """Read sentences one by one; memory does not grow with the file.

    Parameters
    ----------
    source : path, "-" or binary file object
        gzip and zstd are unpacked.
    format : "conll" or "conllu", optional
        Detected from the content if left out.
    tag : "upos", "xpos" or another column of CoNLL-U, default "upos"
    tagged : bool, default True
        Whether the last column of CoNLL columns is a tag.
    on_error : "stop" or "skip"
        Whether a malformed line raises `BadLine`, after the sentences before it, or its sentence is skipped and
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
    return ConllReader(source, format, tag, tagged, on_error)


class ConllReader(BaseReader[Sentence]):
    """An iterator of sentences; beside the attributes of `BaseReader`, `format` is "conll" or "conllu"."""

    def __init__(self, source: Source, format: str | None, tag: str | None, tagged: bool, on_error: str) -> None:
        super().__init__(on_error)
        stream = self._stream = open_stream(source)
        self.source, self._tagged = stream.name, tagged
        self.format = format or _format_of(stream.peek())
        if tag is not None and self.format != "conllu":
            self.close()
            raise ValueError(f"tag={tag!r} names a column of CoNLL-U; {self.source} is not such a file. Leave tag out.")
        self._tag_column = CONLLU_COLUMNS.index(tag or "upos")
        if stream.peek().startswith(BOM):
            stream.read(len(BOM))
        self._columns = 0  # as many as the first line has
        self._items = self._sentences(stream.as_raw())

    def _sentences(self, lines: Iterable[bytes]) -> Iterator[Sentence]:
        try:
            for blank, some in groupby(enumerate(lines, start=1), lambda line: not line[1].strip()):
                sentence = None if blank else self._sentence(some)
                if sentence and sentence.tokens:
                    yield sentence
        finally:
            self.close()

    def _sentence(self, lines: Iterable[tuple[int, bytes]]) -> Sentence | None:
        """Return the sentence of some numbered lines; None, and it is counted, if one of them is malformed."""
        sentence, bad = Sentence([], [], 0), False
        for number, line in lines:
            try:
                token = self._token(line, number)
            except BadLine as problem:
                if self._stops:
                    raise
                bad = True
                self._remember([problem])
                continue
            if token is not None:
                sentence = sentence if sentence.tokens else Sentence([], [], number)
                sentence.tokens.append(token[0])
                sentence.tags.extend(token[1])
        self.skipped += bad
        return None if bad else sentence

    def _token(self, line: bytes, number: int) -> tuple[tuple[str, ...], list[str]] | None:
        """Return the columns of a line but the tag, and the tag if there is one; None if the line is not a token."""
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            raise BadLine(self.source, number, f"{excerpt(line.rstrip())} is not UTF-8", "UTF-8") from None
        if self.format == "conllu":
            return None if text.startswith("#") else self._conllu_token(text.rstrip("\r\n").split("\t"), number)
        cells = [cell.decode("utf-8") for cell in line.split()]  # not text.split(): other spaces belong to words
        return self._conll_token(cells, number)

    def _conllu_token(self, cells: list[str], number: int) -> tuple[tuple[str, ...], list[str]] | None:
        if len(cells) != len(CONLLU_COLUMNS):
            raise BadLine(self.source, number, f"the line has {len(cells)} columns", "10, separated by tabs")
        if cells[0].isdigit():
            return (cells[1],), [cells[self._tag_column]]
        if not cells[0].replace("-", "").replace(".", "").isdigit():
            raise BadLine(self.source, number, f"the first column is {cells[0]!r}", "the token's number")
        return None

    def _conll_token(self, cells: list[str], number: int) -> tuple[tuple[str, ...], list[str]] | None:
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


def _format_of(head: bytes) -> str:
    for line in head.removeprefix(BOM).splitlines():
        if line.strip() and not line.startswith(b"#"):
            return "conllu" if line.count(b"\t") == 9 and line[:1].isdigit() else "conll"
    return "conllu" if head.lstrip().startswith(b"#") else "conll"
