"""Wherever a file is cut into chunks, the examples are the same."""

import io

import pytest
from tests.reference.examples import rows_of

from hinged.io.examples import read

FILES = {
    "vw": b"7 |f a:0.5 b\n\n1,3 2.0 't |g:2 x |h y:3\noops\n|f \xc3\xa9\n2 |f \xff\n3 |f c:x\n4 |f d",
    "svmlight": b"# c\n+1 1:0.5 3:2 # d\n\n-1 x\n1,3 5:1e3\n4:2\n1 2:3 1:3\n2 1:1",
    "lines": b"a\tone two\n\n\tthree\nb \t four\xff\r\nplain\nc\t\n",
    "csv": b'label,subject,body\na,"x, ""y""\nz",1\nb,only\n\n"c,open,1\nd,"q"r,1\ne,\xff,1\n,"",\nf,last,"\n"\n',
    "tsv": b'id\ttags\ttext\n1\ta|b\t"x\ny"\n2\t\tz\n3\n4\tc\tw',
    "jsonl": b'{"label": "a", "text": "b"}\n\noops\n{"label": ["c"], "subject": "d"}\n[]\n'
    b'{"id": 3, "text": "e\\u00e9"}\n{"text": "\xff"}',
    "jsonl features": b'{"y": 1, "features": {"a": 1, "f": {"b": 2}}}\n{"features": 3}\n{"y": 2, "features": {}}',
    "csv of numbers": b"y,a,b,kind\n1,0.5,0,M\n2,x,1,F\n5,,,\n3,1,1\n4,7,8,\n",
}


@pytest.mark.parametrize("name", FILES)
def test_chunks_of_any_size_hold_the_same_examples(name):
    data, format = FILES[name], name.split()[0]

    def rows(chunk_bytes):
        reader = read(io.BytesIO(data), format, on_error="skip", chunk_bytes=chunk_bytes)
        found = rows_of(reader)
        return found, [str(fault) for fault in reader.problems]

    expected = rows(1 << 20)
    (found, skipped), problems = expected
    assert found
    assert skipped == len(problems) > 0
    for chunk_bytes in [*range(1, 60), 64, 100, 200, 300]:
        assert rows(chunk_bytes) == expected


@pytest.mark.parametrize("name", FILES)
def test_reading_twice_gives_chunks_of_their_own(name):
    """Nobody writes into a chunk that was handed out."""
    data, format = FILES[name] * (1 if "csv" in name or name == "tsv" else 3), name.split()[0]
    kept = list(read(io.BytesIO(data), format, on_error="skip", chunk_bytes=20))
    fresh = [rows_of([chunk]) for chunk in read(io.BytesIO(data), format, on_error="skip", chunk_bytes=20)]
    assert [rows_of([chunk]) for chunk in kept] == fresh
