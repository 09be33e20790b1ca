"""Parquet, Arrow and folders of files."""

import io
import os
import sys
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from tests.reference.examples import rows_of

from hinged.io.examples import BadLine, read

TABLE = pa.table(
    {
        "id": pa.array([1, 2, 3]),
        "labels": pa.array([["a", "b"], [], None]),
        "subject": pa.array(["Hi you", None, "é"]),
        "kind": pa.array(["x", "y", None]).dictionary_encode(),
        "body": pa.array(["long", "", "z"], pa.large_string()),
        "size": pa.array([1.5, None, 2.0]),
        "when": pa.array([0, 1, 2], pa.timestamp("s")),
        "importance": pa.array([1.0, 0.5, None]),
    }
)
ROWS = [
    (1, ["a", "b"], 1.0, "1", {"size": 1.5, "subject": "Hi you", "kind": "x", "body": "long"}),
    (2, [], 0.5, "2", {"kind": "y"}),
    (3, None, 1.0, "3", {"size": 2.0, "subject": "é", "body": "z"}),
]


def parquet(table, **options):
    out = io.BytesIO()
    pq.write_table(table, out, **options)
    return out.getvalue()


def arrow(table, new=pa.ipc.new_stream):
    out = io.BytesIO()
    with new(out, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)
    return out.getvalue()


def rows(source, *args, **options):
    return rows_of(read(io.BytesIO(source) if isinstance(source, bytes) else source, *args, **options))[0]


@pytest.mark.parametrize(
    "data",
    [parquet(TABLE), parquet(TABLE, row_group_size=1), arrow(TABLE), arrow(TABLE, pa.ipc.new_file)],
    ids=["parquet", "row groups", "arrow stream", "arrow file"],
)
def test_typed_columns_of_text_and_numbers(data, tmp_path):
    assert rows(data) == ROWS
    assert rows(zstandard.compress(data)) == ROWS
    (tmp_path / "x").write_bytes(data)
    assert rows(tmp_path / "x") == ROWS
    assert rows(data, text="body", label="kind") == [
        (1, "x", 1.0, "1", {"body": "long"}),
        (2, "y", 0.5, "2", {}),
        (3, None, 1.0, "3", {"body": "z"}),
    ]


def test_texts_stay_where_arrow_has_them():
    (chunk,) = read(io.BytesIO(arrow(pa.table({"text": ["one", "two"], "label": ["a", "b"]}))))
    strings = chunk.texts["text"]
    assert not strings.buffer.flags.owndata
    assert strings.buffer[:6].tobytes() == b"onetwo"


def test_typed_columns_of_numbers_and_words():
    table = pa.table({"y": [1, 2], "a": [0.5, None], "b": [True, False], "c": ["M", ""], "d": pa.array(["u", None])})
    assert rows(parquet(table)) == [
        (1, "1", 1.0, "", {"a": 0.5, "b": 1.0, "c": "M", "d": "u"}),
        (2, "2", 1.0, "", {"b": 0.0}),
    ]


def test_a_map_holds_features():
    features = pa.array([[("a", 1.0), ("b", 2.0)], [], None, [("c", 3.0)]], pa.map_(pa.string(), pa.float64()))
    table = pa.table({"label": ["x", "y", None, "z"], "features": features})
    expected = [
        (1, "x", 1.0, "", [("", "a", 1.0), ("", "b", 2.0)]),
        (2, "y", 1.0, "", []),
        (3, None, 1.0, "", []),
        (4, "z", 1.0, "", [("", "c", 3.0)]),
    ]
    assert rows(parquet(table)) == rows(arrow(table)) == expected
    assert [row[1:] for row in rows(parquet(table.slice(1)))] == [row[1:] for row in expected[1:]]


