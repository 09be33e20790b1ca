"""Where bytes come from: paths, pipes, file objects, packed or not; and what is said where they do not come."""

import contextlib
import gzip
import io
import os
import pickle
import subprocess
import sys
import threading

import pytest
import zstandard
from tests.reference.examples import rows_of

from hinged.io.examples import BadLine, read

VW = b"".join(b"%d |f a%d:0.5 b\n" % (i % 3, i) for i in range(500))
PACKINGS = {
    "plain": lambda data: data,
    "gzip": gzip.compress,
    "gzip twice": lambda data: gzip.compress(data[:100]) + gzip.compress(data[100:]) + bytes(20),
    "zstd": zstandard.compress,
    "zstd twice": lambda data: zstandard.compress(data[:100]) + zstandard.compress(data[100:]),
    "zstd after a skippable frame": lambda data: b"\x50\x2a\x4d\x18\x03\0\0\0abc" + zstandard.compress(data),
}


def plain(source, *args, **options):
    return rows_of(read(source, *args, **options))


@pytest.mark.parametrize("packing", PACKINGS)
def test_packed_files_are_unpacked_wherever_they_come_from(packing, tmp_path, monkeypatch):
    data = PACKINGS[packing](VW)
    path = tmp_path / "some file"
    path.write_bytes(data)
    expected = plain(io.BytesIO(VW))
    assert len(expected[0]) == 500
    assert plain(path) == plain(str(path)) == plain(io.BytesIO(data)) == expected
    assert plain(path, chunk_bytes=7) == expected
    with path.open("rb") as file:
        assert plain(file) == expected
        assert not file.closed
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    reader = read("-")
    assert reader.source == "stdin"
    assert rows_of(reader) == expected


