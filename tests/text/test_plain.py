"""The quick way to rows beside the general one, which has the twins."""

import pickle

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numba import config
from tests.text.test_spaces import TEXTS

from hinged.io.examples.chunk import Named
from hinged.text import Vocabulary, plain
from hinged.text.documents import as_documents
from hinged.text.plain import is_plain, rows_of_names, rows_of_plain_words
from hinged.text.rows import rows_of_documents, rows_of_named
from hinged.text.words import FEW, WordList

WORDS = st.lists(st.sampled_from(["a", "B", "exactly8", "twelve_bytes", "thirteenbytes", "é", "x" * 70]), max_size=30)
LISTS = st.lists(st.one_of(TEXTS, WORDS.map(" ".join)), max_size=6)


def both_ways(batches, **settings):
    """Compare every batch, learnt and then only read; return the words."""
    space, quick, slow = Vocabulary(**settings)._space(), WordList(), WordList()
    for grow in (False, True, False):
        for batch in batches:
            documents = as_documents(batch)
            assert is_plain(documents, space)
            ours = rows_of_plain_words(documents, space, quick, grow)
            theirs = rows_of_documents(documents, space, slow, grow)
            for one, other in zip(ours, theirs, strict=True):
                assert one.dtype == other.dtype
                assert one.tolist() == other.tolist()
    for name, array in slow.arrays().items():
        assert quick.arrays()[name].tolist() == array.tolist()
    return quick


@given(batches=st.lists(LISTS, max_size=3), limit=st.sampled_from([None, 2]), lowercase=st.booleans())
def test_the_quick_way_leads_to_the_same_rows(batches, limit, lowercase):
    both_ways(batches, field_limit=limit, lowercase=lowercase)


@pytest.mark.parametrize("tag", ["text", "subject"])
def test_many_words_share_the_places_of_a_small_table_and_stay_apart(tag):
    rng = np.random.default_rng(0)
    documents = [" ".join(f"w{j}" for j in rng.integers(0, 6000, 120)) for _ in range(100)]
    words = both_ways([[{tag: text} for text in documents[:60]], [{tag: text} for text in documents[60:]]])
    assert len(words) > 5000


@pytest.mark.parametrize("n", [15, 16, 17, 31, 32, 33, 64, 200])
def test_a_block_may_hold_any_number_of_words(n):
    letters = "abcdefghijklmnopqrstuvwxyz_0123456789"
    text = " ".join(letters[j % len(letters)] for j in range(n))
    both_ways([[text, text + " longer words follow here", " " * 63 + text]])


@pytest.mark.parametrize(
    "texts",
    [[{"subject": a + b} for a in "abcdefghij" for b in "abcdefghij"], ["Ⱥ" * 200], ["Ⱥ" * n for n in range(1, 90)]],
    ids=["short words of a field", "a lower case that is longer", "many of them"],
)
def test_room_is_made_for_words_longer_than_their_texts(texts):
    """With its field's name, or in lower case, a word may need more bytes than the text it came in has."""
    assert len(both_ways([texts])) == len(texts)


def test_room_for_words_follows_those_that_are_known(monkeypatch):
    monkeypatch.setattr(plain, "A_NEW_WORD", 1)
    monkeypatch.setattr(plain, "MANY_NEW", 64)
    words = both_ways([[f"w{i}" for i in range(40)] + ["again " * 300]])
    assert len(words) == 41
    assert len(words.store.hashes) == 128  # a power of two for 32 that were known and 64 to come


def test_a_vocabulary_outgrows_small_pages():
    texts = [" ".join(f"w{i:x}x{j:x}" for j in range(100)) for i in range(70 if config.DISABLE_JIT else 700)]
    words = both_ways([texts[:30], texts[30:], texts[:5]])
    assert words.texts() == " ".join(texts).split()


def test_a_place_that_was_given_up_is_not_remembered():
    vocabulary = Vocabulary().fit(["old words"])
    vocabulary.word_list_.truncate(1)
    assert vocabulary.fit_transform(["x"]).shape == (1, 1)
    vocabulary = Vocabulary().fit(["old words"])
    vocabulary.word_list_.truncate(1)
    vocabulary.partial_fit(["new words"])
    assert vocabulary.get_feature_names_out().tolist() == ["old", "new", "words"]
    assert vocabulary.transform_one("new words") == {"new": 1.0, "words": 1.0}
    vocabulary = Vocabulary().fit(["old new"])
    vocabulary.word_list_.truncate(1)
    vocabulary.partial_fit(["other"]).partial_fit(["new"])  # another word has its column now
    assert vocabulary.get_feature_names_out().tolist() == ["old", "other", "new"]


