"""A worked example of every format, and what each refuses."""

import io

import pytest
from tests.reference.examples import rows_of

from hinged.io.examples import FORMATS, BadLine, read


def rows(data, format=None, **options):
    return rows_of(read(io.BytesIO(data), format, **options))[0]


def refusal(data, format=None, **options):
    with pytest.raises(BadLine) as caught:
        list(read(io.BytesIO(data), format, **options))
    return str(caught.value)


# ------------------------------------------------------------------ VW
def test_vw_labels_weights_tags_namespaces_and_scales():
    data = (
        b"7 |f f12:1 f99:0.5\n"
        b"spam 2.0 'mail-1 |subject buy now |body:0.5 cheap:4 pills\n"
        b"1,3 0.25 0.1 tag| x\n"
        b"|f nothing known\r\n"
        b"'only-a-tag |\n"
    )
    assert rows(data) == [
        (1, "7", 1.0, "", [("f", "f12", 1.0), ("f", "f99", 0.5)]),
        (
            2,
            "spam",
            2.0,
            "mail-1",
            [("subject", "buy", 1), ("subject", "now", 1), ("body", "cheap", 2), ("body", "pills", 0.5)],
        ),
        (3, ["1", "3"], 0.25, "tag", [("", "x", 1.0)]),
        (4, None, 1.0, "", [("f", "nothing", 1.0), ("f", "known", 1.0)]),
        (5, None, 1.0, "only-a-tag", []),
    ]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"1 f a b", "x:1: there is no '|'; expected label |namespace features."),
        (b"1 2 3 4 |f a", "too many words before '|'"),
        (b"1 x |f a", "the importance weight 'x' is not a number of 0 or more"),
        (b"1 -2 |f a", "the importance weight '-2' is not a number of 0 or more"),
        (b"1 1 x |f a", "the base 'x' is not a number"),
        (b"1:0.5 2:1 |f a", "the label '1:0.5' has a colon"),
        (b"1 |f :2", "there is a value ':2' without a name"),
        (b"1 |f see http://x", "the value '//x' is not a finite number; expected name:number; a colon inside"),
        (b"1 |f a:1:2", "the value '1:2' is not a finite number"),
        (b"1 |f a:1e39", "the value '1e39' is not a finite number"),
        (b"1 |f:x a", "the namespace's scale 'x' is not a finite number"),
        (b"1 |f \xff", "byte 0xff at place 6 is not UTF-8; expected UTF-8 text (convert the file: iconv"),
    ],
)
def test_vw_says_what_is_wrong(line, says):
    assert says in refusal(line, "vw").replace("<file>", "x")


# ------------------------------------------------------------------ svmlight
def test_svmlight_labels_comments_and_query_ids():
    data = b"# made by hand\n+1 1:0.5 3:2 # a comment\n-1.0 qid:4 2:1e3\n1,3 7:1\n5:2\n2\n"
    assert rows(data) == [
        (2, "1", 1.0, "", [(1, 0.5), (3, 2.0)]),
        (3, "-1", 1.0, "", [(2, 1000.0)]),
        (4, ["1", "3"], 1.0, "", [(7, 1.0)]),
        (5, None, 1.0, "", [(5, 2.0)]),
        (6, "2", 1.0, "", []),
    ]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"1 two", "the word 'two' has no colon; expected index:value after the label"),
        (b"1 -1:2", "the index in '-1:2' is not a whole number"),
        (b"1 2147483647:2", "the index in '2147483647:2' is not a whole number from 0 to 2147483646"),
        (b"1 3:1 3:2", "the index in '3:2' does not rise"),
        (b"1 3:x", "the value in '3:x' is not a finite number"),
        (b"\xff 3:1", "byte 0xff at place 1 is not UTF-8"),
    ],
)
def test_svmlight_says_what_is_wrong(line, says):
    assert says in refusal(line, "svmlight")


