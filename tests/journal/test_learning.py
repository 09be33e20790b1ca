"""Several examples at once: the weights, the lines and the receipts of one after the other."""

import pytest
from tests.journal.models import documents, learner, same, texts

import hinged
from hinged.journal import DurableModel, Example


def mixed():
    """Runs of texts and of documents, labels of several types, repeated keys, weights, and what is refused."""
    yield from (Example(x, y, key=f"{i % 40}") for i, (x, y) in enumerate(texts(60)))
    yield from (Example(x, y) for x, y in documents(20))
    yield from (Example(x, i % 3) for i, (x, _) in enumerate(texts(10)))
    yield Example("never", ["a", "list"])
    yield from (Example(x if i % 4 else 5, y, weight=None if i % 3 else 0.5) for i, (x, y) in enumerate(texts(20)))
    yield Example({"body": "fields the", "subject": "other way round"}, "folder 1")


def test_a_list_is_learnt_as_one_by_one(tmp_path):
    with (
        DurableModel(tmp_path / "a", learner("texts")) as together,
        DurableModel(tmp_path / "b", learner("texts")) as alone,
    ):
        receipts = together.learn_many(list(mixed()))
        one_by_one = [alone.learn_many([example])[0] for example in mixed()]
        assert [(r.seq, r.new, str(r.error)) for r in receipts] == [(r.seq, r.new, str(r.error)) for r in one_by_one]
        assert {r.new for r in receipts} == {True, False}
        assert sum(r.error is not None for r in receipts) == 6
        assert same(together.model, alone.model)
        lines = [[event[2:] for event in kept.journal.events()] for kept in (together, alone)]
        assert lines[0] == lines[1]
    with DurableModel(tmp_path / "a") as again, DurableModel(tmp_path / "b") as other:
        assert same(again.model, other.model)


@pytest.mark.parametrize("answers", [[[0, 1], [1, 0], [0]], [["a"], ["a", "b"], []]])
def test_lists_of_labels_are_no_indicators(answers, tmp_path):
    twin = hinged.TextRanker()
    with DurableModel(tmp_path, hinged.TextRanker()) as kept:
        kept.learn_many([Example(f"text {i}", y) for i, y in enumerate(answers)])
        for i, y in enumerate(answers):
            twin.learn_one(f"text {i}", y)
        assert same(kept.model, twin)


def test_an_iterator_may_look_at_what_it_gave_before(tmp_path):
    with DurableModel(tmp_path, learner("texts")) as kept:
        seen = []

        def looking():
            for i, (x, y) in enumerate(texts(5)):
                seen.append(kept.journal.last)
                yield Example(x, y, key=str(i))

        kept.learn_many(looking())
        assert seen == [0, 1, 2, 3, 4]


def test_a_classifier_becomes_a_ranker_that_learnt_the_same_and_then_sets(tmp_path):
    examples = [*texts(60), *((x, {y, "other"}) for x, y in texts(20, seed=1))]
    with DurableModel(tmp_path, learner("texts")) as kept, DurableModel(tmp_path) as other:
        kept.learn_many([Example(x, y) for x, y in examples[:60]])
        kept.become_ranker()
        kept.learn_many([Example(x, y) for x, y in examples[60:]])
        with pytest.raises(ValueError, match="each y must be a collection of labels"):
            kept.learn("one label", "folder 1")
        plain = hinged.TextRanker()
        for x, y in examples:
            plain.learn_one(x, {y} if type(y) is str else y)
        assert same(kept.model, plain)
        other.refresh()
        assert same(other.model, plain), "another process follows"
        with pytest.raises(TypeError, match="a ranker comes from a classifier of texts; got TextRanker"):
            kept.become_ranker()
    with DurableModel(tmp_path) as again:
        assert same(again.model, plain)


def test_what_cannot_become_a_ranker_says_so_and_goes_on(tmp_path):
    for number, (model, y, words) in enumerate([
        (hinged.Classifier(cost={("a", "b"): 2.0}), "a", "cost is for one right label"),
        (hinged.Classifier(), 3, "a ranker comes from a classifier of texts"),
    ]):  # fmt: skip
        with DurableModel(tmp_path / str(number), model) as kept:
            kept.learn({"x": 1.0}, y)
            with pytest.raises((TypeError, ValueError), match=words):
                kept.become_ranker()
            assert type(kept.model) is hinged.Classifier
            kept.learn({"x": 1.0}, y)
