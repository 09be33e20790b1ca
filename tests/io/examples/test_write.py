"""Writing what was read: it comes back the same, or is refused by name."""

import gzip
import io
import json
import os
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.examples import rows_of

from hinged.io.examples import FORMATS, BadLine, detect, read, write

FEATURES = b"7 |f a:0.5 b\n1,3 2.0 't |g:2 x |h y:-3e-5 y:1\n|f \xc3\xa9\nspam |\n8 | plain |f c\n"
NUMBERED = b"+1 1:0.5 3:2e-7\n1,3 5:1000\n 4:0.1\n2\n"
TEXTS = (
    b'{"label": "a", "id": "x1", "text": "caf\\u00e9, \\"quoted\\"\\r\\nand | : tabs\\t", "cc": "one"}\n'
    b'{"label": null, "id": "", "text": "", "cc": ""}\n'
    b'{"label": "b c", "id": "x3", "text": "z", "cc": " x "}\n'
)
SETS = (
    b'{"label": ["a", "b"], "text": "x", "importance": 0.5}\n{"label": [], "text": "y"}\n{"label": null, "text": "z"}\n'
)
WRITTEN = [name for name, one in FORMATS.items() if one.writes]


def there_and_back(data, format, **options):
    """Rows as read, and as read again after they were written; line numbers aside."""
    before, _ = rows_of(read(io.BytesIO(data)))
    out = io.BytesIO()
    chunk_bytes = 1 << 20 if format in ("parquet", "arrow") else 30  # the first chunk says which columns there are
    assert write(read(io.BytesIO(data), chunk_bytes=chunk_bytes), out, format) == len(before)
    after, _ = rows_of(read(io.BytesIO(out.getvalue()), format, **options))
    return [row[1:] for row in before], [row[1:] for row in after]


@pytest.mark.parametrize("format", ["jsonl", "vw", "parquet", "arrow"])
def test_features_come_back(format):
    before, after = there_and_back(FEATURES, format)
    if format in ("parquet", "arrow"):  # such a column holds sets, or single labels, not both
        before = [
            (answer if answer is None or isinstance(answer, list) else [answer], *rest) for answer, *rest in before
        ]
    if format == "jsonl":  # an object has each name once
        before[1] = (*before[1][:3], [("g", "x", 2.0), ("h", "y", pytest.approx(0.99997))])
    assert after == before


@pytest.mark.parametrize("format", ["svmlight", "vw", "jsonl", "parquet"])
def test_numbered_features_come_back(format):
    if format == "parquet":
        before, after = there_and_back(b"1 1:0.5 3:2e-7\n3 5:1000\n 4:0.1\n2\n", format)
    else:
        before, after = there_and_back(NUMBERED, format)
    if format != "svmlight":
        single = [[("", str(i), pytest.approx(value, rel=1e-7)) for i, value in row[3]] for row in before]
        before = [(*row[:3], features) for row, features in zip(before, single, strict=True)]
    assert after == before


@pytest.mark.parametrize("format", ["jsonl", "csv", "tsv", "parquet", "arrow"])
def test_texts_come_back(format):
    before, after = there_and_back(TEXTS, format)
    assert after == before
    assert len(after) == 3


@pytest.mark.parametrize("format", ["jsonl", "csv", "tsv", "parquet"])
def test_sets_of_labels_come_back(format):
    before, after = there_and_back(SETS, format)
    if format in ("csv", "tsv"):  # an empty cell is no answer
        before[1] = (None, *before[1][1:])
    assert after == before


def test_texts_as_lines_and_words_as_vw_are_one_way():
    data = b'{"label": "a", "subject": "see: http://x", "body": "one\\ntwo | three"}\n'
    for format, expected in [
        ("vw", b"a |subject see_ http_//x |body one two _ three\n"),
        ("lines", b"a\tsee: http://x one two | three\n"),
    ]:
        out = io.BytesIO()
        write(read(io.BytesIO(data)), out, format)
        assert out.getvalue() == expected


@pytest.mark.parametrize(
    ("data", "format", "says"),
    [
        (TEXTS, "svmlight", "holds text, and svmlight only numbered features; write jsonl or vw instead"),
        (TEXTS, "vw", "the label 'b c' of example 3 cannot be written as vw, where blanks, commas and | : mean"),
        (TEXTS, "lines", "example 2 has neither label nor text"),
        (
            b'{"label": ["a", "b"], "text": "x"}',
            "lines",
            r"the label \['a', 'b'\] of example 1 does not fit before a tab",
        ),
        (FEATURES, "csv", "holds features, not text. .* write jsonl, vw or parquet, not csv"),
        (FEATURES, "lines", "holds features, not text"),
        (b'{"label": "a", "text": "x", "importance": 2}', "lines", "has importance weights, which lines cannot hold"),
        (b"1 2.0 |f 3:1", "svmlight", "has importance weights, which svmlight cannot hold"),
        (b"1 |f a:1", "svmlight", "has features with names, and svmlight wants numbers"),
        (b"1 |f 3:1 |g 4:1", "svmlight", "wants numbers in one namespace"),
        (b"1 | 3:1 3:1", "svmlight", "has a feature twice"),
        (b"|", "svmlight", "has neither label nor features"),
        (b'{"label": "a", "features": {"a b": 1}}', "vw", "the feature 'a b' .* cannot be written as vw"),
        (b'{"label": "a", "features": {"": 1}}', "vw", "the feature '' .* cannot be written as vw"),
        (b'{"label": "a|b", "text": ""}\n{"label": ["c"]}\n', "csv", r"the label 'a\|b' holds a \|"),
        (
            b'{"label": "a", "text": "x"}\n{"label": ["c"], "text": ""}',
            "csv",
            "is a set of labels, after examples with one",
        ),
        (
            b'{"label": "a", "text": "x"}\n{"label": ["c"], "text": ""}',
            "arrow",
            "is a set of labels, after examples with one",
        ),
        (b'{"label": "a", "text": "x"}\n{"label": "c", "cc": "y"}', "csv", "'cc' comes first in <file>:2 or after"),
        (
            b'{"label": "a", "text": "x"}\n{"label": "c", "cc": "y"}',
            "parquet",
            "the column 'cc' comes first after others",
        ),
    ],
)
def test_what_a_format_cannot_hold_is_refused(data, format, says):
    chunk_bytes = 1 if b"comes" in says.encode() or b"after examples" in says.encode() else 1 << 20
    with pytest.raises(ValueError, match=says):
        write(read(io.BytesIO(data), chunk_bytes=chunk_bytes), io.BytesIO(), format)