def test_a_comment_may_hold_any_bytes():
    assert rows(b"1 1:1 # caf\xe9\n\xe9 1:1\n2 1:1\n", "svmlight", on_error="skip") == [
        (1, "1", 1.0, "", [(1, 1.0)]),
        (3, "2", 1.0, "", [(1, 1.0)]),
    ]


# ------------------------------------------------------------------ lines
def test_lines_of_label_and_text():
    data = "spam\tbuy now\tcheap\nhäm\tmeeting at noon\r\n\tno label\nno tab at all\nempty\t\n".encode()
    assert rows(data, "lines") == [
        (1, "spam", 1.0, "", {"text": "buy now\tcheap"}),
        (2, "häm", 1.0, "", {"text": "meeting at noon"}),
        (3, None, 1.0, "", {"text": "no label"}),
        (4, None, 1.0, "", {"text": "no tab at all"}),
        (5, "empty", 1.0, "", {}),
    ]
    assert rows(b"a|b\tx\n\ty", "lines", label_sep="|") == [
        (1, ["a", "b"], 1, "", {"text": "x"}),
        (2, None, 1, "", {"text": "y"}),
    ]


# ------------------------------------------------------------------ CSV and TSV
def test_csv_with_quoted_newlines_and_quotes():
    data = b'label,subject,body,size\nspam,Hi,"Dear ""friend"",\r\nbuy",3\r\n,"a,b",,\n'
    assert rows(data) == [
        (2, "spam", 1.0, "", {"size": 3.0, "subject": "Hi", "body": 'Dear "friend",\r\nbuy'}),
        (4, None, 1.0, "", {"subject": "a,b"}),
    ]
    assert rows(data.replace(b",", b"\t"))[0][4]["body"] == 'Dear "friend"\t\r\nbuy'
    assert rows(data.replace(b",", b";"))[1][4] == {"subject": "a;b"}
    assert rows(data, text="body", label="subject")[0] == (2, "Hi", 1.0, "", {"body": 'Dear "friend",\r\nbuy'})


def test_csv_of_numbers_keeps_zeros_and_leaves_missing_ones_out():
    data = b"x1,x2,y\n0.5,0,a\n,-2e1,b\n 1 ,3,\n"
    assert rows(data) == [
        (2, "a", 1.0, "", {"x1": 0.5, "x2": 0.0}),
        (3, "b", 1.0, "", {"x2": -20.0}),
        (4, None, 1.0, "", {"x1": 1.0, "x2": 3.0}),
    ]


def test_csv_may_hold_numbers_beside_words():
    data = b"id,sex,length,rings,importance\n7,M,0.5,15,2\n8,,0.25,9,\n"
    assert rows(data, label="rings") == [
        (2, "15", 2.0, "7", {"length": 0.5, "sex": "M"}),
        (3, "9", 1.0, "8", {"length": 0.25}),
    ]


def test_csv_knows_columns_by_custom():
    data = b"Unnamed: 0,ID,Date,Folder,Message\n0,m1,2000-01-01,work,42\n"
    assert rows(data) == [(2, "work", 1.0, "m1", {"Message": "42"})]
    assert rows(b"text,tags\nx,a|b\ny,\nz,c\n") == [
        (2, ["a", "b"], 1.0, "", {"text": "x"}),
        (3, None, 1.0, "", {"text": "y"}),
        (4, ["c"], 1.0, "", {"text": "z"}),
    ]
    assert rows(b"text,tags\nx,a b\n", label_sep=" ")[0][1] == ["a", "b"]