def test_working_memory_is_no_part_of_a_pickle():
    vocabulary = Vocabulary().fit(["some words " * 1000])
    assert vocabulary.word_list_.spare
    assert len(pickle.dumps(vocabulary)) < 5000
    assert pickle.loads(pickle.dumps(vocabulary)).transform_one("some") == {"some": 1.0}


def test_working_memory_is_kept_for_the_lists_used_last():
    many = [Vocabulary().fit(["some words"]) for _ in range(FEW + 3)]
    assert [bool(one.word_list_.spare) for one in many] == [False] * 3 + [True] * FEW
    assert many[0].transform_one("some") == {"some": 1.0}
    assert [bool(one.word_list_.spare) for one in many] == [True] + [False] * 3 + [True] * (FEW - 1)


def test_working_memory_of_a_long_text_is_not_kept(monkeypatch):
    monkeypatch.setattr(plain, "LARGE", 100)
    texts = ["some words " * 20, "other words " * 5, "some other words " * 30]
    words = both_ways([texts[:1], texts[1:]])
    assert all(len(scratch.written) == 0 for scratch in words.spare.values())


NAMES = ["", "a", "a\0", "\0", "exactly8", "elevenbytes", "twelve_bytes", "x" * 70, "é", *(f"w{j}" for j in range(40))]


def named_rows(rows, value=1.0, space=b""):
    """Rows of names in one buffer, with nothing behind it."""
    pieces = [name.encode() for row in rows for name in row]
    ends = np.cumsum([len(space), *map(len, pieces)])
    return Named(
        np.cumsum([0, *map(len, rows)]),
        np.frombuffer(bytearray(space + b"".join(pieces)), np.uint8),
        np.tile([[0], [len(space)]], len(pieces)),
        np.stack([ends[:-1], ends[1:]]),
        np.full(len(pieces), value, np.float32),
    )


@example(batches=[[["a", "b"], ["b", "c"]]], again=False, value=2.0, space=b"")
@example(batches=[[["a", "b"], ["b", "c"]]], again=False, value=1.0, space=b"s")
@given(
    batches=st.lists(st.lists(st.lists(st.sampled_from(NAMES), max_size=9, unique=True), max_size=6), max_size=4),
    again=st.booleans(),
    value=st.sampled_from([1.0, 1.0, 2.0]),
    space=st.sampled_from([b"", b"", b"s"]),
)
def test_named_features_go_the_quick_way_as_long_as_they_can(batches, again, value, space):
    settings, quick, slow = Vocabulary()._space(), WordList(), WordList()
    for grow in (False, True, False):
        for batch in batches:
            named = named_rows([[*row, *row[:1]] if again and len(row) > 5 else row for row in batch], value, space)
            ours = rows_of_names(named, settings, quick, grow)
            theirs = rows_of_named(named, settings, slow, grow)
            for one, other in zip(ours, theirs, strict=True):
                assert one.dtype == other.dtype
                assert one.tolist() == other.tolist()
    for name, array in slow.arrays().items():
        assert quick.arrays()[name].tolist() == array.tolist()


def beside_a_writer(monkeypatch, words, write):
    """Let another thread change the list at the worst moment: just after memory for a reader was made."""
    make = plain._scratch

    def scratch(had, longest, capacity):
        made = make(had, longest, capacity)
        monkeypatch.setattr(plain, "_scratch", make)
        write(words)
        return made

    monkeypatch.setattr(plain, "_scratch", scratch)


def test_words_added_while_a_text_is_read_do_not_reach_beyond_its_memory(monkeypatch):
    space, words = Vocabulary()._space(), WordList()
    rows_of_plain_words(as_documents(["some words"]), space, words, True)
    room, many = len(words.store.hashes), " ".join(f"w{j}" for j in range(5000))
    beside_a_writer(monkeypatch, words, lambda words: rows_of_plain_words(as_documents([many]), space, words, True))
    rows = rows_of_plain_words(as_documents(["w4999 words"]), space, words, False)
    assert len(words) == 5002
    assert rows.indices.tolist() == [1, room]  # one word that is known, and one for which the store had no room


def test_words_forgotten_while_a_text_is_read_are_not_remembered(monkeypatch):
    space, words = Vocabulary()._space(), WordList()
    rows_of_plain_words(as_documents(["some words"]), space, words, True)
    beside_a_writer(monkeypatch, words, lambda words: words.truncate(1))
    rows_of_plain_words(as_documents(["some"]), space, words, False)
    rows_of_plain_words(as_documents(["others"]), space, words, True)
    assert rows_of_plain_words(as_documents(["words"]), space, words, False).indices.tolist() == [2]  # unknown
