"""A journal that begins with a model that learnt elsewhere: what it knew, and every line behind it, to the last bit."""

import sqlite3

import pytest
from tests.journal.models import KINDS, documents, learner, learnt_by, same, texts

import hinged
from hinged.journal import DurableModel, Example, JournalError


def split(kind, n=60, at=35):
    examples = [(x, sorted(y) if isinstance(y, set) else y) for x, y in KINDS[kind][2](n)]
    return examples[:at], examples[at:]


def begun(folder, kind, before, through=None):
    """A durable model that begins with what was learnt before, given in memory or as a model file."""
    model = learnt_by(kind, before)
    if through is not None:
        model.save(through)
        model = hinged.load(through)
    return DurableModel(folder, model, snapshot_every=10)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("snapshot", [True, False])
def test_the_model_is_that_of_learning_it_all_in_one_place(kind, snapshot, tmp_path):
    before, after = split(kind)
    with begun(tmp_path / "m", kind, before, tmp_path / "file.hinged") as kept:
        for x, y in after[:15]:
            kept.learn(x, y)
        kept.learn_many([Example(x, y) for x, y in after[15:]])
        assert same(kept.model, learnt_by(kind, before + after))
    if not snapshot:
        (tmp_path / "m" / "snapshot.hinged").unlink(missing_ok=True)
    for read_only in (True, False):
        with DurableModel(tmp_path / "m", read_only=read_only) as kept:
            assert same(kept.model, learnt_by(kind, before + after))


def test_it_answers_before_it_has_learnt_anything_and_stays_when_the_same_is_given_again(tmp_path):
    before, after = split("texts")
    for _ in range(2):
        with begun(tmp_path, "texts", before) as kept:
            assert same(kept.model, learnt_by("texts", before))
    with DurableModel(tmp_path, learnt_by("texts", after)) as kept:  # what is given later is not learnt
        assert same(kept.model, learnt_by("texts", before))
    with DurableModel(tmp_path, learner("texts")) as kept:
        assert same(kept.model, learnt_by("texts", before))
        kept.learn(*after[0])
        assert kept.model.n_rounds_ == len(before) + 1


def edits(before, after, edit):
    """The model that has edited what it knew, and learnt the lines as they are after the edit."""
    model = learnt_by("texts", before)
    edit(model)
    for x, y in after:
        model.learn_one(x, y)
    return model


@pytest.mark.parametrize("n_later", [0, 25])
def test_renaming_merging_and_forgetting_reach_what_the_model_began_with(n_later, tmp_path):
    before, after = split("texts")
    after = after[:n_later]
    with begun(tmp_path, "texts", before) as kept:
        for x, y in after:
            kept.learn(x, y)
        kept.rename("folder 1", "a new name")
        after = [(x, {"folder 1": "a new name"}.get(y, y)) for x, y in after]
        expected = edits(before, after, lambda model: model.rename_label("folder 1", "a new name"))
        assert same(kept.model, expected)
        kept.merge("folder 2", "folder 0")
        after = [(x, {"folder 2": "folder 0"}.get(y, y)) for x, y in after]

        def merged(model):
            model.rename_label("folder 1", "a new name").merge_labels("folder 2", "folder 0")

        assert same(kept.model, edits(before, after, merged))
        kept.forget("folder 0")
        after = [(x, y) for x, y in after if y != "folder 0"]

        def all_three(model):
            merged(model)
            model.remove_label("folder 0")

        expected = edits(before, after, all_three)
        assert same(kept.model, expected)
        assert "folder 0" not in kept.labels()
    with DurableModel(tmp_path) as kept:
        assert same(kept.model, expected)
    (tmp_path / "snapshot.hinged").unlink()
    with DurableModel(tmp_path) as kept:
        assert same(kept.model, expected)


def test_retracting_a_line_leaves_what_the_model_began_with(tmp_path):
    before, after = split("texts")
    with begun(tmp_path, "texts", before) as kept:
        for i, (x, y) in enumerate(after):
            kept.learn(x, y, key=f"m{i}")
        kept.retract("m3", after[3][1])
        assert same(kept.model, learnt_by("texts", before + after[:3] + after[4:]))


def test_a_classifier_that_becomes_a_ranker_keeps_it(tmp_path):
    before, after = split("documents")
    later = [({"subject": "tax cake"}, ["folder 0", "folder 1"])]
    with begun(tmp_path, "documents", before) as kept:
        for x, y in after:
            kept.learn(x, y)
        kept.become_ranker()
        kept.learn(*later[0])
        expected = hinged.TextRanker()
        for x, y in before + after:
            expected.learn_one(x, [y])
        expected.learn_one(*later[0])
        asked = [x for x, _ in documents(20, 9)]
        assert (kept.model.decision_function(asked) == expected.decision_function(asked)).all()
    with DurableModel(tmp_path) as kept:
        assert (kept.model.decision_function(asked) == expected.decision_function(asked)).all()


def test_the_notes_of_another_journal_stay_behind(tmp_path):
    before, after = split("texts")
    with DurableModel(tmp_path / "one", learner("texts")) as one:
        for x, y in before:
            one.learn(x, y)
        one.snapshot()
    with DurableModel(tmp_path / "two", hinged.load(tmp_path / "one" / "snapshot.hinged")) as two:
        assert two.model.notes == {}
        two.learn(*after[0])
    with DurableModel(tmp_path / "two") as two:
        assert same(two.model, learnt_by("texts", [*before, after[0]]))


def test_programs_from_before_refuse_such_a_journal_and_read_all_others(tmp_path):
    """They would begin with nothing: version 2 of the tables is what they read."""
    begun(tmp_path / "with", "texts", split("texts")[0]).close()
    DurableModel(tmp_path / "without", learner("texts")).close()
    versions = []
    for name in ("with", "without"):
        database = sqlite3.connect(tmp_path / name / "journal.sqlite")
        versions.append(database.execute("PRAGMA user_version").fetchone()[0])
        database.close()
    assert versions == [3, 2]


def test_damage_is_said(tmp_path):
    begun(tmp_path, "texts", texts(20)).close()
    database = sqlite3.connect(tmp_path / "journal.sqlite")
    database.execute("UPDATE base SET state = substr(state, 1, 200)")
    database.commit()
    database.close()
    with pytest.raises(JournalError, match="begins with is damaged"):
        DurableModel(tmp_path)