def test_quotes_can_be_plain_text():
    assert rows(b'label\ttext\na\t"Hello" he said\nb\t"open\n', quote="") == [
        (2, "a", 1.0, "", {"text": '"Hello" he said'}),
        (3, "b", 1.0, "", {"text": '"open'}),
    ]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"a,b\n1,2,3\n", "x:2: there are 3 cells; expected 2, as in the header."),
        (b"a,b\n1\n", "x:2: there is one cell"),
        (b'a,b\n1,"2\n3,4\n', "x:2: a quote opens and never closes"),
        (
            b'a,b\n"1"x,2\n',
            'x:2: there is text after a closing quote; expected quotes inside a cell to be doubled, as in "say',
        ),
        (b"a,b\n1,2\n1,x\n", "x:3: the value 'x' in column 'b' is not a finite number; expected a number"),
        (b"a,b\n1,2\n1,nan\n", "x:3: the value 'nan' in column 'b'"),
        (b"a,importance\n1,-1\n", "x:2: the weight '-1' in column 'importance' is not a finite number"),
        (b"a,text\n1,caf\xe9\n", "x:2: byte 0xe9 at place 6 is not UTF-8"),
        (b'a,text\n1,"one\ntwo \xe9"\n', "x:3: byte 0xe9 at place 5 is not UTF-8"),
        (b"1,2\n3,4\n", "x:1: the first row is all numbers; expected a header row"),
        (b"a,a\n3,4\n", "x:1: the header has 'a' twice"),
        (b'\n"a,b\n3,4\n', "x:2: in the header, a quote opens and never closes"),
        (b"a,\xe9\n3,4\n", "x:1: the header is not UTF-8"),
    ],
)
def test_csv_says_what_is_wrong(data, says):
    assert says in refusal(data, "csv").replace("<file>", "x")


def test_a_column_that_is_not_there_is_named():
    for option in ("text", "label", "weight", "tag"):
        with pytest.raises(ValueError, match="no column 'bodi'; its columns are 'a', 'body'"):
            list(read(io.BytesIO(b"a,body\n1,2\n"), "csv", on_error="skip", **{option: "bodi"}))


@pytest.mark.parametrize("data", [b"Folder,Words,n\na,x y,1\n", b'{"Folder": "a", "Words": "x y", "n": 1}\n'])
def test_columns_that_are_asked_for_may_be_spelt_in_another_case(data):
    (chunk,) = read(io.BytesIO(data), label="folder", text="words", weight="N")
    assert (chunk.answers, list(chunk.texts), chunk.layout.unused) == (["a"], ["Words"], ())


def test_a_chunk_says_which_columns_were_taken():
    (chunk,) = read(io.BytesIO(b"id,kind,title,topics,size\n1,NORM,to be or not,a|b,7\n"))
    assert chunk.layout == ("topics", ("size",), ("kind",), ("title",), (), ())
    assert str(chunk.layout) == "label from 'topics'; numbers from 'size'; categories from 'kind'; text from 'title'"
    (chunk,) = read(io.BytesIO(b'{"y": 1, "size": 7, "colour": "red", "date": "today"}\n'))
    assert str(chunk.layout) == "label from 'y'; numbers from 'size'; categories from 'colour'; not used: 'date'"


def test_a_quote_that_never_closes_costs_one_line():
    reader = read(io.BytesIO(b'label,text\na,"one\nb,two\nc,three\n'), on_error="skip")
    assert [row[1] for row in rows_of(reader)[0]] == ["b", "c"]
    assert reader.skipped == 1


# ------------------------------------------------------------------ JSON lines
def test_jsonl_text_fields_and_labels():
    data = (
        b'{"id": 5, "date": "2000-01-01", "folder": "work", "subject": "Hi", "body": "caf\\u00e9\\nnow", "size": 3}\n'
        b'{"folder": ["a", 2, 7.0, true], "body": "", "cc": "new field"}\n\n'
        b'{"folder": null, "body": "half \\ud800 pair", "importance": 0.5}\n'
    )
    assert rows(data) == [
        (1, "work", 1.0, "5", {"size": 3.0, "subject": "Hi", "body": "café\nnow"}),
        (2, ["a", "2", "7", "true"], 1.0, "", {"cc": "new field"}),
        (4, None, 0.5, "", {"body": "half ? pair"}),
    ]
    assert rows(data, text="subject, body", label="size")[0] == (
        1,
        "3",
        1.0,
        "5",
        {"subject": "Hi", "body": "café\nnow"},
    )
    assert rows(b'{"words": ["a", "b"], "y": 1}', text="words") == [(1, "1", 1.0, "", {"words": "a\nb"})]


