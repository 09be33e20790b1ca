"""Tagged sentences from files: columns, CoNLL-U, packed ones, and lines that cannot be read."""

import gzip
import io

import pytest
import zstandard

from hinged.io.examples import BadLine, read_sentences

CONLL = "-DOCSTART- -X- O\n\nHe PRP B-NP\nsat\tVBD  B-VP\n\n\n\nNo UH O"
CONLLU = (
    "# sent_id = 1\n# text = I can't\n1\tI\ti\tPRON\tPRP\t_\t2\tnsubj\t_\t_\n"
    "2-3\tcan't\t_\t_\t_\t_\t_\t_\t_\t_\n2\tca\tcan\tAUX\tMD\t_\t0\troot\t_\t_\n"
    "2.1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n3\tn't\tnot\tPART\tRB\t_\t2\tadvmod\t_\t_\n\n"
)


def from_bytes(text, **options):
    return list(read_sentences(io.BytesIO(text.encode() if isinstance(text, str) else text), **options))


def test_columns():
    first, second = from_bytes(CONLL)
    assert first == ([("He", "PRP"), ("sat", "VBD")], ["B-NP", "B-VP"], 3)
    assert second == ([("No", "UH")], ["O"], 8)
    assert from_bytes("He PRP\n\nNo UH\n", tagged=False)[0].tokens == [("He", "PRP")]
    assert from_bytes("") == from_bytes("\n\n\n") == []
    assert from_bytes("\ufeffHe PRP\r\n\r\n")[0].tokens == [("He",)]


def test_conllu():
    (sentence,) = from_bytes(CONLLU)
    assert sentence == ([("I",), ("ca",), ("n't",)], ["PRON", "AUX", "PART"], 3)
    assert from_bytes(CONLLU, tag="xpos")[0].tags == ["PRP", "MD", "RB"]
    assert from_bytes(CONLLU.split("\n", 2)[2], format="conllu") == [sentence._replace(line=1)]


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
def test_packed_files(tmp_path, pack):
    (tmp_path / "some.conll").write_bytes(pack(CONLL.encode()))
    with read_sentences(tmp_path / "some.conll") as reader:
        assert [len(s.tokens) for s in reader] == [2, 1]
        assert reader.progress[0] == reader.progress[1]


@pytest.mark.parametrize(("text", "says"), [
    ("a b\nc d\n\ne f g\n", ":4: the line has 3 columns; expected 2, as in the lines before"),
    ("a\n", ":1: the line has 1 column; expected a word and a tag"),
    (b"a b\n\xff b\n", r":2: .* is not UTF-8"),
    ("# x\n1\tb\n", ":2: the line has 2 columns; expected a|:2: the line has 2 columns; expected 10"),
    (CONLLU.replace("3\tn't", "x\tn't"), ":7: the first column is 'x'; expected the token's number"),
])  # fmt: skip
def test_a_malformed_line_is_named(text, says):
    with pytest.raises(BadLine, match=says):
        from_bytes(text, format="conllu" if b"#" in (text if isinstance(text, bytes) else text.encode()) else None)


def test_a_sentence_with_a_malformed_line_can_be_left_out():
    reader = read_sentences(io.BytesIO(b"a b\nc d e\n\nf g\n\nh\n"), on_error="skip")
    assert [s.tokens for s in reader] == [[("f",)]]
    assert reader.skipped == 2
    assert [problem.line for problem in reader.problems] == [2, 6]


@pytest.mark.parametrize(("options", "says"), [
    ({"format": "csv"}, "'conll' or 'conllu'"),
    ({"tag": "word"}, "a column of CoNLL-U"),
    ({"tag": "xpos"}, "is not such a file"),
    ({"on_error": "warn"}, '"stop" or "skip"'),
])  # fmt: skip
def test_options_that_make_no_sense_are_named(options, says):
    with pytest.raises(ValueError, match=says):
        from_bytes(CONLL, **options)


def test_only_blanks_and_tabs_separate_columns():
    data = "\ufeff10\u00a0000 CD\tO\n\u3000 X O\n\n".encode()
    assert [(one.tokens, one.tags) for one in read_sentences(io.BytesIO(data))] == [
        ([("10\u00a0000", "CD"), ("\u3000", "X")], ["O", "O"])
    ]
    assert list(read_sentences(io.BytesIO(b"\xef\xbb\xbf\na b\n"))) == [([("a",)], ["b"], 2)]
