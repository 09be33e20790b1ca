"""Readers of example files as plain as they can be: a line at a time, no chunks, no compiled code."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np

NUMBER = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
SINGLE = float(np.finfo(np.float32).max)
DOUBLE = float(np.finfo(np.float64).max)


class Bad(Exception):  # noqa: N818
    """A line that is malformed."""


# ------------------------------------------------------------------ what a chunk holds
def rows_of(chunks):
    """Chunks as plain rows: (line, answer, weight, tag, content); also how many lines were skipped."""
    rows, skipped = [], 0
    for chunk in chunks:
        skipped += chunk.skipped
        table = bool(chunk.texts or chunk.numbers)
        assert (table + (chunk.named is not None) + (chunk.columns is not None)) == 1 or len(chunk) == 0
        contents = list(contents_of(chunk))
        assert len(contents) == len(chunk.answers) == len(chunk.lines)
        weights = [1.0] * len(chunk) if chunk.weights is None else chunk.weights.tolist()
        tags = [""] * len(chunk) if chunk.tags is None else chunk.tags
        rows += zip(chunk.lines.tolist(), chunk.answers, weights, tags, contents, strict=True)
    return rows, skipped


def contents_of(chunk):
    """Each row's numbers and texts as a dict without missing and empty ones, or its features as a list."""
    if chunk.named is not None:
        named = chunk.named
        for array, dtype in zip(named, (np.int64, np.uint8, np.int64, np.int64, np.float32), strict=True):
            assert array.dtype == dtype
            assert array.flags.c_contiguous
        assert len(named.values) == named.indptr[-1] == named.names.shape[1] == named.spaces.shape[1]
        for a, b in zip(named.indptr[:-1].tolist(), named.indptr[1:].tolist(), strict=True):
            yield [
                (
                    piece(named.buffer, *named.spaces[:, k]),
                    piece(named.buffer, *named.names[:, k]),
                    named.values[k].item(),
                )
                for k in range(a, b)
            ]
    elif chunk.columns is not None:
        indptr, indices, values = chunk.columns
        assert len(indices) == len(values) == indptr[-1]
        for a, b in zip(indptr[:-1].tolist(), indptr[1:].tolist(), strict=True):
            yield list(zip(indices[a:b].tolist(), values[a:b].tolist(), strict=True))
    elif chunk.texts or chunk.numbers:
        fields = {name: [None if v != v else v for v in values.tolist()] for name, values in chunk.numbers.items()}
        for name, s in chunk.texts.items():
            fields[name] = [piece(s.buffer, a, b) for a, b in zip(s.starts, s.ends, strict=True)]
        for cells in zip(*fields.values(), strict=True):
            yield {name: cell for name, cell in zip(fields, cells, strict=True) if cell not in (None, "")}


def piece(buffer, start, end):
    assert 0 <= start <= end <= len(buffer)
    return buffer[start:end].tobytes().decode()


# ------------------------------------------------------------------ a line at a time
def by_line(data, parse):
    """Rows of a file, and the numbers of its malformed lines."""
    rows, bad = [], []
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if line.strip(b" \t\r"):
            try:
                row = parse(line)
            except (Bad, UnicodeDecodeError):
                bad.append(number)
            else:
                rows += [(number, *row)] if row else []
    return rows, bad


def number(word, largest):
    if not NUMBER.fullmatch(word) or abs(float(word)) > largest:
        raise Bad(word)
    return float(word)


def label(spelling):
    """A label as formats of numbers spell it."""
    spelling = spelling.decode()
    parts = [re.sub(r"^\+?(-?[0-9]+)(\.0+)?$", r"\1", part) for part in spelling.split(",") if part]
    return None if not spelling else parts if "," in spelling else parts[0]


def words(piece):
    return [word for word in re.split(rb"[ \t\r]+", piece) if word]


def vw(line):
    line.decode()
    before, bar, after = line.partition(b"|")
    if not bar:
        raise Bad("no bar")
    found = words(before)
    tag = b""
    if found and (found[-1].startswith(b"'") or before[-1:] not in (b" ", b"\t", b"\r")):
        tag = found.pop().removeprefix(b"'")
    if len(found) > 3 or (found and b":" in found[0]):
        raise Bad("label")
    weight = number(found[1], SINGLE) if len(found) > 1 else 1.0
    if weight < 0 or (len(found) > 2 and number(found[2], SINGLE) is None):
        raise Bad("weight")
    features = []
    for part in after.split(b"|"):
        head, *rest = re.split(rb"[ \t\r]", part)
        space, colon, scale = head.partition(b":")
        scale = number(scale, SINGLE) if colon else 1.0
        for word in filter(None, rest):
            name, colon, value = word.partition(b":")
            value = scale * (number(value, np.inf) if colon else 1.0)
            if not name or not abs(value) <= SINGLE:
                raise Bad("value")
            features.append((space.decode(), name.decode(), np.float32(value).item()))
    return label(found[0] if found else b""), weight, tag.decode(), features


def svmlight(line):
    line = line.split(b"#")[0]
    found = words(line)
    if not found:
        return None
    spelling = found.pop(0) if b":" not in found[0] else b""
    pairs = []
    for word in found:
        index, colon, value = word.partition(b":")
        if index == b"qid" and colon and b":" not in value:
            continue
        if not colon or not re.fullmatch(rb"\d{1,10}", index) or int(index) > 2**31 - 2:
            raise Bad(word)
        pairs.append((int(index), number(value, DOUBLE)))
    if any(a >= b for (a, _), (b, _) in pairwise(pairs)):
        raise Bad("order")
    return label(spelling), 1.0, "", pairs


def lines(line):
    line = line.removesuffix(b"\r")
    before, tab, after = line.partition(b"\t")
    text = (after if tab else line).decode()
    return (before.strip(b" \t\r").decode() or None) if tab else None, 1.0, "", {"text": text} if text else {}


# ------------------------------------------------------------------ records that may span lines
def csv(data, delimiter=b",", quote=b'"'):
    """Records as (line, cells), header included, and the lines of malformed ones; all records as wide as the first."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    if not data.endswith(b"\n"):
        data += b"\n"
    records, bad, at, line = [], [], 0, 1
    while at < len(data):
        end = data.index(b"\n", at) + 1
        if not data[at:end].strip(b" \t\r\n"):
            at, line = end, line + 1
            continue
        try:
            cells, after = record(data, at, delimiter, quote)
            [cell.decode() for cell in cells]
            if records and len(cells) != len(records[0][1]):
                raise Bad("width")
            records.append((line, cells))
        except Bad as problem:
            bad.append(line)
            if problem.args != ("width",):
                after = end
        except UnicodeDecodeError:
            bad.append(line)
        line += data.count(b"\n", at, after)
        at = after
    return records, bad


def record(data, at, delimiter, quote):
    cells = []
    while True:
        if quote and data[at : at + 1] == quote:
            cell = b""
            at += 1
            while True:
                close = data.find(quote, at)
                if close < 0:
                    raise Bad("open")
                cell += data[at:close]
                at = close + 1
                if data[at : at + 1] != quote:
                    break
                cell += quote
                at += 1
            if data[at : at + 2] == b"\r\n":
                at += 1
            if data[at : at + 1] not in (delimiter, b"\n"):
                raise Bad("after")
        else:
            end = re.compile(b"[\n" + re.escape(delimiter) + b"]").search(data, at).start()
            cell = data[at:end]
            if data[end : end + 1] == b"\n":
                cell = cell.removesuffix(b"\r")
            at = end
        cells.append(cell)
        at += 1
        if data[at - 1 : at] == b"\n":
            return cells, at