def test_a_value_that_is_not_finite_is_a_malformed_record():
    table = pa.table({"y": [1, 2, 3, 4], "a": [1.0, np.nan, 2.0, np.inf], "importance": [1.0, 1.0, -1.0, 1.0]})
    with pytest.raises(BadLine, match="<file>:2: the value in column 'a' is not a finite number"):
        rows(parquet(table))
    reader = read(io.BytesIO(parquet(table)), on_error="skip")
    assert [row[0] for row in rows_of(reader)[0]] == [1]
    assert [fault.line for fault in reader.problems] == [2, 3, 4]
    features = pa.array([[("a", 1.0)], [("b", np.nan)]], pa.map_(pa.string(), pa.float64()))
    with pytest.raises(BadLine, match="<file>:2: the value in column 'features'"):
        rows(parquet(pa.table({"features": features})))


def test_damaged_files_get_a_sentence(tmp_path):
    for data in (parquet(TABLE), arrow(TABLE), arrow(TABLE, pa.ipc.new_file)):
        for cut in (len(data) - 3, len(data) // 2, 13):
            with pytest.raises(BadLine, match="the file is damaged or cut short here"):
                rows(data[:cut])
    with pytest.raises(BadLine, match="column 'size' holds double, not text"):
        rows(parquet(TABLE), text="size")
    with pytest.raises(ValueError, match="no column 'bodi'"):
        rows(parquet(TABLE), text="bodi")
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["a", "a"])
    with pytest.raises(BadLine, match="two columns have one name"):
        rows(arrow(twice))
    not_text = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(np.array([0, 1], np.int32)), pa.py_buffer(b"\xff")]
    )
    with pytest.raises(BadLine, match="damaged"):
        rows(arrow(pa.table({"text": not_text})))


def test_a_label_of_another_kind_is_refused():
    with pytest.raises(BadLine, match="a label cannot be"):
        rows(parquet(pa.table({"label": [{"a": 1}], "text": ["x"]})))


def test_without_pyarrow_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r'pip install "hinged\[parquet\]"'):
        rows(b"PAR1")


# ------------------------------------------------------------------ folders
def test_a_folder_of_files(tmp_path):
    for name, content in {
        "spam/1.txt": b"buy now",
        "spam/2.txt": "caf\u00e9".encode("latin-1"),
        "ham/office/old/3": zstandard.compress("grüße".encode()),
        "ham/4": b"\xef\xbb\xbfx\0y",
        "top": b"no label",
        "ham/empty": b"",
        ".hidden": b"-",
        "ham/.DS_Store": b"-",
        ".git/x": b"-",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    reader = read(tmp_path)
    found, skipped = rows_of(reader)
    assert (reader.format, skipped) == ("folders", 0)
    assert sorted((tag, label, content.get("text", "")) for _, label, _, tag, content in found) == [
        ("ham/4", "ham", "x\0y"),
        ("ham/empty", "ham", ""),
        ("ham/office/old/3", "ham/office/old", "grüße"),
        ("spam/1.txt", "spam", "buy now"),
        ("spam/2.txt", "spam", "café"),
        ("top", None, "no label"),
    ]
    assert [row[0] for row in found] == [1, 2, 3, 4, 5, 6]
    assert rows_of(read(tmp_path, chunk_bytes=1))[0] == found


def test_labels_of_folders_come_mixed(tmp_path):
    for label in "ab":
        (tmp_path / label).mkdir()
        for i in range(50):
            (tmp_path / label / str(i)).write_text("x")
    order = [row[1] for row in rows(tmp_path)]
    assert 20 < sum(one != other for one, other in pairwise(order)) < 80


def test_a_file_that_cannot_be_read_is_malformed(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "1").write_bytes(b"\x1f\x8b\x08 damaged")
    (tmp_path / "a" / "2").write_bytes(b"fine")
    os.mkfifo(tmp_path / "a" / "3")
    os.symlink(tmp_path / "nowhere", tmp_path / "a" / "4")
    reader = read(tmp_path, on_error="skip")
    assert [row[3] for row in rows_of(reader)[0]] == ["a/2"]
    assert reader.skipped == 3
    with pytest.raises(BadLine, match="it cannot be read"):
        list(read(tmp_path))


def test_an_empty_folder_has_no_examples(tmp_path):
    assert list(read(tmp_path)) == []


def test_names_of_columns_that_are_not_utf_8_are_told():
    with pytest.raises(BadLine, match="the file is damaged"):
        rows(arrow(TABLE).replace(b"subject", b"s\xffbject"))
