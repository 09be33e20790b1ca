"""Small files of every format, and the words that damage is made of."""

import gzip
import io
import random

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard
from tests.fuzz.target import FORMATS

VW = b"7 |f a:0.5 b\n\n1,3 2.0 't |g:2 x |h y:3\noops\n|f \xc3\xa9\n2 |f \xff\n3 |f c:x\n4 |f d"
SVMLIGHT = b"# c\n+1 1:0.5 3:2 # d\n\n-1 x\n1,3 5:1e3\n4:2\n1 2:3 1:3\n2 qid:1 1:1"
LINES = b"a\tone two\n\n\tthree\nb \t four\xff\r\nplain\nc\t\n"
CSV = b'label,subject,body\na,"x, ""y""\nz",1\nb,only\n\n"c,open,1\nd,"q"r,1\ne,\xff,1\n,"",\nf,last,"\n"\n'
NUMBERS = b"y;a;b;kind;importance\n1;0.5;;M;1\n2;x;1;F;2\n3;1;1\n4;7;8;;\n"
TSV = b'id\ttags\ttext\n1\ta|b\t"x\ny"\n2\t\tz\n3\n4\tc\tw'
TEXTS = b'{"label": "a", "text": "b"}\n\noops\n{"label": ["c", 1], "subject": "d"}\n{"id": 3, "text": "\\ud800"}'
FEATURES = (
    b'{"y": 1, "importance": 2, "features": {"a": 1, "f": {"b": 2}, "c": "w"}}\n{"features": 3}\n{"features": {}}'
)
FLAT = b'{"y": 1.5, "a": 2, "b": true}\n{"y": null, "a": "x"}'

CONLL = b"-DOCSTART- -X- O\n\nHe PRP B-NP\nsat VBD B-VP\n\nYes UH\n\n10\xc2\xa0000 CD O\r\n\n\xff X O\nend NN O"
CONLLU = b"# id = 1\n1-2\tdon't" + b"\t_" * 8 + b"\n1\tdo\tdo\tAUX" + b"\t_" * 6 + b"\n2\tn't\tnot\tPART\t_\n\n# end\n"

TABLE = pa.table({"label": ["a", None, "b"], "text": ["x y", "z", None], "size": [1.0, 2.0, None]})
MAPS = pa.table({"y": [1, 2], "features": pa.array([[("a", 1.0)], []], pa.map_(pa.string(), pa.float64()))})


def _parquet(table):
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


def _arrow(table):
    out = io.BytesIO()
    with pa.ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue()


FILES = {
    "vw": [VW],
    "svmlight": [SVMLIGHT],
    "lines": [LINES],
    "jsonl": [TEXTS, FEATURES, FLAT],
    "csv": [CSV, NUMBERS],
    "tsv": [TSV],
    None: [gzip.compress(VW), zstandard.compress(SVMLIGHT), b"\xef\xbb\xbf" + CSV, VW, SVMLIGHT, LINES, TEXTS, TSV],
    "parquet": [_parquet(TABLE), _parquet(MAPS)],
    "arrow": [_arrow(TABLE), _arrow(MAPS)],
    "conll": [CONLL, b"\xef\xbb\xbf" + CONLL, gzip.compress(CONLL)],
    "conllu": [CONLLU],
}
SEEDS = [bytes([FORMATS.index(format), 7]) + data for format, files in FILES.items() for data in files]
WORDS = [
    *(
        b"|",
        b":",
        b" ",
        b"\t",
        b"\n",
        b"\r\n",
        b"\r",
        b",",
        b";",
        b'"',
        b'""',
        b"'",
        b"#",
        b"\\",
        b"{",
        b"}",
        b"[",
        b"]",
    ),
    *(
        b"\x00",
        b"\xff",
        b"\xc3",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        "é".encode(),
        "𝄞".encode(),
    ),
    *(
        b"1",
        b"-",
        b"+",
        b".",
        b"e",
        b"1e400",
        b"-1e-400",
        b"9" * 30,
        b"0" * 30,
        b"nan",
        b"inf",
        b"1_0",
        b"0x1",
        b"2147483647",
    ),
    *(
        b"qid:",
        b"label",
        b"labels",
        b"features",
        b"text",
        b"id",
        b"importance",
        b"-DOCSTART-",
        b"\t_\t_",
        b"\xc2\xa0",
        b"null",
        b"true",
        b'{"a":',
        b'"a": 1',
        b"\\u",
    ),
    *(b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"PAR1", b"ARROW1", b"\xff\xff\xff\xff"),
]


def damaged(rng: random.Random) -> bytes:
    """A seed with a few changes; one in eight is made of words alone."""
    first = rng.choice(SEEDS)
    if rng.random() < 0.125:
        return first[:2] + b"".join(rng.choices(WORDS, k=rng.randrange(20)))
    data = bytearray(first[2:])
    for _ in range(rng.choice((1, 1, 2, 3, 5, 9))):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(6)
        if kind == 0:
            data[at:at] = rng.choice(WORDS)
        elif kind == 1:
            del data[at : at + rng.choice((1, 1, 2, 5, 20))]
        elif kind == 2 and data:
            data[at % len(data)] = rng.randrange(256)
        elif kind == 3:
            data[at:at] = data[at : at + rng.randrange(1, 30)]
        elif kind == 4:
            other = rng.choice(SEEDS)[2:]
            start = rng.randrange(len(other))
            data[at:at] = other[start : start + rng.randrange(1, 30)]
        else:
            del data[at:]
    return bytes([first[0], rng.randrange(8)]) + bytes(data)
