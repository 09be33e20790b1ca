"""Chunks for models, and streams of them learnt with running counts."""

import io
import itertools
import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import hinged
from hinged.files.answers import answer
from hinged.files.examples import check_agrees, new_learner, rows_for
from hinged.files.explain import explain_one
from hinged.files.stream import Tally, learn_stream, learner_for, spread
from hinged.io.examples import read

TEXT = {
    "vw": "a |f x y:2 |g z\nb |f y\na 2.0 |f x x\n |f w\nb |g z:0.5 q\na |f y\n",
    "svmlight": "a 1:1 3:2\nb 2:1\na 1:3 7:0.5\n2:1\nb 2:2 5:1\na 1:1\n",
    "jsonl": "".join(
        json.dumps({"label": label, "subject": subject, "body": "some words"}) + "\n"
        for label, subject in [("a", "x z"), ("b", "y"), ("a", "x"), ("b", "y q"), ("a", "x x")]
    ),
}


def chunks(kind, size=1 << 20):
    if kind == "svmlight":  # labels are numbers there
        return list(
            read(io.BytesIO(TEXT[kind].replace("a ", "1 ").replace("b ", "2 ").encode()), kind, chunk_bytes=size)
        )
    return list(read(io.BytesIO(TEXT[kind].encode()), kind, chunk_bytes=size))


def matrix(model, chunk):
    """What a model would be taught, as dense rows."""
    rows = rows_for(model, chunk, True)
    if rows.columns is not None:
        indptr, indices, values = rows.columns
        return sparse.csr_array((values, indices, indptr)).toarray()
    return model.text_space_.partial_fit(rows).transform(rows).toarray()


@pytest.mark.parametrize("kind", TEXT)
def test_some_examples_are_those_rows(kind):
    (chunk,) = chunks(kind)
    model = new_learner(chunk, None, {})
    whole = matrix(model, chunk)
    for rows in (slice(1, 3), slice(0, 4), slice(2, 5), np.array([4, 0, 2]), np.array([], np.int64)):
        some = chunk.taken(rows)
        picked = np.arange(len(chunk))[rows]
        assert some.answers == [chunk.answers[i] for i in picked]
        assert some.lines.tolist() == chunk.lines[picked].tolist()
        if some.named is not None:  # another layout would be another type to the compiled loop
            assert some.named.spaces.flags.c_contiguous
            assert some.named.names.flags.c_contiguous
        if len(picked):
            width = matrix(model, some)
            assert (width == whole[picked, : width.shape[1]]).all()


@pytest.mark.parametrize("kind", TEXT)
@pytest.mark.parametrize("size", [1, 20, 1 << 20])
def test_pieces_of_a_stream_teach_what_the_whole_does(kind, size):
    answered = [
        c.taken(np.array([i for i, a in enumerate(c.answers) if a is not None], np.int64)) for c in chunks(kind)
    ]
    model, other = (new_learner(answered[0], None, {}) for _ in range(2))
    model.partial_fit(rows_for(model, answered[0], True), answered[0].answers, sample_weight=answered[0].weights)
    *_, last = learn_stream(other, chunks(kind, size))
    assert (model.coef_ == other.coef_).all()
    counts = model.n_rounds_, model.n_mistakes_, model.n_updates_
    assert (last.rounds, last.mistakes, last.updates) == counts
    assert last.unlabelled == (0 if kind == "jsonl" else 1)


def test_a_stream_stops_when_it_is_told_to():
    (chunk,) = chunks("jsonl")
    model = hinged.TextClassifier()
    answers = iter([True, True, False])
    *_, last = learn_stream(model, itertools.repeat(chunk), going=lambda: next(answers, False))
    assert last.rounds == model.n_rounds_ == 2


def test_counts_go_on_from_earlier_ones():
    (chunk,) = chunks("jsonl")
    model = hinged.TextClassifier()
    *_, first = learn_stream(model, [chunk])
    tallies = list(learn_stream(model, [chunk], first))
    assert [tally.rounds for tally in tallies] == [8, 10]
    assert tallies[-1].since(first).rounds == 5
    assert Tally().rate is None


@given(st.floats(0.05, 0.95), st.integers(1, 6))
def test_what_is_kept_and_what_is_not_make_up_the_whole(share, size):
    stream = [chunk.taken(slice(i, i + size)) for chunk in chunks("jsonl") for i in range(0, len(chunk), size)]
    parts = [[line for chunk in spread(stream, share, kept) for line in chunk.lines.tolist()] for kept in (True, False)]
    assert sorted(parts[0] + parts[1]) == [1, 2, 3, 4, 5]
    assert abs(len(parts[0]) - 5 * share) <= 1


