"""What must hold for any bytes: rows and malformed lines add up, and nothing but a sentence is raised."""

import io
import re

from tests.reference import examples as twins

from hinged.io.examples import BadLine, read, read_sentences

SIZES = (1, 2, 3, 5, 8, 13, 64, 1 << 20)
FORMATS = ("vw", "svmlight", "lines", "jsonl", "csv", "tsv", None, "parquet", "arrow", "conll", "conllu")
PACKED = (b"\x1f\x8b", b"\x28\xb5")
OTHERWISE = re.compile("<file> .*(packed|UTF-16|empty|JSON array|tagged sentences)|the format of <file>")
PLACE = re.compile(r"<file>:\d+: .+; expected .+\.", re.DOTALL)


def run(data):
    """Read an input: its first byte chooses the format, its second the size of chunks, the rest is the file."""
    if len(data) >= 2:
        format = FORMATS[data[0] % len(FORMATS)]
        if format in ("conll", "conllu"):
            check_sentences(None if data[1] % 2 else format, data[2:], tagged=data[1] % 4 < 2)
        else:
            check(format, SIZES[data[1] % len(SIZES)], data[2:])


def check(format, chunk_bytes, content):
    """Read `content`, skipping malformed lines, and count; then again, stopping at the first of them."""
    try:
        reader = read(io.BytesIO(content), format, on_error="skip", chunk_bytes=chunk_bytes)
        rows, skipped = twins.rows_of(reader)
    except BadLine as problem:  # a header, or a file of columns, that cannot be used at all
        require(PLACE.fullmatch(str(problem)), problem)
        require(reader.format in ("csv", "tsv", "parquet", "arrow"), problem)
        return
    except ValueError as problem:
        require(OTHERWISE.search(str(problem)), problem)
        return
    assert (reader.rows, reader.skipped) == (len(rows), skipped)
    assert all(PLACE.fullmatch(str(fault)) for fault in reader.problems)
    if reader.format in FORMATS[:6] and not content.startswith(PACKED):
        assert len(rows) + skipped == examples_in(content, reader.format)
    stop_at_the_first(format, chunk_bytes, content, rows, reader.problems)


def require(holds, problem):
    """What must be true of a complaint."""
    assert holds, str(problem)


def examples_in(content, format):
    """How many lines (or records) of a file are examples, well-formed or not."""
    if format in ("csv", "tsv"):
        delimiter = b"\t" if format == "tsv" else delimiter_of(content)
        records, bad = twins.csv(content, delimiter)
        return len(records) - bool(records) + len(bad)
    found = [line.strip(b" \t\r") for line in content.removeprefix(b"\xef\xbb\xbf").split(b"\n")]
    return sum(bool(line) and not (format == "svmlight" and line.startswith(b"#")) for line in found)


def delimiter_of(content):
    head = content.lstrip(b" \t\r\n").split(b"\n", 1)[0]
    return b";" if b";" in head and b"," not in head else b","


def stop_at_the_first(format, chunk_bytes, content, rows, problems):
    """Stopping hands out exactly the rows before the first malformed line, then names it."""
    got = []
    try:
        for chunk in read(io.BytesIO(content), format, chunk_bytes=chunk_bytes):
            assert chunk.skipped == 0
            got += twins.rows_of([chunk])[0]
    except BadLine as problem:
        require(str(problem) == str(problems[0]), problem)
        rows = [row for row in rows if row[0] < problem.line]
    else:
        assert not problems
    assert str(got) == str(rows)


def check_sentences(format, content, tagged):
    """Read tagged sentences, leaving malformed ones out, and count; then again, stopping at the first of them."""
    try:
        reader = read_sentences(io.BytesIO(content), format, tagged=tagged, on_error="skip")
        sentences = list(reader)
    except ValueError as problem:
        require(OTHERWISE.search(str(problem)), problem)
        return
    assert all(PLACE.fullmatch(str(fault)) for fault in reader.problems)
    assert bool(reader.problems) == bool(reader.skipped)
    for one in sentences:
        assert len(one.tokens) > 0
        assert len(one.tags) == (len(one.tokens) if tagged or reader.format == "conllu" else 0)
    if reader.format == "conll" and not content.startswith(PACKED):
        assert len(sentences) + reader.skipped == sentences_in(content)
    got, before = [], sentences
    try:
        for one in read_sentences(io.BytesIO(content), format, tagged=tagged):
            got.append(one)
    except BadLine as problem:
        require(str(problem) == str(reader.problems[0]), problem)
        before = [one for one in sentences if one.line < problem.line]
    assert got == before


def sentences_in(content):
    """How many runs of lines hold a token, well-formed or not."""
    found, counted = 0, False
    for line in content.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        cells = line.split()
        if not cells:
            counted = False
        elif not counted and (cells[0] != b"-DOCSTART-" or not is_utf8(line)):
            found, counted = found + 1, True
    return found


def is_utf8(line):
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
