"""A key's model: lessons behind a snapshot give the weights of learning in one go, to the last bit."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.scale.test_mixing import bits, mail

import hinged
from hinged.scale.lessons import LEAST, Lesson, Lessons, lesson_of
from hinged.scale.reading import Columns


def lessons(n, seed=0):
    return [Lesson({"body": body, "subject": subject}, label) for body, subject, label in mail(n, seed)]


@given(cuts=st.lists(st.integers(0, 60), max_size=6), snapshots=st.sets(st.integers(0, 6)))
def test_whatever_the_pieces_and_snapshots_the_weights_are_the_same_bits(cuts, snapshots):
    given_all, kept, before = lessons(60), Lessons(), 0
    for i, cut in enumerate([*sorted(cuts), 60]):
        kept = Lessons.from_bytes(kept.after(given_all[before:cut]).to_bytes())
        kept, before = (kept.compacted(hinged.TextClassifier()) if i in snapshots else kept), cut
    model = hinged.TextClassifier()
    model.partial_fit([lesson.x for lesson in given_all], [lesson.y for lesson in given_all])
    assert bits(kept.learner(hinged.TextClassifier())) == bits(model)
    assert kept.n_rows == 60


def test_an_event_costs_what_it_touches():
    big = Lessons.of(
        kept := hinged.TextClassifier().partial_fit([" ".join(f"w{i}" for i in range(5000))] * 2, ["a", "b"])
    )
    after = big.after([Lesson("one more", "a")])
    assert after.snapshot is big.snapshot
    assert len(after.log) < 100
    assert after.n_rows == kept.n_rounds_ + 1


def test_a_snapshot_is_due_when_the_lessons_outgrow_it():
    rng = np.random.default_rng(0)
    kept, due = Lessons(), []
    for i in range(60):
        text = " ".join(f"w{n}" for n in rng.integers(0, 10**6, 200))
        kept = kept.after([Lesson(text, "ab"[i % 2])])
        if kept.is_due:
            assert len(kept.log) > LEAST
            kept = kept.compacted(hinged.TextClassifier())
            due.append(i)
    assert len(due) >= 1
    assert len(due) < 6  # the snapshot grows, so that the next one is further away
    assert kept.learner(hinged.TextClassifier()).n_rounds_ == 60


def test_a_models_file_goes_in_and_comes_out(tmp_path):
    model = hinged.TextClassifier().partial_fit(["tax", "cake"] * 4, ["work", "home"] * 4)
    model.save(tmp_path / "a.hinged")
    kept = Lessons.of(hinged.load(tmp_path / "a.hinged")).after([Lesson("tax due", "work")])
    kept.learner(hinged.TextClassifier()).save(tmp_path / "b.hinged")
    model.partial_fit(["tax due"], ["work"])
    assert bits(hinged.load(tmp_path / "b.hinged")) == bits(model)


def test_a_lesson_that_is_refused_is_left_out_each_time():
    kept = Lessons().after(
        [Lesson([1.0, 0.0], "a"), Lesson([0.0, 1.0], "b"), Lesson([9.0], "a"), Lesson([2.0, 0.0], "a")]
    )
    model = kept.learner(hinged.Classifier())
    assert model.n_rounds_ == 3
    assert bits(model) == bits(kept.learner(hinged.Classifier()))


@pytest.mark.parametrize("data", [b"", b"something else", Lessons(b"snapshot").to_bytes()[:-1]])
def test_other_bytes_are_refused(data):
    with pytest.raises(ValueError, match="model of a key"):
        Lessons.from_bytes(data)


def test_a_log_that_is_cut_short_is_noticed():
    data = Lessons().after(lessons(3)).to_bytes()
    with pytest.raises(ValueError, match="lessons of a key"):
        Lessons.from_bytes(data[:-3]).learner(hinged.TextClassifier())


def test_rows_are_lessons_or_say_what_is_wrong():
    text, table = Columns(texts=("t",), label="y"), Columns(texts=("t",), numbers=("n",), label="y", weight="w")
    model = hinged.TextClassifier()
    assert lesson_of({"t": "one", "y": "a"}, text, model) == Lesson("one", "a")
    assert lesson_of({"t": None, "y": 3}, text, model) == Lesson("", 3)
    assert lesson_of({"t": "one", "y": None}, text, model) is None
    assert "label in column 'y'" in lesson_of({"t": "one", "y": float("nan")}, text, model)
    assert "2 labels; expected one" in lesson_of({"t": "one", "y": ["a", "b"]}, text, model)
    assert lesson_of({"t": "one", "y": "a"}, text, hinged.TextRanker()) == Lesson("one", ["a"])
    row = {"t": "one", "n": Decimal("1.5"), "y": "a", "w": 2}
    assert lesson_of(row, table, model) == Lesson({"t": "one", "n": 1.5}, "a", 2.0)
    assert lesson_of(row | {"n": None}, table, model) == Lesson({"t": "one"}, "a", 2.0)
    assert "column 'n' is not a finite number" in lesson_of(row | {"n": float("inf")}, table, model)
    assert "weight in column 'w'" in lesson_of(row | {"w": -1}, table, model)
    assert "answer in column 'y'" in lesson_of(
        {"n": 1, "y": "x"}, Columns(numbers=("n",), label="y"), hinged.Regressor()
    )
    assert lesson_of({"m": [("k", 2)], "y": "a"}, Columns(named="m", label="y"), model) == Lesson({"k": 2.0}, "a")
    assert "column 'm'" in lesson_of({"m": [("k", None)], "y": "a"}, Columns(named="m", label="y"), model)