def test_a_field_with_a_name_of_ours_is_refused():
    for format in ("jsonl", "csv", "parquet", "arrow"):
        with pytest.raises(ValueError, match="a column is called 'id'"):
            write(read(io.BytesIO(b"y,id\na,b\n"), "csv", text="id"), io.BytesIO(), format)


def test_nothing_gives_an_empty_file_where_that_is_one():
    for format in WRITTEN:
        out = io.BytesIO()
        if format in ("parquet", "arrow"):
            with pytest.raises(ValueError, match="there are no examples"):
                write([], out, format)
        else:
            assert write([], out, format) == 0
            assert out.getvalue() == b""


# ------------------------------------------------------------------ targets
def test_a_file_is_packed_as_its_name_says(tmp_path):
    for suffix, unpack in {
        "": bytes,
        ".gz": gzip.decompress,
        ".zst": zstandard.ZstdDecompressor().decompressobj().decompress,
    }.items():
        path = tmp_path / f"x.vw{suffix}"
        assert write(read(io.BytesIO(NUMBERED)), path) == 4
        assert unpack(path.read_bytes()).startswith(b"1 | 1:0.5")
        assert rows_of(read(path))[0][0][1] == "1"


@pytest.mark.parametrize("packed", [".gz", ".zst"])
@pytest.mark.parametrize("format", WRITTEN)
def test_every_format_can_be_packed(tmp_path, format, packed):
    path = tmp_path / f"x{FORMATS[format].suffixes[0]}{packed}"
    data = NUMBERED.replace(b"1,3 ", b"3 ") if format in ("svmlight", "vw") else b"a\tone two\nb\tthree\n"
    n = write(read(io.BytesIO(data)), path)
    assert n == sum(len(chunk) for chunk in read(path)) > 0


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    path = tmp_path / "x.vw"
    path.write_bytes(b"old")
    with pytest.raises(BadLine):
        write(read(io.BytesIO(b"1 |f a\noops\n"), "vw", chunk_bytes=1), path)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["x.vw"]
    with pytest.raises(FileNotFoundError, match=r"there is no folder .* to write x.vw in; create it first"):
        write([], tmp_path / "no" / "x.vw")
    with pytest.raises(IsADirectoryError, match="is a folder; name a file"):
        write([], tmp_path, "vw")


def test_standard_output(monkeypatch):
    out = io.TextIOWrapper(io.BytesIO())
    monkeypatch.setattr(sys, "stdout", out)
    write(read(io.BytesIO(b"1 |f a")), "-", "vw")
    assert out.buffer.getvalue() == b"1 |f a\n"


def test_a_format_that_is_not_written_is_named():
    with pytest.raises(ValueError, match="the name 'data' does not say which format to write; give one of jsonl, csv"):
        write([], "data")
    with pytest.raises(ValueError, match="folders can be read, not written"):
        write([], io.BytesIO(), "folders")
    with pytest.raises(ValueError, match="format must be one of"):
        write([], io.BytesIO(), "xml")


# ------------------------------------------------------------------ anything
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
labels = st.one_of(st.none(), st.text("abc:|, é'\"", min_size=1, max_size=4))


@pytest.mark.parametrize("format", ["jsonl", "csv", "tsv"])
@given(rows=st.lists(st.tuples(labels, texts, texts), min_size=1, max_size=4), chunk_bytes=st.integers(1, 50))
def test_any_texts_come_back(format, rows, chunk_bytes):
    rows = [(label and label.strip(), *rest) for label, *rest in rows]
    data = "\n".join(json.dumps({"label": label, "text": text, "cc": cc}) for label, text, cc in rows).encode()
    out = io.BytesIO()
    write(read(io.BytesIO(data), "jsonl", text="text,cc"), out, format)
    if len(rows) > 1:
        assert detect(out.getvalue()) == format
    after, skipped = rows_of(read(io.BytesIO(out.getvalue()), format, text="text,cc", chunk_bytes=chunk_bytes))
    assert skipped == 0
    assert [(label, content.get("text", ""), content.get("cc", "")) for _, label, _, _, content in after] == [
        (label or None, text, cc) for label, text, cc in rows
    ]


@pytest.mark.parametrize("format", ["parquet", "arrow"])
def test_a_column_of_weights_is_there_only_where_weights_are(format):
    def names_of(data):
        out = io.BytesIO()
        write(read(io.BytesIO(data), chunk_bytes=20), out, format)
        out.seek(0)
        return (pq.read_schema(out) if format == "parquet" else pa.ipc.open_stream(out).schema).names

    assert names_of(b"1 |f a:1\n2 |f b:1\n") == ["label", "id", "features"]
    assert names_of(b"1 2.0 |f a:1\n2 |f b:1\n") == ["label", "importance", "id", "features"]
    with pytest.raises(ValueError, match="importance weights come first after examples without were written"):
        names_of(b"1 |f a:1\n" * 20 + b"2 2.0 |f b:1\n")
