"""What a file is: by its content, and by its name only where the content leaves it open."""

import pytest

from hinged.io.examples import FORMATS, detect

SAMPLES = [
    (b'{"text": "a"}\n{"text": "b"}\n', "x.csv", "jsonl"),
    (b'  {"text": "a"}', "", "jsonl"),
    (b"1 |f a b:2\n-1 |f c\n", "x.txt", "vw"),
    (b"|f a b\n|f c\n", "", "vw"),
    (b"1,3 2.0 'tag |f a:1\n", "", "vw"),
    (b"spam 1.0 tag|f a:1\n", "", "vw"),
    (b"+1 1:0.5 3:2\n-1 2:1\n", "x.txt", "svmlight"),
    (b"1,3 7:1 # x\n 5:1\n", "", "svmlight"),
    (b"1 qid:3 1:0.5\n2\n", "", "svmlight"),
    (b"spam\tbuy now\nham\tmeeting\n", "", "lines"),
    (b"spam\tbuy now\nham\tmeeting\n", "SMSSpamCollection.tsv", "lines"),
    (b"label\ttext\na\tb\n", "x.txt", "tsv"),
    (b"one\ttwo\tthree\n1\t2\t3\n4\t5\t6\n", "", "tsv"),
    (b"label,text\na,b\n", "x.txt", "csv"),
    (b"a,b\n1,2\n", "", "csv"),
    (b"a;b\n1;2\n", "", "csv"),
    (b"sepal length, sepal width\n5.1, 3.5\n", "", "csv"),
    (b"first name,family name\nAnn,Lee\n", "", "csv"),
    (b"what (if any), why?\n" + b"a, b\n" * 4, "", "csv"),
    (b'label,text,cc\n"",,\t\n"",,\t\n', "", "csv"),
    (b"label\ttext\n|\t\n|\t\n", "", "tsv"),
    (b'"id","Label"\n1,2\n', "x.txt", "csv"),
    (b"text\nhello there\n", "x.csv", "csv"),
    (b"just words\n", "x.txt", "lines"),
    (b"id|name|value\n1|2|3\n", "x.csv", "csv"),
    (b"PAR1\x15\x04", "x.csv", "parquet"),
    (b"ARROW1\x00\x00", "", "arrow"),
    (b"\xff\xff\xff\xff\x80\x01", "", "arrow"),
    (b"\xef\xbb\xbf{}\n", "", "jsonl"),
    (b"1 |f a\nbroken\n2 |f b\n", "", "vw"),
    (b"1 1:1\n1 x\n2 1:1\n", "", "svmlight"),
    (b'{"a": 1}\noops\n{"a": 1}\n', "", "jsonl"),
    (b"", "x.vw.gz", "vw"),
    (b"\n\n", "x.jsonl.zst", "jsonl"),
    (b"[1, 2]", "x.jsonl", "jsonl"),
]


@pytest.mark.parametrize(("head", "name", "format"), SAMPLES)
def test_the_format_is_found(head, name, format):
    assert detect(head, name) == format


@pytest.mark.parametrize(
    "head",
    [
        b"hello\n",
        b"\x00\x01\x02",
        b"a sentence, and more.\n",
        b"Yes, please\nNo, thanks\n",
        b"we met on Monday, as planned\nthe report is late, again\nsee you, Ann\n",
        b"the tax form is due soon,please send it\nthe cake is in the oven,do not open it\n",
        b"",
        b"x.parquet",
    ],
)
def test_what_cannot_be_told_gets_the_list(head):
    with pytest.raises(ValueError, match="--format") as caught:
        detect(head, "data.parquet" if head == b"x.parquet" else "data")
    assert all(f"{format}, " in str(caught.value) for format in FORMATS)


def test_a_json_array_gets_a_recipe():
    with pytest.raises(ValueError, match=r"data is one JSON array; write one object a line first: jq -c '\.\[\]' data"):
        detect(b'[{"a": 1}]', "data")