def test_the_first_example_with_an_answer_chooses_the_learner():
    empty = read(io.BytesIO(b'{"text": "x y"}\n'), "jsonl")
    assert learner_for(empty, None, {})[0] is None
    sets = read(io.BytesIO(b'{"text": "x y"}\n{"text": "x y", "topics": ["a"]}\n'), "jsonl", label="topics")
    model, stream = learner_for(sets, None, {"sharing": "multi"})
    assert isinstance(model, hinged.TextRanker)
    assert (model.sharing, model.features) == ("multi", "auto")
    assert sum(len(chunk) for chunk in stream) == 2


def lines(text):
    (chunk,) = read(io.BytesIO(text.encode()), "jsonl")
    return chunk


def test_fields_may_join_while_learning_and_are_left_out_afterwards():
    model = new_learner(lines('{"label": "a", "subject": "tax"}'), None, {})
    stream = [
        lines('{"label": "a", "subject": "tax"}'),
        lines('{"label": "b", "subject": "cake", "body": "tax"}'),
    ]
    list(learn_stream(model, stream * 2))
    assert model.text_space_.get_feature_names_out().tolist() == ["subject:tax", "subject:cake", "body:tax"]
    more, same = lines('{"subject": "cake", "folder": "zzz", "note": "zzz zzz"}'), lines('{"subject": "cake"}')
    assert (answer(model, more).scores == answer(model, same).scores).all()
    assert answer(model, same).best(0) == "b"
    with pytest.raises(ValueError, match="was taught the fields 'subject', 'body'; <file> has the field 'title'"):
        answer(model, lines('{"title": "cake"}'))


def test_one_text_is_one_text_whatever_its_name():
    model = new_learner(lines('{"label": "a", "body": "tax"}'), None, {})
    stream = [lines('{"label": "a", "body": "tax"}'), lines('{"label": "b", "body": "cake"}')]
    list(learn_stream(model, stream * 2))
    for name in ("body", "text", "title"):
        assert answer(model, lines(f'{{"{name}": "cake"}}')).best(0) == "b"


def test_what_contradicts_a_model_is_named():
    model = hinged.TextClassifier(words=(1, 2))
    check_agrees(model, "classify", {"words": (1, 2), "C": 1.0}, "m")
    with pytest.raises(ValueError, match="m was learnt with words"):
        check_agrees(model, None, {"words": (1, 1)}, "m")
    with pytest.raises(ValueError, match="m reads numbered columns"):
        check_agrees(hinged.Classifier(), None, {"words": (1, 1)}, "m")


def test_whether_to_go_on_is_asked_often_however_long_documents_get(monkeypatch):
    """Every document is as much work as it has bytes; the clock stands still otherwise."""
    lengths = [10] * 600 + [100_000] * 20
    lines = [json.dumps({"label": "ab"[i % 2], "text": f"word{i % 7} " * (n // 6)}) for i, n in enumerate(lengths)]
    whole = list(read(io.BytesIO("\n".join(lines).encode())))
    model, now, waits = hinged.TextClassifier("pa1", sharing="multi", features=None), [0.0], []
    learn = model.learn_rounds

    def learn_slowly(chunk, *rest):
        now[0] += 1e-6 * sum(int((text.ends - text.starts).sum()) for text in chunk.texts.values())
        return learn(chunk, *rest)

    def going():
        waits.append(now[0])
        return True

    monkeypatch.setattr(model, "learn_rounds", learn_slowly)
    monkeypatch.setattr("hinged.files.stream.time.perf_counter", lambda: now[0])
    *_, last = learn_stream(model, whole, going=going)
    assert last.rounds == len(lengths)
    assert max(np.diff(waits)) < 1.0
    assert len(waits) < 60


@pytest.mark.parametrize(
    "settings",
    [{"scaling": "mixed", "bias": 0.0}, {"normalize": True, "scaling": "idf"}, {"kernel": hinged.mercer.Gaussian(0.5)}],
)
def test_a_prediction_changes_no_model_however_wide_the_file(settings):
    narrow, wide = (next(iter(read(io.BytesIO(text), "svmlight"))) for text in (b"1 1:1 2:1\n2 2:1\n", b"1 1:1 9:4\n"))
    model = hinged.Classifier(**settings).partial_fit(narrow, narrow.answers)
    before = pickle.dumps(model)
    said = answer(model, wide)
    reasons = explain_one(model, "1:1 9:4").features
    assert pickle.dumps(model) == before
    assert model.n_features_in_ == 3
    rows = [{"a": 1.0, "b": 1.0}, {"b": 1.0}]
    by_name = hinged.Classifier(**settings).partial_fit(rows, narrow.answers).scored([{"a": 1.0, "z": 4.0}])
    assert said.scores.tolist() == by_name.scores.tolist()
    assert sum(share for _, share in reasons) == pytest.approx(said.scores.max())