@pytest.mark.parametrize("packing", ["gzip", "zstd"])
def test_a_packed_file_cut_short_or_damaged_is_told(packing, tmp_path):
    data = PACKINGS[packing](VW)
    whole = len(plain(io.BytesIO(data))[0])
    for cut in (len(data) - 1, len(data) // 2, 20):
        reader = read(io.BytesIO(data[:cut]), "vw")
        with pytest.raises(ValueError, match=f"<file> is packed with {packing} but damaged or cut short after"):
            list(reader)
        assert reader.rows <= whole
    damaged = bytearray(data)
    damaged[len(data) // 2 :] = bytes(len(data) - len(data) // 2)
    with pytest.raises(ValueError, match="damaged or cut short"):
        list(read(io.BytesIO(damaged), "vw"))


def test_nothing_in_it_is_no_examples():
    for data in (
        b"",
        b"\n",
        b" \n\r\n\t\n",
        b"\xef\xbb\xbf",
        b"\xef\xbb\xbf\n",
        gzip.compress(b""),
        zstandard.compress(b"\n"),
    ):
        reader = read(io.BytesIO(data))
        assert list(reader) == []
        assert (reader.format, reader.rows, reader.skipped) == (None, 0, 0)
        for format in ("jsonl", "csv", "tsv", "svmlight", "vw", "lines"):
            assert list(read(io.BytesIO(data), format)) == []


def test_marks_of_windows_make_no_difference():
    for format, data in {
        "vw": b"1 |f a\n2 |f b\n",
        "svmlight": b"1 1:1\n2 2:1\n",
        "lines": b"a\tx\nb\ty\n",
        "csv": b'label,text\na,x\n\nb,"y"\n',
        "jsonl": b'{"label": 1, "text": "a"}\n{"label": 2, "text": "b"}\n',
    }.items():
        expected = plain(io.BytesIO(data), format)
        assert len(expected[0]) == 2
        assert plain(io.BytesIO(data.replace(b"\n", b"\r\n")), format) == expected
        assert plain(io.BytesIO(b"\xef\xbb\xbf" + data), format) == expected
        assert plain(io.BytesIO(b"\xef\xbb\xbf" + data), format, chunk_bytes=1) == expected
        assert plain(io.BytesIO(data.rstrip(b"\n")), format) == expected
        assert plain(io.BytesIO(b"\xef\xbb\xbf" + data)) == expected


def test_utf_16_gets_a_recipe():
    for encoding in ("utf-16-le", "utf-16-be"):
        with pytest.raises(ValueError, match=r"<file> is UTF-16, not UTF-8; convert it first: iconv"):
            list(read(io.BytesIO("\ufeff1 |f a".encode(encoding)), "vw"))


def test_zero_bytes_are_bytes_like_others():
    assert plain(io.BytesIO(b"1 |f a\0b\n"))[0][0][4] == [("f", "a\0b", 1.0)]
    assert plain(io.BytesIO(b"a\tx\0y\n"))[0][0][4] == {"text": "x\0y"}
    assert plain(io.BytesIO(b'label,text\na,x\0y\n"\0",z\n'))[0][1][1] == "\0"


def test_lines_longer_than_a_chunk_are_whole():
    for chunk_bytes in (1, 100, 1 << 16):
        names = [f"w{i}" for i in range(60_000)]
        rows, _ = plain(io.BytesIO(b"1 |f " + " ".join(names).encode() + b"\n2 |f x\n"), chunk_bytes=chunk_bytes)
        assert [len(row[4]) for row in rows] == [60_000, 1]
        text = "a,\n" * 60_000
        rows, _ = plain(io.BytesIO(f'label,text\na,"{text}"\nb,x\n'.encode()), chunk_bytes=chunk_bytes)
        assert [row[4]["text"] for row in rows] == [text, "x"]


def test_memory_does_not_grow_with_the_file():
    """Blocks are as long as asked for (and lines are short), however long the stream is."""

    class Endless(io.RawIOBase):
        given = 0

        def read(self, n=-1):
            Endless.given += n
            return (VW * (n // len(VW) + 1))[:n]

    longest = 0
    for i, chunk in enumerate(read(Endless(), "vw", chunk_bytes=1 << 16, on_error="skip")):
        longest = max(longest, len(chunk.named.buffer))
        if i == 50:
            break
    assert longest < 1.2 * (1 << 16)
    assert Endless.given < 60 * (1 << 16)


def test_a_pipe_gives_its_lines_as_they_come():
    inward, outward = os.pipe()
    with os.fdopen(inward, "rb") as file, os.fdopen(outward, "wb", buffering=0) as other:
        other.write(b"1 |f a\n2 |f")
        reader = read(file)
        assert next(reader).answers == ["1"]
        threading.Timer(0.05, lambda: (other.write(b" b\n"), other.close())).start()
        assert next(reader).answers == ["2"]
        assert list(reader) == []


def test_standard_input_of_a_process(tmp_path):
    ask = "from hinged.io.examples import read; print([c.answers for c in read('-')])"
    done = subprocess.run(
        [sys.executable, "-c", ask], input=zstandard.compress(b"1 |f a\n"), capture_output=True, check=True
    )
    assert done.stdout.strip() == b"[['1']]"


# ------------------------------------------------------------------ what cannot be read
def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(
        FileNotFoundError, match=r"there is no file .*nowhere; check its name, or give - to read standard input"
    ):
        read(tmp_path / "nowhere")
    with pytest.raises(OSError, match="cannot be opened"):
        read("a\0b")
    with pytest.raises(OSError, match="cannot be opened"):
        read(tmp_path / ("x" * 5000))


def test_a_folder_is_no_file_and_a_file_no_folder(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder; vw is read from a file"):
        read(tmp_path, "vw")
    (tmp_path / "x").write_bytes(VW)
    with pytest.raises(NotADirectoryError, match="is not a folder; format 'folders' reads files below one"):
        read(tmp_path / "x", "folders")


def test_a_file_that_may_not_be_read_is_named(tmp_path, monkeypatch):
    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(PermissionError, match="may not be read by this user; change its permissions"):
        read("secret")


def test_a_file_object_of_text_is_refused():
    with pytest.raises(TypeError, match="must be opened in binary mode; it gave str"):
        read(io.StringIO("1 |f a"))


# ------------------------------------------------------------------ malformed lines
def test_stopping_hands_out_what_came_before():
    data = b"1 |f a\n2 |f b\noops\n3 |f c\n"
    for chunk_bytes in (1, 9, 1 << 20):
        reader = read(io.BytesIO(data), "vw", chunk_bytes=chunk_bytes)
        answers = []
        with pytest.raises(BadLine, match=r"<file>:3: there is no '\|'") as caught:
            answers.extend(answer for chunk in reader for answer in chunk.answers)
        assert answers == ["1", "2"]
        assert (caught.value.line, caught.value.source, reader.rows, reader.skipped) == (3, "<file>", 2, 0)
        assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_skipping_leaves_out_one_line_and_counts_it():
    data = b"oops\n1 |f a\n2 |f b:x\n3 |f c\nno\nno\n"
    for chunk_bytes in (1, 9, 1 << 20):
        reader = read(io.BytesIO(data), "vw", on_error="skip", chunk_bytes=chunk_bytes)
        chunks = list(reader)
        assert [answer for chunk in chunks for answer in chunk.answers] == ["1", "3"]
        assert sum(chunk.skipped for chunk in chunks) == reader.skipped == 4
        assert [fault.line for fault in reader.problems] == [1, 3, 5, 6]
        assert all(len(chunk) for chunk in chunks[:-1])


def test_a_reader_left_early_closes_its_file(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(VW)
    with read(path, chunk_bytes=10) as reader:
        assert len(next(reader)) > 0
        done, size = reader.progress
        assert 0 < done <= size == len(VW)
    assert list(reader) == []
    del reader
    reader = read(path)
    del reader  # warnings are errors: an open file would complain here
    with contextlib.suppress(StopIteration):
        next(read(path))


@pytest.mark.parametrize("on_error", ["stop", "skip"])
def test_a_line_without_an_end_is_refused_before_it_fills_the_memory(on_error):
    reader = read(io.BytesIO(b'{"label": "a", "text": "x"}\n{"text": "' + b"word " * (4 << 20)), on_error=on_error)
    with pytest.raises(ValueError, match="the line that begins at byte 29 is longer than 16 MB"):
        list(reader)


def test_long_lines_are_read_up_to_the_limit():
    (chunk,) = read(io.BytesIO(b'{"label": "a", "text": "' + b"word " * (3 << 20) + b'"}\n'))
    assert len(chunk) == 1
