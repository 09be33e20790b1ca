"""The compiled tokeniser, vocabulary and hasher beside their plain twins."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from tests.reference.text import features_of, hash_of

from hinged.text import Hasher, Vocabulary
from hinged.text.words import Text, WordList, add_word, find_word

TEXTS = st.one_of(
    st.text(max_size=60),
    st.binary(max_size=60),
    st.text(alphabet="aAbB _-.9äÄßẞİKȺहिन्दी中\U00020000\U0001f600", max_size=60),
)
RUNS = st.sampled_from([((1, 1), None), ((1, 3), None), ((2, 2), (3, 4)), (None, (1, 3)), (None, (2, 2))])
OPTIONS = {"words": (1, 2), "chars": (3, 4)}
DOCUMENTS = ["The cat sat; the CAT ran.", "", "Ångström naïve हिन्दी", "a a a b", "...", "x" * 300]


@given(documents=st.lists(TEXTS, max_size=5), runs=RUNS, lowercase=st.booleans())
@example(["\ud800 lone surrogate"], ((1, 1), None), True)
def test_a_vocabulary_counts_what_the_twin_counts(documents, runs, lowercase):
    words, chars = runs
    vocabulary = Vocabulary(words=words, chars=chars, values="counts", lowercase=lowercase)
    matrix = vocabulary.fit_transform(documents)
    as_bytes = [d.encode("utf-8", "surrogatepass") if isinstance(d, str) else d for d in documents]
    expected = [list(features_of(d, words, chars, lowercase)) for d in as_bytes]
    names = vocabulary.get_feature_names_out().tolist()
    assert names == list(dict.fromkeys(feature for features in expected for feature in features))
    for row, features in zip(matrix, expected, strict=True):
        found = {names[j]: value for j, value in zip(row.indices, row.data, strict=True)}
        assert found == Counter(features)
    assert (vocabulary.transform(documents) != matrix).nnz == 0


@given(documents=st.lists(TEXTS, max_size=4), seed=st.integers(0, 2**63 - 1), signed=st.booleans())
def test_a_hasher_puts_features_where_the_twin_does(documents, seed, signed):
    matrix = Hasher(bits=7, seed=seed, signed=signed, values="counts").transform(documents)
    as_bytes = [d.encode("utf-8", "surrogatepass") if isinstance(d, str) else d for d in documents]
    for row, document in zip(matrix, as_bytes, strict=True):
        expected = np.zeros(128)
        for feature in features_of(document):
            hashed = hash_of(feature, seed)
            expected[hashed % 128] += -1.0 if signed and hashed >= 2**63 else 1.0
        assert row.toarray()[0].tolist() == expected.tolist()


@pytest.mark.parametrize("space", [Vocabulary, Hasher])
@pytest.mark.parametrize("values", ["binary", "counts", "log"])
def test_a_long_field_weighs_as_much_as_its_limit_and_a_short_one_is_left_alone(space, values):
    documents = [{"subject": "a b", "body": "c d e f g h i j c"}, {"subject": "a", "body": "k"}]
    plain, limited = (space(values=values, field_limit=limit).fit(documents) for limit in (None, 4))
    for document in documents:
        free, held = plain.transform_one(document), limited.transform_one(document)
        for name, value in free.items():
            distinct = len(set(document[name.split(":")[0]].split()))
            assert held[name] == pytest.approx(value * np.sqrt(4 / max(4, distinct)))


def test_a_limit_must_leave_something():
    for limit in (0, -1, 2.5, True):
        with pytest.raises(ValueError, match="field_limit must be a whole number of at least 1, or None"):
            Vocabulary(field_limit=limit).fit(["a"])


def test_rows_rise_strictly_over_many_columns_and_hold_what_the_twin_counts():
    documents = [" ".join(f"w{i * j % 9973}" for j in range(1, 400)) for i in range(1, 60)]
    hashed, bits = Hasher(bits=22, values="counts").transform(documents), 22
    for row, document in zip(hashed, documents, strict=True):
        expected = Counter(hash_of(feature) % 2**bits for feature in features_of(document))
        assert (np.diff(row.indices) > 0).all()
        assert dict(zip(row.indices.tolist(), row.data.tolist(), strict=True)) == expected
    vocabulary = Vocabulary(values="counts")
    for row, document in zip(vocabulary.fit_transform(documents), documents, strict=True):
        assert (np.diff(row.indices) > 0).all()
        named = {vocabulary.name_of(j): value for j, value in zip(row.indices.tolist(), row.data, strict=True)}
        assert named == Counter(features_of(document))


def test_words_with_equal_hashes_are_told_apart_by_their_text():
    words = WordList()
    words.make_room(3, 20)
    texts = [np.frombuffer(text, np.uint8) for text in (b"cat", b"dog", b"cow")]
    cat, dog, cow = (Text(0, 0, text.ctypes.data, len(text)) for text in texts)
    key, near = np.uint64(7), np.uint64(7 + 64)  # near: the same slot and the same high half, another hash
    assert add_word(words.store, key, cat) == 0
    assert find_word(words.store, 1, key, dog, True) == -1
    assert find_word(words.store, 1, key, dog, False) == 0
    assert find_word(words.store, 1, near, cow, False) == -1
    assert add_word(words.store, key, dog) == 1
    assert find_word(words.store, 2, key, dog, True) == 1
    assert find_word(words.store, 1, key, dog, True) == -1  # not yet, for one who took hold before it came


@pytest.mark.parametrize(("values", "expected"), [("binary", 1.0), ("counts", 3.0), ("log", 1.0 + math.log(3.0))])
def test_values_of_a_word_that_occurs_three_times(values, expected):
    vocabulary = Vocabulary(values=values)
    vocabulary.learn_one("ham ham ham")
    assert vocabulary.transform_one("ham ham ham") == {"ham": pytest.approx(expected)}


def test_fields_are_tags():
    documents = [{"subject": "Tax form", "body": "tax"}, {"body": "form"}]
    vocabulary = Vocabulary(chars=(3, 3)).fit(documents)
    expected = dict.fromkeys(f for d in documents for f in features_of(d, (1, 1), (3, 3)))
    assert vocabulary.get_feature_names_out().tolist() == list(expected)
    assert "subject~: ta" in expected


def test_a_tag_does_not_depend_on_the_other_fields():
    import pandas as pd

    for alone in ([{"body": "tax"}], pd.DataFrame({"body": ["tax"]})):
        assert Vocabulary().fit(alone).get_feature_names_out().tolist() == ["body:tax"]
    both = Vocabulary().fit([{"text": "tax", "body": "tax"}])
    assert both.get_feature_names_out().tolist() == ["tax", "body:tax"]


def test_words_not_known_are_left_out_and_later_ones_are_added():
    vocabulary = Vocabulary().fit(["a b"])
    assert vocabulary.transform(["b c d"]).toarray().tolist() == [[0.0, 1.0]]
    assert vocabulary.transform_one("b c") == {"b": 1.0}
    vocabulary.partial_fit(["c"])
    assert vocabulary.transform(["b c d"]).toarray().tolist() == [[0.0, 1.0, 1.0]]
    assert len(vocabulary.fit(["z"])) == 1


def test_a_long_stream_of_new_words_is_exact():
    documents = [" ".join(f"w{i * j % 9973}" for j in range(1, 40)) for i in range(1, 400)]
    vocabulary = Vocabulary(words=(1, 2), values="counts")
    for first in range(0, len(documents), 37):
        vocabulary.partial_fit(documents[first : first + 37])
    expected = dict.fromkeys(feature for d in documents for feature in features_of(d, (1, 2)))
    assert vocabulary.get_feature_names_out().tolist() == list(expected)


def test_a_hasher_remembers_the_words_it_learnt_and_no_others():
    hasher = Hasher(bits=18)
    column = hash_of("cat") % 2**18
    assert hasher.name_of(column) == column
    hasher.transform(["cat"])
    assert hasher.name_of(column) == column
    hasher.partial_fit(["the cat"])
    assert hasher.name_of(column) == "cat"
    forgetful = Hasher(bits=18, remember=False).partial_fit(["the cat"])
    assert forgetful.name_of(column) == column


def columns_of_texts():
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    yield "tuple", tuple(DOCUMENTS)
    yield "bytes", [d.encode() for d in DOCUMENTS]
    yield "array of str", np.array(DOCUMENTS)
    yield "array of objects", np.array(DOCUMENTS, object)
    yield "pandas objects", pd.Series(DOCUMENTS, dtype=object)
    yield "pandas arrow", pd.Series(DOCUMENTS, dtype="string[pyarrow]")
    yield "pandas frame", pd.DataFrame({"text": DOCUMENTS})
    yield "polars", pl.Series(DOCUMENTS)
    yield "polars frame", pl.DataFrame({"text": DOCUMENTS})
    for kind in (pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary()):
        column = pa.array(DOCUMENTS, pa.string()).cast(kind)
        yield f"arrow {kind}", column
        yield f"sliced {kind}", pa.concat_arrays([column, column]).slice(len(DOCUMENTS) - 0, len(DOCUMENTS))
        yield f"chunked {kind}", pa.chunked_array([column.slice(0, 2), column.slice(2)])
    yield "arrow table", pa.table({"text": DOCUMENTS})


@pytest.mark.parametrize("kind", [name for name, _ in columns_of_texts()])
def test_any_column_of_texts_gives_the_same_rows(kind):
    column = dict(columns_of_texts())[kind]
    expected = Vocabulary(**OPTIONS).fit_transform(DOCUMENTS)
    assert (Vocabulary(**OPTIONS).fit_transform(column) != expected).nnz == 0


@pytest.mark.parametrize(
    "kind", ["arrow string", "arrow large_string", "arrow string_view", "chunked string", "polars"]
)
def test_the_bytes_of_a_column_are_not_copied(kind):
    from hinged.text.documents import _as_arrow, as_documents

    column = dict(columns_of_texts())[kind]
    buffers = [buffer for array in _as_arrow(column) for buffer in array.buffers() if buffer is not None]
    spans = [(buffer.address, buffer.address + buffer.size) for buffer in buffers]
    documents = as_documents(column)
    for address, length in zip(documents.addresses[:, 0], documents.lengths[:, 0], strict=True):
        assert any(begin <= address and address + length <= end for begin, end in spans)


def test_frames_with_several_columns_have_fields():
    import pandas as pd
    import polars as pl

    content = {"subject": ["Tax", "Cake"], "body": ["form", "recipe"]}
    documents = [{"subject": "Tax", "body": "form"}, {"subject": "Cake", "body": "recipe"}]
    expected = Vocabulary().fit(documents).get_feature_names_out().tolist()
    for frame in (pd.DataFrame(content), pl.DataFrame(content)):
        assert Vocabulary().fit(frame).get_feature_names_out().tolist() == expected


@pytest.mark.parametrize("space", [Vocabulary(words=(1, 2), values="log"), Hasher(bits=12, seed=3, signed=True)])
def test_spaces_are_transformers(space):
    import pickle

    other = clone(space)
    assert other.get_params() == space.get_params()
    matrix = space.fit_transform(DOCUMENTS)
    assert matrix.dtype == np.float32
    assert (pickle.loads(pickle.dumps(space)).transform(DOCUMENTS) != matrix).nnz == 0
    assert (other.fit(DOCUMENTS).transform(DOCUMENTS) != matrix).nnz == 0


@pytest.mark.parametrize(
    ("make", "documents", "sentence"),
    [
        (lambda: Vocabulary(values="tfidf"), ["a"], "values must be 'binary', 'counts' or 'log'; got 'tfidf'"),
        (lambda: Vocabulary(words=(2, 1)), ["a"], "1 ≤ shortest ≤ longest"),
        (lambda: Vocabulary(words="12"), ["a"], "words is None or"),
        (lambda: Vocabulary(words=None), ["a"], "words and chars are both None"),
        (lambda: Hasher(bits=40), ["a"], "bits must be a whole number from 1 to 30; got bits=40"),
        (lambda: Hasher(seed=-1), ["a"], "seed must be"),
        (Vocabulary, "a text", "documents come as a list; got one str"),
        (Vocabulary, ["a", 3.0], "document 1 is 3.0"),
        (Vocabulary, [{"subject": "a"}, "b"], "document 1 is a str"),
        (Vocabulary, [{1: "a"}], "fields of a document have names; got 1"),
        (Vocabulary, [{"subject": "a", "body": 1}], "in field 'body' is 1"),
        (Vocabulary, np.zeros((2, 2)), "an array of texts has one column"),
        (Vocabulary, 3, "documents come as a list"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(make, documents, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence.replace("(", r"\(")):
        make().fit(documents)


def test_missing_texts_are_empty_ones():
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    texts = ["a text", None, "another one that is long", None]
    expected = Vocabulary().fit_transform(["a text", "", "another one that is long", ""])
    columns = [
        texts,
        ["a text", float("nan"), "another one that is long", pd.NA],
        np.array(texts, object),
        pd.Series(texts),
        pd.Series(texts, dtype="string"),
        pd.Series(texts, dtype="string[pyarrow]"),
        pl.Series(texts),
        pa.array(texts),
        pa.array(["dropped", *texts], pa.large_string())[1:],
        pa.array(texts, pa.string_view()),
    ]
    for column in columns:
        assert (Vocabulary().fit_transform(column) != expected).nnz == 0
    fields = [{"subject": text, "body": "same"} for text in texts]
    tagged = Vocabulary().fit_transform([{name: text or "" for name, text in one.items()} for one in fields])
    for documents in (fields, pd.DataFrame(fields), pl.DataFrame(fields), pa.Table.from_pylist(fields)):
        assert (Vocabulary().fit_transform(documents) != tagged).nnz == 0
    assert Vocabulary().fit_transform(pa.nulls(2)).nnz == 0


def test_a_column_of_numbers_is_no_text():
    import pyarrow as pa

    with pytest.raises(TypeError, match="holds int64"):
        Vocabulary().fit(pa.array([1, 2]))


def test_a_vocabulary_without_words_says_so():
    with pytest.raises(NotFittedError, match="knows no words yet"):
        Vocabulary().transform(["a"])