def test_jsonl_features():
    data = (
        b'{"label": "a", "text": "t", '
        b'"features": {"size": 1.5, "colour": "red", "new": true, "old": false, "f": {"x": 2}}}\n'
        b'{"features": {}}\n'
    )
    features = [("", "size", 1.5), ("", "colour=red", 1.0), ("", "new", 1.0), ("f", "x", 2.0)]
    assert rows(data) == [(1, "a", 1.0, "", features), (2, None, 1.0, "", [])]
    flat = [("", "a", 2.5), ("", "b=M", 1.0), ("f", "x", 2.0)]
    assert rows(b'{"y": 1, "a": 2.5, "b": "M", "f": {"x": 2}, "id": 3}') == [(1, "1", 1.0, "3", flat)]
    assert rows(b'{"label": "x"}') == [(1, "x", 1.0, "", {})]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"{oops}", "x:1: it is not JSON (Expecting property name enclosed in double quotes at place 2)"),
        (b"[1]", "x:1: it is an array; expected a JSON object"),
        (b"3", "x:1: it is a number"),
        (b"null", "x:1: it is null"),
        (b'{"text": "caf\xe9"}', "x:1: byte 0xe9 at place 14 is not UTF-8"),
        (b'{"label": {"a": 1}, "text": ""}', "x:1: a label cannot be {'a': 1}; expected a string, a number, or a list"),
        (b'{"label": [[1]], "text": ""}', "x:1: a label cannot be [1]"),
        (b'{"label": NaN, "text": ""}', "x:1: a label cannot be nan"),
        (b'{"features": {"a": NaN}}', "x:1: the value nan of 'a' is not a finite number"),
        (b'{"features": {"a": 1e39}}', "x:1: the value 1e+39 of 'a' is not a finite number"),
        (b'{"features": {"a": [1]}}', "x:1: the value [1] of 'a' is not a finite number"),
        (b'{"features": {"a": {"b": {}}}}', "x:1: the value {} of 'b' is not a finite number"),
        (b'{"features": {"a": 1}}\n{"a": 1}', "x:2: there are no 'features', as the first line had"),
        (b'{"text": "a", "importance": -1}', "x:1: the weight -1 under 'importance' is not a number of 0 or more"),
        (b'{"text": "a", "importance": "1"}', "x:1: the weight '1' under 'importance'"),
        (b'{"text": ' + b"[" * 100000 + b"}", "x:1: it is JSON that cannot be read"),
        (b'{"a": ' + b"1" * 5000 + b"}", "x:1: "),
    ],
)
def test_jsonl_says_what_is_wrong(data, says):
    assert says in refusal(data, "jsonl").replace("<file>", "x")


def test_a_misspelt_field_is_named():
    assert "there is no 'bodi'; expected one of 'label', 'body'" in refusal(b'{"label": 1, "body": "x"}', text="bodi")


# ------------------------------------------------------------------ all of them
@pytest.mark.parametrize("format", [key for key, one in FORMATS.items() if not one.table and key != "folders"])
def test_formats_without_columns_refuse_their_names(format):
    for option in ("text", "label", "weight", "tag"):
        with pytest.raises(ValueError, match=f"{option}=.*names a column, and {format} has none"):
            read(io.BytesIO(b"1 |f a"), format, **{option: "x"})


def test_options_that_make_no_sense_are_refused():
    for options, says in [
        ({"format": "xml"}, "format must be one of jsonl, csv"),
        ({"on_error": "ignore"}, 'on_error must be "stop" or "skip"; got \'ignore\''),
        ({"chunk_bytes": 0}, "chunk_bytes must be a whole number of 1 or more; got 0"),
        ({"quote": "''"}, "quote must be one ASCII character"),
    ]:
        with pytest.raises(ValueError, match=says):
            read(io.BytesIO(b""), **options)
